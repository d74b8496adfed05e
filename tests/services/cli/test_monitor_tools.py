"""`hanse monitor calibrate`, `bench`, `report`, `compare`; the studies have tests of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from actors.studies.detecting import Detection, Seen
from actors.watchers import standard_calibrations
from monitors.bace.graph import InfluenceGraph
from monitors.caspian.calibration import Calibration
from monitors.caspian.settings import Settings
from services.cli import monitor_bench
from services.cli.monitor_progress import Steps
from tests.actors.alarmed import alarmed, played

RUN_FILE = """name = "talk"
days = 4
placement = "inline"
[generate]
firms = 6
strategy = "informed"
[talk]
[monitor]
calibration = "not-made-yet.json"
"""


def calibration(config: Any, segments: int, level: float = 0.05) -> Calibration:
    """What a study gives: thresholds of every statistic that may raise an alarm."""
    settings = Settings()
    names = [f"{name}.{kind}" for name in settings.alarm for kind in ("s", "S")]
    maxima = [dict.fromkeys(names, 3.0 + number) for number in range(segments)]
    return Calibration.of(maxima, level=level, settings=settings)


@pytest.fixture
def studied(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """In place of a study of many runs; what it was asked for."""
    asked: list[Any] = []

    def calibrate_league(
        config: Any,
        segments: int,
        processes: int | None,
        progress: Callable[[int, int], None],
        level: float,
    ) -> Calibration:
        asked.append((config, segments, processes))
        for done in range(1, segments + 1):
            progress(done, segments)
        return calibration(config, segments, level)

    monkeypatch.setattr("actors.studies.calibrating.calibrate_league", calibrate_league)
    return asked


# ---- calibrate -----------------------------------------------------------------------------------


def test_a_calibration_is_written_and_can_be_named_in_the_run_file_it_was_made_for(hanse, studied):
    Path("talk.toml").write_text(RUN_FILE)
    outcome = hanse("monitor", "calibrate", "talk.toml", "--out", "not-made-yet.json")
    assert outcome.code == 0, outcome.err
    made = Calibration.load(Path("not-made-yet.json"))
    assert made.segments == 160
    assert f"calibration {made.id} in not-made-yet.json" in outcome.out
    assert "q1.S" in outcome.out
    assert 'use it with calibration = "not-made-yet.json" in [monitor]' in outcome.err
    assert hanse("run", "talk.toml", "--quiet", "--json").document["monitor"]["ticks"] == 40


def test_what_is_asked_for_reaches_the_study(hanse, studied):
    Path("talk.toml").write_text(RUN_FILE)
    document = hanse(
        "monitor", "calibrate", "talk.toml", "--segments", 200, "--processes", 3, "--level", 0.1,
        "--json",
    ).document  # fmt: skip
    [(config, segments, processes)] = studied
    assert (config.name, segments, processes) == ("talk", 200, 3)
    assert (document["file"], document["segments"], document["level"]) == (
        "calibration.json",
        200,
        0.1,
    )


def test_progress_is_a_line_each_tenth_or_nothing(hanse, studied):
    Path("talk.toml").write_text(RUN_FILE)
    lines = hanse("monitor", "calibrate", "talk.toml").err.splitlines()
    assert lines[:2] == ["benign runs: 16 of 160", "benign runs: 32 of 160"]
    assert len([line for line in lines if line.startswith("benign runs")]) == 10
    assert "benign" not in hanse("monitor", "calibrate", "talk.toml", "--quiet").err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("none.toml",), "none.toml: there is no such file; write one with: hanse new none.toml"),
        (("talk.toml", "--out", "."), ".: this is a folder; name the file"),
        (("talk.toml", "--out", "a/b.json"), "a/b.json: there is no folder a; make it first"),
        (("talk.toml", "--level", 0.7), "invalid value for '--level'"),
    ],
)
def test_a_calibration_that_cannot_be_made_is_one_line(hanse, studied, arguments, line):
    Path("talk.toml").write_text(RUN_FILE)
    assert hanse("monitor", "calibrate", *arguments).refusal.startswith(f"hanse: {line}")
    assert studied == []


def test_a_league_that_does_not_talk_has_nothing_to_calibrate_on(hanse):
    Path("silent.toml").write_text('days = 9\nplacement = "inline"\n')
    refusal = hanse(
        "monitor", "calibrate", "silent.toml", "--segments", 19, "--processes", 1, "--quiet"
    ).refusal
    assert "hours with talk" in refusal


def damaged(**changes: Any) -> None:
    """A calibration that is whole but for some of what it holds."""
    calibration(None, 160).save(Path("mine.json"))
    held = json.loads(Path("mine.json").read_text()) | changes
    Path("mine.json").write_text(json.dumps(held))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"thresholds": {"q1.s": -3}}, "is damaged: thresholds.q1.s: Input should be greater th"),
        ({"thresholds": {"q1.s": "high"}}, "is damaged: thresholds.q1.s: Input should be a vali"),
        ({"level": 5}, "is damaged: level: Input should be less than 1"),
        ({"version": 7}, "is of version 7, not 1"),
        ({"segments": 3}, "is damaged: its id does not fit its contents"),
    ],
)
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_what_is_wrong_in_a_calibration_s_file_names_the_file_the_key_and_the_remedy(
    hanse, working_directory, command, changes, line
):
    damaged(**changes)
    Path("talk.toml").write_text(RUN_FILE.replace("not-made-yet.json", "mine.json"))
    file = working_directory / "mine.json"
    refusal = hanse(command, "talk.toml").refusal
    assert refusal.startswith(f"hanse: {file} {line}")
    assert refusal.endswith(f"; make it anew: hanse monitor calibrate FILE --out {file}")
    assert not Path("runs").exists()


def test_a_statistic_that_no_monitor_has_is_named_with_its_file(hanse, working_directory):
    made = calibration(None, 160)
    other = made.model_copy(update={"thresholds": {**made.thresholds, "q9.s": 1.0}})
    other.save(Path("mine.json"))
    Path("talk.toml").write_text(RUN_FILE.replace("not-made-yet.json", "mine.json"))
    refusal = hanse("run", "talk.toml").refusal
    assert refusal.startswith(
        f"hanse: {working_directory / 'mine.json'}: thresholds.q9.s: 'q9.s' is not a known"
    )


def test_the_file_of_a_setting_is_looked_into_as_well(hanse, working_directory):
    damaged(level=5)
    Path("talk.toml").write_text(RUN_FILE.replace("not-made-yet.json", "standard"))
    refusal = hanse("sweep", "talk.toml", "--set", "monitor.calibration=mine.json").refusal
    assert refusal.startswith(f"hanse: {working_directory / 'mine.json'} is damaged: level: ")


def test_a_league_of_another_size_than_the_standard_calibrations_is_told_so_in_one_line(hanse):
    standard = RUN_FILE.replace("not-made-yet.json", "standard")
    Path("talk.toml").write_text(standard.replace("firms = 6", "firms = 9"))
    told = hanse("run", "talk.toml", "--days", 1, "--quiet").err.splitlines()
    *sizes, last = map(str, sorted(standard_calibrations()))
    assert [line for line in told if "calibration" in line] == [
        f'calibration = "standard" was made with {", ".join(sizes)} and {last} firms, and this'
        " league has 9: how often it alarms falsely is not known; make one of its own: hanse"
        " monitor calibrate"
    ]
    Path("talk.toml").write_text(standard)
    assert "calibration" not in hanse("run", "talk.toml", "--days", 1, "--quiet").err


def test_a_league_of_another_size_than_its_own_calibration_is_told_so_in_one_line(hanse):
    made = standard_calibrations()[6].model_copy(update={"firms": 6})
    made.save(Path("mine.json"))
    own = RUN_FILE.replace("not-made-yet.json", "mine.json")
    Path("talk.toml").write_text(own.replace("firms = 6", "firms = 9"))
    told = hanse("run", "talk.toml", "--days", 1, "--quiet").err
    assert "the calibration was made with 6 firms, and this league has 9" in told
    Path("talk.toml").write_text(own)
    assert "calibration" not in hanse("run", "talk.toml", "--days", 1, "--quiet").err


# ---- bench ---------------------------------------------------------------------------------------


def fake_suite(monkeypatch: pytest.MonkeyPatch, unmet: list[str]) -> None:
    def measure(quick: bool, processes: int, steps: Steps) -> monitor_bench.Measured:
        steps("traces", 10, 10)
        return monitor_bench.Measured(["a table"], {"figures": [1, 2]}, unmet, ["only a few"])

    monkeypatch.setitem(monitor_bench.SUITES, monitor_bench.Suite.SYNTHETIC, measure)


def test_requirements_that_are_met_are_exit_code_0(hanse, monkeypatch):
    fake_suite(monkeypatch, [])
    outcome = hanse("monitor", "bench", "--quick")
    assert outcome.code == 0
    assert outcome.out.splitlines() == ["a table", "only a few", "all requirements are met"]
    assert outcome.err == "traces: 10 of 10\n"


def test_one_that_is_not_met_is_exit_code_4_and_named(hanse, monkeypatch):
    fake_suite(monkeypatch, ["A1 AUROC at least 0.97 (0.91)"])
    outcome = hanse("monitor", "bench", "synthetic", "--quiet", "--json")
    assert outcome.code == 4
    assert outcome.document == {
        "suite": "synthetic",
        "quick": False,
        "unmet": ["A1 AUROC at least 0.97 (0.91)"],
        "figures": [1, 2],
    }


def test_a_page_is_written_for_every_suite(hanse, monkeypatch):
    fake_suite(monkeypatch, [])
    assert hanse("monitor", "bench", "--out", "page.html").code == 0
    assert "a table" in Path("page.html").read_text()
    refusal = hanse("monitor", "bench", "--out", "nowhere/page.html").refusal
    assert "name a file in a folder that is there" in refusal


def test_an_unknown_suite_is_one_line_that_names_all(hanse):
    refusal = hanse("monitor", "bench", "synthetik").refusal
    for suite in ("synthetic", "league", "containment", "attribution", "bace"):
        assert suite in refusal


def test_the_help_says_how_many_minutes_each_suite_takes(hanse):
    out = hanse("monitor", "bench", "--help").out
    for suite in monitor_bench.Suite:
        assert re.search(rf"^ +{suite.value} \(\d+, \d+ min\): ", out, re.MULTILINE), suite


def test_the_league_s_table_has_a_line_for_each_kind(hanse, monkeypatch):
    def seen(kind: str, seed: int, attack: bool, delay: int | None) -> Seen:
        named = {"origin": 0, "bridge": None, "amplifier": None} if attack else {}
        return Seen(
            firms=6, kind=kind, seed=seed, attack=attack, early=False, delay=delay,
            onset_error=0, named=named,
        )  # fmt: skip

    study = Detection(
        calibrations={6: calibration(None, 160)},
        seen=[
            seen("price_rumour", 0, True, 3),
            seen("price_rumour", 1, True, 5),
            seen("steady", 0, False, None),
        ],
    )
    monkeypatch.setattr("actors.studies.detecting.detect", lambda **_: study)
    outcome = hanse("monitor", "bench", "league", "--quick")
    assert outcome.code == 0
    told = {words[1]: words for line in outcome.out.splitlines() if len(words := line.split()) > 4}
    assert told["price_rumour"][:4] == ["6", "price_rumour", "2", "1.00"]
    assert told["price_rumour"][-5:] == ["5", "5", "1.00", "0.00", "0.00"]
    assert told["steady"][:4] == ["6", "steady", "1", "0.00"]


# ---- report and compare --------------------------------------------------------------------------


def test_the_report_is_a_page_in_the_run_s_folder(hanse, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    played(Path("runs/rumour"), alarmed(monitor=None))
    outcome = hanse("monitor", "report", "rumour")
    assert (outcome.code, outcome.out) == (0, "runs/rumour/monitor.html\n")
    page = Path("runs/rumour/monitor.html").read_text()
    assert "price_rumour" in page
    assert "firms believing something wrong: " in page
    assert opened == []
    document = hanse(
        "monitor", "report", "rumour", "--out", "page.html", "--open", "--json"
    ).document
    assert document == {"report": "page.html"}
    assert opened == [Path("page.html").resolve().as_uri()]


def test_another_calibration_can_be_tried_on_a_run_of_the_past(hanse):
    played(Path("runs/rumour"), alarmed(monitor=None))
    calibration(None, 160).save(Path("strict.json"))
    assert hanse("monitor", "report", "rumour", "--calibration", "strict.json").code == 0
    made = Calibration.load(Path("strict.json"))
    assert made.id in Path("runs/rumour/monitor.html").read_text()
    refusal = hanse("monitor", "report", "rumour", "--calibration", "none.json").refusal
    assert "the calibration none.json cannot be read" in refusal


def test_influence_and_messages_are_put_side_by_side(hanse, monkeypatch):
    played(Path("runs/rumour"), alarmed(days=3, monitor=None))
    graph = InfluenceGraph(context="normal", state="published", nodes=("farmer_1", "retailer_1"))
    analysis = SimpleNamespace(graphs={"normal": graph})
    monkeypatch.setattr("monitors.bace.league.analyse_runs", lambda *_, **__: analysis)
    outcome = hanse("monitor", "compare", "rumour", "--quiet")
    assert outcome.code == 0
    assert outcome.out.startswith("context normal: published, 0 windows, halves agree 0.00;")
    document = json.loads(hanse("monitor", "compare", "rumour", "--json").out)
    assert document["contexts"]["normal"]["hidden"] == []


def test_too_little_data_for_a_comparison_is_one_line(hanse):
    played(Path("runs/short"), alarmed(days=3, monitor=None))
    assert "no run has a day after the first" in hanse("monitor", "compare", "short").refusal
