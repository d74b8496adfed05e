"""Hosts as Ray actors: each is one process that carries one agent or many.

A round is one call for each host that has something to do. Mail travels as msgpack batches, one
for each pair of hosts and round: with a host for each agent the batches are small and pass through
the league; packed hosts hand them to each other as object references.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from actors.cast import Cast
from actors.guard import JournalRow
from actors.host import Host
from actors.local_ray import start_ray
from actors.lost import HostLost
from actors.reports import DayApart, DayRecords, MessageRow, Report, Saved
from services.config import RunConfig
from services.errors import HanseError
from services.messages import pack, unpack
from services.telemetry.logs import RunLog, Where

CONTROL = "control"
STARTING_SECONDS = 60.0
"""What a host may take for a call beside the time-outs of its agents, e.g. to start."""


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
        peers: list[str],
        folder: str,
        trace_key: str | None,
        run_id: str,
        log_folder: str | None,
    ) -> None:
        if folder not in sys.path:
            sys.path.insert(0, folder)
        with contextlib.suppress(OSError):
            os.chdir(folder)
        run = RunConfig.parse(config, "run file")
        players = _cast_class(cast)(run)
        players.import_strategies()
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
        )
        # The agents stay; what a day brings is freed by reference counts. So the garbage collector
        # need not walk over thousands of agents again and again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)
        self.peers = peers
        if log_folder is not None:
            where = Where(run_id, self.host.whereabouts, self.host.trace_of)
            self._log = RunLog(log_folder, where)
        self._open = threading.Event()
        self._open.set()

    def start(self) -> Any:
        """Starts the agents of a new run."""
        return self._told(self.host.start())

    def work(
        self, minute: int, round_: int, quiet: bool, alone_until: int, *batches: bytes | None
    ) -> Any:
        """One round, with the batches of mail that other hosts have sent."""
        self._open.wait()
        inbound = [m for batch in batches if batch is not None for m in unpack(batch)]
        return self._told(self.host.work(minute, round_, inbound, quiet, alone_until))

    def observe(self, minute: int, tick: int, rows: list[MessageRow], orders: Sequence[str]) -> Any:
        """Shows the monitors that live here a tick."""
        self._open.wait()
        return self._told(self.host.observe(minute, tick, rows, orders))

    def _told(self, report: Report) -> Any:
        """The report with its mail packed; in separate values when peers fetch it by reference."""
        mail = {host: pack(messages) for host, messages in report.outbound.items()}
        if not self.peers:
            return report._replace(outbound=mail)  # type: ignore[arg-type]
        head = report._replace(outbound=dict.fromkeys(mail))  # type: ignore[arg-type]
        return head, *(mail.get(peer) for peer in self.peers)

    def play_apart(self, minute: int, until: int) -> DayApart:
        """A day without the other hosts; what is kept back comes packed."""
        self._open.wait()
        day = self.host.play_apart(minute, until)
        packed = {
            host: ([sent for sent, _ in mail], pack(message for _, message in mail))
            for host, mail in day.later.items()
        }
        return day._replace(later=packed)  # type: ignore[arg-type]

    def hear(self, batches: list[tuple[list[int], bytes]]) -> bool:
        """What the hosts, this one too, have kept back for this one."""
        return self.host.hear(
            [x for sent, batch in batches for x in zip(sent, unpack(batch), strict=True)]
        )

    def end_day(self) -> DayRecords:
        """The day's records."""
        return self.host.end_day()

    def restore(self, saved: Saved | None, journal: list[JournalRow]) -> int | None:
        """Back to the end of a day, or to before the first."""
        return self.host.restore(saved, journal)

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


