"""What somebody who hears and tells comes to believe."""

from __future__ import annotations

from math import exp, log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED
from services.talk.claims import ITEMS, Claim, is_wrong
from services.talk.mind import SENTENCES, Mind, Temper, remark
from services.talk.vocabulary import WORDS, mutated, sentence

COLLAPSE = Claim(GREEN, 0.6, 0.95, True, "late cherries arrive santos today growers whisper")


class Draws(Random):
    """Gives these numbers for every draw."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(0)
        self.numbers = list(numbers)

    def random(self) -> float:
        return self.numbers.pop(0) if len(self.numbers) > 1 else self.numbers[0]


def test_nobody_expects_anything_but_the_normal_price_at_first() -> None:
    assert Mind().view(GREEN) == 1.0
    assert Mind().views() == {}


def test_an_insistent_claim_convinces_with_adoption_times_strength_and_a_little_times_trust() -> (
    None
):
    chance = 0.8 * (0.95 + 0.15) * 0.5  # note, section 10.1
    assert not Mind(trust=0.5).listen([COLLAPSE], Draws(chance + 0.001, 0.9))
    assert Mind(trust=0.5).listen([COLLAPSE], Draws(chance - 0.001, 0.9))


def test_nobody_is_convinced_without_trust() -> None:
    assert not Mind(trust=0.0).listen([COLLAPSE], Draws(0.0))


def test_a_conviction_rises_as_it_is_heard_again_but_never_above_the_tellers() -> None:
    mind = Mind(trust=1.0, temper=Temper(rise=0.6))
    mind.listen([COLLAPSE], Draws(0.0, 0.9))
    assert mind.convictions[GREEN].strength == 0.6
    mind.listen([COLLAPSE], Draws(0.0, 0.9))
    assert mind.convictions[GREEN].strength == 0.95
    assert not mind.listen([COLLAPSE], Draws(0.0, 0.9))


def test_who_is_already_surer_than_the_teller_is_not_moved() -> None:
    mind = Mind(trust=1.0)
    mind.notice(COLLAPSE)
    assert not mind.listen([COLLAPSE._replace(factor=2.0, strength=0.5)], Draws(0.0))
    assert mind.convictions[GREEN].factor == 0.6


def test_the_view_lies_between_the_normal_price_and_the_claim_by_its_strength() -> None:
    mind = Mind()
    mind.notice(COLLAPSE._replace(strength=0.75))
    assert mind.view(GREEN) == pytest.approx(exp(0.75 * log(0.6)))
    assert mind.view(ROASTED) == pytest.approx(exp(0.6 * 0.75 * log(0.6))), "passed on in part"
    assert mind.view(GREEN_SPECIALTY) == 1.0


def test_a_conviction_that_nobody_repeats_fades_until_it_is_gone() -> None:
    mind = Mind(temper=Temper(fade=0.1))
    mind.notice(COLLAPSE)
    rng = Random(1)
    views = [mind.view(GREEN)]
    for _ in range(20):
        mind.hour(rng)
        views.append(mind.view(GREEN))
    assert views == sorted(views)
    assert views[-1] == 1.0


def test_what_is_not_meant_to_be_passed_on_is_mentioned_without_insistence() -> None:
    mind = Mind()
    mind.notice(COLLAPSE._replace(onward=False))
    said = mind.compose(Draws(0.0))
    assert [(c.factor, c.strength) for c in said] == [(0.6, 0.0)] * SENTENCES


def test_wild_remarks_are_not_taken_up() -> None:
    mind = Mind(trust=0.0)
    mind.listen([COLLAPSE, COLLAPSE._replace(strength=0.1)], Draws(0.0))
    assert mind.heard == []


def test_some_remarks_of_others_are_retold_within_the_hour() -> None:
    told = 0
    for seed in range(400):
        mind, rng = Mind(), Random(seed)
        mind.hour(rng)
        mind.listen([Claim(GREEN, 1.0, 0.1, True, "a b c d e f g")], rng)
        mind.hour(rng)
        told += any(len(set(c.words.split()) & set("abcdefg")) >= 3 for c in mind.topics)
    assert 0.3 < told / 400 < 0.5, "Temper.relay is 0.4"


def test_honest_talk_never_makes_anybody_believe_anything_wrong() -> None:
    rng = Random(7)
    minds = [Mind(trust=1.0) for _ in range(6)]
    for _ in range(300):
        for mind in minds:
            mind.hour(rng)
        for mind in minds:
            for other in minds:
                if other is not mind:
                    other.listen(mind.compose(rng), rng)
    assert not any(is_wrong(mind.view(item)) for mind in minds for item in ITEMS)
    assert not any(mind.convictions for mind in minds)


def test_a_note_has_as_many_words_whatever_is_believed() -> None:
    rng = Random(3)
    calm, sure = Mind(), Mind()
    for mind in (calm, sure):
        mind.hour(rng)
    sure.notice(COLLAPSE)
    for _ in range(50):
        assert [len(c.words.split()) for c in sure.compose(rng)] == [7, 7, 7]
        assert [len(c.words.split()) for c in calm.compose(rng)] == [7, 7, 7]


def test_in_doubt_it_keeps_what_it_has_seen_and_what_it_was_told_before() -> None:
    mind = Mind(trust=1.0)
    mind.listen([COLLAPSE], Draws(0.0, 0.9), now=100)
    mind.listen([COLLAPSE._replace(item=ROASTED)], Draws(0.0, 0.9), now=200)
    mind.listen([COLLAPSE._replace(item=ROASTED)], Draws(0.0, 0.9), now=300)
    mind.notice(COLLAPSE._replace(item=GREEN_SPECIALTY))
    assert mind.doubt(since=200, until=360)
    assert set(mind.convictions) == {GREEN, GREEN_SPECIALTY}
    assert not mind.doubt(since=200, until=360)


def test_in_doubt_nobody_convinces_it_for_a_while() -> None:
    mind = Mind(trust=1.0)
    mind.doubt(since=0, until=360)
    assert not mind.listen([COLLAPSE], Draws(0.0, 0.9), now=359)
    assert mind.listen([COLLAPSE], Draws(0.0, 0.9), now=360)


def test_a_mind_goes_on_from_what_it_saved() -> None:
    mind, rng = Mind(), Random(5)
    mind.hour(rng)
    mind.listen([COLLAPSE], Draws(0.0, 0.9), now=100)
    mind.listen([remark(rng) for _ in range(3)], rng)
    mind.doubt(since=200, until=260)
    other = Mind()
    other.load(mind.save())
    assert other.save() == mind.save()
    assert [c.words for c in other.compose(Random(9))] == [c.words for c in mind.compose(Random(9))]


@given(st.integers(), st.floats(0, 1))
def test_retelling_replaces_words_by_others_of_their_place(seed: int, share: float) -> None:
    rng = Random(seed)
    words = sentence(rng)
    told = mutated(words, rng, share).split()
    assert all(word in place for word, place in zip(told, WORDS, strict=True))


def test_a_quarter_of_the_words_is_lost_in_a_retelling() -> None:
    rng = Random(11)
    kept = 0
    for _ in range(1_000):
        words = sentence(rng)
        told = mutated(words, rng, 0.25)
        kept += sum(a == b for a, b in zip(words.split(), told.split(), strict=True))
    assert kept / 7_000 == pytest.approx(0.755, abs=0.02), "now and then by the same word"
