"""What :mod:`services.telemetry.handling` gives to the OpenTelemetry SDK; imports it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from time import time_ns
from traceback import format_exception_only
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)
from opentelemetry.trace.status import Status, StatusCode

from services.telemetry.handling import OwnSpans, Place, current_place, random_id

_MOST_OPEN = 100_000
_collectors: list[Collector] = []

# A span around a `yield` is closed in another call than that in which it was opened, and ends with
# its day at the latest: neither is worth a line, let alone a traceback, in the log.
logging.getLogger("opentelemetry.context").setLevel(logging.CRITICAL)
logging.getLogger("opentelemetry.sdk.trace").addFilter(
    lambda record: "ended span" not in str(record.msg)
)
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


def enter(place: Place) -> None:
    """Makes the span of a call the current one, in the present context."""
    otel_context.attach(set_span_in_context(CallSpan(place)))


def end_open(owner: OwnSpans) -> None:
    """Ends the spans of a host that are still open at the end of its day."""
    for collector in _collectors:
        collector.end_open(owner)


class PlaceIds(IdGenerator):
    """Ids that a rerun gives again, for spans that are made inside handlers."""

    def generate_span_id(self) -> int:
        """The id of the next span of the handler that is running; a random one outside."""
        place = current_place()
        return random_id(64) if place is None else place.next_id()

    def generate_trace_id(self) -> int:
        """The id of the trace that the handler belongs to; a random one outside."""
        place = current_place()
        return random_id(128) if place is None else place.trace_id


class Collector(SpanProcessor):
    """Hands spans that were made inside a handler to the host on which it ran."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[Place, Span]] = {}
        """By span id; spans that have begun and not ended."""
        _collectors.append(self)

    def on_start(self, span: Span, parent_context: otel_context.Context | None = None) -> None:
        """Remembers in which call of a handler the span has begun."""
        place = current_place()
        about = span.get_span_context()
        if place is not None and about is not None:
            if len(self._places) > _MOST_OPEN:  # code that never ends its spans
                self._places.clear()
            self._places[about.span_id] = place, span

    def on_end(self, span: ReadableSpan) -> None:
        """Hands it over."""
        about = span.get_span_context()
        found = None if about is None else self._places.pop(about.span_id, None)
        if found is not None:
            place, _ = found
            place.owner.add(place, span)

    def end_open(self, owner: OwnSpans) -> None:
        """Ends the spans of a host that have begun and not ended."""
        for place, span in list(self._places.values()):
            if place.owner is owner:
                with suppress(Exception):
                    span.set_attribute("hanse.unfinished", True)
                    span.end()


class CallSpan(NonRecordingSpan):
    """The span of a handler's call, as the code inside sees it: what it says of it is kept."""

    __slots__ = ("_about", "_place")

    def __init__(self, place: Place) -> None:
        self._place = place
        self._about: SpanContext | None = None

    def get_span_context(self) -> SpanContext:
        """Its ids; they are worked out for those who ask."""
        if self._about is None:
            place = self._place
            self._about = SpanContext(place.trace_id, place.span_id, False, _SAMPLED)
        return self._about

    def is_recording(self) -> bool:
        """It keeps what it is told."""
        return True

    def set_attribute(self, key: str, value: Any) -> None:
        """Notes an attribute."""
        with suppress(Exception):
            self._place.note(key, value)

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        """Notes attributes."""
        with suppress(Exception):  # as the SDK's own: what does not fit is left out
            for key, value in attributes.items():
                self._place.note(key, value)

    def add_event(
        self,
        name: str,
        attributes: Mapping[str, Any] | None = None,
        timestamp: int | None = None,
    ) -> None:
        """Notes an event."""
        with suppress(Exception):
            self._place.say(name, timestamp or time_ns(), dict(attributes or {}))

    def record_exception(
        self,
        exception: BaseException,
        attributes: Mapping[str, Any] | None = None,
        timestamp: int | None = None,
        escaped: bool = False,
    ) -> None:
        """Notes an exception as OpenTelemetry's conventions have it."""
        with suppress(Exception):
            about = {
                "exception.type": type(exception).__qualname__,
                "exception.message": "".join(format_exception_only(exception)).strip(),
                **(attributes or {}),
            }
            self.add_event("exception", about, timestamp)

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        """Notes how it went."""
        code = status.status_code if isinstance(status, Status) else status
        if not isinstance(code, StatusCode):
            return
        self._place.status = code.name
        if isinstance(status, Status) and status.description:
            description = status.description
        if description:
            self._place.note("error.type", description)
