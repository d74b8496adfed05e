"""One sink's backlog, thread and counts."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from services.telemetry.redaction import redact

if TYPE_CHECKING:
    from services.telemetry.exporting import Patience, Sink
    from services.telemetry.span import Span

_log = logging.getLogger(__name__)
_LATE = "there was no time left"


Spans: TypeAlias = "Sequence[Span] | Callable[[], Iterable[Span]]"
"""Spans, or a function that gives them when their turn comes."""


class Counts(NamedTuple):
    """What has become of the spans that were meant for a sink."""

    exported: int = 0
    failed: int = 0
    """The sink had them, and failed."""
    dropped: int = 0
    """The sink never had them, or nobody knows what it did with them: there was no room, or no
    time."""
    unsampled: int = 0
    """Left out on purpose."""
    days_dropped: int = 0
    """Days that were not exported, or only in part, and of which nobody knows how many spans they
    have."""
    reason: str = ""
    """Why the last ones failed, in one line."""

    @property
    def complete(self) -> bool:
        """Whether all that should be exported has been."""
        return not (self.failed or self.dropped or self.days_dropped)

    def line(self, name: str) -> str:
        """The counts in words, for a person."""
        parts = [f"{self.exported:,} spans exported"]
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        if self.dropped:
            parts.append(f"{self.dropped:,} dropped")
        if self.days_dropped:
            parts.append(f"{self.days_dropped:,} days not exported whole")
        if self.unsampled:
            parts.append(f"{self.unsampled:,} not sampled")
        told = f"{name}: {', '.join(parts)}"
        return f"{told} ({self.reason})" if self.reason and not self.complete else told


class Day:
    """A day's spans on their way to one sink."""

    def __init__(self, spans: Spans, count: int | None) -> None:
        self.spans = spans
        self.held = 0 if callable(spans) else len(spans)
        """How many spans it keeps in memory."""
        self.count = count if callable(spans) else len(spans)
        self.taken = 0
        """How many of them the sink's thread has taken so far."""

    def __iter__(self) -> Iterator[Span]:
        return iter(self.spans() if callable(self.spans) else self.spans)


