"""What a league traces itself: the run, its days and checkpoints, and what becomes of all spans.

Messages and market actions need nothing here: their spans follow from the log and from the timings
that hosts hand over (``services.telemetry``).
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from threading import Timer
from typing import TYPE_CHECKING, Any, NamedTuple

from actors.reports import DayRecords
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs.manifest import Manifest
from services.telemetry.identity import Identity
from services.telemetry.own_rows import SpanRow
from services.telemetry.redaction import redact

if TYPE_CHECKING:
    from pathlib import Path

    from services.runs import Run
    from services.telemetry.exporting import SpanPipeline
    from services.telemetry.lane import Counts
    from services.telemetry.metrics import Metrics

_log = logging.getLogger(__name__)

CLOSING_SECONDS = 5.0
"""How long the end of a run waits for those who still take spans."""
AWAY_SECONDS = 2.0
"""The same where nobody has taken any so far."""


class LeagueSpans:
    """Makes the league's own spans, as rows of the store."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._identity = Identity(manifest.config_sha256)
        self._day_began = time.time_ns()
        self._checkpoint: tuple[int, int, int] | None = None

    def day(self, day: int, messages: int) -> SpanRow:
        """The span of a day that has been played."""
        began, self._day_began = self._day_began, time.time_ns()
        about = {"hanse.day": day, "hanse.messages": messages}
        return self._row(day, f"day {day}", began, self._day_began, day, about)

    def checkpoint(self, day: int, began: int) -> None:
        """Notes that a day has been written since ``began`` (nanoseconds since 1970)."""
        self._checkpoint = day, began, time.time_ns()

    def last_checkpoint(self, day: int) -> list[SpanRow]:
        """The span of the last checkpoint, to be kept with a later day (or the same)."""
        if self._checkpoint is None:
            return []
        (of, began, ended), self._checkpoint = self._checkpoint, None
        about = {"hanse.day": of}
        return [self._row(day, f"checkpoint {of}", began, ended, of, about, parent=f"day {of}")]

    def run(self, day: int) -> SpanRow:
        """The span of the whole run, once it is finished."""
        made = datetime.fromisoformat(self._manifest.created_at)
        about = {"hanse.run": self._manifest.id, "hanse.days": day + 1}
        began = int(made.timestamp() * 1e9)
        return self._row(day, "run", began, time.time_ns(), day, about, parent="")

    def _row(
        self,
        kept_with: int,
        what: str,
        began: int,
        ended: int,
        day: int,
        attributes: dict[str, Any],
        parent: str = "run",
    ) -> SpanRow:
        ids = self._identity
        return (
            kept_with,
            "",
            f"{ids.span(what):016x}",
            f"{ids.trace('run'):032x}",
            f"{ids.span(parent):016x}" if parent else None,
            what,
            "INTERNAL",
            began,
            ended,
            day * MINUTES_PER_DAY,
            "OK",
            json.dumps({"attributes": attributes}),
        )


def count_spans(records: Iterable[DayRecords]) -> tuple[int, int]:
    """How many spans of messages a day has, and how many it must have.

    Every message is sent, received and handled; those that are not, an event tells of.
    """
    found = expected = 0
    for part in records:
        sent = len(part.messages)
        found += sent + 2 * part.notes.handled
        expected += 3 * sent - 2 * part.notes.unhandled
    return found, expected


class Telemetry(NamedTuple):
    """What a league is to tell of itself, besides what stands in its run's folder."""

    traced: bool = True
    """Whether it is noted when each message is handled (``hanse trace``)."""
    exporters: tuple[Any, ...] = ()
    """Span exporters and processors of OpenTelemetry's SDK that get all spans, besides those that
    the environment names."""
    metrics_port: int | None = None
    """Where to serve metrics to Prometheus, on 127.0.0.1; 0 for any free port."""
    log_file: bool = False
    """Whether what is logged goes to ``log.jsonl`` in the run's folder, also from Ray's hosts."""


