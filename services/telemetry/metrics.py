"""Measurements for Prometheus, for a collector and for Ray's dashboard, fed once a day.

Nobody who does not ask for them pays for them: without a reader ``wanted`` is false, and the day's
numbers need not even be gathered.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from services.errors import HanseError
from services.telemetry.day_metrics import DayMetrics
from services.telemetry.exporting import disabled, wants_otlp, whole_number
from services.telemetry.ray_metrics import RayMetrics, ray_takes_metrics

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.resources import Resource

    from services.runs.manifest import Manifest

HANDLER_BUCKETS = (
    1e-5,
    2.5e-5,
    5e-5,
    1e-4,
    2.5e-4,
    5e-4,
    1e-3,
    2.5e-3,
    5e-3,
    1e-2,
    1e-1,
    1.0,
    10.0,
)
"""Seconds: from a scripted firm to a language model."""
MOST_FIRMS = 200
"""As many firms have a series of their own for their cash; the others share one, as a sum."""
OTHERS = "(others)"
MOST_DURATIONS = 1000
"""As many durations a day and role are observed at most, evenly chosen: each takes the SDK 6
microseconds, which a league of thousands of agents would feel."""

Instruments = Mapping[str, Callable[[float, dict[str, str]], None]]
"""By the name of the metric, how a value is added, set or observed."""


class Metrics:
    """Takes a day's numbers and hands them to whoever wants them.

        with Metrics.from_environment(manifest, prometheus_port=9464) as metrics:
            ...
            if metrics.wanted:
                metrics.record(DayMetrics.of_rows(day, messages, events, figures, timings))

    Args:
        resource: Whom the numbers come from.
        readers: Readers of OpenTelemetry's SDK.
        use_ray: Whether Ray's own metrics are fed, too, once Ray runs and can take them.
    """

    def __init__(
        self,
        resource: Resource | None = None,
        readers: Iterable[MetricReader] = (),
        use_ray: bool = True,
    ) -> None:
        self.port: int | None = None
        """Where Prometheus finds the numbers, if it was asked for."""
        self._server: Any = None
        self._provider: Any = None
        self._feeds: list[Feed] = []
        self._use_ray = use_ray
        self._ray: Feed | None = None
        readers = list(readers)
        if readers:
            from opentelemetry.sdk.metrics import MeterProvider

            provider = MeterProvider(readers, resource, shutdown_on_exit=False)
            self._provider = provider
            version = None if resource is None else resource.attributes.get("service.version")
            meter = provider.get_meter("hanse", None if version is None else str(version))
            self._feeds.append(Feed(_instruments(meter)))

    @classmethod
    def from_environment(
        cls,
        manifest: Manifest,
        environ: Mapping[str, str] = os.environ,
        *,
        prometheus_port: int | None = None,
        readers: Iterable[MetricReader] = (),
    ) -> Self:
        """The metrics that the environment and the caller ask for.

        Args:
            manifest: The run's.
            environ: ``OTEL_EXPORTER_OTLP_ENDPOINT`` sends them to a collector;
                ``OTEL_METRICS_EXPORTER=prometheus`` serves them at
                ``OTEL_EXPORTER_PROMETHEUS_PORT`` (9464), ``none`` does neither.
            prometheus_port: Serves them there on 127.0.0.1; 0 for any free port.
            readers: Readers of the user's own.

        Raises:
            HanseError: the port is taken, or a variable has a value that cannot be used.
        """
        if disabled(environ):
            return cls(readers=(), use_ray=False)
        chosen = list(readers)
        if prometheus_port is None and _names(environ, "prometheus"):
            prometheus_port = _port(environ)
        server = registry = None
        if prometheus_port is not None:
            reader, registry = _prometheus_reader()
            server = _serve(prometheus_port, registry)
            chosen.append(reader)
        try:
            if wants_otlp(environ, "METRICS"):
                chosen.append(_otlp_reader(environ))
            if not chosen:
                return cls()
            from services.telemetry.sdk import describe

            made = cls(describe(manifest), chosen)
        except BaseException:
            _end(server)
            raise
        made._server = server
        made.port = None if server is None else server.server_address[1]
        return made

    @property
    def wanted(self) -> bool:
        """Whether anybody reads."""
        return bool(self._feeds) or (self._use_ray and ray_takes_metrics())

    def record(self, day: DayMetrics) -> None:
        """Takes a day's numbers."""
        for feed in self._feeds:
            feed.record(day)
        if self._use_ray and ray_takes_metrics():
            if self._ray is None:
                self._ray = Feed(RayMetrics(HANDLER_BUCKETS).instruments)
            self._ray.record(day)

    def close(self, timeout: float = 5.0) -> None:
        """Sends what has not been sent, for so many seconds at most. May be repeated."""
        provider, self._provider = self._provider, None
        server, self._server = self._server, None
        self._feeds = []
        ends = time.monotonic() + timeout
        _end(server)
        if provider is not None:
            # An exporter in the midst of its own attempts may keep its own time, not ours.
            shutting = threading.Thread(
                target=provider.shutdown,
                kwargs={"timeout_millis": timeout * 1000},
                name="metrics-close",
                daemon=True,
            )
            shutting.start()
            shutting.join(max(ends - time.monotonic(), 0.0))

    def __enter__(self) -> Self:
        """The metrics themselves."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes them."""
        self.close()


