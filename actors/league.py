"""The league: places the hosts, beats the clock, writes each day down, resumes and closes.

with League.create(standard(), Path("runs/first")) as league:
    result = league.run()
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from actors.cast import Cast, plan
from actors.day_writer import DayWriter, WrittenDay
from actors.hosts import Hosts
from actors.inline_hosts import InlineHosts
from actors.lost import HostLost
from actors.orders import Orders
from actors.outcome import gather_result
from actors.playing import Playing
from actors.status import StatusFile
from actors.strategies.fingerprint import fingerprints
from actors.tracing import Exporting, LeagueSpans, Telemetry, count_spans, exporting
from actors.watching import Watching
from services.config import RunConfig
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs import DayMark, Manifest, Mark, Run, RunStore, fitting, unpack_state
from services.runs.result import RunResult
from services.telemetry.logs import Place

if TYPE_CHECKING:
    from services.telemetry.lane import Counts

TELEMETRY = Telemetry()

LOSSES_A_DAY = 5
"""Host losses on one day after which the league gives up."""
SPAN_COUNTERS = ("spans", "spans_expected")
"""How many spans the run's messages have, and how many they must have."""
COUNTERS = ("agent_errors", "turns_missed", "mail_refused", "undeliverable", "host_restarts")


class Progress(NamedTuple):
    """How far a run has come, at the end of a day."""

    day: int
    days: int
    cash: dict[str, float]
    """Dollars in hand, by firm."""
    messages: int
    """Messages since the start of the run."""
    seconds: float
    """Wall seconds since :meth:`League.run` was called."""


