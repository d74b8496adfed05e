"""Spans that were recorded as such: what the table ``spans`` holds, as spans."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from services.telemetry import conventions as c
from services.telemetry.identity import parse_traceparent
from services.telemetry.logged import RecordedSpan, parsed
from services.telemetry.span import INTERNAL, KINDS, Place, Span, SpanEvent, Value

_HEX = re.compile(r"[0-9a-f]+")
_MOST = 128


def recorded_span(row: RecordedSpan) -> Span | None:
    """The span of a row; ``None`` if its ids or its times are none.

    Whatever else is odd about it is cut or left out: users' own spans come this way.
    """
    trace_id, span_id = _id(row.trace_id, 32), _id(row.span_id, 16)
    times = (row.start, row.end, row.minute)
    if trace_id is None or span_id is None or not all(type(time) is int for time in times):
        return None
    body = parsed(row.body)
    error = None
    attributes = _attributes(body.get("attributes"))
    if row.status == "ERROR":
        error = str(attributes.get(c.ERROR_TYPE, "error"))
    return Span(
        trace_id,
        span_id,
        None if row.parent_id is None else _id(row.parent_id, 16),
        c.clipped(row.name, 256),
        row.kind if row.kind in KINDS else INTERNAL,
        row.start,
        row.end,
        row.minute,
        c.clipped(row.agent),
        attributes,
        tuple(place for item in _items(body.get("links")) if (place := _place(item))),
        error,
        tuple(event for item in _items(body.get("events")) if (event := _event(item))),
    )


def _id(text: str, digits: int) -> int | None:
    if len(text) != digits or _HEX.fullmatch(text) is None:
        return None
    return int(text, 16) or None


def _items(value: object) -> Iterable[Any]:
    return value[:_MOST] if isinstance(value, list) else ()


def _attributes(value: object) -> dict[str, Value]:
    if not isinstance(value, dict):
        return {}
    kept = list(value.items())[:_MOST]
    return {c.clipped(str(k), 256): _plain(v) for k, v in kept if v is not None}


def _plain(value: object) -> Value:
    if isinstance(value, str):
        return c.clipped(value)
    if isinstance(value, float) or (isinstance(value, int) and -(2**63) <= value < 2**63):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(c.clipped(item) for item in value[:_MOST])
    try:
        return c.clipped(json.dumps(value, separators=(",", ":")))
    except RecursionError:
        return "[nested too deep]"


def _place(item: object) -> Place | None:
    """A link: ``{"trace_id": ..., "span_id": ...}``, the two in a list, or a ``traceparent``."""
    if isinstance(item, str):
        found = parse_traceparent(item)
        return None if found is None else (found.trace_id, found.span_id)
    if isinstance(item, dict):
        item = [item.get("trace_id"), item.get("span_id")]
    if not (isinstance(item, list) and len(item) >= 2):
        return None
    trace_id, span_id = item[:2]
    if not (isinstance(trace_id, str) and isinstance(span_id, str)):
        return None
    trace, span = _id(trace_id, 32), _id(span_id, 16)
    return None if trace is None or span is None else (trace, span)


def _event(item: object) -> SpanEvent | None:
    """An event: ``{"name": ..., "time": ns, "attributes": {...}}``, or the three in a list."""
    if isinstance(item, dict):
        item = [item.get("name"), item.get("time"), item.get("attributes")]
    if not (isinstance(item, list) and len(item) == 3):
        return None
    name, at, attributes = item
    if not (isinstance(name, str) and type(at) is int):
        return None
    return SpanEvent(c.clipped(name, 256), at, _attributes(attributes))
