"""What a span is, whoever derives, samples, exports or shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

Value = str | int | float | bool | tuple[str, ...]
"""What an attribute may be."""

INTERNAL: Final = "INTERNAL"
PRODUCER: Final = "PRODUCER"
CONSUMER: Final = "CONSUMER"
KINDS: Final = frozenset((INTERNAL, PRODUCER, CONSUMER, "CLIENT", "SERVER"))

Place = tuple[int, int]
"""(trace id, span id)."""


class SpanEvent(NamedTuple):
    """Something that happened during a span, such as an exception."""

    name: str
    at: int
    """Nanoseconds since 1970; 0 where nobody knows."""
    attributes: Mapping[str, Value]


class Span(NamedTuple):
    """A part of what a run did."""

    trace_id: int
    span_id: int
    parent_id: int | None
    """In the same trace; ``None``: the span is its trace's root."""
    name: str
    kind: str
    """INTERNAL, PRODUCER, CONSUMER, CLIENT or SERVER."""
    start: int
    """Nanoseconds since 1970; 0 where nobody knows."""
    end: int
    minute: int
    """Virtual minutes since the start of the run."""
    agent: str
    """Whose doing it is; empty for the league's own."""
    attributes: dict[str, Value]
    links: tuple[Place, ...] = ()
    """Spans of other traces that it has to do with."""
    error: str | None = None
    """What went wrong, in a line."""
    events: tuple[SpanEvent, ...] = ()