class Exporting:
    """Hands a run's days, as they become safe, to those who want its spans or its metrics."""

    def __init__(self, folder: Path, pipeline: SpanPipeline | None, metrics: Metrics) -> None:
        self.port = metrics.port
        """Where the metrics are served, if they are."""
        self._folder = folder
        self._pipeline = pipeline
        self._metrics = metrics
        self._measuring = ThreadPoolExecutor(1, "metrics")
        self._held: int | None = None
        self._complained = False

    @cached_property
    def _run(self) -> Run:
        from services.runs import Run

        return Run(self._folder)

    def submit(self, day: int, hosts_remade: int = 0) -> None:
        """A day is written: its spans are derived and sent in the background.

        The latest one is held back, because the end of the run may add to it.

        Args:
            day: The day.
            hosts_remade: Hosts that were lost and made anew, since the start of the run.
        """
        self._release()
        self._held = day
        if self._metrics.wanted:
            self._measuring.submit(self._measure, day, hosts_remade)

    def close(self) -> dict[str, Counts]:
        """Waits for what is under way; what became of all spans, by whom they were for.

        For a collector that has not taken anything so far it does not wait long.
        """
        self._release()
        counts: dict[str, Counts] = {}
        patience = AWAY_SECONDS
        notice = Timer(1.0, _log.warning, ("waiting for the last spans of the run to be taken",))
        notice.daemon = True
        notice.start()
        try:
            if self._pipeline is not None:
                patience = CLOSING_SECONDS if self._pipeline.settle(AWAY_SECONDS) else 0.2
                counts = self._pipeline.close(patience)
            self._measuring.shutdown(wait=True)
            self._metrics.close(min(patience, AWAY_SECONDS))
        finally:
            notice.cancel()
        return counts

    def _release(self) -> None:
        from services.telemetry.reader import TraceReader
        from services.telemetry.spans import derive

        day, self._held = self._held, None
        if day is not None and self._pipeline is not None:
            # A reader for each who reads: they keep days in mind, and are not for two threads.
            run = self._run
            self._pipeline.submit(lambda: derive(TraceReader(run), day))

    def _measure(self, day: int, hosts_remade: int) -> None:
        from services.telemetry.day_metrics import DayMetrics
        from services.telemetry.timings import Timings

        run, days = self._run, range(day, day + 1)
        counts = {} if self._pipeline is None else self._pipeline.counts()
        try:
            self._metrics.record(
                DayMetrics.of_rows(
                    day,
                    run.rows("messages", days=days),
                    run.rows("events", days=days),
                    run.rows("metrics", days=days),
                    [Timings.unpack(row[2]) for row in run.rows("timings", days=days)],
                    hosts_remade=hosts_remade,
                    spans_exported={name: c.exported for name, c in counts.items()},
                    spans_dropped={name: c.failed + c.dropped for name, c in counts.items()},
                )
            )
        except Exception as error:  # metrics are for watching: they are no reason to stop
            if not self._complained:
                _log.warning("metrics are missing from day %d on: %s", day, error)
            self._complained = True


@contextmanager
def exporting(manifest: Manifest, folder: Path, told: Telemetry) -> Iterator[Exporting | None]:
    """What the environment and the caller ask for; ``None`` if nobody wants anything.

    It stays open, unless what follows fails.

    Raises:
        HanseError: a variable of OpenTelemetry, an exporter or the port cannot be used.
    """
    from services.telemetry.exporting import pipeline_from_environment
    from services.telemetry.metrics import Metrics

    try:
        metrics = Metrics.from_environment(manifest, prometheus_port=told.metrics_port)
    except ValueError as error:  # the SDK's own, for a limit that is none
        raise HanseError(f"OTEL_* in the environment: {redact(str(error))}") from error
    try:
        pipeline = None
        if told.traced:
            pipeline = pipeline_from_environment(manifest, sinks=told.exporters)
    except ValueError as error:
        metrics.close()
        raise HanseError(f"OTEL_* in the environment: {redact(str(error))}") from error
    except BaseException:
        metrics.close()
        raise
    if pipeline is None and not metrics.wanted:
        metrics.close()
        yield None
        return
    made = Exporting(folder, pipeline, metrics)
    try:
        yield made
    except BaseException:
        made.close()
        raise
