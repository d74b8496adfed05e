"""CASPIAN in a league: it raises alerts, is answered, and says the same on any layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from actors.studies.leagues import ONSET, talking_league
from actors.watchers import CaspianMonitor, calibration_of, graph_of, standard_calibrations
from monitors.caspian import Calibration
from services.config import MonitorConfig, RunConfig
from services.errors import HanseError
from services.runs import Run, RunResult
from services.telemetry.reader import TraceReader
from services.telemetry.spans import derive


def attacked(**monitor: Any) -> RunConfig:
    """Six firms, a rumour, and somebody who hears of it."""
    watch = {"calibration": "standard", **monitor}
    return talking_league(6, 8, "price_rumour", days=10, monitor=watch, containment={})


def played(config: RunConfig, folder: Path, hosts: int | None = None) -> RunResult:
    with League.create(config, folder, hosts=hosts) as league:
        return league.run()


def bodies(run: Run, kind: str) -> list[tuple[int, dict[str, Any]]]:
    return [(row[0], json.loads(row[7])) for row in run.rows("events", f"kind = '{kind}'")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("watchers") / "run"
    played(attacked(), folder)
    return Run(folder)


def test_every_hour_with_talk_has_its_signals(run: Run) -> None:
    ticks = [body["tick"] for _, body in bodies(run, "signals")]
    assert len(ticks) == 100
    assert ticks == sorted(set(ticks))


def test_an_attack_raises_an_alert_after_its_onset(run: Run) -> None:
    [(minute, alert), *_] = bodies(run, "alert")
    assert ONSET < minute < ONSET + 1440
    assert alert["origin"]["suspects"], "somebody is suspected at once"


def test_an_alert_is_a_message_to_the_containment_controller_an_hour_before_it_is_read(
    run: Run,
) -> None:
    alerts = list(run.rows("messages", "type = 'cascade_alert'"))
    assert {(row[2], row[4]) for row in alerts} == {("caspian", "containment")}
    first = min(row[0] for row in run.rows("messages", "sender = 'containment'"))
    assert first == alerts[0][0] + 60


def test_its_measures_are_in_force_and_its_advisory_ends_the_cascade(run: Run) -> None:
    assert bodies(run, "measure") and bodies(run, "withheld")
    advised = next(iter(run.rows("messages", "type = 'advisory'")))[0]
    wrong = [m for m, b in bodies(run, "belief") if m > advised and abs(b["factor"] - 1) > 0.25]
    before = [m for m, b in bodies(run, "belief") if m <= advised and abs(b["factor"] - 1) > 0.25]
    assert len(before) >= 3
    assert len(wrong) <= len(before) / 3


def test_an_alert_is_a_span_that_is_exported_whatever_is_sampled(run: Run) -> None:
    day = ONSET // 1440
    reader = TraceReader(run)
    spans = [span for span in derive(reader, day) if span.agent == "caspian"]
    assert any(span.name.startswith("alert ") for span in spans)


@pytest.mark.parametrize("hosts", [2, 3])
def test_the_log_is_the_same_on_any_number_of_hosts(run: Run, tmp_path: Path, hosts: int) -> None:
    assert run.result is not None
    assert played(attacked(), tmp_path / "run", hosts).log_sha256 == run.result.log_sha256


def test_the_log_is_the_same_for_any_number_of_shards(run: Run, tmp_path: Path) -> None:
    assert run.result is not None
    assert played(attacked(shards=3), tmp_path / "run").log_sha256 == run.result.log_sha256


@pytest.mark.parametrize("day", [2, 8])
def test_the_log_is_the_same_after_a_resume(run: Run, tmp_path: Path, day: int) -> None:
    with League.create(attacked(), tmp_path / "run") as league:
        league.run(until_day=day)
    with League.resume(tmp_path / "run") as league:
        assert run.result is not None
        assert league.run().log_sha256 == run.result.log_sha256


def test_without_a_calibration_there_are_signals_but_no_alert(tmp_path: Path) -> None:
    played(attacked(calibration=None), tmp_path / "run")
    watched = Run(tmp_path / "run")
    assert bodies(watched, "signals") and not bodies(watched, "alert")


def test_too_much_talk_is_sampled_and_says_so(tmp_path: Path) -> None:
    config = talking_league(6, 3, days=2, monitor={"max_events": 10})
    played(config, tmp_path / "run")
    signals = [body for _, body in bodies(Run(tmp_path / "run"), "signals")]
    assert any(body.get("sampled", 1) < 1 and "sampled" in body["flags"] for body in signals)


def test_the_standard_calibration_of_the_next_size_is_taken() -> None:
    known = standard_calibrations()
    config = MonitorConfig(calibration="standard")
    assert calibration_of(config, 7, "test") == known[6]
    assert calibration_of(config, 23, "test") == known[24]


def test_a_calibration_of_other_settings_is_refused_by_its_key(tmp_path: Path) -> None:
    held = standard_calibrations()[6]
    other = Calibration.model_validate({**held.model_dump(), "settings": "0" * 16})
    contents = {"id": other.id, **other.model_dump(mode="json")}
    with pytest.raises(HanseError, match=r"monitor\.calibration: .*calibrate anew"):
        League.create(attacked(calibration=contents), tmp_path / "run")


def test_a_calibration_of_other_ticks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=r"monitor\.tick_minutes: 120, but .* 60 minutes"):
        League.create(attacked(tick_minutes=120), tmp_path / "run")
    assert not (tmp_path / "run").exists(), "it is said before a folder is made"


def test_the_monitor_saves_what_it_needs_to_go_on() -> None:
    config = attacked()
    assert config.monitor is not None
    from actors.cast import Cast

    graph = graph_of(Cast(config))
    monitor = CaspianMonitor("caspian", graph, config.monitor, None)
    other = CaspianMonitor("caspian", graph, config.monitor, None)
    other.load(monitor.save())
    assert other.save() == monitor.save()
