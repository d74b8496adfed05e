"""When the literal rule declares (note 5.2, Algorithm 1)."""

import pytest

from monitors.caspian.literal.onset import OnsetRule
from monitors.caspian.literal.records import Signals

QUIET = Signals(
    tick=0,
    lambda1=1,
    lambda2=0.5,
    energy=1.5,
    amplification=1,
    coupling=0.5,
    gap=0.25,
    contraction=0,
    phase=0,
    phase_shift=False,
    entropy=0,
    cross_channel=False,
    weak_link=True,
    watch=False,
    dropped=0,
)
WATCH = QUIET.model_copy(update={"watch": True})
COUPLED = QUIET.model_copy(update={"cross_channel": True})
SHIFTED = WATCH.model_copy(update={"phase_shift": True})


def declared(*turns: Signals) -> list[str | None]:
    rule = OnsetRule(epsilon=1e-8)
    kinds: list[str | None] = []
    for turn in turns:
        rule.observe(turn)
        kinds.append(rule.kind)
    return kinds


def test_a_first_watch_turn_with_a_phase_shift_is_declared_at_once() -> None:
    assert declared(QUIET, SHIFTED) == [None, "instant"]


def test_without_a_weak_link_nothing_is_declared_at_once() -> None:
    strong = SHIFTED.model_copy(update={"weak_link": False})

    assert declared(strong) == [None]


def test_a_phase_shift_without_a_watch_turn_means_nothing() -> None:
    assert declared(*[COUPLED] * 20) == [None] * 20


@pytest.mark.parametrize(
    ("window", "kind"),
    [
        ((WATCH, WATCH, QUIET, COUPLED), "multi-turn"),
        ((WATCH, QUIET, QUIET, SHIFTED), "multi-turn"),
        ((WATCH, QUIET, QUIET, COUPLED), None),
        ((WATCH, WATCH, WATCH, WATCH), None),
    ],
)
def test_a_candidate_is_decided_after_the_reciprocal_of_its_gap(
    window: tuple[Signals, ...], kind: str | None
) -> None:
    # The gap is 1/4: ceil(1/(0.25 + ε)) = 4 turns, half of them must be watch turns.
    assert declared(*window) == [None, None, None, kind]


def test_the_instant_rule_holds_only_at_the_first_watch_turn() -> None:
    assert declared(WATCH, SHIFTED) == [None, None]


def test_a_dropped_candidate_makes_room_for_the_next() -> None:
    assert declared(WATCH, QUIET, QUIET, QUIET, SHIFTED)[-2:] == [None, "instant"]


def test_a_declaration_is_the_last() -> None:
    assert declared(SHIFTED, QUIET, WATCH, WATCH) == ["instant"] * 4
