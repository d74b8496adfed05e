"""Spans on their way out: never in the way of the league, and nothing lost without being told.

Each sink has a thread and a backlog of its own, so that one that is slow, raises or hangs harms no
other. A day in the backlog is mostly a recipe (the spans are derived when their turn comes), so a
backlog takes no memory to speak of, however long a collector is away.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from services.errors import HanseError
from services.telemetry.lane import Counts, Day, Lane, Spans

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

    from services.runs.manifest import Manifest
    from services.telemetry.sampling import Sampling
    from services.telemetry.span import Span

_log = logging.getLogger(__name__)


class Sent(NamedTuple):
    """What has become of a batch."""

    exported: int
    failed: int
    reason: str = ""
    """Why some failed, in one line."""


class Patience:
    """How long a sink may go on trying: for ever while the run goes on, then until a deadline."""

    def __init__(self) -> None:
        self._closing = threading.Event()
        self._deadline = math.inf

    def left(self) -> float:
        """Seconds that remain; infinite as long as nobody has closed the pipeline."""
        return max(self._deadline - time.monotonic(), 0.0)

    def left_millis(self, longest: float = 30.0) -> int:
        """The same for those who count in milliseconds, at most ``longest`` seconds."""
        return int(min(self.left(), longest) * 1000)

    def wait(self, seconds: float) -> bool:
        """Waits before the next attempt; whether there is to be one.

        A wait ends at once when the pipeline is being closed, for a last attempt.
        """
        if self._closing.is_set():
            time.sleep(min(seconds, self.left()))
        else:
            self._closing.wait(seconds)
        return self.left() > 0

    def end(self, timeout: float) -> None:
        """Sets the deadline."""
        self._deadline = time.monotonic() + timeout
        self._closing.set()


class Sink(Protocol):
    """Where spans go."""

    name: str
    trouble: str
    """What keeps it from sending just now, in a line; empty if nothing does."""

    def send(self, spans: Sequence[Span], patience: Patience) -> Sent:
        """Takes a batch, and may try as long as ``patience`` lasts. What it raises is a failure."""

    def close(self, patience: Patience) -> None:
        """Sends what it still holds, and lets go."""


class Limits(NamedTuple):
    """How much waits, and how long."""

    queue: int = 65_536
    """Spans that may wait in memory for a sink; spans that are still to be derived do not count."""
    batch: int = 512
    """Spans in one call of a sink."""
    export_timeout: float = 30.0
    """Seconds after which a sink that has not come back is said to hang."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The limits that ``OTEL_BSP_*`` set.

        Raises:
            HanseError: one is not a whole number above 0, or a batch exceeds the queue.
        """
        given = cls()
        queue = whole_number(environ, "OTEL_BSP_MAX_QUEUE_SIZE", given.queue)
        batch = whole_number(environ, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", min(given.batch, queue))
        millis = whole_number(environ, "OTEL_BSP_EXPORT_TIMEOUT", int(given.export_timeout * 1000))
        if batch > queue:
            raise HanseError(
                f"OTEL_BSP_MAX_EXPORT_BATCH_SIZE={batch} exceeds"
                f" OTEL_BSP_MAX_QUEUE_SIZE={queue}; make it at most as large"
            )
        return cls(queue, batch, millis / 1000)


def whole_number(environ: Mapping[str, str], name: str, default: int) -> int:
    """A variable that is a whole number above 0, or the default if it is not set.

    Raises:
        HanseError: it is something else.
    """
    given = environ.get(name, "").strip()
    if not given:
        return default
    if given.isdecimal() and int(given) > 0:
        return int(given)
    raise HanseError(f"{name}={given!r} is not a whole number above 0")


class SpanPipeline:
    """Takes a run's spans day by day and hands them to sinks in the background.

        with SpanPipeline([OTLPSpanExporter()], describe(manifest)) as pipeline:
            pipeline.submit(lambda: derive(reader, day), count=1902)
        print(pipeline.counts())

    Args:
        sinks: Exporters and processors of OpenTelemetry's SDK, or sinks of our own.
        resource: Whom the spans come from.
        sampling: Which spans are exported; all if None.
        limits: By default those of the environment.
    """

    def __init__(
        self,
        sinks: Iterable[Any],
        resource: Resource,
        sampling: Sampling | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._limits = limits or Limits.from_environment()
        self._patience = Patience()
        self._lanes: dict[str, Lane] = {}
        self._final: dict[str, Counts] | None = None
        self._lock = threading.Lock()
        keeps = None if sampling is None or sampling.keeps_all else sampling.keeps
        for sink in sinks:
            sink = _as_sink(sink, resource)
            name = _unused(sink.name, self._lanes)
            self._lanes[name] = Lane(
                name, sink, self._patience, keeps, self._limits.queue, self._limits.batch
            )

    def submit(self, spans: Spans, count: int | None = None) -> None:
        """Takes a day's spans; returns at once.

        Args:
            spans: The spans, or a function that gives them. It is called once for each sink, in
                that sink's thread, when its turn comes.
            count: How many spans the function will give, where that is known: so many are
                reported as dropped if the time does not suffice.
        """
        if self._final is not None:
            _log.warning("a day's spans came after the end; they are not exported")
            return
        for lane in self._lanes.values():
            lane.put(Day(spans, count))
            if lane.hangs(self._limits.export_timeout):
                _log.warning(
                    "%s has not come back for %.0f seconds; its spans wait",
                    lane.name,
                    self._limits.export_timeout,
                )

    def counts(self) -> dict[str, Counts]:
        """What has become of the spans so far, by sink."""
        if self._final is not None:
            return self._final
        return {name: lane.counts() for name, lane in self._lanes.items()}

    def settle(self, timeout: float) -> bool:
        """Waits, for so many seconds at most, until nothing waits to be sent any more.

        Returns:
            Whether it is worth to wait longer: something waits, and is being taken.
        """
        ends = time.monotonic() + timeout
        lanes = list(self._lanes.values())
        while not all(lane.idle for lane in lanes) and time.monotonic() < ends:
            time.sleep(0.02)
        return any(not lane.idle and not lane.away for lane in lanes)

    def close(self, timeout: float = 30.0) -> dict[str, Counts]:
        """Sends what waits, for so many seconds at most, and gives back the final counts.

        It keeps its deadline whatever the sinks do: what is not through by then is dropped, counted
        and told. May be repeated.
        """
        with self._lock:
            if self._final is not None:
                return self._final
            deadline = time.monotonic() + timeout
            self._patience.end(timeout)
            for lane in self._lanes.values():
                lane.finish()
            for lane in self._lanes.values():
                lane.join(max(deadline - time.monotonic(), 0.0))
            self._final = {name: lane.abandon() for name, lane in self._lanes.items()}
        for name, counts in self._final.items():
            if not counts.complete:
                _log.warning("%s", counts.line(name))
        return self._final

    def __enter__(self) -> Self:
        """The pipeline itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes it."""
        self.close()


def pipeline_from_environment(
    manifest: Manifest, environ: Mapping[str, str] = os.environ, sinks: Iterable[Any] = ()
) -> SpanPipeline | None:
    """The pipeline that the environment asks for, or None if nobody wants spans.

    Args:
        manifest: The run's.
        environ: The environment.
        sinks: Sinks besides those of the environment.

    Raises:
        HanseError: a variable of OpenTelemetry has a value that cannot be used.
    """
    sinks = list(sinks)
    if disabled(environ):
        return None
    if wants_otlp(environ, "TRACES"):
        from services.telemetry.otlp import OtlpSettings, OtlpSink
        from services.telemetry.sdk import describe

        settings = OtlpSettings.from_environment(environ)
        sinks.append(OtlpSink(settings, describe(manifest)))
    if not sinks:
        return None
    from services.telemetry.sampling import Sampling
    from services.telemetry.sdk import describe

    sampling = Sampling.from_environment(environ)
    return SpanPipeline(sinks, describe(manifest), sampling, Limits.from_environment(environ))


def disabled(environ: Mapping[str, str]) -> bool:
    """Whether ``OTEL_SDK_DISABLED`` says that nothing is to leave the process."""
    return environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"


def wants_otlp(environ: Mapping[str, str], signal: str) -> bool:
    """Whether the environment names an OTLP endpoint for a signal, TRACES or METRICS.

    ``OTEL_TRACES_EXPORTER=none`` (and the like for metrics) says no all the same.
    """
    if environ.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() == "none":
        return False
    names = (f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return any(environ.get(name, "").strip() for name in names)


def _as_sink(sink: Any, resource: Resource) -> Sink:
    if callable(getattr(sink, "send", None)):
        return sink  # type: ignore[no-any-return]
    from services.telemetry.sdk import ExporterSink, ProcessorSink

    if callable(getattr(sink, "on_end", None)):
        return ProcessorSink(sink, resource)
    if callable(getattr(sink, "export", None)):
        return ExporterSink(sink, resource)
    raise HanseError(
        f"{type(sink).__name__} takes no spans; give a SpanExporter or a SpanProcessor of"
        " opentelemetry.sdk.trace"
    )


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name} {number}"
    return candidate
