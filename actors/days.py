"""The days of a league: played, ended, written down, and begun again when they have to be."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from actors import spool
from actors.cast import Cast
from actors.day_writer import DayWriter, WrittenDay
from actors.hosts import Hosts
from actors.lost import HostLost
from actors.orders import Orders
from actors.playing import Playing
from actors.spool import Epoch
from actors.tracing import count_spans
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs import DayMark, Mark, RunStore, fitting, unpack_state
from services.telemetry.logs import append

_log = logging.getLogger(__name__)

LOSSES_A_DAY = 5
"""Host losses on one day after which the league gives up."""
SPAN_COUNTERS = ("spans", "spans_expected")
"""How many spans the run's messages have, and how many they must have."""


class Days:
    """Where a league is, and how it gets from one day to the next.

    Args:
        store: The run's store.
        cast: Who plays.
        hosts: Who carries the agents.
        playing: Beats the clock.
        writer: Writes days down.
        orders: What an operator has ordered.
        counters: The run's counters; counted on here.
        traced: Whether spans are counted, too.
        apart: Whether hosts play a day each for itself, until one is found to need another.
    """

    def __init__(
        self,
        store: RunStore,
        cast: Cast,
        hosts: Hosts,
        playing: Playing,
        writer: DayWriter,
        orders: Orders,
        counters: dict[str, int],
        *,
        traced: bool,
        apart: bool,
    ) -> None:
        self._store = store
        self._cast = cast
        self._hosts = hosts
        self._playing = playing
        self._writer = writer
        self._orders = orders
        self._counters = counters
        self._traced = traced
        self.apart = apart
        self.day = 0
        """The day that is being played."""
        self.done = False
        """Whether the last day has been played and written."""
        self.mark: Mark | DayMark | None = None
        """The last whole day."""
        self._fresh = True
        self._dirty = False
        self._losses = 0

    def step(self, until_day: int | None, seconds: float) -> list[WrittenDay]:
        """Plays the next minute, or ends the day; returns the days that are now safe.

        Args:
            until_day: The last day to play.
            seconds: Wall seconds of the run so far, to be written with a day.

        Raises:
            HostLost: hosts have died; see :meth:`recover`.
            HanseError: a day could not be written.
        """
        written = self._step(until_day, seconds)
        if written:
            self.mark = written[-1].mark
            self._losses = 0
        return written

    def reached(self, day: int | None) -> bool:
        """Whether that day is whole."""
        return day is not None and self.mark is not None and self.mark.day >= day

    def restore(self) -> None:
        """Puts everything back to the end of the last whole day."""
        store = self._store
        checkpoint = store.checkpoint()
        self._dirty = False
        epoch = self._begin_epoch(0 if checkpoint is None else checkpoint.day + 1)
        answers = self._orders.again(store.journal_since(epoch.day * MINUTES_PER_DAY))
        if checkpoint is None:
            self.day, self._fresh = 0, True
            self._playing.go_back(self._hosts.restore(None, answers, epoch))
            return
        state = unpack_state(checkpoint, store.folder)
        if sorted(state["agents"]) != self._cast.names:
            raise HanseError(
                f"{store.folder}: its checkpoint has other agents than its configuration;"
                " branch from an earlier day or start a new run"
            )
        self._counters.update(state["counters"])
        self._fresh = False
        self.day = checkpoint.day
        self.mark = Mark(
            checkpoint.day, checkpoint.log_sha256, checkpoint.ledger_sha256, checkpoint.messages
        )
        with fitting(checkpoint, store.folder):
            self._playing.go_back(self._hosts.restore(state["agents"], answers, epoch))

    def recover(self, lost: HostLost) -> None:
        """Replaces lost hosts and plays the day again from its beginning.

        Raises:
            HanseError: hosts are lost again and again on the same day.
        """
        while True:
            self._losses += 1
            if self._losses > LOSSES_A_DAY:
                raise HanseError(
                    f"{self._store.folder}: {', '.join(lost.hosts)} died {LOSSES_A_DAY} times on"
                    f" day {self.day}; look for an agent that ends its process, then: hanse resume"
                    f" {self._store.folder}"
                )
            try:
                self._safe(self._writer.flush())
                restarts = self._counters["host_restarts"] + len(lost.hosts)
                self._store.discard_day()
                self._hosts.revive(lost.hosts)
                self.restore()
                self._counters["host_restarts"] = restarts
                self.done = False
                return
            except HostLost as again:
                lost = again

    def _begin_epoch(self, day: int) -> Epoch:
        """Takes what the hosts' spools have of the epoch that has ended, and begins the next.

        Args:
            day: The first day that is not whole.
        """
        store = self._store
        last, folder = store.epoch, store.folder / spool.FOLDER
        ended = Epoch(last.number, day, last.token)
        abroad = self._hosts.spooled(ended) if last.here else []
        parts = [*abroad, spool.collect(folder, ended)]
        minutes = range(day * MINUTES_PER_DAY, self._cast.config.days * MINUTES_PER_DAY)
        taken = [row for part in parts for row in part.answers]
        journal = store.journal_since(minutes.start)
        self._writer.journal(spool.adopted(taken, journal, minutes, self._cast.names))
        append(store.folder, (line for part in parts for line in part.log))
        if skipped := sum(part.skipped for part in parts):
            _log.warning("%d entries of spools were skipped: cut off, or not of a host", skipped)
        begun = store.next_epoch()
        spool.remove_before(folder, begun.number)
        return Epoch(begun.number, day, begun.token, begun.ended)

    def _step(self, until_day: int | None, seconds: float) -> list[WrittenDay]:
        if self._fresh:
            self._fresh = False
            self._dirty = True
            self._playing.start()
            return []
        minute = self._playing.next_minute
        if minute is not None and minute >= self._cast.config.days * MINUTES_PER_DAY:
            minute = None  # nobody is woken after the last day
        if minute is not None and minute // MINUTES_PER_DAY <= self.day:
            begins, self._dirty = not self._dirty, True
            until = (self.day + 1) * MINUTES_PER_DAY
            if not (self.apart and begins):
                self._playing.play(minute, until)
            elif not self._playing.play_apart(minute, until):
                return self._play_together()
            return []
        written = []
        if self._dirty:
            self._playing.close_day((self.day + 1) * MINUTES_PER_DAY - 1)
            written = self._end_day(seconds)
            self._dirty = False
        if minute is None or self.day == until_day:
            written += self._writer.flush()
        if minute is None:
            self.done = True
        else:
            self.day = minute // MINUTES_PER_DAY
        return written

    def _play_together(self) -> list[WrittenDay]:
        """Goes back to the morning, to play this day and all others round by round."""
        self.apart = False
        written = self._writer.flush()
        self._store.discard_day()
        self._safe(written)
        self.restore()
        return written

    def _end_day(self, seconds: float) -> list[WrittenDay]:
        """Has the day written down: records, every agent's state, digests; all or nothing."""
        records = self._hosts.end_day(self.day, -1 if self.mark is None else self.mark.day)
        for part in records:
            for what, number in part.counters.items():
                self._counters[what] = self._counters.get(what, 0) + number
        if self._traced:
            for what, more in zip(SPAN_COUNTERS, count_spans(records), strict=True):
                self._counters[what] += more
        return self._writer.write(self.day, records, self._counters, seconds)

    def _safe(self, written: Iterable[WrittenDay]) -> None:
        for day in written:
            self.mark = day.mark
