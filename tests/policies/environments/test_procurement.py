"""A firm's drifting intent: the same course for every policy, told as badly as its line is."""

from __future__ import annotations

import numpy as np
import pytest

from policies.environments.procurement import Books, Client, outcome, stress
from services.errors import HanseError

NOTHING = np.zeros(3)


def course(client: Client, days: int, reward: float = 0.0) -> list[tuple[float, ...]]:
    found = []
    for _ in range(days):
        scored = client.settle(np.full(3, reward), reward, 0.0)
        found.append((*scored.preference.tolist(), scored.budget))
    return found


def test_what_a_day_came_to_lies_between_0_and_1() -> None:
    before = Books(margin=100.0, stored=60, cash=10.0, owed=0.0)
    vector, cost = outcome(before, Books(150.0, 30, 10.0, 0.0), sold_kg=15, spent=75.0)
    assert vector.tolist() == [0.5, 0.5, 0.75]
    assert cost == 0.5
    vector, cost = outcome(before, Books(-50.0, 120, 10.0, 0.0), sold_kg=90, spent=900.0)
    assert vector.tolist() == [0.0, 1.0, 0.0]
    assert cost == 1.0


def test_the_course_does_not_depend_on_what_was_done() -> None:
    idle, busy = (Client("a", 1, "jumps", "severe") for _ in range(2))
    assert course(idle, 60, 0.0) == course(busy, 60, 0.9)
    assert np.array_equal(idle._line.preference, busy._line.preference)


def test_firms_and_seeds_have_courses_of_their_own() -> None:
    courses = [course(Client(*who, "jumps", "clean"), 3) for who in (("a", 1), ("b", 1), ("a", 2))]
    assert courses[0] != courses[1] != courses[2] != courses[0]


@pytest.mark.parametrize("drift", ["jumps", "slow", "context", "adversarial"])
def test_it_goes_on_after_a_resume_as_if_nothing_had_happened(drift: str) -> None:
    whole = Client("a", 4, drift, "moderate")
    for day in range(20):
        whole.settle(NOTHING, 0.4, day / 20)
    again = Client("a", 4, drift, "moderate", whole.stresses)
    for _ in range(10):
        one, other = whole.told, again.told
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert np.array_equal(one[0], other[0])
        mine, theirs = (client.settle(NOTHING, 0.4, 0.1) for client in (whole, again))
        assert (mine.budget, mine.score, mine.alarm) == (theirs.budget, theirs.score, theirs.alarm)


def test_a_perfect_line_tells_the_truth_every_day() -> None:
    client = Client("a", 5, "jumps", "perfect")
    for _ in range(40):
        told = client.told
        assert told is not None
        scored = client.settle(NOTHING, 0.2, 0.0)
        np.testing.assert_allclose(told[0], scored.preference, atol=1e-6)
        assert told[1] == pytest.approx(scored.budget)


def test_a_severe_line_loses_words_and_one_without_feedback_never_scores() -> None:
    client = Client("a", 6, "jumps", "severe")
    lost = 0
    for _ in range(50):
        lost += client.told is None
        client.settle(NOTHING, 0.2, 0.0)
    assert 15 < lost < 45
    silent = Client("a", 6, "jumps", "no_feedback").settle(NOTHING, 0.2, 0.0)
    assert np.isnan([silent.score, silent.alarm]).all()


def test_stress_is_the_share_of_debts_that_cash_does_not_cover() -> None:
    assert stress(Books(0.0, 0, cash=30.0, owed=120.0)) == 0.75
    assert stress(Books(0.0, 0, cash=130.0, owed=120.0)) == 0.0


@pytest.mark.parametrize(("drift", "line"), [("sideways", "clean"), ("jumps", "wet string")])
def test_a_drift_or_line_that_there_is_not_is_refused(drift: str, line: str) -> None:
    with pytest.raises(HanseError, match="allowed: "):
        Client("a", 1, drift, line)
