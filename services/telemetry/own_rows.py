"""Users' own spans as rows of the table ``spans``: cut to size, and without secrets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from services.messages import MINUTES_PER_DAY
from services.telemetry.attributes import plain, text
from services.telemetry.redaction import redact

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from services.telemetry.handling import Place

LONGEST_TEXT: Final = 4_096
MOST_ITEMS: Final = 128
_TIMES = range(2**63)

SpanRow = tuple[int, str, str, str, str | None, str, str, int, int, int, str, str]
"""(day, agent, span_id, trace_id, parent_id, name, kind, began, ended, minute, status, body)."""


def span_row(place: Place, span: ReadableSpan) -> SpanRow:
    """A span that has ended, as a row.

    Raises:
        Exception: something about it is so odd that no row can be made.
    """
    about = span.get_span_context()
    assert about is not None
    body: dict[str, Any] = {"attributes": small(span.attributes or {})}
    if span.events:
        body["events"] = [
            _event(e.name, e.timestamp, e.attributes or {}) for e in span.events[:MOST_ITEMS]
        ]
    if span.links:
        body["links"] = [
            {"trace_id": f"{to.trace_id:032x}", "span_id": f"{to.span_id:016x}"}
            for to in (link.context for link in span.links[:MOST_ITEMS])
        ]
    if span.instrumentation_scope is not None:
        body["attributes"].setdefault("otel.scope.name", _cut(span.instrumentation_scope.name))
    if span.status.status_code.name == "ERROR":
        body["error"] = _cut(span.status.description or "error")
        raised = [e.attributes or {} for e in span.events if e.name == "exception"]
        kind = raised[-1].get("exception.type") if raised else None
        body["attributes"].setdefault("error.type", _cut(kind or "_OTHER"))
    began = span.start_time
    ended = began if span.end_time is None else span.end_time
    if not (type(began) is int and type(ended) is int and began in _TIMES and ended in _TIMES):
        raise ValueError(f"no times: {began!r} to {ended!r}")
    return (
        place.minute // MINUTES_PER_DAY,
        place.agent,
        f"{about.span_id:016x}",
        f"{about.trace_id:032x}",
        None if span.parent is None else f"{span.parent.span_id:016x}",
        _cut(span.name),
        span.kind.name,
        began,
        max(began, ended),
        place.minute,
        span.status.status_code.name,
        json.dumps(body),
    )


def overlay_row(place: Place) -> SpanRow:
    """What the code has said about the span of its own call, to be laid over it later.

    Raises:
        Exception: it is so odd that no row can be made.
    """
    said = [_event(e["name"], e["time"], e["attributes"]) for e in place.said or ()]
    return (
        place.minute // MINUTES_PER_DAY,
        place.agent,
        f"{place.span_id:016x}",
        f"{place.trace_id:032x}",
        None,
        "process",
        "CONSUMER",
        0,
        0,
        place.minute,
        place.status,
        json.dumps({"attributes": small(place.notes), "events": said}),
    )


def small(attributes: Any) -> dict[str, Any]:
    """Attributes as the store keeps them."""
    kept = {str(key): value for key, value in list(attributes.items())[:MOST_ITEMS]}
    return {_cut(key): _limited(value) for key, value in plain(kept).items()}


def _event(name: Any, time: Any, attributes: Any) -> dict[str, Any]:
    if not (type(time) is int and time in _TIMES):
        time = 0
    return {"name": _cut(name), "time": time, "attributes": small(attributes)}


def _limited(value: Any) -> Any:
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Sequence):
        return [_limited(item) for item in value[:MOST_ITEMS]]
    return value


def _cut(given: Any) -> str:
    whole = str(given)
    short = whole if len(whole) <= LONGEST_TEXT else whole[:LONGEST_TEXT] + "[cut]"
    return redact(text(short))
