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

from services.telemetry.attributes import moment, plain, text
from services.telemetry.files import whole_file
from services.telemetry.otlp_encoding import ERROR, FLAGS, KINDS, scope_name

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

    from services.telemetry.span import Span

_SPANS_PER_LINE = 512
_quoted = json.JSONEncoder(ensure_ascii=False).encode


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
    about = _attributes(resource.attributes)
    scope = f'{{"name":{_quoted(name)},"version":{_quoted(version)}}}'
    url = f',"schemaUrl":{_quoted(resource.schema_url)}' if resource.schema_url else ""
    remaining = iter(spans)
    while batch := list(islice(remaining, _SPANS_PER_LINE)):
        made = ",".join(map(_span, batch))
        yield (
            f'{{"resourceSpans":[{{"resource":{{"attributes":{about}}},'
            f'"scopeSpans":[{{"scope":{scope},"spans":[{made}]}}]{url}}}]}}\n',
            len(batch),
        )


# Written as text at once: dictionaries for `json` would take twice the time.


def _span(span: Span) -> str:
    parent = "" if span.parent_id is None else f'"parentSpanId":"{span.parent_id:016x}",'
    status = "{}"
    if span.error is not None:
        status = f'{{"code":{ERROR},"message":{_quoted(text(span.error))}}}'
    more = ""
    if span.links:
        links = (
            f'{{"traceId":"{trace:032x}","spanId":"{other:016x}","flags":{FLAGS}}}'
            for trace, other in span.links
        )
        more = f',"links":[{",".join(links)}]'
    if span.events:
        events = (
            f'{{"name":{_quoted(text(name))},"timeUnixNano":"{moment(at)}",'
            f'"attributes":{_attributes(facts)}}}'
            for name, at, facts in span.events
        )
        more += f',"events":[{",".join(events)}]'
    return (
        f'{{"traceId":"{span.trace_id:032x}","spanId":"{span.span_id:016x}",{parent}'
        f'"name":{_quoted(text(span.name))},"kind":{KINDS[span.kind]},'
        f'"startTimeUnixNano":"{moment(span.start)}","endTimeUnixNano":"{moment(span.end)}",'
        f'"attributes":{_attributes(span.attributes)},"status":{status},"flags":{FLAGS}{more}}}'
    )


def _attributes(attributes: Mapping[str, Any]) -> str:
    pairs = [
        f'{{"key":{_quoted(key)},"value":{_value(value)}}}'
        for key, value in plain(attributes).items()
    ]
    return f"[{','.join(pairs)}]"


def _value(value: Any) -> str:
    kind = value.__class__
    if kind is str:
        return f'{{"stringValue":{_quoted(value)}}}'
    if kind is bool:
        return '{"boolValue":true}' if value else '{"boolValue":false}'
    if kind is int:
        return f'{{"intValue":"{value}"}}'
    if kind is float:
        return f'{{"doubleValue":{value!r}}}' if math.isfinite(value) else _odd(value)
    return f'{{"arrayValue":{{"values":[{",".join(map(_value, value))}]}}}}'


def _odd(value: float) -> str:
    """A number for which JSON has no number, as protobuf's JSON writes it."""
    name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return f'{{"doubleValue":"{name}"}}'


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
