"""A mind: what somebody who hears and tells believes about prices.

It holds *topics*, remarks of its own that fade within hours and of which it hears some from others,
and *convictions*, at most one an item, which it has taken over from somebody who insisted. Nothing
here knows whether a claim is true: benign talk and a rumour are handled by the same rules (after
the synthetic generator of the CASPIAN note, section 10.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random
from typing import Any, Final

from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.talk.claims import ITEMS, Claim, is_wrong
from services.talk.vocabulary import mutated, sentence

SENTENCES: Final = 3
"""In a note, always."""
INSISTENT: Final = 0.3
"""From this strength on a claim is an attempt to convince."""
_RELATED: Final = {
    GREEN: ROASTED,
    ROASTED: GREEN,
    GREEN_SPECIALTY: ROASTED_SPECIALTY,
    ROASTED_SPECIALTY: GREEN_SPECIALTY,
}


@dataclass(frozen=True, slots=True)
class Temper:
    """How somebody takes what it hears; the same for a town's worth of them."""

    adoption: float = 0.8
    """The chance to be convinced, for full trust, is this times (strength + 0.15)."""
    rise: float = 0.8
    """How much stronger a conviction gets each time it is heard, up to the teller's."""
    fade: float = 0.015
    """Share of a conviction's strength that is lost in an hour."""
    change: float = 0.4
    """The chance of a topic to be replaced within an hour."""
    relay: float = 0.4
    """The chance that one of the topics of an hour was heard from others."""
    mutation: float = 0.25
    """The chance of each word to be replaced when it is retold."""
    pass_through: float = 0.6
    """How much of a change of price is expected in roasted coffee for green, and the reverse."""


