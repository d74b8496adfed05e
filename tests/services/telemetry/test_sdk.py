"""Spans as OpenTelemetry's SDK has them."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import SpanKind, StatusCode, get_current_span

from services.telemetry.exporting import Patience, SpanPipeline
from services.telemetry.sdk import ProcessorSink, describe, readable, scope_of
from tests.services.telemetry.made_spans import BEGIN, RESOURCE, coffee, rich_span, span, spans


def _readable(made: Any) -> ReadableSpan:
    return readable(made, RESOURCE, scope_of(RESOURCE))


def test_ids_names_and_times_are_ours() -> None:
    ours, theirs = span(), _readable(span())
    assert theirs.context is not None and theirs.parent is not None
    assert (theirs.context.trace_id, theirs.context.span_id) == (ours.trace_id, ours.span_id)
    assert (theirs.parent.trace_id, theirs.parent.span_id) == (ours.trace_id, ours.parent_id)
    assert theirs.context.trace_flags.sampled
    assert (theirs.name, theirs.kind) == ("process roaster_A", SpanKind.CONSUMER)
    assert (theirs.start_time, theirs.end_time) == (ours.start, ours.end)
    assert theirs.attributes == ours.attributes
    assert theirs.status.status_code is StatusCode.UNSET


def test_a_root_has_no_parent() -> None:
    assert _readable(span(parent_id=None)).parent is None


def test_an_error_is_the_status_and_its_description() -> None:
    status = _readable(rich_span()).status
    assert (status.status_code, status.description) == (
        StatusCode.ERROR,
        "refused: not enough cash",
    )


def test_links_and_exception_events_are_kept() -> None:
    theirs = _readable(rich_span())
    assert [(k.context.trace_id, k.context.span_id) for k in theirs.links] == [
        (5, 6),
        (2**127 + 1, 2**63 + 1),
    ]
    [event] = theirs.events
    assert (event.name, event.timestamp, dict(event.attributes or {})) == (
        "exception",
        BEGIN + 3,
        {"exception.type": "ValueError"},
    )


def test_the_sdk_can_print_it() -> None:
    assert '"trace_id": "0x' in _readable(rich_span()).to_json()


def test_the_resource_says_which_run_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_SERVICE_NAME", raising=False)
    monkeypatch.delenv("OTEL_RESOURCE_ATTRIBUTES", raising=False)
    manifest = coffee()
    attributes = describe(manifest).attributes
    assert attributes["service.name"] == "hanse"
    assert attributes["service.version"] == manifest.hanse_version
    assert attributes["hanse.run"] == attributes["service.instance.id"] == manifest.id
    assert attributes["hanse.run.name"] == "coffee"
    assert attributes["hanse.seed"] == 7
    assert attributes["host.name"]


def test_the_environment_may_name_the_service_and_add_to_the_resource(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my-league")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=lab,team=b%20a")
    attributes = describe(coffee()).attributes
    assert attributes["service.name"] == "my-league"
    assert attributes["deployment.environment"] == "lab"
    assert attributes["hanse.run.name"] == "coffee"


# ---- processors --------------------------------------------------------------------------------


class Watching(SpanProcessor):
    """Notes what it sees."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.ended: list[ReadableSpan] = []
        self.parents: list[int] = []
        self.shut = False

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        self.seen.append(("start", span.get_span_context().span_id))
        self.parents.append(get_current_span(parent_context).get_span_context().span_id)
        span.set_attribute("added", "by the processor")

    def on_end(self, span: ReadableSpan) -> None:
        self.seen.append(("end", span.context.span_id))
        self.ended.append(span)

    def shutdown(self) -> None:
        self.shut = True


def _watched(*made: Any, resource: Resource = RESOURCE) -> Watching:
    processor = Watching()
    with SpanPipeline([processor], resource) as pipeline:
        pipeline.submit(list(made))
    assert pipeline.counts()["Watching"].exported == len(made)
    return processor


def test_a_processor_sees_each_span_start_and_then_end_in_their_order() -> None:
    ids = [s.span_id for s in spans(5)]
    assert _watched(*spans(5)).seen == [(what, id) for id in ids for what in ("start", "end")]


def test_a_processor_gets_the_same_span_as_an_exporter() -> None:
    for made in (span(), span(2, parent_id=None), rich_span()):
        [ended] = _watched(made).ended
        theirs, ours = ended, _readable(made)
        assert theirs.context == ours.context
        assert theirs.parent == ours.parent
        assert (theirs.name, theirs.kind) == (ours.name, ours.kind)
        assert (theirs.start_time, theirs.end_time) == (ours.start_time, ours.end_time)
        assert theirs.status.status_code == ours.status.status_code
        assert theirs.status.description == ours.status.description
        assert [k.context for k in theirs.links] == [k.context for k in ours.links]
        assert [(e.name, e.timestamp) for e in theirs.events] == [
            (e.name, e.timestamp) for e in ours.events
        ]
        assert theirs.instrumentation_scope == ours.instrumentation_scope
        assert theirs.resource.attributes == ours.resource.attributes
        added = {"added": "by the processor"}
        lists = {
            k: tuple(v) if isinstance(v, list) else v for k, v in (ours.attributes or {}).items()
        }
        assert dict(theirs.attributes or {}) == lists | added


@pytest.mark.parametrize("time", [0, -5, 2**70])
def test_a_time_that_nobody_knows_is_not_made_up(time: int) -> None:
    made = rich_span()._replace(start=time, end=time)
    made = made._replace(events=tuple(event._replace(at=time) for event in made.events))
    for theirs in (_readable(made), *_watched(made).ended):
        assert (theirs.start_time, theirs.end_time, theirs.events[0].timestamp) == (0, 0, 0)


def test_a_processor_is_told_the_parent() -> None:
    assert _watched(span()).parents == [span().parent_id]
    assert _watched(span(parent_id=None)).parents == [0]


def test_a_processor_is_shut_down_at_the_end() -> None:
    assert _watched(span()).shut


def test_a_span_that_a_processor_chokes_on_is_counted_and_the_next_one_comes() -> None:
    class Picky(Watching):
        def on_end(self, span: ReadableSpan) -> None:
            super().on_end(span)
            if len(self.ended) == 2:
                raise ValueError("not that one")

    picky = Picky()
    sent = ProcessorSink(picky, RESOURCE).send(spans(5), Patience())
    assert (sent.exported, sent.failed, sent.reason) == (4, 1, "ValueError: not that one")
    assert len(picky.ended) == 5
