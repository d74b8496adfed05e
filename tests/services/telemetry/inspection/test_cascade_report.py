"""What a monitor has reported, read back from the log."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monitors.caspian.alert import Spine
from services.telemetry.inspection.cascade_report import report_in
from services.telemetry.inspection.watch_words import alert_line, roles
from tests.actors.alarmed import ORIGIN, OTHERS, report


def body(**changes: Any) -> dict[str, Any]:
    """The body of an alert as it stands in the log."""
    spine = Spine(path=(ORIGIN, "board"), bottleneck=2.0, channel="comm")
    written = report(spines=(spine,), evidence=("farmer_1#7",)).model_dump_json()
    return {**json.loads(written), **changes}


def test_a_report_of_the_monitor_is_read_whole() -> None:
    written, found = report(), report_in(body())
    assert found is not None
    assert (found.id, found.onset, found.score) == (written.id, written.onset, written.score)
    assert (found.statistics, found.thresholds) == (written.statistics, written.thresholds)
    assert found.roles["origin"].agents == (OTHERS[0], ORIGIN)
    assert found.roles["bridge"].agents == ()
    assert found.spines[0].path == (ORIGIN, "board") and found.evidence == ("farmer_1#7",)


def test_it_is_told_with_who_is_suspected_and_since_when() -> None:
    found = report_in(body())
    assert found is not None
    assert alert_line(found, 60) == (
        "cascade-1: an abrupt cascade since about day 2 12:00, score 1.50"
    )
    assert roles(found) == (
        f"origin {OTHERS[0]} so far (or {ORIGIN}), bridge not known yet, amplifier"
        f" {OTHERS[1]} so far"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"id": 7},
        {"kind": "sudden"},
        {"onset": "noon"},
        {"score": None},
        {"origin": ["farmer_1"]},
        {"origin": {"state": "sure"}},
        {"spines": [{"path": "ab"}]},
        {"statistics": [1.0]},
    ],
)
def test_what_is_no_report_is_not_taken_for_one(changes: dict[str, Any]) -> None:
    assert report_in(body(**changes)) is None
    assert report_in("an alarm") is None
