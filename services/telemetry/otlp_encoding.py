"""Spans as OTLP protobuf, straight from ours.

The SDK's way (a ``ReadableSpan`` for each span, then its encoder) gives the same bytes, after a
multiple of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource as ResourceMessage
from opentelemetry.proto.trace.v1 import trace_pb2

from services.telemetry.attributes import Value, moment, plain, text

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

    from services.telemetry.span import Span

KINDS: Mapping[str, Any] = {"INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
"""OTLP's numbers for the kinds of spans."""
FLAGS = 0x100
"""Of a span's parent and of a link: it is known whether they come from elsewhere; they do not."""
ERROR = 2
"""OTLP's status code of a span that failed."""


def scope_name(resource: Resource) -> tuple[str, str]:
    """Name and version of the instrumentation scope of spans with this resource."""
    return "hanse", str(resource.attributes.get("service.version", ""))


def request(spans: Sequence[Span], resource: Resource) -> ExportTraceServiceRequest:
    """The request that hands a collector these spans."""
    whole = ExportTraceServiceRequest()
    group = whole.resource_spans.add(
        resource=ResourceMessage(attributes=list(map(_pair, resource.attributes.items()))),
        schema_url=resource.schema_url,
    )
    name, version = scope_name(resource)
    scope = group.scope_spans.add(scope=InstrumentationScope(name=name, version=version))
    add = scope.spans.add
    for span in spans:
        parent = span.parent_id
        made = add(
            trace_id=span.trace_id.to_bytes(16, "big"),
            span_id=span.span_id.to_bytes(8, "big"),
            parent_span_id=b"" if parent is None else parent.to_bytes(8, "big"),
            name=text(span.name),
            kind=KINDS[span.kind],
            start_time_unix_nano=moment(span.start),
            end_time_unix_nano=moment(span.end),
            attributes=_attributes(span.attributes),
            status=_UNSET if span.error is None else _failed(span.error),
            flags=FLAGS,
        )
        for trace_id, span_id in span.links:
            made.links.add(
                trace_id=trace_id.to_bytes(16, "big"),
                span_id=span_id.to_bytes(8, "big"),
                flags=FLAGS,
            )
        for event, at, facts in span.events:
            made.events.add(
                name=text(event), time_unix_nano=moment(at), attributes=_attributes(facts)
            )
    return whole


def encode(spans: Sequence[Span], resource: Resource) -> bytes:
    """The request's bytes."""
    packed: bytes = request(spans, resource).SerializeToString()
    return packed


_UNSET = trace_pb2.Status()


def _failed(error: str) -> trace_pb2.Status:
    return trace_pb2.Status(code=trace_pb2.Status.STATUS_CODE_ERROR, message=text(error))


_FIELDS = {str: "string_value", bool: "bool_value", int: "int_value", float: "double_value"}


def _attributes(attributes: Mapping[str, Any]) -> Any:
    # The generated classes also take dictionaries, which are half as dear to make as messages.
    return [
        {"key": key, "value": {_FIELDS[value.__class__]: value}}
        if value.__class__ in _FIELDS
        else _pair((key, value))
        for key, value in plain(attributes).items()
    ]


def _pair(item: tuple[str, Any]) -> KeyValue:
    return KeyValue(key=item[0], value=_value(item[1]))


def _value(value: Value | tuple[Any, ...]) -> AnyValue:
    if isinstance(value, list | tuple):
        made = AnyValue()
        made.array_value.values.extend(map(_value, value))
        if not value:
            made.array_value.SetInParent()
        return made
    fields: dict[str, Any] = {_FIELDS[value.__class__]: value}
    return AnyValue(**fields)