class Feed:
    """Feeds one set of instruments with days."""

    def __init__(self, instruments: Instruments) -> None:
        self._put = instruments
        self._spans: dict[tuple[str, str], int] = {}
        self._remade = 0

    def record(self, day: DayMetrics) -> None:
        """Feeds a day."""
        put = self._put
        put["hanse.day"](day.day, {})
        for kind, number in day.messages.items():
            put["hanse.messages"](number, {"hanse.message.type": kind})
        for kind, size in day.message_bytes.items():
            put["hanse.message.bytes"](size, {"hanse.message.type": kind})
        observe = put["hanse.handler.duration"]
        for role, durations in day.handler_seconds.items():
            about = {"hanse.agent.role": role}
            for seconds in durations[:: max(1, -(-len(durations) // MOST_DURATIONS))]:
                observe(float(seconds), about)
        put["hanse.queue.length"](day.queue_length, {})
        put["hanse.deals"](day.deals, {})
        for firm, dollars in _few(day.cash).items():
            put["hanse.cash"](dollars, {"hanse.firm": firm})
        for agent, alerts in _few(day.alerts).items():
            put["hanse.alerts"](alerts, {"hanse.agent": agent})
        for kind, number in day.measures.items():
            put["hanse.measures"](number, {"hanse.measure": kind})
        put["hanse.hosts.remade"](max(day.hosts_remade - self._remade, 0), {})
        self._remade = day.hosts_remade
        for kind, number in day.troubles.items():
            put["hanse.agent.errors"](number, {"hanse.trouble": kind})
        for name, counts in (
            ("hanse.spans.exported", day.spans_exported),
            ("hanse.spans.dropped", day.spans_dropped),
        ):
            for exporter, number in counts.items():
                more = number - self._spans.get((name, exporter), 0)
                self._spans[name, exporter] = number
                put[name](max(more, 0), {"hanse.exporter": exporter})


def _few(values: Mapping[str, Any]) -> dict[str, float]:
    """The values of the first names, and the sum of all others."""
    if len(values) <= MOST_FIRMS:
        return dict(values)
    names = sorted(values)
    few = {name: values[name] for name in names[:MOST_FIRMS]}
    return few | {OTHERS: sum(values[name] for name in names[MOST_FIRMS:])}


CATALOGUE: Mapping[str, tuple[str, str, str]] = {
    "hanse.day": ("gauge", "{day}", "The last virtual day that has been measured"),
    "hanse.messages": ("counter", "{message}", "Messages sent, by type"),
    "hanse.message.bytes": ("counter", "By", "Bytes of message bodies, by type"),
    "hanse.handler.duration": (
        "histogram",
        "s",
        "Wall time of handling a message, by role; at most 1,000 a day and role",
    ),
    "hanse.queue.length": ("gauge", "{message}", "The most messages one agent was given at once"),
    "hanse.deals": ("counter", "{deal}", "Deals made"),
    "hanse.cash": ("gauge", "{USD}", "Dollars that a firm has in the evening"),
    "hanse.alerts": ("counter", "{alert}", "Alerts raised, by agent"),
    "hanse.measures": ("counter", "{measure}", "Measures against agents, by kind"),
    "hanse.hosts.remade": ("counter", "{host}", "Hosts that were lost and made anew"),
    "hanse.agent.errors": ("counter", "{error}", "Agents' mistakes, by kind"),
    "hanse.spans.exported": ("counter", "{span}", "Spans exported, by exporter"),
    "hanse.spans.dropped": ("counter", "{span}", "Spans that failed or were dropped, by exporter"),
}
"""Every metric: instrument, unit and description."""


def _instruments(meter: Meter) -> Instruments:
    made: dict[str, Callable[[float, dict[str, str]], None]] = {}
    for name, (kind, unit, description) in CATALOGUE.items():
        if kind == "counter":
            made[name] = meter.create_counter(name, unit, description).add
        elif kind == "gauge":
            made[name] = meter.create_gauge(name, unit, description).set
        else:
            made[name] = meter.create_histogram(
                name, unit, description, explicit_bucket_boundaries_advisory=HANDLER_BUCKETS
            ).record
    return made


# ---- readers -------------------------------------------------------------------------------------


def _names(environ: Mapping[str, str], exporter: str) -> bool:
    return exporter in environ.get("OTEL_METRICS_EXPORTER", "").lower().replace(" ", "").split(",")


def _port(environ: Mapping[str, str]) -> int:
    given = environ.get("OTEL_EXPORTER_PROMETHEUS_PORT", "").strip() or "9464"
    if given.isdecimal() and int(given) <= 65535:
        return int(given)
    raise HanseError(f"OTEL_EXPORTER_PROMETHEUS_PORT={given!r} is not a port from 0 to 65535")


def _prometheus_reader() -> tuple[MetricReader, Any]:
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry()
    return PrometheusMetricReader(registry=registry, scope_info_enabled=False), registry


def _serve(port: int, registry: Any) -> Any:
    from prometheus_client import start_http_server

    try:
        server, _ = start_http_server(port, addr="127.0.0.1", registry=registry)
    except OSError as error:
        raise HanseError(
            f"port {port} on 127.0.0.1 cannot be used for metrics:"
            f" {error.strerror or error}; choose another, or 0 for any free one"
        ) from error
    return server


def _end(server: Any) -> None:
    if server is not None:
        server.shutdown()
        server.server_close()


def _otlp_reader(environ: Mapping[str, str]) -> MetricReader:

    import requests
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    from services.telemetry.logs import Redacting
    from services.telemetry.otlp import OtlpSettings

    settings = OtlpSettings.from_environment(environ, "METRICS")
    # What cannot be delivered is logged by the library, with the whole URL; every attempt, too.
    log = logging.getLogger(OTLPMetricExporter.__module__)
    log.addFilter(Redacting())
    log.setLevel(logging.ERROR)
    session = requests.Session()
    session.trust_env = not settings.is_local
    exporter = OTLPMetricExporter(
        session=session,
        endpoint=settings.endpoint,
        headers=dict(settings.headers),
        timeout=settings.timeout,
        compression={
            "gzip": Compression.Gzip,
            "deflate": Compression.Deflate,
            "none": Compression.NoCompression,
        }[settings.compression],
    )
    return PeriodicExportingMetricReader(
        exporter,
        export_interval_millis=whole_number(environ, "OTEL_METRIC_EXPORT_INTERVAL", 60_000),
        export_timeout_millis=whole_number(environ, "OTEL_METRIC_EXPORT_TIMEOUT", 30_000),
    )
