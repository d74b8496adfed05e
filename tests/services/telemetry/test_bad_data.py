"""Whatever stands in a log: it is cut, counted or marked, and no span is a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import HanseError
from services.telemetry.conventions import LONGEST, clipped
from services.telemetry.logged import RecordedSpan
from services.telemetry.reader import TraceReader
from services.telemetry.recorded import recorded_span
from services.telemetry.span import Span
from services.telemetry.spans import derive
from tests.services.telemetry.made_runs import event, meddle, message, timed, written

__all__ = ["written"]

Written = Callable[..., TraceReader]

KINDS = ["action", "deal", "delivery", "invoice", "payment", "return", "trade", "agent_error"]
BODIES = [
    "",
    "{",
    "null",
    "[1, 2]",
    '"text"',
    "[" * 100_000,
    '{"a":' * 50_000 + "1" + "}" * 50_000,
    '{"tool":5,"args":[],"status":null,"new_id":{}}',
    '{"tool":"make_offer","args":null,"status":"success","new_id":"O1"}',
    '{"tool":"make_offer","args":{"offered_price":"x","qty":[]},"status":"success","new_id":"O2"}',
    '{"deal":7,"invoice":{},"offer":[],"amount":"much","total_price":1e999}',
    '{"offer":"O1","deal":"\\ud800","qty":123456789012345678901234567890}',
    json.dumps({f"fact {n}": n for n in range(1000)}),
]


def checked(spans: list[Span]) -> list[Span]:
    """Spans that any exporter takes: short, encodable, with numbers that fit."""
    for span in spans:
        assert len(span.name.encode()) <= 256
        for name, value in span.attributes.items():
            assert len(name.encode()) <= LONGEST
            if isinstance(value, str):
                assert len(value.encode()) <= LONGEST
            elif isinstance(value, int):
                assert -(2**63) <= value < 2**63
        if span.error is not None:
            assert len(span.error.encode()) <= LONGEST
    return spans


@pytest.mark.parametrize("kind", KINDS)
def test_no_body_makes_an_event_fail(written: Written, kind: str) -> None:
    rows = [message(1)]
    events = [event(n, kind, body, cause="ann#1") for n, body in enumerate(BODIES, 1)]
    reader = written({"messages": rows, "events": events, "timings": timed(*rows)})
    spans = checked(list(derive(reader, 0)))
    if kind == "agent_error":
        process = next(s for s in spans if s.name == "process bob")
        assert len(process.events) == len(BODIES)
        assert process.error is not None
    else:
        said = [s for s in spans if str(s.attributes.get("hanse.event", "")).startswith("exchange")]
        assert len({s.attributes["hanse.event"] for s in said}) == len(BODIES)


def test_huge_bodies_are_cut_with_a_mark(written: Written) -> None:
    args = {"title": "ü" * 1_000_000}
    row = message(1, body=json.dumps(args))
    action = event(1, "action", {"tool": "x", "args": args, "status": "success"}, cause="ann#1")
    reader = written({"messages": [row], "events": [action], "timings": timed(row)})
    spans = checked(list(derive(reader, 0)))
    tool = next(s for s in spans if s.name == "execute_tool x")
    assert str(tool.attributes["gen_ai.tool.call.arguments"]).endswith("[cut: 2,000,012 bytes]")
    send = next(s for s in spans if s.kind == "PRODUCER")
    assert send.attributes["messaging.message.body.size"] == len(row[-1])


def test_names_of_any_length_are_cut(written: Written) -> None:
    row = message(1, recipient="n" * 100_000, in_reply_to="#" * 100_000)
    reader = written({"messages": [row], "timings": timed(row)})
    assert len(checked(list(derive(reader, 0)))) == 4


def test_bytes_where_text_should_be_are_read_as_far_as_they_go(written: Written) -> None:
    row = message(1)
    reader = written({"messages": [row, message(2)], "events": [event(1, "deal", "{}")]})
    reader = meddle(
        reader,
        "UPDATE messages SET body = x'ff00fe', recipient = x'c3' WHERE number = 1",
        "UPDATE messages SET body = CAST(x'ff00fe' AS TEXT) WHERE number = 2",
        "UPDATE events SET body = x'80818283'",
    )
    first, second = reader.day(0).messages
    assert (first.recipient, second.body) == ("\ufffd", "\ufffd\0\ufffd")
    assert len(checked(list(derive(reader, 0)))) == 9


def test_a_minute_that_is_none_is_damage(written: Written) -> None:
    reader = meddle(written({"messages": [message(1)]}), "UPDATE messages SET minute = 'noon'")
    with pytest.raises(HanseError, match=r"run\.db: damaged"):
        reader.day(0)


def test_troubles_are_told_on_the_span_where_they_happened(written: Written) -> None:
    turn = message(1, sender="exchange", type="turn", body='{"reason":"morning"}')
    missed = message(
        1, sender="bob", recipient="exchange", round=1, type="turn_missed",
        in_reply_to="exchange#1", body='{"reason":"timeout","detail":"no answer within 10 s"}',
    )  # fmt: skip
    failed = {"agent": "zoe", "error": "ValueError", "detail": "ValueError: no", "where": "z.py:3"}
    events = [
        event(1, "agent_error", failed, agent="zoe", subject="zoe"),
        event(1, "turn_missed", {"agent": "bob"}, cause="bob#1", subject="bob"),
        event(2, "mood", {"is": "fine"}, agent="bob", cause="exchange#1"),
    ]
    reader = written({"messages": [turn, missed], "events": events, "timings": timed(turn, missed)})
    spans = {s.name: s for s in checked(list(derive(reader, 0)))}
    [exception] = spans["wake zoe"].events
    assert exception.name == "exception"
    assert exception.attributes["exception.type"] == "ValueError"
    assert exception.attributes["exception.message"] == "ValueError: no"
    assert spans["wake zoe"].error == "ValueError: no"
    for name in ("process bob", "invoke_agent bob"):
        assert spans[name].error == "no answer within 10 s"
        assert spans[name].attributes["error.type"] == "timeout"
    assert [e.name for e in spans["process exchange"].events] == ["turn_missed"]
    assert [e.name for e in spans["process bob"].events] == ["mood"]


def test_a_flood_of_facts_on_one_span_is_cut_and_counted(written: Written) -> None:
    row = message(1)
    events = [event(n, "mood", {}, agent="bob", cause="ann#1") for n in range(1, 201)]
    reader = written({"messages": [row], "events": events, "timings": timed(row)})
    process = next(s for s in derive(reader, 0) if s.name == "process bob")
    assert len(process.events) == 128
    assert process.attributes["hanse.events.dropped"] == 72


def test_a_firm_that_records_deals_of_its_own_makes_no_trade(written: Written) -> None:
    row = message(1)
    lie = event(1, "payment", {"offer": "O1", "invoice": "I1"}, agent="bob", cause="ann#1")
    reader = written({"messages": [row], "events": [lie], "timings": timed(row)})
    spans = list(derive(reader, 0))
    assert len(spans) == 4
    assert [e.name for s in spans for e in s.events] == ["payment"]


def row(**changes: Any) -> RecordedSpan:
    sound = RecordedSpan(
        "1" * 32, "2" * 16, "3" * 16, "mine", "INTERNAL", 1, 2, 540, "ann", "OK", "{}"
    )
    return sound._replace(**changes)


def test_a_recorded_span_is_given_back() -> None:
    body = {
        "attributes": {"a": 1, "b": ["x", "y"], "error.type": "Oops"},
        "events": [{"name": "tick", "time": 7, "attributes": {"n": 2}}],
        "links": [{"trace_id": "4" * 32, "span_id": "5" * 16}],
    }
    span = recorded_span(row(body=json.dumps(body), status="ERROR", kind="CLIENT"))
    assert span is not None
    assert (span.trace_id, span.span_id, span.parent_id) == (
        int("1" * 32, 16), int("2" * 16, 16), int("3" * 16, 16),
    )  # fmt: skip
    assert (span.name, span.kind, span.start, span.end) == ("mine", "CLIENT", 1, 2)
    where = {"hanse.agent": "ann", "hanse.day": 0, "hanse.minute": 540}
    assert span.attributes == {**where, "a": 1, "b": ("x", "y"), "error.type": "Oops"}
    assert span.events == (("tick", 7, {"n": 2}),)
    assert span.links == ((int("4" * 32, 16), int("5" * 16, 16)),)
    assert span.error == "Oops"


@pytest.mark.parametrize(
    "changes",
    [
        {"trace_id": "x"},
        {"trace_id": "0" * 32},
        {"trace_id": "+" + "1" * 31},
        {"span_id": ""},
        {"span_id": "0" * 16},
        {"start": "early"},
        {"minute": None},
    ],
)
def test_a_recorded_span_without_ids_or_times_is_none(changes: dict[str, Any]) -> None:
    assert recorded_span(row(**changes)) is None


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
                    lambda x: st.lists(x) | st.dictionaries(st.text(), x)))  # fmt: skip
def test_no_body_makes_a_recorded_span_fail(value: Any) -> None:
    for body in (value, {"attributes": value}, {"events": [value]}, {"links": [value]}):
        span = recorded_span(row(body=json.dumps(body), kind="ODD", name="n" * 1000))
        assert span is not None
        assert span.kind == "INTERNAL"
        checked([span])


@given(st.text(alphabet=st.characters(codec=None), max_size=200), st.integers(64, 200))
def test_what_is_cut_fits_and_can_be_encoded(text: str, longest: int) -> None:
    cut = clipped(text, longest)
    assert len(cut.encode()) <= longest
    if len(text.encode("utf-8", "replace")) <= longest:
        assert cut == text.encode("utf-8", "replace").decode()
    else:
        assert cut.endswith("bytes]")
