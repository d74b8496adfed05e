"""A host as a Ray actor: one process that carries one agent or many."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import msgpack
import ray

from actors import spool
from actors.cast import Cast
from actors.guard import JournalRow
from actors.host import Host
from actors.reports import DayApart, DayRecords, MessageRow, Report, Saved
from actors.spool import Epoch, Spool, Spooled
from services.config import RunConfig
from services.messages import pack, unpack
from services.telemetry.logs import RunLog, Where

CONTROL: Final = "control"
"""The concurrency group of what is answered while a round runs."""
LARGE: Final = 100_000
"""Bytes of mail for one host from which on they go there directly, and not through the league.
Ray itself returns less than that with the answer to a call."""
_NICEST: Final = 19
"""The niceness of a process that carries nothing but monitors; Ray's own workers have 15."""


class HostActor:
    """The only Ray actor class for agents: a thin shell around :class:`~actors.host.Host`.

    ``work`` and its like run one at a time; ``health``, ``pause``, ``go_on`` and ``metrics`` have
    a concurrency group of their own and answer while a round runs.
    """

    def __init__(
        self,
        name: str,
        config: dict[str, Any],
        cast: str,
        names: list[str],
        layout: dict[str, str],
        folder: str,
        trace_key: str | None,
        run_id: str,
        run_folder: str | None,
        logged: bool,
    ) -> None:
        if folder not in sys.path:
            sys.path.insert(0, folder)
        with contextlib.suppress(OSError):
            os.chdir(folder)
        run = RunConfig.parse(config, "run file")
        players = _cast_class(cast)(run)
        players.import_strategies()
        spools = spool.away(run_id) if run_folder is None else Path(run_folder) / spool.FOLDER
        self._spool = Spool(spools, name)
        self.host = Host(
            name,
            run.seed,
            names,
            players.make,
            layout,
            turn_timeout=run.turn_timeout,
            mailbox_limit=run.mailbox_limit,
            trace_key=trace_key,
            unwatched=players.unwatched,
            restraints=players.restraints(),
            keep=self._spool.answer,
        )
        # The agents stay; what a day brings is freed by reference counts. So the garbage collector
        # need not walk over thousands of agents again and again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)
        if set(names) <= set(players.monitors):
            _give_way()
        self._kept: dict[str, bytes] = {}
        if logged:
            where = Where(run_id, self.host.whereabouts, self.host.trace_of)
            keep = self._spool.log if run_folder is None else None
            self._log = RunLog(run_folder, where, keep=keep)
        self._open = threading.Event()
        self._open.set()

    def start(self) -> Report:
        """Starts the agents of a new run."""
        if self._spool.epoch is None:
            self._spool.begin(Epoch(0, 0))
        return self._told(self.host.start(), time.perf_counter())

    def work(
        self, minute: int, round_: int, quiet: bool, alone_until: int, *batches: bytes
    ) -> Report:
        """One round, with the batches of mail that other hosts have sent."""
        self._open.wait()
        began = time.perf_counter()
        inbound = [m for batch in batches for m in unpack(batch)]
        return self._told(self.host.work(minute, round_, inbound, quiet, alone_until), began)

    def observe(
        self, minute: int, tick: int, batches: list[bytes], orders: Sequence[str]
    ) -> Report:
        """Shows the monitors that live here a tick, in batches as the hosts have packed them."""
        self._open.wait()
        began = time.perf_counter()
        rows = [row for batch in batches for row in unpack_rows(batch)]
        return self._told(self.host.observe(minute, tick, rows, orders), began)

    def _told(self, report: Report, began: float) -> Report:
        """The report with its mail packed; ``None`` stands for what :meth:`mail` hands over."""
        packed = {host: pack(messages) for host, messages in report.outbound.items()}
        self._kept = {host: batch for host, batch in packed.items() if len(batch) >= LARGE}
        outbound: dict[str, Any] = packed | dict.fromkeys(self._kept)
        if report.watched:
            report = report._replace(watched=pack_rows(report.watched))  # type: ignore[arg-type]
        return report._replace(outbound=outbound, seconds=time.perf_counter() - began)

    def mail(self, *hosts: str) -> tuple[bytes | None, ...]:
        """``None``, and the large batches of the last round for the named hosts.

        They are values of their own, so that a reference to each can be handed on.
        """
        return None, *(self._kept.pop(host) for host in hosts)

    def play_apart(self, minute: int, until: int) -> DayApart:
        """A day without the other hosts; what is kept back comes packed."""
        self._open.wait()
        began = time.perf_counter()
        day = self.host.play_apart(minute, until)
        packed = {
            host: ([sent for sent, _ in mail], pack(message for _, message in mail))
            for host, mail in day.later.items()
        }
        seconds = time.perf_counter() - began
        return day._replace(later=packed, seconds=seconds)  # type: ignore[arg-type]

    def hear(self, batches: list[tuple[list[int], bytes]]) -> bool:
        """What the hosts, this one too, have kept back for this one."""
        return self.host.hear(
            [x for sent, batch in batches for x in zip(sent, unpack(batch), strict=True)]
        )

    def end_day(self, day: int, safe: int) -> DayRecords:
        """The day's records, with what was logged here for a folder that is somewhere else."""
        records = self.host.end_day()
        log = self._spool.end_day(day, safe)
        records.counters.update(self._spool.take_dropped())
        return records._replace(log=log)

    def spooled(self, epoch: Epoch) -> Spooled:
        """What the hosts on this machine have kept; see :func:`actors.spool.collect`."""
        return spool.collect(self._spool.folder, epoch)

    def restore(self, saved: Saved | None, journal: list[JournalRow], epoch: Epoch) -> int | None:
        """Back to the end of a day, or to before the first, for a new epoch."""
        self._spool.begin(epoch)
        return self.host.restore(saved, journal)

    def forget(self) -> None:
        """The run is over: its spools on this machine are removed."""
        self._spool.remove()

    def summaries(self) -> dict[str, dict[str, Any]]:
        """The agents' summaries."""
        return self.host.summaries()

    @ray.method(concurrency_group=CONTROL)  # type: ignore[untyped-decorator]
    def health(self) -> dict[str, object] | None:
        """What the host is busy with, or ``None``."""
        return self.host.busy_with()

    @ray.method(concurrency_group=CONTROL)  # type: ignore[untyped-decorator]
    def pause(self) -> None:
        """Holds the host before its next round."""
        self._open.clear()

    @ray.method(concurrency_group=CONTROL)  # type: ignore[untyped-decorator]
    def go_on(self) -> None:
        """Lets a paused host go on."""
        self._open.set()

    @ray.method(concurrency_group=CONTROL)  # type: ignore[untyped-decorator]
    def metrics(self) -> dict[str, Any]:
        """Process id, memory (bytes, the most so far and now), messages handled, counters."""
        own, shared = resident_bytes()
        return {
            "host": self.host.name,
            "pid": os.getpid(),
            "handled": self.host.handled,
            "memory_now": own,
            "memory_shared": shared,
            "memory_most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "cpu_seconds": time.process_time(),
            "counters": dict(self.host.guard.counters),
        }