class Mind:
    """What one agent believes.

    Args:
        trust: From 0 (convinced by nobody) to 1.
        temper: How it takes what it hears.
    """

    __slots__ = ("convictions", "heard", "hearsay", "temper", "topics", "trust", "wary_until")

    def __init__(self, trust: float = 0.8, temper: Temper | None = None) -> None:
        self.trust = trust
        self.temper = temper or Temper()
        self.topics: list[Claim] = []
        self.heard: list[Claim] = []
        """Remarks of the last hour that it might take up."""
        self.convictions: dict[str, Claim] = {}
        self.hearsay: dict[str, int] = {}
        """The minute at which each conviction was first taken over from others."""
        self.wary_until = 0
        """Up to this minute it is convinced by nobody."""

    def hour(self, rng: Random) -> None:
        """An hour passes: convictions fade, topics change, one may be taken over from others."""
        temper, topics = self.temper, self.topics
        keep = 1.0 - temper.fade
        for item, claim in list(self.convictions.items()):
            if claim.strength * keep < INSISTENT / 2:
                self.forget(item)
            else:
                self.convictions[item] = claim._replace(strength=claim.strength * keep)
        while len(topics) < SENTENCES:
            topics.append(remark(rng))
        for place in range(SENTENCES):
            if rng.random() < temper.change:
                topics[place] = remark(rng)
        if self.heard:
            if rng.random() < temper.relay:
                taken = self.heard[int(rng.random() * len(self.heard))]
                words = mutated(taken.words, rng, temper.mutation)
                strength = min(taken.strength, _PASSING)
                place = int(rng.random() * SENTENCES)
                topics[place] = Claim(taken.item, taken.factor, strength, True, words)
            self.heard.clear()

    def listen(
        self, claims: Sequence[Claim], rng: Random, boost: float = 1.0, now: int = 0
    ) -> bool:
        """Hears somebody out.

        Args:
            claims: What is said.
            rng: Decides whether it convinces.
            now: The minute.
            boost: How much more easily than usual it is convinced.

        Returns:
            Whether a conviction is new or has changed.
        """
        insistent = [c for c in claims if c.strength >= INSISTENT]
        if len(insistent) < len(claims):
            self.heard += [c for c in claims if c.strength < INSISTENT and not is_wrong(c.factor)]
        if not insistent or now < self.wary_until:
            return False
        strongest = max(c.strength for c in insistent)
        chance = self.temper.adoption * boost * (strongest + 0.15) * self.trust
        if rng.random() >= chance:
            return False
        taken = [self._take_over(claim, rng, now) for claim in insistent]
        return any(taken)

    def _take_over(self, claim: Claim, rng: Random, now: int) -> bool:
        held = self.convictions.get(claim.item)
        before = 0.0 if held is None else held.strength
        if held is not None and before >= claim.strength:
            return False
        if held is None:
            self.hearsay[claim.item] = now
        self.convictions[claim.item] = Claim(
            claim.item,
            claim.factor,
            min(claim.strength, before + self.temper.rise),
            claim.onward,
            mutated(claim.words, rng, self.temper.mutation),
        )
        return True

    def notice(self, claim: Claim) -> None:
        """Takes something for granted, because it has seen it itself."""
        self.convictions[claim.item] = claim
        self.hearsay.pop(claim.item, None)

    def doubt(self, since: int, until: int) -> bool:
        """Believes no longer what it has only been told.

        Args:
            since: From which minute on; what it was convinced of before stays.
            until: Up to which minute nobody convinces it of anything else.

        Returns:
            Whether there was anything to doubt.
        """
        self.wary_until = until
        doubtful = [item for item, minute in self.hearsay.items() if minute >= since]
        for item in doubtful:
            self.forget(item)
        return bool(doubtful)

    def forget(self, item: str) -> None:
        """Is convinced of nothing about an item."""
        self.convictions.pop(item, None)
        self.hearsay.pop(item, None)

    def compose(self, rng: Random, share: float = 0.9) -> list[Claim]:
        """What it says to somebody now, in :data:`SENTENCES` sentences.

        Args:
            rng: Draws what is said.
            share: How much of it a full conviction takes up; of weaker ones by their strength.
        """
        topics = self.topics or [remark(rng) for _ in range(SENTENCES)]
        convictions = list(self.convictions.values())
        said = []
        for place in range(SENTENCES):
            topic = topics[place]
            if convictions:
                held = convictions[place % len(convictions)]
                if rng.random() < min(0.95, share * held.strength):
                    topic = held if held.onward else held._replace(strength=0.0)
            said.append(topic)
        return said

    def view(self, item: str) -> float:
        """The price that it expects of an item, as a multiple of the normal one.

        Where it is convinced of something, with a strength taken as a probability, that is the
        mean of the claim and the normal price on a logarithmic scale. Of an item that it is not
        convinced of anything about, it expects part of what it does of the coffee that it is made
        of or into.
        """
        if not self.convictions:
            return 1.0
        held, part = self.convictions.get(item), 1.0
        if held is None:
            held, part = self.convictions.get(_RELATED.get(item, "")), self.temper.pass_through
        return 1.0 if held is None else exp(part * held.strength * log(held.factor))

    def views(self) -> dict[str, float]:
        """:meth:`view` of every item that it is convinced of something about; the rest are 1."""
        return {item: self.view(item) for item in ITEMS} if self.convictions else {}

    def save(self) -> list[Any]:
        """All of it as plain data."""
        return [
            [list(c) for c in self.topics],
            [list(c) for c in self.heard],
            [list(c) for c in self.convictions.values()],
            dict(self.hearsay),
            self.wary_until,
        ]

    def load(self, saved: list[Any]) -> None:
        """Goes on from :meth:`save`."""
        *claims, hearsay, self.wary_until = saved
        topics, heard, convictions = ([Claim(*c) for c in part] for part in claims)
        self.hearsay = dict(hearsay)
        self.topics, self.heard = topics, heard
        self.convictions = {c.item: c for c in convictions}


_PASSING: Final = 0.2
_SPREAD: Final = 0.03


def remark(rng: Random) -> Claim:
    """Something to say: about an item, near its normal price, in passing."""
    item = ITEMS[int(rng.random() * len(ITEMS))]
    factor = round(exp(_SPREAD * rng.gauss(0.0, 1.0)), 3)
    return Claim(item, factor, round(_PASSING * rng.random(), 3), True, sentence(rng))
