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
from actors.days import LOSSES_A_DAY, SPAN_COUNTERS, Days
from actors.hosts import Hosts
from actors.inline_hosts import InlineHosts
from actors.lost import HostLost
from actors.machines import check_names
from actors.orders import Orders
from actors.outcome import gather_result
from actors.playing import Playing
from actors.status import StatusFile
from actors.strategies.fingerprint import fingerprints
from actors.tracing import Exporting, LeagueSpans, Telemetry, exporting
from actors.watching import Watching
from services.config import RunConfig
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs import Manifest, Run, RunStore
from services.runs.result import RunResult
from services.telemetry.logs import Place

if TYPE_CHECKING:
    from services.telemetry.lane import Counts

__all__ = ["COUNTERS", "LOSSES_A_DAY", "SPAN_COUNTERS", "TELEMETRY", "League", "Progress"]

TELEMETRY = Telemetry()

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
        place = store.manifest.id, store.folder.resolve()
        self._exporting = exporting
        self.hosts: Hosts = (
            InlineHosts(cast, self.layout, key)
            if placement == "inline"
            else _ray_hosts(cast, self.layout, *place, key, telemetry.log_file)
        )
        names = sorted(set(self.layout.values()))
        self._broken_off = False
        self._spans = LeagueSpans(store.manifest) if telemetry.traced else None
        self._writer = DayWriter(store, self._spans, behind=placement != "inline")
        orders = Orders(store.folder, self._writer.journal)
        watching = None
        if config.monitor is not None and cast.monitors:
            watching = Watching(self.hosts, config.monitor.tick_minutes, orders.take)
        self._playing = Playing(self.hosts, names, self._writer.journal, watching)
        self._days = Days(
            store,
            cast,
            self.hosts,
            self._playing,
            self._writer,
            orders,
            self.counters,
            traced=telemetry.traced,
            apart=placement != "one" and len(names) > 1 and not cast.monitors,
        )
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
        check_names(players, placement, number)
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
                league._days.restore()
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
                self._days.restore()
            self._broken_off = True
            while True:
                try:
                    self._seconds = time.monotonic() - started
                    for written in self._days.step(until_day, self._seconds):
                        if self._exporting is not None:
                            self._exporting.submit(written.day, self.counters["host_restarts"])
                        if on_day is not None:
                            on_day(self._progress(written, time.monotonic() - started))
                    if self._days.done or self._days.reached(until_day):
                        result = self._result(time.monotonic() - started)
                        break
                except HostLost as lost:
                    self._days.recover(lost)
            self._broken_off = False
            if self._days.done:
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

    def _finish(self, result: RunResult) -> None:
        spans = []
        if self._spans is not None:
            day = self._days.day
            spans = [self._spans.run(day), *self._spans.last_checkpoint(day)]
        self.store.finish(result, spans)
        self.hosts.forget()
        if self._exporting is not None:
            self.exported = self._exporting.close()

    # ---- what others see -------------------------------------------------------------------------

    def _progress(self, written: WrittenDay, seconds: float) -> Progress:
        return Progress(written.day, self.config.days, written.cash, written.mark.messages, seconds)

    def _result(self, seconds: float) -> RunResult:
        mark = self._days.mark
        assert mark is not None
        counters = dict(sorted(self.counters.items()))
        spans = {what: counters.pop(what) for what in SPAN_COUNTERS}
        return gather_result(
            self.cast,
            mark,
            self.hosts.summaries().values(),
            run=str(self.store.folder),
            placement=self.placement,
            hosts=len(set(self.layout.values())),
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
