"""A run is judged by when its alarm came, and whom it names."""

from __future__ import annotations

from typing import Any

from actors.studies.detecting import Detection, judge
from actors.studies.leagues import ONSET
from actors.studies.segments import Segment
from services.talk.harm import GroundTruth

HOUR = ONSET // 60
TICKS = [HOUR - 2, HOUR - 1, HOUR, HOUR + 1, HOUR + 24, HOUR + 25]
"""There is a night between the fourth and the fifth."""


def truth(attack: bool = True) -> GroundTruth:
    return GroundTruth("rumour", attack, ONSET, ONSET + 3600, "town", "ann", "bob", "cat")


def alert(tick: int, onset: int, *origin: str) -> dict[str, Any]:
    suspects = [{"agent": agent, "score": 1.0} for agent in origin]
    none: dict[str, Any] = {"suspects": []}
    named = {"origin": {"suspects": suspects}, "bridge": none, "amplifier": none}
    return {"alert_tick": tick, "onset": onset, **named}


def run(*alerts: dict[str, Any], attack: bool | None = True) -> Segment:
    segment = Segment(1, "rumour" if attack is not None else "steady")
    segment.signals = [{"tick": tick} for tick in TICKS]
    segment.alerts = list(alerts)
    segment.truth = None if attack is None else truth(attack)
    return segment


def test_the_delay_is_counted_in_hours_with_talk() -> None:
    seen = judge(6, run(alert(HOUR + 24, HOUR)))
    assert (seen.delay, seen.early) == (2, False)


def test_an_alarm_in_the_hour_of_the_onset_has_no_delay() -> None:
    assert judge(6, run(alert(HOUR, HOUR))).delay == 0


def test_an_alarm_before_anything_has_happened_is_false_even_in_a_run_with_an_attack() -> None:
    seen = judge(6, run(alert(HOUR - 1, HOUR - 2, "ann")))
    assert (seen.early, seen.delay) == (True, None)
    [row] = Detection(calibrations={}, seen=[seen]).rows()
    assert row.detected[0] == 0


def test_an_onset_is_off_by_hours_with_talk_early_or_late() -> None:
    assert judge(6, run(alert(HOUR + 24, HOUR + 24))).onset_error == 2
    assert judge(6, run(alert(HOUR + 1, HOUR - 2))).onset_error == -2


def test_the_place_of_the_true_origin_among_the_suspects_is_told() -> None:
    assert judge(6, run(alert(HOUR, HOUR, "ann", "bob"))).named["origin"] == 0
    assert judge(6, run(alert(HOUR, HOUR, "bob", "ann"))).named["origin"] == 1
    assert judge(6, run(alert(HOUR, HOUR, "bob"))).named["origin"] is None


def test_any_alarm_of_a_run_without_an_attack_is_a_false_one() -> None:
    quiet, loud = judge(6, run(attack=False)), judge(6, run(alert(HOUR, HOUR), attack=False))
    [row] = Detection(calibrations={}, seen=[quiet, loud]).rows()
    assert (row.attack, row.detected[0], row.named) == (False, 0.5, {})


def test_a_row_tells_shares_and_quantiles_of_its_runs() -> None:
    runs = [run(alert(HOUR, HOUR, "ann")), run(alert(HOUR + 25, HOUR, "bob", "ann")), run()]
    [row] = Detection(calibrations={}, seen=[judge(6, one) for one in runs]).rows()
    assert row.detected[0] == 2 / 3
    assert row.delays == [0, 3]
    assert (row.within(2), row.delay(0.9)) == (1 / 3, 3)
    assert row.named["origin"] == (0.5, 1.0)
