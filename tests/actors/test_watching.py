"""Monitors see all that is said, a tick late, and change nothing by being slow or wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from services.runs import Run, RunResult
from tests.actors.ray_session import ray_session
from tests.actors.watched import GOSSIPS, Watched, watched

__all__ = ["ray_session"]


def played(folder: Path, hosts: int | None = None, **changes: Any) -> RunResult:
    with League.create(watched(**changes), folder, hosts=hosts, cast=Watched) as league:
        return league.run()


def facts(run: Run, kind: str) -> list[tuple[int, dict[str, Any]]]:
    """(minute, body) of the events of a kind."""
    return [(row[0], json.loads(row[7])) for row in run.rows("events", f"kind = '{kind}'")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("watched") / "run"
    played(folder)
    return Run(folder)


def test_a_monitor_is_shown_every_message_once_but_for_those_of_the_unwatched(run: Run) -> None:
    shown = [m for _, body in facts(run, "told") for m in body["of"]]
    said = [
        f"{row[2]}#{row[3]}"
        for row in run.rows("messages", "sender IN (?, ?, ?)", GOSSIPS)
        if row[4] in GOSSIPS and row[0] // 60 != 34  # of which it could not tell
    ]
    assert sorted(shown) == sorted(said)
    assert len(said) > 150


def test_what_it_says_of_a_tick_is_delivered_at_the_turn_of_the_next(run: Run) -> None:
    told = {body["tick"]: minute for minute, body in facts(run, "told")}
    assert told[9] == 660, "said at ten, when nine o'clock's hour was over; delivered at eleven"


def test_all_that_it_has_to_say_about_a_day_is_delivered_before_the_day_ends(run: Run) -> None:
    told = {body["tick"]: minute for minute, body in facts(run, "told")}
    assert told[18] == 1215, "the exchange sleeps: the first who speaks at eight brings it"
    assert told[19] == told[20] == 1439
    assert [tick for tick in told if tick < 24] == list(range(9, 21))


def test_a_monitor_that_fails_costs_what_it_had_to_say_and_nothing_else(run: Run) -> None:
    [(minute, body)] = facts(run, "agent_error")
    assert (minute, body["agent"], body["error"]) == (2100, "counter", "RuntimeError")
    assert run.state == "finished"


def test_a_measure_is_in_force_from_the_next_round_on_and_until_its_end(run: Run) -> None:
    [(laid, _)] = facts(run, "measure")
    withheld = [minute for minute, _ in facts(run, "withheld")]
    assert laid == 2100, "the hour of nine on day 1 is tick 33"
    assert withheld == [2115, 2145, 2175, 2205]
    assert [body["how"] for _, body in facts(run, "measure_over")] == ["ended"]


def test_what_was_withheld_was_not_sent(run: Run) -> None:
    said = {row[0] for row in run.rows("messages", "sender = 'bob' AND type = 'text'")}
    assert not said & {2115, 2145, 2175, 2205}
    assert {2085, 2235} <= said


@pytest.mark.parametrize("hosts", [2, 3])
def test_the_log_is_the_same_on_any_number_of_hosts(run: Run, tmp_path: Path, hosts: int) -> None:
    assert run.result is not None
    assert played(tmp_path / "run", hosts=hosts).log_sha256 == run.result.log_sha256


@pytest.mark.parametrize("day", [0, 1])
def test_the_log_is_the_same_after_a_resume(run: Run, tmp_path: Path, day: int) -> None:
    with League.create(watched(), tmp_path / "run", cast=Watched) as league:
        league.run(until_day=day)
    with League.resume(tmp_path / "run", cast=Watched) as league:
        assert run.result is not None
        assert league.run().log_sha256 == run.result.log_sha256


@pytest.mark.parametrize("placement", ["one", "packed"])
def test_the_log_is_the_same_on_ray(
    ray_session: None, run: Run, tmp_path: Path, placement: str
) -> None:
    assert run.result is not None
    assert played(tmp_path / "run", placement=placement).log_sha256 == run.result.log_sha256


def test_the_economy_does_not_notice_that_it_is_watched(run: Run, tmp_path: Path) -> None:
    played(tmp_path / "run", monitor=None)
    unwatched = Run(tmp_path / "run").result
    assert unwatched is not None and run.result is not None
    assert [f.net_income for f in unwatched.firms] == [f.net_income for f in run.result.firms]
