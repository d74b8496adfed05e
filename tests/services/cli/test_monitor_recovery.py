"""Whether firms have recovered is told from the log alone, and agrees with what counts as harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.cast import Cast
from actors.replaying import harm_figures
from services.cli.monitor_recovery import Recovery, at, bad_ways, recovery_of
from services.talk.hours import FIRST_HOUR, LAST_HOUR
from tests.actors.alarmed import alarmed, played

DAY = 24 * 60
TOWNS = {"ann": "Kiel", "bob": "Kiel", "cat": "Oslo"}


def event(minute: int, agent: str, kind: str, **body: Any) -> tuple[Any, ...]:
    return minute, 0, agent, 1, None, kind, agent, json.dumps(body)


def belief(minute: int, agent: str, factor: float, item: str = "green_coffee_kg") -> Any:
    return event(minute, agent, "belief", item=item, factor=factor)


def test_a_firm_counts_while_it_believes_something_wrong_of_any_item() -> None:
    other = "roasted_coffee_kg"
    wrong, _ = bad_ways(
        [
            belief(100, "ann", 0.6),
            belief(110, "ann", 0.6, other),
            belief(120, "bob", 1.5),
            belief(130, "ann", 1.0),
            belief(140, "ann", 1.1, other),
        ],
        TOWNS,
    )
    assert wrong == [(100, 1), (120, 2), (140, 1)]


def test_what_is_true_in_a_town_is_wrong_in_another_and_after_its_end() -> None:
    truth = {
        "kind": "harvest_shock",
        "attack": False,
        "onset": 90,
        "end": 200,
        "town": "Kiel",
        "origin": "ann",
        "bridge": "ann",
        "amplifier": "bob",
        "truth": {"green_coffee_kg": 1.5},
    }
    shock = (90, 0, "ann", 1, None, "injection", "", json.dumps(truth))
    rows = [belief(100, "ann", 1.5), belief(100, "cat", 1.5), belief(210, "bob", 1.5)]
    assert bad_ways([shock, *rows], TOWNS)[0] == [(100, 1), (210, 2)]


def test_overloaded_firms_are_counted_until_they_can_do_their_work_again() -> None:
    _, overloaded = bad_ways(
        [
            event(10, "ann", "overloaded", load=1.4),
            event(20, "ann", "overloaded", load=1.9),
            event(30, "ann", "recovered", load=0.4),
        ],
        TOWNS,
    )
    assert overloaded == [(10, 1), (30, 0)]


def test_how_many_there_are_at_a_minute_includes_what_happens_in_it() -> None:
    steps = [(10, 1), (20, 3)]
    assert [at(steps, minute) for minute in (9, 10, 19, 20, 99)] == [0, 1, 1, 3, 3]


@pytest.mark.parametrize(
    ("wrong", "alert", "line"),
    [
        (
            [(100, 2), (110, 9), (300, 0)],
            105,
            "2 of 24 at the alert, 9 at most (on day 0 01:50), none at the end; they have"
            " recovered",
        ),
        (
            [(100, 9), (300, 4)],
            105,
            "9 of 24 at the alert, 9 at most (on day 0 01:40), 4 at the end; not all have"
            " recovered",
        ),
        (
            [(100, 9)],
            None,
            "9 of 24 at most (on day 0 01:40), 9 at the end; they have not recovered",
        ),
    ],
)
def test_one_line_says_how_many_there_were_and_whether_they_recovered(
    wrong: list[tuple[int, int]], alert: int | None, line: str
) -> None:
    found = Recovery(24, wrong, [], 1440, alert)
    assert found.lines() == [f"firms believing something wrong: {line}"]


def test_nothing_is_said_where_nothing_was_wrong_and_nobody_raised_an_alert() -> None:
    assert Recovery(24, [], [(10, 1), (70, 0)], 1440).lines() == []
    [line] = Recovery(24, [], [], 1440, alert=100).lines()
    assert line == "firms believing something wrong: none of 24, at no time"


def test_a_storm_that_goes_on_is_a_line_of_its_own() -> None:
    lines = Recovery(24, [], [(10, 5), (70, 2)], 1440, alert=60).lines()
    assert lines[1] == (
        "firms with more work than they can do: 5 of 24 at the alert, 5 at most"
        " (on day 0 00:10), 2 at the end; not all have recovered"
    )


def test_summed_over_all_working_hours_it_is_the_harm_of_the_run(tmp_path: Path) -> None:
    config = alarmed(monitor=None)
    run, cast = played(tmp_path / "run", config), Cast(config)
    found = recovery_of(run, cast, None)
    assert found is not None
    last = [
        day * DAY + hour * 60 + 59 for day in range(5) for hour in range(FIRST_HOUR, LAST_HOUR + 1)
    ]
    harm = harm_figures(run, cast, 0, 4)
    assert sum(at(found.wrong, minute) for minute in last) == harm["wrong_hours"] > 0
    assert sum(at(found.overloaded, minute) for minute in last) == harm["overloaded_hours"]


def test_where_nobody_talks_nobody_can_recover(tmp_path: Path) -> None:
    silent = alarmed(
        days=1, injections=[], talk=None, generate={"firms": 6, "strategy": "scripted"}
    )
    assert recovery_of(played(tmp_path / "run", silent), Cast(silent), None) is None
