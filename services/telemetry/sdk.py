"""Spans as OpenTelemetry's SDK has them, so that any exporter and any span processor plugs in.

The ids are Hanse's own and the times are those of the run; what a user's exporter receives is
otherwise an ordinary ``ReadableSpan``.
"""

from __future__ import annotations

import platform
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from services.telemetry.attributes import moment, plain, text
from services.telemetry.exporting import Patience, Sent

if TYPE_CHECKING:
    from services.runs.manifest import Manifest
    from services.telemetry.span import Span

SCOPE = "hanse"
"""The name of the instrumentation scope of all spans and metrics."""
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_UNSET = Status(StatusCode.UNSET)


def describe(manifest: Manifest) -> Resource:
    """Whom a run's spans and metrics come from.

    The environment's ``OTEL_SERVICE_NAME`` and ``OTEL_RESOURCE_ATTRIBUTES`` come on top.
    """
    ours = Resource(
        {
            "service.name": "hanse",
            "service.version": manifest.hanse_version,
            "service.instance.id": manifest.id,
            "host.name": socket.gethostname(),
            "os.type": platform.system().lower(),
            "telemetry.sdk.language": "python",
            "telemetry.sdk.name": "opentelemetry",
            "hanse.run": manifest.id,
            "hanse.run.name": manifest.name,
            "hanse.seed": manifest.seed,
        }
    )
    return ours.merge(OTELResourceDetector().detect())


def scope_of(resource: Resource) -> InstrumentationScope:
    """The instrumentation scope of spans with this resource."""
    version = resource.attributes.get("service.version")
    return InstrumentationScope(SCOPE, None if version is None else str(version))


def readable(span: Span, resource: Resource, scope: InstrumentationScope) -> ReadableSpan:
    """The span as an exporter of the SDK takes it."""
    trace = span.trace_id
    parent = span.parent_id
    return ReadableSpan(
        name=text(span.name),
        context=_context(trace, span.span_id),
        parent=None if parent is None else _context(trace, parent),
        resource=resource,
        attributes=plain(span.attributes),
        events=[Event(text(n), plain(a), timestamp=moment(at)) for n, at, a in span.events],
        links=[Link(_context(*link)) for link in span.links],
        kind=SpanKind[span.kind],
        status=_status(span),
        start_time=moment(span.start),
        end_time=moment(span.end),
        instrumentation_scope=scope,
    )


def _context(trace: int, span: int) -> SpanContext:
    return SpanContext(trace, span, is_remote=False, trace_flags=_SAMPLED)


def _status(span: Span) -> Status:
    return _UNSET if span.error is None else Status(StatusCode.ERROR, text(span.error))


class ExporterSink:
    """Hands spans to a ``SpanExporter`` of the SDK, batch by batch."""

    def __init__(self, exporter: SpanExporter, resource: Resource) -> None:
        self.name = type(exporter).__name__
        self.trouble = ""
        self._exporter = exporter
        self._resource = resource
        self._scope = scope_of(resource)

    def send(self, spans: Sequence[Span], patience: Patience) -> Sent:
        """Exports a batch; an exporter that gives back no result is taken to have succeeded."""
        batch = [readable(span, self._resource, self._scope) for span in spans]
        if self._exporter.export(batch) is SpanExportResult.FAILURE:
            return Sent(0, len(batch), "the exporter says that it failed")
        return Sent(len(batch), 0)

    def close(self, patience: Patience) -> None:
        """Flushes the exporter and shuts it down."""
        self._exporter.force_flush(patience.left_millis())
        self._exporter.shutdown()


class ProcessorSink:
    """Starts and ends each span before a ``SpanProcessor`` of the SDK.

    What the processor gets is a real span of the SDK, which it may also write to. It is flushed
    after each batch: a ``BatchSpanProcessor`` would silently drop what exceeds its own queue.
    """

    def __init__(self, processor: SpanProcessor, resource: Resource) -> None:
        self.name = type(processor).__name__
        self.trouble = ""
        self._processor = processor
        self._ids = _Ids()
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=resource,
            shutdown_on_exit=False,
            id_generator=self._ids,
        )
        provider.add_span_processor(processor)
        scope = scope_of(resource)
        self._tracer = provider.get_tracer(scope.name, scope.version)

    def send(self, spans: Sequence[Span], patience: Patience) -> Sent:
        """Runs a batch past the processor, span for span."""
        failed, reason = 0, ""
        for span in spans:
            try:
                self._replay(span)
            except Exception as error:
                failed += 1
                reason = f"{type(error).__name__}: {error}"
        if self._processor.force_flush(patience.left_millis()) is False:
            reason = reason or "the processor could not be flushed in time"
        return Sent(len(spans) - failed, failed, reason)

    def close(self, patience: Patience) -> None:
        """Shuts the processor down."""
        self._processor.shutdown()

    def _replay(self, span: Span) -> None:
        self._ids.trace, self._ids.span = span.trace_id, span.span_id
        around = Context()
        if span.parent_id is not None:
            parent = NonRecordingSpan(_context(span.trace_id, span.parent_id))
            around = set_span_in_context(parent, around)
        replayed = self._tracer.start_span(
            text(span.name),
            context=around,
            kind=SpanKind[span.kind],
            attributes=plain(span.attributes),
            links=[Link(_context(*link)) for link in span.links],
            start_time=moment(span.start),
        )
        for name, at, attributes in span.events:
            replayed.add_event(text(name), plain(attributes), timestamp=moment(at))
        if span.error is not None:
            replayed.set_status(_status(span))
        replayed.end(end_time=moment(span.end))


class _Ids(IdGenerator):
    """Gives the span that is being replayed the ids that it has."""

    trace = 0
    span = 0

    def generate_trace_id(self) -> int:
        return self.trace

    def generate_span_id(self) -> int:
        return self.span