class League:
    """A run: its agents on their hosts, its clock and its store."""

    def __init__(
        self,
        config: RunConfig,
        store: RunStore,
        cast: Cast,
        placement: str,
        hosts: int,
        telemetry: Telemetry = TELEMETRY,
        exporting: Exporting | None = None,
    ) -> None:
        self.config = config
        self.store = store
        self.cast = cast
        self.placement = placement
        self.layout = cast.layout(placement, hosts)
        self.counters = dict.fromkeys((*COUNTERS, *SPAN_COUNTERS), 0)
        self.exported: dict[str, Counts] = {}
        """What became of the spans that were exported, once the run has ended, by exporter."""
        key = store.manifest.config_sha256 if telemetry.traced else None
        log_folder = str(store.folder.resolve()) if telemetry.log_file else None
        self._exporting = exporting
        self.hosts: Hosts = (
            InlineHosts(cast, self.layout, key)
            if placement == "inline"
            else _ray_hosts(cast, self.layout, placement, store.manifest.id, key, log_folder)
        )
        self._names = sorted(set(self.layout.values()))
        self._day = 0
        self._fresh = True
        self._dirty = False
        self._done = False
        self._mark: Mark | DayMark | None = None
        self._apart = placement != "one" and len(self._names) > 1 and not cast.monitors
        """Whether hosts play a day each for itself: until one is found to need another."""
        self._losses = 0
        self._broken_off = False
        self._spans = LeagueSpans(store.manifest) if telemetry.traced else None
        self._writer = DayWriter(store, self._spans, behind=placement != "inline")
        self._orders = Orders(store.folder, self._writer.journal)
        watching = None
        if config.monitor is not None and cast.monitors:
            watching = Watching(self.hosts, config.monitor.tick_minutes, self._orders.take)
        self._playing = Playing(self.hosts, self._names, self._writer.journal, watching)
        self._seconds = 0.0
        self._status = StatusFile(store.folder, self._describe)
        self._closed = False

    @classmethod
    def create(
        cls,
        config: RunConfig,
        folder: Path,
        *,
        hosts: int | None = None,
        cast: type[Cast] = Cast,
        telemetry: Telemetry = TELEMETRY,
    ) -> League:
        """Starts a new run in a new folder.

        Args:
            config: What is run.
            folder: Where to; it must not exist, or be empty.
            hosts: For placement ``inline``: on how many in-process hosts (default one).
            cast: Who plays; a subclass brings agents of its own into the league.
            telemetry: What it tells of itself besides what stands in its folder.

        Raises:
            HanseError: the folder cannot be used, or a strategy cannot be made.
        """
        players, placement, number = plan(config, hosts, cast)
        manifest = Manifest.describe(
            config.dump(),
            name=config.name,
            seed=config.seed,
            days=config.days,
            rules=config.rules,
            placement=placement,
            hosts=number,
            strategies=fingerprints(players.classes),
        )
        # What cannot be used is said before a folder is made.
        with exporting(manifest, Path(folder), telemetry) as exports:
            store = RunStore.create(Path(folder), manifest)
            return cls._open(config, store, players, placement, number, telemetry, exports)

    @classmethod
    def resume(
        cls,
        folder: Path,
        *,
        placement: str | None = None,
        hosts: int | None = None,
        cast: type[Cast] = Cast,
        telemetry: Telemetry = TELEMETRY,
    ) -> League:
        """Continues a run after its last whole day; the layout may be another one.

        Raises:
            HanseError: not a run folder, damaged, finished, or being written by somebody else.
        """
        folder = Path(folder)
        manifest = Manifest.read(folder)
        config = RunConfig.parse(manifest.config, str(folder / "manifest.json"))
        config = config.with_overrides(source="command line", placement=placement, hosts=hosts)
        players, place, number = plan(config, hosts, cast)
        if Run(folder).state == "finished":
            raise HanseError(
                f"{folder}: the run is finished; look at it with: hanse report {folder}"
            )
        with exporting(manifest, folder, telemetry) as exports:
            store = RunStore.open(folder)
            league = cls._open(config, store, players, place, number, telemetry, exports)
            try:
                league._restore()
            except BaseException:
                league.close()
                raise
            return league

    @classmethod
    def _open(
        cls,
        config: RunConfig,
        store: RunStore,
        cast: Cast,
        placement: str,
        hosts: int,
        telemetry: Telemetry,
        exporting: Exporting | None,
    ) -> League:
        try:
            return cls(config, store, cast, placement, hosts, telemetry, exporting)
        except BaseException:
            store.close()
            raise

    def run(
        self,
        on_day: Callable[[Progress], None] | None = None,
        until_day: int | None = None,
    ) -> RunResult:
        """Plays to the end, or to the end of ``until_day`` (the run can then be resumed).

        Args:
            on_day: Called at the end of every day.
            until_day: The last day to play.

        Raises:
            KeyboardInterrupt: passed on; the run is left resumable after its last whole day.
            HanseError: the run folder cannot be written; it is left resumable.
        """
        started = time.monotonic() - self._seconds
        self._status.start()
        try:
            if self._broken_off:
                # What was broken off in mid-minute cannot be gone on with; the day begins anew.
                self.store.discard_day()
                self._restore()
            self._broken_off = True
            while True:
                try:
                    self._seconds = time.monotonic() - started
                    for written in self._step(until_day):
                        self._mark = written.mark
                        if self._exporting is not None:
                            self._exporting.submit(written.day)
                        self._losses = 0
                        if on_day is not None:
                            on_day(self._progress(written, time.monotonic() - started))
                    if self._done or self._reached(until_day):
                        result = self._result(time.monotonic() - started)
                        break
                except HostLost as lost:
                    self._recover(lost)
            self._broken_off = False
            if self._done:
                self._finish(result)
            else:
                self.store.interrupt()
            return result
        except BaseException:
            with contextlib.suppress(Exception):
                self._writer.flush()
            with contextlib.suppress(HanseError):
                self.store.interrupt()
            raise
        finally:
            self._seconds = time.monotonic() - started
            self._status.stop()

    @property
    def metrics_port(self) -> int | None:
        """Where metrics are served to Prometheus, if they are."""
        return None if self._exporting is None else self._exporting.port

    def whereabouts(self) -> Place:
        """Who does what at the moment, as far as this process knows; for log records."""
        if isinstance(self.hosts, InlineHosts):
            return self.hosts.whereabouts()
        return Place(None, self._playing.minute)

    def trace_of(self, message: str) -> str | None:
        """The trace of the message that is being handled in this process."""
        return self.hosts.trace_of(message) if isinstance(self.hosts, InlineHosts) else None

    def close(self) -> None:
        """Ends the hosts and lets the run folder go. May be repeated."""
        if self._closed:
            return
        self._closed = True
        self._status.stop()
        try:
            self.hosts.close()
        finally:
            self._writer.close()
            self.store.close()
            if self._exporting is not None:
                self.exported = self._exporting.close()

    def __enter__(self) -> League:
        """The league itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the league."""
        self.close()

    # ---- the clock -------------------------------------------------------------------------------

    def _step(self, until_day: int | None) -> list[WrittenDay]:
        """Plays the next minute, or ends the day; returns the days that are now safe."""
        if self._fresh:
            self._fresh = False
            self._dirty = True
            self._playing.start()
            return []
        minute = self._playing.next_minute
        if minute is not None and minute >= self.config.days * MINUTES_PER_DAY:
            minute = None  # nobody is woken after the last day
        if minute is not None and minute // MINUTES_PER_DAY <= self._day:
            begins, self._dirty = not self._dirty, True
            until = (self._day + 1) * MINUTES_PER_DAY
            if not (self._apart and begins):
                self._playing.play(minute, until)
            elif not self._playing.play_apart(minute, until):
                return self._play_together()
            return []
        written = []
        if self._dirty:
            self._playing.close_day((self._day + 1) * MINUTES_PER_DAY - 1)
            written = self._end_day()
            self._dirty = False
        if minute is None or self._day == until_day:
            written += self._writer.flush()
        if minute is None:
            self._done = True
        else:
            self._day = minute // MINUTES_PER_DAY
        return written

    def _finish(self, result: RunResult) -> None:
        spans = []
        if self._spans is not None:
            spans = [self._spans.run(self._day), *self._spans.last_checkpoint(self._day)]
        self.store.finish(result, spans)
        if self._exporting is not None:
            self.exported = self._exporting.close()

    def _reached(self, until_day: int | None) -> bool:
        return until_day is not None and self._mark is not None and self._mark.day >= until_day

    def _play_together(self) -> list[WrittenDay]:
        """Goes back to the morning, to play this day and all others round by round."""
        self._apart = False
        written = self._writer.flush()
        self.store.discard_day()
        self._mark = written[-1].mark if written else self._mark
        self._restore()
        return written

    def _end_day(self) -> list[WrittenDay]:
        """Has the day written down: records, every agent's state, digests; all or nothing."""
        records = self.hosts.end_day()
        for part in records:
            for what, number in part.counters.items():
                self.counters[what] = self.counters.get(what, 0) + number
        if self._spans is not None:
            for what, more in zip(SPAN_COUNTERS, count_spans(records), strict=True):
                self.counters[what] += more
        return self._writer.write(self._day, records, self.counters, self._seconds)

    # ---- going back ------------------------------------------------------------------------------

    def _restore(self) -> None:
        """Puts everything back to the end of the last whole day."""
        checkpoint = self.store.checkpoint()
        self._dirty = False
        if checkpoint is None:
            self._day, self._fresh = 0, True
            answers = self._orders.again(self.store.journal_since(0))
            self._playing.go_back(self.hosts.restore(None, answers))
            return
        state = unpack_state(checkpoint, self.store.folder)
        if sorted(state["agents"]) != self.cast.names:
            raise HanseError(
                f"{self.store.folder}: its checkpoint has other agents than its configuration;"
                " branch from an earlier day or start a new run"
            )
        self.counters.update(state["counters"])
        self._fresh = False
        self._day = checkpoint.day
        self._mark = Mark(
            checkpoint.day, checkpoint.log_sha256, checkpoint.ledger_sha256, checkpoint.messages
        )
        journal = self.store.journal_since((checkpoint.day + 1) * MINUTES_PER_DAY)
        answers = self._orders.again(journal)
        with fitting(checkpoint, self.store.folder):
            self._playing.go_back(self.hosts.restore(state["agents"], answers))

    def _recover(self, lost: HostLost) -> None:
        """Replaces lost hosts and plays the day again from its beginning.

        Raises:
            HanseError: hosts are lost again and again on the same day.
        """
        while True:
            self._losses += 1
            if self._losses > LOSSES_A_DAY:
                raise HanseError(
                    f"{self.store.folder}: {', '.join(lost.hosts)} died {LOSSES_A_DAY} times on day"
                    f" {self._day}; look for an agent that ends its process, then: hanse resume"
                    f" {self.store.folder}"
                )
            try:
                for written in self._writer.flush():
                    self._mark = written.mark
                restarts = self.counters["host_restarts"] + len(lost.hosts)
                self.store.discard_day()
                self.hosts.revive(lost.hosts)
                self._restore()
                self.counters["host_restarts"] = restarts
                self._done = False
                return
            except HostLost as again:
                lost = again

    # ---- what others see -------------------------------------------------------------------------

    def _progress(self, written: WrittenDay, seconds: float) -> Progress:
        return Progress(written.day, self.config.days, written.cash, written.mark.messages, seconds)

    def _result(self, seconds: float) -> RunResult:
        assert self._mark is not None
        counters = dict(sorted(self.counters.items()))
        spans = {what: counters.pop(what) for what in SPAN_COUNTERS}
        return gather_result(
            self.cast,
            self._mark,
            self.hosts.summaries().values(),
            run=str(self.store.folder),
            placement=self.placement,
            hosts=len(self._names),
            seconds=round(seconds, 3),
            counters=counters,
            **spans,
        )

    def _describe(self) -> dict[str, Any]:
        return {
            "minute": self._playing.minute,
            "day": self._playing.minute // MINUTES_PER_DAY,
            "round": self._playing.round,
            "messages": self._playing.messages,
            "waiting_for": self.hosts.handling(),
        }


def _ray_hosts(*arguments: Any) -> Hosts:
    from actors.ray_hosts import RayHosts

    return RayHosts(*arguments)
