"""Spans that were recorded as such: what the table ``spans`` holds, as spans."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from services.messages import MINUTES_PER_DAY
from services.telemetry import conventions as c
from services.telemetry.identity import parse_traceparent
from services.telemetry.logged import RecordedSpan, parsed
from services.telemetry.places import Places, Spot
from services.telemetry.span import INTERNAL, KINDS, Place, Span, SpanEvent, Value

_DEEPEST = 64
"""Spans that lie in each other are followed so far."""
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
        error = c.clipped(str(body.get("error") or attributes.get(c.ERROR_TYPE, "error")))
    if row.agent:
        day = row.minute // MINUTES_PER_DAY
        where: dict[str, Value] = {c.AGENT: c.clipped(row.agent), c.DAY: day, c.MINUTE: row.minute}
        attributes = {**where, **attributes}
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


def is_overlay(row: RecordedSpan) -> bool:
    """Whether a row is no span but says more of one that is derived: it has no times."""
    return row.start == row.end == 0


def own_spans(rows: Iterable[RecordedSpan], places: Places) -> tuple[list[Span], dict[int, Span]]:
    """The recorded spans of a day, each where it belongs, and what lies over derived ones.

    A span of a user's own is in the trace of the handling or the wake-up that it lies in; where
    the span above it is lost, or there is none, it hangs under the root of its trace.

    Returns:
        The spans, and by span id what is to be laid over derived spans.
    """
    overlays: dict[int, Span] = {}
    found: dict[int, Span] = {}
    league: list[Span] = []
    for row in rows:
        span = recorded_span(row)
        if span is None:
            continue
        if is_overlay(row):
            overlays[span.span_id] = span
        elif span.agent:
            found[span.span_id] = span
        else:
            league.append(span)
    if not found:
        return league, overlays
    derived = {s.span_id: s for s in (*places.process.values(), *places.wakes.values())}
    roots = {s.trace_id: s for s in places.wakes.values()}
    hung = [_hung(span, found, derived, roots) for span in found.values()]
    hung.sort(key=lambda item: (item[1].minute, item[1].agent, item[0], item[1].span_id))
    return [*(span for _, span in hung), *league], overlays


def _hung(
    span: Span, found: Mapping[int, Span], derived: Mapping[int, Spot], roots: Mapping[int, Spot]
) -> tuple[int, Span]:
    """How deep a span lies, and the span in the trace to which those above it lead."""
    top = span
    for depth in range(_DEEPEST):
        parent = top.parent_id
        if parent is not None and parent in derived:
            return depth, span._replace(trace_id=derived[parent].trace_id)
        if parent is None or parent not in found:
            break
        top = found[parent]
    else:
        depth, top = 0, span  # in a circle, or as good as in one
    if top is not span:
        return depth, span._replace(trace_id=top.trace_id)
    root = roots.get(span.trace_id)
    return depth, span._replace(parent_id=None if root is None else root.span_id)


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
