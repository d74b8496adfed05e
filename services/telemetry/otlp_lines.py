"""Spans as OTLP JSON lines: one ``ExportTraceServiceRequest`` a line, as collectors read files.

This is OTLP's own JSON, which is not protobuf's: ids are hexadecimal, enumerations are numbers.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.telemetry.attributes import plain, text
from services.telemetry.files import whole_file
from services.telemetry.otlp_encoding import ERROR, FLAGS, KINDS, scope_name

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

    from services.telemetry.span import Span

_SPANS_PER_LINE = 512
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write_otlp_lines(spans: Iterable[Span], path: Path | str, resource: Resource) -> int:
    """Writes spans to a file, compressed if its name ends with ``.gz``.

    Args:
        spans: Taken one after the other; a line's worth is in memory at a time.
        path: Where to. It is replaced at the end, or left as it was if something fails.
        resource: Whom the spans come from.

    Returns:
        How many spans were written.

    Raises:
        HanseError: the file cannot be written.
    """
    count = 0
    with whole_file(Path(path)) as file:
        for line, number in _lines(spans, resource):
            file.write(line)
            count += number
    return count


def _lines(spans: Iterable[Span], resource: Resource) -> Iterator[tuple[str, int]]:
    name, version = scope_name(resource)
    about = {"attributes": _attributes(resource.attributes)}
    scope = {"name": name, "version": version}
    remaining = iter(spans)
    while batch := list(islice(remaining, _SPANS_PER_LINE)):
        group: dict[str, Any] = {
            "resource": about,
            "scopeSpans": [{"scope": scope, "spans": list(map(_span, batch))}],
        }
        if resource.schema_url:
            group["schemaUrl"] = resource.schema_url
        yield _json({"resourceSpans": [group]}) + "\n", len(batch)


def _span(span: Span) -> dict[str, Any]:
    made: dict[str, Any] = {
        "traceId": f"{span.trace_id:032x}",
        "spanId": f"{span.span_id:016x}",
        "name": text(span.name),
        "kind": KINDS[span.kind],
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
        "status": {} if span.error is None else {"code": ERROR, "message": text(span.error)},
        "flags": FLAGS,
    }
    if span.parent_id is not None:
        made["parentSpanId"] = f"{span.parent_id:016x}"
    if span.links:
        made["links"] = [
            {"traceId": f"{trace:032x}", "spanId": f"{other:016x}", "flags": FLAGS}
            for trace, other in span.links
        ]
    if span.events:
        made["events"] = [
            {"name": text(name), "timeUnixNano": str(at), "attributes": _attributes(facts)}
            for name, at, facts in span.events
        ]
    return made


def _attributes(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in plain(attributes).items()]


def _value(value: Any) -> dict[str, Any]:
    kind = value.__class__
    if kind is str:
        return {"stringValue": value}
    if kind is bool:
        return {"boolValue": value}
    if kind is int:
        return {"intValue": str(value)}
    if kind is float:
        return {"doubleValue": value if math.isfinite(value) else _odd(value)}
    return {"arrayValue": {"values": list(map(_value, value))}}


def _odd(value: float) -> str:
    """A number for which JSON has no number, as protobuf's JSON writes it."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def with_base64_ids(line: str) -> str:
    """A line with the ids as protobuf's own JSON reader wants them: in base64, not hexadecimal."""

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: base64.b64encode(bytes.fromhex(inner)).decode()
                if key in ("traceId", "spanId", "parentSpanId")
                else turned(inner)
                for key, inner in value.items()
            }
        return list(map(turned, value)) if isinstance(value, list) else value

    return json.dumps(turned(json.loads(line)))
