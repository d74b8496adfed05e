"""`hanse replay`: what if it had not happened?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.runs import Run
from tests.actors.alarmed import ORIGIN, alarmed, alarmist, played


@pytest.fixture(scope="module", autouse=True)
def monitors_that_say_what_they_are_told() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.watchers.make_monitor", alarmist)
        yield


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("template") / "run", alarmed()).folder


@pytest.fixture
def run(template: Path) -> Path:
    return Path(shutil.copytree(template, "runs/rumour"))


def test_a_replay_is_compared_with_its_run(hanse, run):
    outcome = hanse("replay", "rumour", "--from", 2, "--mute", ORIGIN)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == f"without: {ORIGIN} says nothing from day 2 00:00 on"
    assert lines[1] == "they part on day 2:"
    [beliefs] = [line.split() for line in lines if line.startswith("hours of wrong beliefs")]
    assert int(beliefs[4]) > 0
    assert beliefs[5] == "0"
    place = next(n for n, line in enumerate(lines) if line.startswith("messages withheld"))
    assert lines[place + 1].split()[:2] == ["by", "--mute,"], "nobody else withholds any"
    assert lines[-1] == "replay runs/rumour-replay-001"
    assert "hanse trace runs/rumour diff runs/rumour-replay-001" in outcome.err


def test_progress_counts_the_run_s_days_and_can_be_left_out(hanse, run):
    shown = hanse("replay", "rumour", "--from", 2, "--mute", ORIGIN).err.splitlines()
    assert [line.split(")")[0] for line in shown[:3]] == [
        "day 2 (3 of 5",
        "day 3 (4 of 5",
        "day 4 (5 of 5",
    ]
    quiet = hanse("replay", "rumour", "--from", 2, "--mute", ORIGIN, "--quiet").err.splitlines()
    assert [line.split()[0] for line in quiet] == ["more:"]


def test_json_has_all_of_it(hanse, run):
    document = hanse(
        "replay", "rumour", "--from", 2, "--mute", ORIGIN, "--out", "other", "--json"
    ).document
    assert document["changed"] == [{"kind": "mute", "agent": ORIGIN, "begin": 2880}]
    assert (document["run"], document["replay"]) == ("runs/rumour", "other")
    assert (document["from"], document["last_day"], document["parting"]["day"]) == (2, 4, 2)
    assert document["harm"]["wrong_hours"]["replay"] == 0
    income = {firm.firm: firm.net_income for firm in Run("other").result.firms}
    assert {f: pair["replay"] for f, pair in document["net_income"].items() if f != "all"} == income
    assert document["net_income"]["all"]["replay"] == pytest.approx(sum(income.values()))


def test_a_cut_that_cuts_nothing_leaves_the_run_as_it_is(hanse, run):
    outcome = hanse("replay", "rumour", "--from", 3, "--cut", "board:forecaster", "--days", 1)
    assert outcome.out.splitlines() == [
        "without: board says nothing to forecaster from day 3 00:00 on",
        "nothing differs: days 3 to 3 are the same to the byte",
        "replay runs/rumour-replay-001",
    ]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "there is nothing to change; say what is not to happen: --mute AGENT, --cut A:B"),
        (("--mute", "farmer"), "--mute: 'farmer' is not a known agent (did you mean 'farmer_"),
        (("--cut", "farmer_1"), "--cut farmer_1: name two agents: who says nothing, and to whom"),
        (("--drop", "farmer_1"), "--drop farmer_1: is not the id of a message; allowed: agent#"),
        (("--drop", "farmer_1#1"), "--drop farmer_1#1: was sent on day 0, before the replay"),
        (("--drop", "farmer_1#99999"), "--drop farmer_1#99999: there is no such message in the"),
        (("--mute", ORIGIN, "--from", 9), "runs/rumour: day 9 cannot be played again: it has"),
    ],
)
def test_what_cannot_be_replayed_is_one_line_and_leaves_no_folder(hanse, run, options, line):
    refusal = hanse("replay", "rumour", "--from", 2, *options).refusal
    assert refusal.startswith(f"hanse: {line}")
    assert [folder.name for folder in Path("runs").iterdir()] == ["rumour"]


def test_a_day_whose_checkpoint_is_gone_is_named(hanse, run, monkeypatch):
    monkeypatch.setattr("services.runs.run.Run.checkpoint", lambda self, day=None: None)
    refusal = hanse("replay", "rumour", "--from", 2, "--mute", ORIGIN).refusal
    assert "there is no checkpoint of day 1" in refusal


def test_ctrl_c_leaves_a_replay_that_can_be_resumed(hanse, run, monkeypatch):
    def stop(self, done):
        raise KeyboardInterrupt

    monkeypatch.setattr("services.cli.progress.RunDisplay.__call__", stop)
    outcome = hanse("replay", "rumour", "--from", 2, "--mute", ORIGIN)
    assert outcome.code == 130
    assert outcome.err.endswith("continue with: hanse resume runs/rumour-replay-001\n")
    assert Run("runs/rumour-replay-001").state == "resumable"
