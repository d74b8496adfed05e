"""The count of spans is honest: whatever is lost, it shows."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.league import League
from actors.tracing import Telemetry
from services.config import RunConfig
from services.runs import Run
from services.telemetry.completeness import Completeness, completeness, count
from services.telemetry.reader import TraceReader
from services.telemetry.spans import derive
from tests.actors.test_determinism import league_of_six, three_towns
from tests.services.telemetry.made_runs import (
    all_spans,
    event,
    meddle,
    message,
    play,
    timed,
    written,
)

__all__ = ["written"]

Written = Callable[..., TraceReader]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    return play(league_of_six(), tmp_path_factory.mktemp("played") / "run")


@pytest.fixture
def copy(played: TraceReader, tmp_path: Path) -> TraceReader:
    shutil.copytree(played.run.folder, tmp_path / "copy")
    return TraceReader(Run(tmp_path / "copy"))


def test_a_whole_run_has_all_its_spans(played: TraceReader, tmp_path: Path) -> None:
    for reader in (played, play(three_towns(), tmp_path / "towns", hosts=2)):
        counted = completeness(reader.run)
        assert counted.complete
        assert counted.missing == counted.doubtful == Counter()
        assert counted.expected == sum(1 for _ in all_spans(reader))


def test_the_count_reads_as_a_line() -> None:
    assert str(Completeness(184_202, 184_201, Counter(), Counter())) == "184,201 of 184,202"


def test_every_day_is_counted_by_itself(played: TraceReader) -> None:
    for day in played.days:
        assert count(played, day).expected == sum(1 for _ in derive(played, day))


def test_lost_timings_show(copy: TraceReader) -> None:
    whole = completeness(copy)
    reader = meddle(copy, "DELETE FROM timings WHERE day = 3")
    day = reader.day(3)
    turns = sum(m.type == "turn" for m in day.messages)
    counted = completeness(reader)
    assert counted.expected - counted.found == 2 * len(day.messages) + turns
    assert counted.missing == {"no timing": counted.expected - counted.found}
    assert counted.found < whole.found


def test_timings_that_are_damaged_show(copy: TraceReader) -> None:
    reader = meddle(copy, "UPDATE timings SET body = x'00ff' WHERE day = 3")
    counted = count(reader, 3)
    assert not counted.complete
    assert counted.doubtful["timings record unreadable"] == 1
    assert all(span.attributes.get("hanse.timing") for span in derive(reader, 3)
               if span.kind == "CONSUMER")  # fmt: skip


def test_a_lost_message_shows(copy: TraceReader) -> None:
    whole = completeness(copy)
    lost = copy.day(4).messages[5]
    reader = meddle(
        copy, f"DELETE FROM messages WHERE sender = '{lost.sender}' AND number = {lost.number}"
    )
    counted = completeness(reader)
    assert counted.missing["message row lost"] == 3
    assert counted.found < whole.found
    assert counted.found == counted.expected - 3


def test_a_lost_event_shows(copy: TraceReader) -> None:
    reader = meddle(copy, "DELETE FROM events WHERE rowid IN (SELECT rowid FROM events LIMIT 2)")
    assert completeness(reader).missing == {"event row lost": 2}


def test_a_run_that_was_not_timed_says_so(tmp_path: Path) -> None:
    config = RunConfig(days=2, placement="inline")
    with League.create(config, tmp_path / "run", telemetry=Telemetry(traced=False)) as league:
        league.run()
    counted = completeness(Run(tmp_path / "run"))
    assert 0 < counted.found < counted.expected
    assert counted.missing.keys() == {"no timing"}


def test_what_could_not_be_handled_need_not_have_been(written: Written) -> None:
    rows = [message(n) for n in range(1, 4)] + [message(4, recipient="nobody")]
    events = [
        event(1, "mail_refused", {"count": 1, "limit": 2}, agent="bob", subject="bob"),
        event(1, "undeliverable", {"message": "ann#4", "to": "nobody"}, agent="ann", cause="ann#4"),
    ]
    reader = written({"messages": rows, "events": events, "timings": timed(*rows[:2])})
    counted = count(reader, 0)
    spans = list(derive(reader, 0))
    assert counted.complete
    assert counted.expected == len(spans) == 10, "two wake-ups, four sent, two handled"
    errors = {s.attributes["messaging.message.id"]: s.error for s in spans if s.error}
    assert errors == {
        "ann#3": "the recipient's mailbox was full",
        "ann#4": "there is no such agent",
    }


def test_an_agent_cannot_talk_its_mail_away(written: Written) -> None:
    row = message(1)
    lie = event(1, "undeliverable", {}, agent="bob", cause="ann#1")
    reader = written({"messages": [row], "events": [lie], "timings": timed(row)})
    assert {s.name for s in derive(reader, 0)} == {
        "wake ann", "send bob", "receive bob", "process bob",
    }  # fmt: skip


def test_what_is_odd_is_counted(written: Written) -> None:
    rows = [message(1, trace="00-nonsense"), message(2, in_reply_to="zoe#77")]
    reader = written(
        {"messages": rows, "timings": timed(*rows), "events": [event(1, "deal", "no JSON")]}
    )
    counted = count(reader, 0)
    assert counted.doubtful == {
        "malformed traceparent": 1,
        "cause not of this day": 1,
        "event body unreadable": 1,
    }
    assert counted.missing == {"event body unreadable": 1}
