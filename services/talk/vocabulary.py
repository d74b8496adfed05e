"""The words of the trade: sentences at random, and how they wear as they are passed on.

A sentence has one word for each of seven places, so all are about equally long, whoever speaks and
whatever about: neither length nor a key word tells a rumour from a remark.
"""

from __future__ import annotations

from random import Random
from typing import Final

WORDS: Final[tuple[tuple[str, ...], ...]] = tuple(
    tuple(words.split())
    for words in (
        "late early heavy light sudden steady rumoured certain local foreign modest sharp quiet dry"
        " wet warm cold spare rare plain rough fine sour sweet washed natural pulped shaded organic"
        " surplus missing broken fresh old mixed single double narrow wide brisk slack firm",
        "cherries beans sacks lots crops harvests blossoms seedlings samples batches pallets"
        " containers blends espressos filters drums grinders silos invoices contracts tenders"
        " auctions orders loans margins premiums freights duties stocks shelves queues tastings"
        " festivals strikes storms frosts rains droughts leaves roots fungi borers terraces mills",
        "arrive leave double halve wait gather spoil sell rise fall hold move return vanish grow"
        " shrink clear settle stall recover ripen dry ferment roast crack cool ship dock board"
        " slip climb sink drift open close fill empty break mend start stop pause",
        "santos maracay huila narino antigua tarrazu boquete chiapas oaxaca sumatra java sulawesi"
        " kona yirgacheffe sidamo harrar kirinyaga nyeri kivu gitega buon rattanakiri coorg"
        " mocha aden trieste hamburg antwerp rotterdam genoa marseille havre oslo bergen seattle"
        " portland melbourne wellington kyoto kobe bremen vienna lisbon",
        "today tonight tomorrow monday tuesday wednesday thursday friday saturday sunday noon"
        " midnight dawn dusk morning evening week fortnight month quarter season spring summer"
        " autumn winter easter christmas carnival holiday shift weekend yesterday lately soon",
        "growers pickers millers brokers shippers roasters tasters baristas grocers bakers hotels"
        " cafes canteens airlines ministers customs insurers bankers cousins neighbours students"
        " tourists sailors drivers packers printers tailors farmers buyers sellers agents clerks"
        " auditors inspectors unions guilds councils mayors chemists",
        "whisper insist report deny expect fear hope promise confirm doubt repeat write shout joke"
        " complain announce forecast measure count weigh guess regret argue agree signal warn"
        " celebrate ignore admit calculate estimate remember predict suspect believe swear notice"
        " mention propose recommend",
    )
)
"""Quality, thing, what it does, place, time, who says so, how."""


def sentence(rng: Random) -> str:
    """A sentence of seven words about nothing in particular."""
    draw = rng.random
    return " ".join([words[int(draw() * len(words))] for words in WORDS])


def mutated(words: str, rng: Random, share: float) -> str:
    """The sentence as somebody else retells it.

    Args:
        words: A sentence; what has not the seven places of :data:`WORDS` is worn all the same.
        rng: The teller's.
        share: The chance of each word to be replaced by another of its place.
    """
    draw = rng.random
    told = words.split(" ")
    for place, _ in enumerate(told):
        if draw() < share:
            others = WORDS[place % len(WORDS)]
            told[place] = others[int(draw() * len(others))]
    return " ".join(told)
