"""`hanse monitor`: following what monitors see, and checking whom they suspect."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.league import League
from services.cli.monitor_account import Account
from services.cli.monitor_watch import follow
from services.cli.monitor_words import Noted, bar
from services.runs import Run
from tests.actors.alarmed import ORIGIN, OTHERS, alarmed, alarmist, played

ALERT = "day 2 15:00  ALERT cascade-1: an abrupt cascade since about day 2 12:00, score 1.50"
SUSPECTS = f"origin {OTHERS[0]} so far (or {ORIGIN}), bridge not known yet, amplifier"


@pytest.fixture(scope="module", autouse=True)
def monitors_that_say_what_they_are_told() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.watchers.make_monitor", alarmist)
        yield


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("template") / "run", alarmed(containment={})).folder


@pytest.fixture
def run(template: Path) -> Path:
    return Path(shutil.copytree(template, "runs/rumour"))


def run_file(**changes: str) -> None:
    tables = {
        "head": 'name = "rumour"\ndays = 4\nplacement = "inline"',
        "generate": '[generate]\nfirms = 6\nstrategy = "informed"\n[talk]',
        "monitor": "[monitor]",
        "containment": "[containment]\nhours = 6",
    }
    Path("rumour.toml").write_text("\n".join((tables | changes).values()))


# ---- watch ---------------------------------------------------------------------------------------


def test_each_tick_is_a_bar_and_each_alert_is_told_with_its_suspects(hanse, run):
    outcome = hanse("monitor", "watch", "rumour")
    lines = outcome.out.splitlines()
    assert any(line.startswith("day 0 09:00  ██··········") for line in lines)
    place = lines.index(ALERT)
    assert lines[place + 1].startswith(f"  suspects: {SUSPECTS}")
    assert any(
        line.startswith(f"day 2 10:00  injected: price_rumour at {ORIGIN}") for line in lines
    )
    assert any(f"{OTHERS[0]} may say nothing to others until day 9 1" in line for line in lines)
    assert any(line.startswith("day 2  withheld: ") for line in lines)


def test_an_alert_is_exit_code_3_and_none_is_0(hanse, run):
    assert hanse("monitor", "watch", "rumour", "--brief").code == 3
    played(Path("runs/calm"), alarmed(days=1, injections=[]))
    outcome = hanse("monitor", "watch", "calm", "--brief")
    assert (outcome.code, outcome.out) == (0, "no alert in 10 ticks\n")


def test_brief_leaves_the_scores_out(hanse, run):
    out = hanse("monitor", "watch", "rumour", "--brief").out
    assert "█" not in out
    assert ALERT in out


def test_json_is_one_document_at_the_end(hanse, run):
    outcome = hanse("monitor", "watch", "rumour", "--json")
    document = outcome.document
    assert outcome.code == 3
    assert (document["state"], document["ticks"]) == ("finished", 50)
    [alert] = document["alerts"]
    assert (alert["id"], alert["origin"]["state"]) == ("cascade-1", "final"), "as revised last"
    assert {one["agent"] for one in document["measures"]} == {*OTHERS, ORIGIN}
    assert set(document["withheld"]) <= {*OTHERS, ORIGIN}


def test_a_run_that_goes_on_is_followed_day_by_day_to_its_end():
    told: list[tuple[int, str]] = []
    with League.create(alarmed(days=3), Path("live")) as league:
        days = iter(range(3))

        def play_a_day() -> None:
            league.run(until_day=next(days))
            if league.store.day == 2:
                league.close()

        account = Account(60)
        assert Run("live").state == "running"
        for line in follow(Run("live"), account, play_a_day):
            told.append((Run("live").day or 0, line.text))
    assert account.ticks == 30
    for day in range(3):
        hours = [text for now, text in told if text.startswith(f"day {day} ") and now == day]
        assert len(hours) >= 10, "each day was told before the next was played"
    assert Run("live").state == "finished"


def test_a_run_that_nobody_plays_is_not_waited_for(hanse):
    with League.create(alarmed(), Path("runs/half")) as league:
        league.run(until_day=1)
    outcome = hanse("monitor", "watch", "half", "--brief")
    assert outcome.code == 0
    assert "nobody plays this run at the moment; go on with: hanse resume runs/half" in outcome.err


def test_a_run_without_a_monitor_is_refused(hanse):
    played(Path("runs/blind"), alarmed(days=1, injections=[], monitor=None))
    refusal = hanse("monitor", "watch", "blind").refusal
    assert "nobody watches this run; put a table [monitor] into its run file" in refusal


@pytest.mark.parametrize(
    ("score", "cells", "beyond"),
    [(None, 0, 0), (0.0, 0, 0), (0.5, 10, 0), (1, 20, 0), (9.0, 20, 10)],
)
def test_a_bar_is_full_at_the_threshold_and_goes_on_beyond_it(score, cells, beyond):
    inside, outside = bar(score).split("│")
    assert (inside.count("█"), len(inside)) == (cells, 20)
    assert (outside.count("█"), len(outside)) == (beyond, 10)


def test_an_alert_of_a_monitor_of_one_s_own_is_told_without_its_words():
    events = [
        Noted(600, "mine", "signals", {"tick": 9}),
        Noted(660, "mine", "alert", {"worry": 3}),
        Noted(670, "mine", "measure", {}),
    ]
    account = Account(60)
    lines = [line.text for line in account.day(events)]
    assert lines[1] == "day 0 11:00  alert of mine"
    assert account.summary() == "1 alert in 1 tick; 1 measure, 1 of them standing"


def test_a_measure_that_ends_in_its_time_has_ended_and_only_an_operator_s_is_lifted():
    taken = {"measure": "quarantine-1", "kind": "quarantine", "until": 900}
    over = {"measure": "quarantine-1", "how": "lifted"}
    for minute, said in ((840, "has been lifted"), (900, "has ended")):
        events = [
            Noted(600, "farmer_1", "measure", taken),
            Noted(minute, "farmer_1", "measure_over", over),
        ]
        assert [line.text for line in Account(60).day(events)][1].endswith(f" {said}")


def test_without_a_calibration_the_summary_says_that_no_alert_is_possible():
    account = Account(60)
    list(account.day([Noted(600, "caspian", "signals", {"tick": 9, "events": 4})]))
    assert account.summary() == "no alert possible: 1 tick watched, but without a calibration"


def test_advice_is_part_of_the_summary():
    account = Account(60)
    told = {"to": 30, "since": 0, "until": 900, "reason": "cascade-1"}
    alert = Noted(600, "mine", "alert", {"id": "a"})
    list(account.day([alert, Noted(660, "containment", "advised", told)]))
    assert account.summary() == "1 alert in 0 ticks; all 30 advised"
    assert account.document()["advised"] == 30


# ---- run -----------------------------------------------------------------------------------------


def test_a_run_tells_its_alerts_at_the_end_of_their_day_and_again_at_its_end(hanse):
    run_file()
    outcome = hanse("run", "rumour.toml")
    progress = outcome.err.splitlines()
    assert progress.index(ALERT) > next(
        place for place, line in enumerate(progress) if line.startswith("day 2 (3 of 4)")
    )
    [over] = [line for line in progress if "  quarantine-1 on " in line]
    assert over.endswith(" has ended"), "its six hours are over; nobody has lifted it"
    summary = outcome.out.splitlines()
    assert any(line.startswith("monitor: 1 alert in 40 ticks; 3 measures, ") for line in summary)
    assert any(line.startswith("cascade-1: an abrupt cascade since about") for line in summary)
    assert any("hanse monitor verify runs/rumour-seed0-001" in line for line in summary)
    assert "firms believing something wrong: none of 6, at no time" in summary


def test_the_result_of_a_watched_run_has_the_alerts_as_json_too(hanse):
    run_file()
    document = hanse("run", "rumour.toml", "--json", "--quiet").document
    assert [alert["id"] for alert in document["monitor"]["alerts"]] == ["cascade-1"]
    nobody = {"at_alert": 0, "most": 0, "at_end": 0}
    assert document["monitor"]["recovery"] == {"firms": 6, "wrong": nobody, "overloaded": nobody}
    run_file(monitor="", containment="")
    assert "monitor" not in hanse("run", "rumour.toml", "--json", "--quiet").document


# ---- verify --------------------------------------------------------------------------------------


def test_the_suspect_without_whom_the_harm_vanishes_comes_first(hanse, run):
    outcome = hanse("monitor", "verify", "rumour")
    assert outcome.code == 0
    assert outcome.err.splitlines()[:2] == [
        "replay 1 of 6: without any measure",
        f"replay 2 of 6: without {OTHERS[0]}",
    ]
    lines = outcome.out.splitlines()
    assert lines[0].startswith("cascade-1: an abrupt cascade since about day 2 12:00")
    [was] = [line for line in lines if line.startswith("as it was, with its measures: ")]
    hours = [int(line.split(" hours")[0].split()[-1].replace(",", "")) for line in (lines[2], was)]
    assert hours[1] < hours[0]
    [recovered] = [line for line in lines if line.startswith("firms believing something wrong: ")]
    assert " of 6 at the alert, " in recovered
    rows = [line.split() for line in lines if line.split()[:1] in ([ORIGIN], [OTHERS[0]])]
    assert rows[0][:4] == [ORIGIN, "origin", "0", "100.0%"]
    assert rows[1][0] == OTHERS[0]
    assert lines[-1] == f"it is {ORIGIN}'s doing: without it 100.0% of the harm vanishes"
    assert [folder.name for folder in Path("runs").iterdir()] == ["rumour"], "replays are not kept"


def test_suspects_who_have_not_done_it_are_exit_code_1(hanse, run):
    outcome = hanse(
        "monitor", "verify", "rumour", "--margin", 0, "--suspects", 1, "--sources", 0, "--quiet"
    )
    assert (outcome.code, outcome.err) == (1, "")
    assert "none of them accounts for half of the harm" in outcome.out
    fewer = ("--suspects", 1, "--sources", 0, "--days", 2)
    document = hanse("monitor", "verify", "rumour", *fewer, "--json").document
    assert [one["agent"] for one in document["tested"]] == [OTHERS[0]]
    assert (document["confirmed"], document["replayed"], document["last_day"]) == (False, True, 2)


def test_an_alert_that_is_not_there_is_one_line(hanse, run):
    refusal = hanse("monitor", "verify", "rumour", "--alert", "cascade-2").refusal
    assert "--alert: 'cascade-2' is not a known alert of runs/rumour" in refusal
    assert "allowed: cascade-1" in refusal


# ---- lift ----------------------------------------------------------------------------------------


@pytest.fixture
def restrained() -> Iterator[League]:
    """A run that goes on, after the day on which measures were taken."""
    with League.create(alarmed(containment={}), Path("runs/live")) as league:
        league.run(until_day=2)
        yield league


def test_a_measure_is_lifted_while_the_run_goes_on(hanse, restrained):
    outcome = hanse("monitor", "lift", "live", "quarantine-2")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "ordered: lift quarantine-2; the league takes it at its next hour\n"
    restrained.run()
    told = hanse("monitor", "watch", "live", "--brief").out.splitlines()
    said = "day 3 09:00  the operator says: lift quarantine-2"
    lifted = f"day 3 10:00  quarantine-2 on {ORIGIN} has been lifted"
    assert told.index(said) < told.index(lifted)
    assert len([line for line in told if line.endswith("has been lifted")]) == 1


def test_all_measures_can_be_lifted_and_json_names_the_order(hanse, restrained):
    document = hanse("monitor", "lift", "live", "all", "--json").document
    assert (document["run"], document["lift"]) == ("runs/live", "all")
    assert Path(document["order"]).exists()
    restrained.run(until_day=3)
    assert not Path(document["order"]).exists()
    assert hanse("monitor", "lift", "live", "quarantine-1").refusal == (
        "hanse: runs/live: quarantine-1 is over already"
    )


def test_an_order_for_a_run_that_nobody_plays_waits_for_it(hanse, restrained):
    restrained.close()
    outcome = hanse("monitor", "lift", "live", "all")
    assert outcome.code == 0
    assert "it is taken when the run goes on: hanse resume runs/live" in outcome.err
    hanse("resume", "live", "--quiet")
    assert "the operator says: lift all" in hanse("monitor", "watch", "live", "--brief").out


def test_lifting_all_where_nothing_stands_says_so_and_orders_nothing(hanse):
    with League.create(alarmed(containment={}), Path("runs/live")) as league:
        league.run(until_day=1)
        outcome = hanse("monitor", "lift", "live", "all")
        assert (outcome.code, outcome.out) == (0, "")
        assert (
            outcome.err == "no measure stands in runs/live (at the end of day 1): nothing to lift\n"
        )
        document = hanse("monitor", "lift", "live", "all", "--json").document
        assert document == {"run": "runs/live", "lift": "all", "order": None}
        assert not Path("runs/live/orders").exists()
        refusal = hanse("monitor", "lift", "live", "quarantine-1").refusal
        assert refusal.endswith(
            "'quarantine-1' is not a known measure; allowed: none (at the end of day 1)"
        )


def test_what_cannot_be_lifted_is_one_line(hanse, run, restrained):
    refusal = hanse("monitor", "lift", "live", "quarantine-9").refusal
    assert refusal.startswith(
        "hanse: runs/live: 'quarantine-9' is not a known measure (did you mean 'quarantine-"
    )
    assert refusal.endswith(
        "allowed: quarantine-1, quarantine-2, quarantine-3, all (at the end of day 2)"
    )
    refusal = hanse("monitor", "lift", "rumour", "all").refusal
    assert refusal.startswith("hanse: runs/rumour: this run is finished, nothing can be lifted")
    played(Path("runs/free"), alarmed(days=1, injections=[]))
    refusal = hanse("monitor", "lift", "free", "all").refusal
    assert refusal.endswith("nobody is restrained in this run: its run file has no [containment]")


def test_the_group_alone_shows_what_there_is(hanse):
    outcome = hanse("monitor")
    assert outcome.code == 0
    for command in ("watch", "verify", "lift", "report", "compare", "calibrate", "bench"):
        assert f" {command} " in outcome.out
    assert "[monitor]" in outcome.out
