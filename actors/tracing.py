"""What a league traces itself: the run, its days and checkpoints, and what becomes of all spans.

Messages and market actions need nothing here: their spans follow from the log and from the timings
that hosts hand over (``services.telemetry``).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from actors.host import DayRecords
from services.messages import MINUTES_PER_DAY
from services.runs.manifest import Manifest
from services.telemetry.handling import SpanRow
from services.telemetry.identity import Identity

if TYPE_CHECKING:
    from pathlib import Path

    from services.telemetry.exporting import SpanPipeline
    from services.telemetry.lane import Counts

CLOSING_SECONDS = 10.0
"""How long the end of a run waits for those who still take spans."""


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
        found += sent + 2 * part.handled
        expected += 3 * sent - 2 * part.unhandled
    return found, expected


class Exporting:
    """Hands a run's days to those who want its spans, as they become safe."""

    def __init__(self, folder: Path, pipeline: SpanPipeline) -> None:
        from services.runs import Run
        from services.telemetry.reader import TraceReader

        self._reader = TraceReader(Run(folder))
        self._pipeline = pipeline
        self._held: int | None = None

    def submit(self, day: int) -> None:
        """A day is written: its spans are derived and sent in the background.

        The latest one is held back, because the end of the run may add to it.
        """
        self._release()
        self._held = day

    def close(self, timeout: float = CLOSING_SECONDS) -> dict[str, Counts]:
        """Waits for what is under way; what became of all spans, by whom they were for."""
        self._release()
        return self._pipeline.close(timeout)

    def _release(self) -> None:
        from services.telemetry.spans import derive

        day, self._held = self._held, None
        if day is not None:
            self._pipeline.submit(lambda: derive(self._reader, day))


def exporting(manifest: Manifest, folder: Path, exporters: Iterable[Any]) -> Exporting | None:
    """What the environment and the caller ask for; ``None`` if nobody wants spans.

    Raises:
        HanseError: a variable of OpenTelemetry, or an exporter, cannot be used.
    """
    from services.telemetry.exporting import pipeline_from_environment

    pipeline = pipeline_from_environment(manifest, sinks=exporters)
    return None if pipeline is None else Exporting(folder, pipeline)
