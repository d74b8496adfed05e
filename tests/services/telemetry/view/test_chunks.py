"""A day as the page reads it."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from services.telemetry.inspection import words
from services.telemetry.inspection.prose import Prose
from services.telemetry.reader import TraceReader
from services.telemetry.view.chunks import day_chunk, packed
from tests.actors.alarmed import alarmed, alarmist, played
from tests.services.telemetry.inspection.thoughts import thought
from tests.services.telemetry.made_runs import HAND_OVER, event, message, written
from tests.services.telemetry.view.traded import traded

__all__ = ["written"]


def test_a_cause_is_the_place_of_the_message_that_it_names(tmp_path: Path) -> None:
    chunk = day_chunk(TraceReader(traded(tmp_path / "run")), 0)
    ids = [
        f"{chunk['names'][sender]}#{number}"
        for sender, number in zip(
            chunk["messages"]["sender"], chunk["messages"]["number"], strict=True
        )
    ]
    offer, turn = ids.index("roaster_A#2"), ids.index("exchange#2")
    assert chunk["messages"]["cause"][turn] == offer
    assert chunk["events"]["cause"][0] == offer
    assert chunk["messages"]["cause"][0] is None


def test_a_cause_of_another_day_or_of_later_stays_an_id(
    written: Callable[..., TraceReader],
) -> None:
    reader = written(
        {
            "messages": [
                message(1, cause="ann#2"),
                message(2, cause="zoe#9"),
                message(3, cause="ann#1"),
            ],
            "events": [event(1, "deal", {}, cause="zoe#9")],
        }
    )
    chunk = day_chunk(reader, 0)
    assert chunk["messages"]["cause"] == ["ann#2", "zoe#9", 0]
    assert chunk["events"]["cause"] == ["zoe#9"]


def test_wall_times_are_ticks_since_the_first_arrival(tmp_path: Path) -> None:
    chunk = day_chunk(TraceReader(traded(tmp_path / "run")), 0)
    second = 10**9 // 100
    assert chunk["timings"]["arrived"][:3] == [0, second, 2 * second]
    assert chunk["timings"]["began"][1] == second + 10
    assert set(chunk["timings"]["took"]) == {5}
    assert chunk["base"] == HAND_OVER / 1e6


def test_a_day_without_wall_times_says_so(tmp_path: Path) -> None:
    chunk = day_chunk(TraceReader(traded(tmp_path / "run")), 1)
    assert chunk["timings"] is None
    assert chunk["base"] is None


def test_recorded_spans_are_on_the_same_clock(tmp_path: Path) -> None:
    spans = day_chunk(TraceReader(traded(tmp_path / "run")), 0)["spans"]
    second = 10**9 // 100
    assert [(span["agent"], span["name"]) for span in spans] == [
        ("", "checkpoint"),
        ("farmer_A", "weigh sacks"),
    ]
    assert [(span["start"], span["end"]) for span in spans] == [(second, 3 * second)] * 2


def test_messages_to_nobody_are_marked_as_never_handled(
    written: Callable[..., TraceReader],
) -> None:
    reader = written(
        {
            "messages": [message(1), message(2, recipient="nobody")],
            "events": [event(1, "undeliverable", {}, agent="ann", cause="ann#2")],
        }
    )
    assert day_chunk(reader, 0)["unhandled"] == [1]


def test_the_same_day_gives_the_same_bytes(tmp_path: Path) -> None:
    reader = TraceReader(traded(tmp_path / "run"))
    first = packed(day_chunk(reader, 1))
    assert first == packed(day_chunk(TraceReader(reader.run), 1))
    assert json.loads(gzip.decompress(first)) == day_chunk(reader, 1)


def test_an_own_span_lies_within_the_handling_in_which_it_began(tmp_path: Path) -> None:
    chunk = day_chunk(thought(tmp_path / "run"), 0)
    thinking = [span for span in chunk["spans"] if span["name"].startswith("think")]
    assert thinking
    for span in thinking:
        place = span["within"]
        assert chunk["names"][chunk["messages"]["recipient"][place]] == "bob"
        assert chunk["names"][chunk["messages"]["type"][place]] == "turn"
    assert all(span["within"] is None for span in chunk["spans"] if not span["agent"])


def test_what_the_page_has_no_words_for_comes_with_the_day_as_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.watchers.make_monitor", alarmist)
    reader = TraceReader(played(tmp_path / "run", alarmed(days=3, containment={})))
    prose, day = Prose(reader), reader.day(2)
    told = day_chunk(reader, 2)["told"]
    kinds = set()
    for place, sent in enumerate(day.messages):
        if sent.type in ("advisory", "board_read", "market_note", "turn"):
            raw = words.message(sent.type, sent.sender, sent.recipient, sent.facts)
            line = None if sent.type == "turn" else prose.message(sent) or raw
            assert told["messages"].get(str(place)) == line
            kinds.add(sent.type)
    for place, noted in enumerate(day.events):
        if noted.kind in ("injection", "belief", "signals", "alert", "measure", "deal"):
            raw = words.event(noted.kind, noted.subject, noted.facts)
            line = None if noted.kind == "deal" else prose.event(noted) or raw
            assert told["events"].get(str(place)) == line
            kinds.add(noted.kind)
    assert {"market_note", "advisory", "turn", "injection", "alert", "measure"} <= kinds
