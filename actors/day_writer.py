"""Writes days into the run store, at once or while the next day is already being played."""

from __future__ import annotations

import ctypes
import json
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

import msgpack

from actors.guard import JournalRow
from actors.reports import DayRecords, Saved
from actors.tracing import LeagueSpans
from services.runs import DayMark, RunStore
from services.telemetry.logs import append

_MANY = 5_000
"""Messages of a day from which on its memory is worth to be given back at once."""


def give_memory_back() -> None:
    """Has the C library hand free memory back to the system, where it can.

    A big day leaves big holes between small things that stay. The next day would mostly fit into
    them, but not quite, so that the process would grow a little every day for months.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class WrittenDay(NamedTuple):
    """A day that is safe in the run folder."""

    day: int
    mark: DayMark
    cash: dict[str, float]
    """Dollars in hand at its end, by firm."""


class DayWriter:
    """Hands whole days to the store, in order.

    Args:
        store: The run's store.
        spans: Makes spans of days and checkpoints, if they are traced.
        behind: Whether to write in a thread of its own, so that Ray's hosts play the next day
            meanwhile. At most one day is under way; a day counts as ended only when it is written.
    """

    def __init__(self, store: RunStore, spans: LeagueSpans | None, behind: bool) -> None:
        self.store = store
        self._spans = spans
        self._thread = ThreadPoolExecutor(1, "day-writer") if behind else None
        self._under_way: Future[WrittenDay] | None = None

    def write(
        self, day: int, records: list[DayRecords], counters: dict[str, int], seconds: float
    ) -> list[WrittenDay]:
        """Writes a day; returns the days that have become safe.

        Raises:
            HanseError: this day or the one before could not be written.
        """
        state = {"counters": dict(counters), "seconds": round(seconds, 3)}
        if self._thread is None:
            return [self._write(day, records, state)]
        safe = self.flush()
        self._under_way = self._thread.submit(self._write, day, records, state)
        return safe

    def flush(self) -> list[WrittenDay]:
        """Waits for the day that is being written; returns it.

        Raises:
            HanseError: it could not be written.
        """
        pending, self._under_way = self._under_way, None
        return [] if pending is None else [pending.result()]

    def journal(self, rows: list[JournalRow]) -> None:
        """Writes answers that cannot be computed again; they are safe on return.

        Raises:
            HanseError: they could not be written.
        """
        if self._thread is None:
            self.store.journal(rows)
        else:
            self._thread.submit(self.store.journal, rows).result()

    def close(self) -> None:
        """Ends the thread, after the day that it is writing."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)

    def _write(self, day: int, records: list[DayRecords], state: dict[str, Any]) -> WrittenDay:
        saved: Saved = {}
        cash: dict[str, float] = {}
        messages = sum(len(part.messages) for part in records)
        # First, for whoever has a day whole has its log too.
        append(self.store.folder, (line for part in records for line in part.log))
        while records:  # each is let go as soon as the store has it
            part = records.pop()
            self.store.append(part.messages, part.events, part.ledger, part.metrics)
            timings, spans = part.notes.timings, part.notes.spans
            if timings is not None:
                self.store.append(timings=[(day, part.host, timings)], spans=spans)
            saved.update(part.saved)
            for _, firm, body in part.metrics:
                cash[firm] = json.loads(body)["cash"]
        if self._spans is not None:
            played = self._spans.day(day, messages)
            self.store.append(spans=[played, *self._spans.last_checkpoint(day)])
        began = time.time_ns()
        packed = msgpack.packb({"agents": saved, **state})
        del saved, part
        mark = self.store.end_day(day, packed)
        if self._spans is not None:
            self._spans.checkpoint(day, began)
        if mark.message_rows > _MANY:
            give_memory_back()
        return WrittenDay(day, mark, cash)