def _cast_class(name: str) -> type[Cast]:
    module, _, qualified = name.partition(":")
    return attrgetter(qualified)(import_module(module))  # type: ignore[no-any-return]


def resident_bytes() -> tuple[int, int]:
    """Resident memory of this process in bytes, of its own and shared; 0 if nobody tells.

    Shared is what Ray's object store has mapped into every process: all see the same pages, and
    ever more of them, so that adding them up would count them over and over.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        kib = {key: int(value.split()[0]) for key, _, value in (x.partition(":") for x in lines)
               if key.startswith("Rss")}  # fmt: skip
        return 1024 * (kib["RssAnon"] + kib["RssFile"]), 1024 * kib["RssShmem"]
    except (OSError, ValueError, IndexError, KeyError):
        return 0, 0


def pack_rows(rows: Iterable[MessageRow]) -> bytes:
    """Rows of the log for the process of a monitor (msgpack of plain values, no pickle)."""
    return msgpack.packb(list(rows), unicode_errors="surrogatepass")  # type: ignore[no-any-return]


def unpack_rows(batch: bytes) -> list[MessageRow]:
    """Decodes :func:`pack_rows`."""
    rows = msgpack.unpackb(batch, use_list=False, unicode_errors="surrogatepass")
    return list(rows)


def _give_way() -> None:
    """Lets the processes of others go first where there are too few processors for all.

    A monitor has a whole tick for its work, and nobody waits for it until then; a host has the
    league waiting.
    """
    with contextlib.suppress(OSError, AttributeError):
        for thread in Path("/proc/self/task").iterdir():
            os.setpriority(os.PRIO_PROCESS, int(thread.name), _NICEST)