class RayHosts:
    """All hosts of a league, as Ray actors in one namespace."""

    def __init__(
        self,
        cast: Cast,
        layout: dict[str, str],
        placement: str,
        run: str,
        trace_key: str | None = "",
        log_folder: str | None = None,
    ) -> None:
        self._cast = cast
        self._log_folder = log_folder
        self._run = run
        self._trace_key = trace_key
        self._layout = layout
        self._names = sorted(set(layout.values()))
        self._by_reference = placement == "packed" and len(self._names) > 1
        self._namespace = f"hanse-{run}"
        self._started_ray = start_ray()
        self._config = cast.config.dump()
        watched = [sum(map(cast.watched, self._agents_of(name))) for name in self._names]
        # Twice what the time-outs of a host's watched agents can take together in a round.
        patience = STARTING_SECONDS + 2 * cast.config.turn_timeout * max(watched)
        self._patience = patience if any(watched) else None
        self._epoch = 0
        self._actors: dict[str, Any] = {}
        self._observing: dict[str, Any] = {}
        try:
            for name in self._names:
                self._actors[name] = self._make(name)
            self._get({n: a.health.remote() for n, a in self._actors.items()})
        except HostLost as lost:
            self.close()
            raise HanseError(
                f"{', '.join(lost.hosts)} died while starting; try again, or run without Ray:"
                " --placement inline"
            ) from lost
        except BaseException:
            self.close()
            raise

    def start(self) -> dict[str, Report]:
        """Starts all agents of a new run."""
        return self._reports({n: self._call(n, "start") for n in self._names})

    def work(
        self,
        minute: int,
        round_: int,
        names: Sequence[str],
        inbound: dict[str, list[Any]],
        quiet: bool = False,
        alone_until: int = 0,
    ) -> dict[str, Report]:
        """One round on the named hosts, with their mail (bytes or references to bytes)."""
        about = minute, round_, quiet, alone_until
        return self._reports(
            {name: self._call(name, "work", *about, *inbound.get(name, ())) for name in names}
        )

    def play_apart(self, minute: int, until: int) -> dict[str, DayApart]:
        """A day on each host without the others."""
        return self._get({n: a.play_apart.remote(minute, until) for n, a in self._actors.items()})

    def hear(self, mail: dict[str, list[Any]]) -> bool:
        """Hands over the silent mail of such a day (packed)."""
        calls = {n: self._actors[n].hear.remote(batches) for n, batches in mail.items()}
        return all(self._get(calls).values())

    def observe(
        self, minute: int, tick: int, rows: list[MessageRow], orders: Sequence[str] = ()
    ) -> None:
        """Shows the monitors' host a tick, and does not wait for it."""
        name = self._layout[self._cast.monitors[0]]
        self._observing = {name: self._call(name, "observe", minute, tick, rows, orders)}

    def observed(self) -> Report:
        """Waits for what the monitors have to say about it."""
        [report] = self._reports(self._observing).values()
        return report

    def end_day(self) -> list[DayRecords]:
        """Collects the day's records of all hosts."""
        calls = {n: a.end_day.remote() for n, a in self._actors.items()}
        return list(self._get(calls).values())

    def restore(self, saved: Saved | None, journal: list[JournalRow]) -> dict[str, int | None]:
        """Puts all hosts back to the end of a day, or to before the first."""
        calls = {}
        for name, actor in self._actors.items():
            own = None if saved is None else {a: saved[a] for a in self._agents_of(name)}
            calls[name] = actor.restore.remote(own, journal)
        return self._get(calls)

    def revive(self, names: list[str]) -> None:
        """Replaces lost hosts by new ones; what they held is lost until :meth:`restore`."""
        self._epoch += 1
        for name in names:
            with contextlib.suppress(Exception):
                ray.kill(self._actors[name])
        for name in names:
            self._actors[name] = self._make(name)
        self._get({n: self._actors[n].health.remote() for n in names})

    def summaries(self) -> dict[str, dict[str, Any]]:
        """All agents' summaries."""
        calls = {n: a.summaries.remote() for n, a in self._actors.items()}
        return {a: s for summaries in self._get(calls).values() for a, s in summaries.items()}

    def handling(self) -> list[dict[str, object]]:
        """What each host is busy with; asked on the control group, so a busy host answers too."""
        calls = {a.health.remote(): name for name, a in self._actors.items()}
        ready, late = ray.wait(list(calls), num_returns=len(calls), timeout=0.5)
        silent: list[dict[str, object]] = [
            {
                "host": calls[ref],
                "agent": f"{calls[ref]} (does not answer)",
                "message": "",
                "seconds": 0.5,
            }
            for ref in late
        ]
        return silent + [busy for busy in ray.get(ready) if busy is not None]

    def metrics(self) -> list[dict[str, Any]]:
        """Every host's metrics, also while a round runs."""
        return ray.get([a.metrics.remote() for a in self._actors.values()])  # type: ignore[no-any-return]

    def actor(self, name: str) -> Any:
        """The Ray handle of a host."""
        return self._actors[name]

    def close(self) -> None:
        """Ends all hosts, and Ray if it was started here."""
        for actor in self._actors.values():
            with contextlib.suppress(Exception):
                ray.kill(actor)
        self._actors = {}
        if self._started_ray:
            ray.shutdown()

    def _agents_of(self, host: str) -> list[str]:
        return [agent for agent, where in self._layout.items() if where == host]

    def _make(self, name: str) -> Any:
        remote = ray.remote(concurrency_groups={CONTROL: 2})(HostActor)
        cast = f"{type(self._cast).__module__}:{type(self._cast).__qualname__}"
        peers = self._names if self._by_reference else []
        # A name is free again only a moment after its actor has died, so a replacement gets a
        # name of its own.
        actor_name = name if self._epoch == 0 else f"{name}.{self._epoch}"
        return remote.options(
            name=actor_name, namespace=self._namespace, num_cpus=0, max_restarts=0
        ).remote(
            name,
            self._config,
            cast,
            self._agents_of(name),
            self._layout,
            peers,
            str(Path.cwd()),
            self._trace_key,
            self._run,
            self._log_folder,
        )

    def _call(self, name: str, method: str, *arguments: Any) -> Any:
        remote = getattr(self._actors[name], method)
        if self._by_reference:
            remote = remote.options(num_returns=1 + len(self._names))
        return remote.remote(*arguments)

    def _reports(self, calls: dict[str, Any]) -> dict[str, Report]:
        if not self._by_reference:
            return self._get(calls)
        heads = self._get({name: refs[0] for name, refs in calls.items()})
        reports = {}
        for name, head in heads.items():
            bodies = dict(zip(self._names, calls[name][1:], strict=True))
            reports[name] = head._replace(outbound={h: bodies[h] for h in head.outbound})
        return reports

    def _get(self, calls: dict[str, Any]) -> dict[str, Any]:
        """The values of all calls.

        Raises:
            HostLost: some hosts have died; the others' calls have ended.
            HanseError: what a host says in a line; or a host that an agent holds up for good.
        """
        self._await(calls)
        try:
            return dict(zip(calls, ray.get(list(calls.values())), strict=True))
        except RayTaskError as error:
            # Bad input is told in a line; anything else keeps the traceback from the host.
            raise error.cause from None if isinstance(error.cause, HanseError) else error
        except RayActorError:
            pass
        lost = []
        for name, call in calls.items():
            try:
                ray.get(call)
            except RayActorError as error:
                started: Any = getattr(error, "cause", None)
                if isinstance(getattr(started, "cause", None), HanseError):
                    raise started.cause from None
                lost.append(name)
            except RayTaskError as error:
                if isinstance(error.cause, HanseError):
                    raise error.cause from None
        raise HostLost(lost)

    def _await(self, calls: dict[str, Any]) -> None:
        """Waits for the calls; gives up a host whose process an agent does not let go.

        A thread of the host keeps a watched agent to its time-out, but cannot run while the agent
        is in native code that never returns.
        """
        if self._patience is None:
            return
        refs = list(calls.values())
        _, late = ray.wait(refs, num_returns=len(refs), timeout=self._patience)
        if not late:
            return
        names = [name for name, call in calls.items() if call in late]
        watched = [a for name in names for a in self._agents_of(name) if self._cast.watched(a)]
        for name in names:
            ray.kill(self._actors[name])
        raise HanseError(
            f"{', '.join(names)} did not answer for {self._patience:.0f} s: one of its agents"
            f" ({', '.join(watched) or 'unknown'}) holds the process; mend it, then: hanse resume"
        )