class Lane:
    """Hands the days of its backlog to its sink, one after the other, in a thread of its own."""

    def __init__(
        self,
        name: str,
        sink: Sink,
        patience: Patience,
        keeps: Callable[[Span], bool] | None,
        queue: int,
        batch: int,
    ) -> None:
        self.name = name
        self._sink = sink
        self._patience = patience
        self._keeps = keeps
        self._queue = queue
        self._batch = batch
        self._backlog: deque[Day] = deque()
        self._held = 0
        self._counts = Counts()
        self._in_flight = 0
        self._sending_since: float | None = None
        self._told = False
        self._troubled = False
        self._finishing = False
        self._abandoned = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name=f"spans-{name}", daemon=True)
        self._thread.start()

    # ---- the caller's side -----------------------------------------------------------------------

    def put(self, day: Day) -> None:
        """Takes a day; of one that is held in memory only what there is room for."""
        with self._changed:
            if self._finishing:
                self._add(dropped=day.count or 0, days_dropped=int(day.count is None))
                return
            room = max(self._queue - self._held, 0)
            if day.held > room:
                self._add(dropped=day.held - room, reason=f"more than {self._queue:,} spans waited")
                assert not callable(day.spans)
                day = Day(day.spans[:room], None)
            if callable(day.spans) or day.held:
                self._held += day.held
                self._backlog.append(day)
                self._changed.notify()

    def hangs(self, timeout: float) -> bool:
        """Whether the sink has had one batch for longer than that; says so once a batch."""
        with self._changed:
            since = self._sending_since
            hangs = since is not None and time.monotonic() - since > timeout
            fresh, self._told = hangs and not self._told, hangs
            return fresh

    def counts(self) -> Counts:
        """The counts so far."""
        with self._changed:
            return self._counts

    @property
    def idle(self) -> bool:
        """Whether all that it was given has been dealt with."""
        with self._changed:
            return not self._backlog

    @property
    def away(self) -> bool:
        """Whether the sink has not taken anything yet, and is in trouble."""
        with self._changed:
            return self._counts.exported == 0 and bool(self._sink.trouble or self._counts.reason)

    def finish(self) -> None:
        """Has the thread end once the backlog is empty."""
        with self._changed:
            self._finishing = True
            self._changed.notify()

    def join(self, timeout: float) -> None:
        """Waits for the thread."""
        self._thread.join(timeout)

    def abandon(self) -> Counts:
        """Counts what has not been exported as dropped; what the thread still does is ignored."""
        with self._changed:
            self._abandoned = True
            late = self._late() if self._backlog else ""
            for day in self._backlog:
                self._drop_rest(day)
            self._backlog.clear()
            self._add(dropped=self._in_flight, reason=late)
            self._in_flight = 0
            return self._counts

    # ---- the thread's side -----------------------------------------------------------------------

    def _work(self) -> None:
        while (day := self._next()) is not None:
            try:
                self._export(day)
            except Exception as error:
                with self._changed:
                    if not self._abandoned:
                        self._drop_rest(day)
                self._trouble(f"a day could not be read: {type(error).__name__}: {error}")
            with self._changed:
                if self._abandoned:
                    return
                self._backlog.popleft()
                self._held -= day.held
        try:
            self._sink.close(self._patience)
        except Exception as error:
            self._trouble(f"it could not be closed: {type(error).__name__}: {error}")

    def _next(self) -> Day | None:
        with self._changed:
            while not self._backlog and not self._finishing:
                self._changed.wait()
            return self._backlog[0] if self._backlog and not self._abandoned else None

    def _export(self, day: Day) -> None:
        spans = iter(day)
        chosen: list[Span] = []
        while taken := list(islice(spans, self._batch - len(chosen))):
            kept = taken if self._keeps is None else list(filter(self._keeps, taken))
            chosen += kept
            with self._changed:
                if self._abandoned:
                    return
                day.taken += len(taken)
                self._in_flight = len(chosen)
                self._add(unsampled=len(taken) - len(kept))
            if len(chosen) == self._batch:
                if not self._send(chosen):
                    with self._changed:
                        if not self._abandoned:
                            self._drop_rest(day)
                    return
                chosen = []
        day.count = day.taken
        if chosen:
            self._send(chosen)

    def _send(self, batch: list[Span]) -> bool:
        """Hands a batch over; whether there is time for another."""
        with self._changed:
            self._sending_since = time.monotonic()
        try:
            if self._patience.left() > 0:
                sent = self._sink.send(batch, self._patience)
                exported, failed, reason = sent.exported, sent.failed, sent.reason
            else:
                exported, failed, reason = 0, 0, self._late()
        except Exception as error:
            exported, failed, reason = 0, len(batch), f"{type(error).__name__}: {error}"
        with self._changed:
            self._sending_since = None
            if self._abandoned:
                return False
            self._in_flight = 0
            reason = _one_line(redact(reason))
            self._add(exported, failed, len(batch) - exported - failed, reason=reason)
        if failed:
            self._trouble(reason)
        return self._patience.left() > 0

    def _trouble(self, reason: str) -> None:
        reason = _one_line(redact(reason))
        with self._changed:
            first, self._troubled = not self._troubled, True
            if self._abandoned:
                return
            self._add(reason=reason)
        if first:  # the sum is told at the end
            _log.warning("%s: spans are not exported: %s", self.name, reason)

    def _late(self) -> str:
        """Why the time did not suffice."""
        return _one_line(redact(self._sink.trouble)) or self._counts.reason or _LATE

    # ---- under the lock --------------------------------------------------------------------------

    def _drop_rest(self, day: Day) -> None:
        if day.count is None:
            self._add(days_dropped=1)
        else:
            self._add(dropped=max(day.count - day.taken, 0))

    def _add(
        self,
        exported: int = 0,
        failed: int = 0,
        dropped: int = 0,
        unsampled: int = 0,
        days_dropped: int = 0,
        reason: str = "",
    ) -> None:
        was = self._counts
        self._counts = Counts(
            was.exported + exported,
            was.failed + failed,
            was.dropped + dropped,
            was.unsampled + unsampled,
            was.days_dropped + days_dropped,
            reason or was.reason,
        )


def _one_line(reason: str, longest: int = 300) -> str:
    line = " ".join(reason.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
