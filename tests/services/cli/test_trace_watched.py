"""`hanse trace` of a league that is watched: why measures were taken, and all of it in prose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.orders import place
from actors.replaying import replay
from services.config import InterventionConfig
from services.runs import Run
from tests.actors.alarmed import ORIGIN, OTHERS, alarmed, alarmist, played

DAY = 24 * 60
SINCE = "an abrupt cascade since about day 2 12:00, score 1.50"
UNTIL = "until day 9 16:00"
_RAW = re.compile(r"measure measure|reason cascade|, until \d|\{\"")
"""What a row looks like that nobody has words for."""


@pytest.fixture(scope="module", autouse=True)
def monitors_that_say_what_they_are_told() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.watchers.make_monitor", alarmist)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("watched") / "run", alarmed(containment={})).folder


@pytest.fixture(scope="module")
def throttled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = alarmed(containment={"policy": "approval", "hours": 6, "advise": False})
    return played(tmp_path_factory.mktemp("approval") / "run", config).folder


@pytest.fixture
def ask(hanse: Any, folder: Path) -> Any:
    return lambda *words: hanse("trace", folder, *words)


def kept_back(folder: Path, condition: str = "1") -> dict[str, Any]:
    row = next(Run(folder).rows("events", f"kind = 'withheld' AND {condition}"))
    return {**json.loads(row[7]), "agent": row[6], "event": f"{row[2]}:{row[3]}"}


# ---- why -----------------------------------------------------------------------------------------


def test_why_of_a_withheld_message_names_the_measure_whose_order_and_the_alert(ask, folder):
    first = kept_back(folder, f"subject = '{ORIGIN}'")
    outcome = ask("why", first["message"])
    assert outcome.code == 0
    assert f"the measure: {ORIGIN} may say nothing to others {UNTIL} (quarantine-2," in outcome.out
    assert "whose order: containment's, on day 2 16:00, by the policy quarantine" in outcome.out
    assert f"for which alert: cascade-1: {SINCE}; raised by caspian on day 2 15:00" in outcome.out
    assert f"why {ORIGIN}: it is the second likeliest origin of cascade-1" in outcome.out
    steps = outcome.out[outcome.out.index("Why it was withheld") :]
    order = [
        "caspian raises cascade-1",
        "caspian tells containment of cascade-1",
        f"containment orders that {ORIGIN} may say nothing",
        "withheld by quarantine-2",
    ]
    places = [steps.index(step) for step in order]
    assert places == sorted(places)


def test_the_event_that_tells_of_it_has_the_same_answer(ask, folder):
    first = kept_back(folder)
    assert ask("why", first["event"]).out == ask("why", first["message"]).out


def test_what_it_would_have_answered_is_told_too(ask, folder):
    reply = kept_back(folder, "instr(body, 'status_reply') AND cause IS NOT NULL")
    out = ask("why", reply["message"]).out
    assert f"Why {reply['agent']} would have said it" in out


def test_why_of_a_measure_says_for_what_it_was_taken_and_what_it_withheld(ask, folder):
    run = Run(folder)
    outcome = ask("why", "quarantine-1")
    number = run.count("events", "kind = 'withheld' AND instr(body, '\"quarantine-1\"')")
    assert outcome.code == 0
    assert f"what it withheld: {number} messages from day 2 " in outcome.out
    assert "it stands at the end of the last whole day" in outcome.out
    assert f"why {OTHERS[0]}: it is the likeliest origin of cascade-1" in outcome.out
    assert "From listing to payment" not in outcome.out
    document = ask("why", "quarantine-1", "--json").document
    assert (document["id"], document["kind"]) == ("quarantine-1", "measure")
    assert len(document["order"]) == 8
    assert len(ask("why", "quarantine-1", "--all", "--json").document["order"]) == number


def test_why_of_an_alert_says_whom_it_suspects_and_what_was_done(ask):
    out = ask("why", "cascade-1").out
    assert f"who: origin {OTHERS[0]} (or {ORIGIN}), bridge not known yet" in out
    assert "why an alarm: q1.s 9.00 (threshold 6.00)" in out
    assert f"what was really done: injected: price_rumour at {ORIGIN}, an attack" in out
    assert "containment advises all 8 to doubt what they heard since day 2 09:00" in out
    assert f"{ORIGIN} may say nothing to others {UNTIL} (quarantine-2, for cascade-1)" in out


def test_an_alert_or_measure_that_is_not_there_is_one_line_that_names_those_that_are(ask, folder):
    refusal = ask("why", "cascade-7").refusal
    assert refusal == (
        f"hanse: {folder}: 'cascade-7' is not a known alert or measure (did you mean 'cascade-1'?);"
        " allowed: cascade-1, quarantine-1, quarantine-2, quarantine-3"
    )
    assert "is an agent; see: hanse trace RUN story" in ask("why", ORIGIN).refusal


def test_deals_and_messages_that_were_sent_are_explained_as_ever(ask, folder):
    assert "From listing to payment" in ask("why", "D1").out
    row = next(Run(folder).rows("messages", "type = 'market_note'", days=range(1, 2)))
    assert "How it came about" in ask("why", f"{row[2]}#{row[3]}").out


def test_a_measure_that_was_lifted_says_so_and_one_whose_time_was_over_has_ended(hanse, throttled):
    out = hanse("trace", throttled, "why", "approval-1").out
    assert "it has ended on day 2 2" in out or "it has ended on day 3" in out
    from actors.league import League

    with League.create(alarmed(containment={}), Path("lifted")) as league:
        league.run(until_day=2)
        place(Path("lifted"), "quarantine-1")
        league.run()
    out = hanse("trace", "lifted", "why", "quarantine-1").out
    assert "it has been lifted on day 3 10:00" in out
    assert "quarantine-1 on" in hanse("trace", "lifted", "why", "cascade-1").out
    assert (
        "operator says: lift quarantine-1"
        in hanse("trace", "lifted", "find", "--kind", "order").out
    )
    assert "operator asks containment to lift quarantine-1" in (
        hanse("trace", "lifted", "find", "--kind", "lift_request").out
    )
    lifted = hanse("trace", "lifted", "find", "--kind", "lift").out
    assert f"containment lifts quarantine-1 on {OTHERS[0]}" in lifted


def test_in_a_replay_what_it_withholds_is_no_measure(hanse, folder, tmp_path):
    mute = InterventionConfig(kind="mute", agent="retailer_1", begin=3 * DAY)
    again = replay(folder, 3, [mute], tmp_path / "replay", days=1).replay
    first = kept_back(again, "subject = 'retailer_1' AND minute >= 4320")
    out = hanse("trace", again, "why", first["message"]).out
    assert (
        "no measure: this run is a replay without retailer_1 says nothing from day 3 00:00 on"
        in out
    )
    assert "withheld by this replay (mute): retailer_1 " in out


# ---- prose ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("measure", f"{ORIGIN} may say nothing to others {UNTIL} (quarantine-2, for cascade-1)"),
        ("quarantine", f"containment orders that {ORIGIN} may say nothing to others {UNTIL} (qua"),
        ("advised", "containment advises all 8 to doubt what they heard since day 2 09:00, and wh"),
        ("advisory", "containment advises board to doubt what it heard since day 2 09:00, and wha"),
        ("alert", f"caspian raises cascade-1: {SINCE}; origin {OTHERS[0]} so far (or {ORIGIN})"),
        ("alert_revised", f"caspian revises cascade-1: origin {OTHERS[0]} (or {ORIGIN}), bridge"),
        ("cascade_alert", f"caspian tells containment of cascade-1: origin {OTHERS[0]} so far"),
        ("signals", "caspian scores 0.10 (an alarm begins at 1) over "),
        ("withheld", f"withheld by quarantine-2: {ORIGIN} writes to "),
    ],
)
def test_what_is_found_of_monitors_and_containment_reads_as_prose(ask, kind, line):
    out = ask("find", "--kind", kind, "--limit", "1000").out
    assert line in out
    assert not _RAW.search(out)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("require_approval", f"{OTHERS[0]} says nothing to others that has not been approved"),
        ("approval_request", f"{ORIGIN} may only say it if containment approves: {ORIGIN} writes"),
        ("verdict", "containment lets "),
        ("verdict", "containment does not let "),
        ("lift", f"containment ends approval-1 on {OTHERS[0]}, whose time is over"),
        ("measure_over", f"approval-1 on {OTHERS[0]} has ended"),
    ],
)
def test_what_is_found_of_approvals_reads_as_prose(hanse, throttled, kind, line):
    out = hanse("trace", throttled, "find", "--kind", kind, "--limit", "1000").out
    assert line in out
    assert not _RAW.search(out)


def test_a_story_and_its_json_tell_it_the_same_way(ask):
    out = ask("story", "containment", "--days", "2").out
    assert f"  16:00  orders that {ORIGIN} may say nothing to others {UNTIL}" in out
    assert not _RAW.search(out)
    document = ask("story", ORIGIN, "--days", "2", "--json").document
    told = [line["words"] for line in document["days"][0]["lines"]]
    assert any(line.startswith(f"containment advises {ORIGIN} to doubt") for line in told)
    assert any(line.startswith(f"withheld by quarantine-2: {ORIGIN} ") for line in told)


def test_why_of_an_order_has_prose_in_its_title_and_in_all_its_steps(ask, folder):
    row = next(Run(folder).rows("messages", "type = 'quarantine'"))
    out = ask("why", f"{row[2]}#{row[3]}").out
    first = out.splitlines()[0]
    assert f"day 2 16:00: containment orders that {OTHERS[0]} may say nothing to others" in first
    assert not _RAW.search(out)


def test_where_a_run_and_its_replay_part_is_told_in_prose(hanse, folder, tmp_path):
    outcome = hanse("replay", folder, "--from", 2, "--mute", ORIGIN, "--out", tmp_path / "again")
    step = next(line for line in outcome.out.splitlines() if line.startswith("  replay  day 2"))
    assert f"withheld by this replay (mute): {ORIGIN} " in step
    out = hanse("trace", folder, "diff", tmp_path / "again").out
    assert f"withheld by this replay (mute): {ORIGIN} " in out
    assert not _RAW.search(out)


@pytest.mark.parametrize("kind", ["order", "throttle", "lift_request"])
def test_what_a_watched_run_may_hold_and_does_not_is_just_not_found(ask, kind):
    outcome = ask("find", "--kind", kind)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "nothing found\n")


def test_what_a_monitor_of_one_s_own_says_is_left_as_it_is(hanse, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "tests.actors.alarmed.report", lambda *_, **__: type("R", (), {"model_dump": _worry})()
    )
    monkeypatch.setattr("tests.actors.alarmed.CascadeAlert", None)
    run = played(tmp_path / "own", alarmed(days=3))
    out = hanse("trace", run.folder, "find", "--kind", "alert").out
    assert f"{ORIGIN}: alert worry 3" in out
    assert hanse("trace", run.folder, "find", "--kind", "alert").code == 0


def _worry(self: Any, mode: str) -> dict[str, int]:
    return {"worry": 3}
