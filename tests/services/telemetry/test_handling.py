"""Spans that users' code makes in its handlers nest under the message that it handles."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import Link, StatusCode

from actors.agent import Agent, handles
from actors.cast import Cast
from actors.context import Context
from actors.league import League
from services.config import RunConfig
from services.messages import Message, Text
from services.runs import Run, RunStore
from services.telemetry.handling import SPANS_A_DAY, OwnSpans
from services.telemetry.identity import Identity
from services.telemetry.own_rows import LONGEST_TEXT
from tests.services.runs.samples import manifest

TRACER = trace.get_tracer(__name__)
IDS = Identity("key")
MINUTE = 1440 + 540


def call(spans: OwnSpans, code: Callable[[], Any], message: str = "zoe#4") -> None:
    spans.around(code, "ann", MINUTE, message, "zoe@1980")()


def traced(code: Callable[[], Any], message: str = "zoe#4") -> list[dict[str, Any]]:
    """The rows that come of some code in a handler, with their bodies read."""
    spans = OwnSpans("key")
    call(spans, code, message)
    names = ("day", "agent", "span", "trace", "parent", "name", "kind", "began", "ended")
    return [
        {**dict(zip((*names, "minute", "status"), row, strict=False)), **json.loads(row[-1])}
        for row in spans.take(1)
    ]


def test_a_span_nests_under_the_message_that_is_being_handled() -> None:
    def code() -> None:
        with TRACER.start_as_current_span("plan"), TRACER.start_as_current_span("price"):
            pass

    price, plan = traced(code)
    assert (plan["name"], plan["parent"]) == ("plan", f"{IDS.span('process zoe#4'):016x}")
    assert (price["name"], price["parent"]) == ("price", plan["span"])
    assert plan["trace"] == price["trace"] == f"{IDS.trace('wake zoe@1980'):032x}"
    assert (plan["day"], plan["agent"], plan["minute"]) == (1, "ann", MINUTE)
    assert 0 < plan["began"] <= price["began"] <= price["ended"] <= plan["ended"]


def test_in_a_wake_up_it_nests_under_the_wake_up() -> None:
    def code() -> None:
        TRACER.start_span("look around").end()

    [row] = traced(code, message="")
    assert row["parent"] == f"{IDS.span('wake ann@1980'):016x}"
    assert row["trace"] == f"{IDS.trace('wake ann@1980'):032x}"


def test_the_same_code_gives_the_same_ids_again() -> None:
    def code() -> None:
        for name in "abc":
            TRACER.start_span(name).end()

    first, second = ([row["span"] for row in traced(code)] for _ in range(2))
    assert first == second and len(set(first)) == 3


def test_what_is_said_of_the_current_span_is_laid_over_the_span_of_the_call() -> None:
    def code() -> None:
        current = trace.get_current_span()
        assert current.is_recording()
        current.set_attribute("mood", "patient")
        current.set_attributes({"tries": 3})
        current.add_event("thought", {"about": "prices"})
        current.record_exception(ValueError("no beans"))
        current.set_status(StatusCode.ERROR, "gave up")

    [row] = traced(code)
    assert (row["span"], row["name"]) == (f"{IDS.span('process zoe#4'):016x}", "process")
    assert row["attributes"] == {"mood": "patient", "tries": 3, "error.type": "gave up"}
    thought, exception = row["events"]
    assert (thought["name"], thought["attributes"]) == ("thought", {"about": "prices"})
    assert exception["attributes"] == {
        "exception.type": "ValueError",
        "exception.message": "ValueError: no beans",
    }
    assert row["status"] == "ERROR"


def test_code_that_makes_no_spans_leaves_none() -> None:
    assert traced(lambda: None) == []


def test_outside_a_handler_nothing_is_kept() -> None:
    spans = OwnSpans("key")
    call(spans, lambda: None)
    TRACER.start_span("elsewhere").end()
    assert spans.take(1) == []


def test_it_works_in_whatever_thread_the_handler_runs() -> None:
    spans = OwnSpans("key")
    placed = spans.around(lambda: TRACER.start_span("plan").end(), "ann", MINUTE, "zoe#4", "")
    thread = threading.Thread(target=placed)
    thread.start()
    thread.join()
    assert [row[5] for row in spans.take(1)] == ["plan"]


def test_a_span_that_is_open_at_the_end_of_its_day_ends_with_it() -> None:
    spans = OwnSpans("key")
    late: list[Any] = []
    call(spans, lambda: late.append(TRACER.start_span("slow")))
    [row] = spans.take(1)
    assert json.loads(row[-1])["attributes"]["hanse.unfinished"] is True
    late[0].end()
    assert spans.take(2) == [] and spans.dropped == 0


def test_a_span_around_a_yield_holds_no_other_call_up(caplog: pytest.LogCaptureFixture) -> None:
    def plan() -> Generator[None, None, None]:
        with TRACER.start_as_current_span("plan"):
            yield
            seen.append(trace.get_current_span().get_span_context().span_id)
            TRACER.start_span("second call").end()
            yield

    spans, seen = OwnSpans("key"), list[int]()
    first = plan()
    call(spans, lambda: next(first), "zoe#4")
    call(spans, lambda: next(first), "zoe#5")
    assert seen == [IDS.span("process zoe#5")], "what a call makes nests under its own message"

    def next_day() -> None:
        first.close()  # yesterday's plan is dropped
        seen.append(trace.get_current_span().get_span_context().span_id)

    call(spans, next_day, "zoe#6")
    assert seen[1] == IDS.span("process zoe#6")
    parents = {row[5]: row[4] for row in spans.take(1)}
    assert parents["second call"] == f"{IDS.span('process zoe#5'):016x}"
    assert parents["plan"] == f"{IDS.span('process zoe#4'):016x}"
    assert not caplog.records


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words for it")


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    "odd",
    [
        lambda: TRACER.start_span("x", start_time=2**70).end(),
        lambda: TRACER.start_span("x", start_time=1).end(end_time=float("nan")),  # type: ignore[arg-type]
        lambda: TRACER.start_span("x", start_time="yesterday").end(),  # type: ignore[arg-type]
        lambda: TRACER.start_span("bad \ud800 name").end(),
        lambda: TRACER.start_span(None).end(),  # type: ignore[arg-type]
        lambda: TRACER.start_span("x", kind=3).end(),  # type: ignore[arg-type]
        lambda: trace.get_current_span().set_attribute("x", deep()),  # type: ignore[arg-type]
        lambda: trace.get_current_span().set_attribute("x", Unprintable()),  # type: ignore[arg-type]
        lambda: trace.get_current_span().set_attributes(None),  # type: ignore[arg-type]
        lambda: trace.get_current_span().add_event(None, {None: 1}, "now"),  # type: ignore[arg-type, dict-item]
        lambda: trace.get_current_span().set_status("fine", Unprintable()),  # type: ignore[arg-type]
    ],
)
def test_nothing_odd_about_a_span_costs_the_turn_or_the_day(
    odd: Callable[[], Any], tmp_path: Path
) -> None:
    spans = OwnSpans("key")
    call(spans, odd)
    rows = spans.take(1)
    assert len(rows) + spans.dropped <= 1
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.append(spans=rows)
        store.end_day(1, b"")


def test_secrets_of_the_environment_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sesame-street-42")

    def code() -> None:
        trace.get_current_span().set_attribute("key", "sesame-street-42")
        with TRACER.start_as_current_span("call sesame-street-42") as span:
            span.set_attribute("header", "Bearer sesame-street-42")
            span.record_exception(ValueError("bad key sesame-street-42"))

    rows = traced(code)
    assert len(rows) == 2 and "sesame" not in json.dumps(rows)


def test_a_flood_of_spans_is_cut_and_counted() -> None:
    spans = OwnSpans("key")

    def code() -> None:
        for _ in range(SPANS_A_DAY + 7):
            TRACER.start_span("spam").end()

    call(spans, code)
    assert len(spans.take(1)) == SPANS_A_DAY
    assert spans.dropped == 7


def test_attributes_of_any_size_and_kind_are_kept_as_far_as_they_go() -> None:
    def code() -> None:
        span = TRACER.start_span("odd", links=[Link(trace.get_current_span().get_span_context())])
        span.set_attribute("huge", "x" * 10**6)
        span.set_attribute("endless", float("nan"))
        span.set_attribute("list", ["a", "b"])
        span.set_attribute("bytes", b"\xff\x00")
        span.end()

    [row] = traced(code)
    assert row["attributes"].pop("huge") == "x" * LONGEST_TEXT + "[cut]"
    assert row["attributes"].pop("endless") == "nan"
    assert row["attributes"].pop("list") == ["a", "b"]
    assert row["links"][0]["span_id"] == f"{IDS.span('process zoe#4'):016x}"


class Thinker(Agent):
    """Traces what it does, every noon."""

    def start(self, context: Context) -> None:
        context.wake_at(720)

    def wake(self, context: Context) -> None:
        with TRACER.start_as_current_span("noon", attributes={"day": context.day}):
            context.send(self.name, Text(text="think"))
        context.wake_at(context.now + 1440)

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        with TRACER.start_as_current_span("think"):
            trace.get_current_span().set_attribute("deep", True)


class WithThinker(Cast):
    """The standard league and a thinker."""

    def __init__(self, config: RunConfig, source: str = "run file") -> None:
        super().__init__(config, source)
        self.names = sorted([*self.names, "thinker"])

    def make(self, name: str) -> Agent:
        return Thinker(name) if name == "thinker" else super().make(name)


@pytest.mark.parametrize("hosts", [1, 3])
def test_a_league_keeps_the_spans_of_its_agents(tmp_path: Path, hosts: int) -> None:
    config = RunConfig(days=2, placement="inline")
    with League.create(config, tmp_path / "run", hosts=hosts, cast=WithThinker) as league:
        league.run()
    run = Run(tmp_path / "run")
    key = Identity(run.manifest.config_sha256)
    rows = [row for row in run.rows("spans") if row[1] == "thinker"]
    assert [(row[0], row[5]) for row in sorted(rows, key=lambda row: row[7])] == [
        (0, "noon"), (0, "think"), (1, "noon"), (1, "think"),
    ]  # fmt: skip
    think = next(row for row in rows if row[5] == "think" and row[0] == 1)
    assert think[4] == f"{key.span('process thinker#2'):016x}"
    assert think[3] == f"{key.trace('wake thinker@2160'):032x}"
    assert json.loads(think[-1]) == {"attributes": {"deep": True, "otel.scope.name": __name__}}


def test_an_error_keeps_its_kind_and_its_message_apart() -> None:
    def code() -> None:
        with TRACER.start_as_current_span("stumble"):
            raise ValueError("no beans: 0 kg")

    spans = OwnSpans("key")
    with pytest.raises(ValueError):
        call(spans, code)
    [row] = spans.take(1)
    body = json.loads(row[-1])
    assert (row[10], body["attributes"]["error.type"]) == ("ERROR", "ValueError")
    assert body["error"] == "ValueError: no beans: 0 kg"
