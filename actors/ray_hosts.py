"""The hosts of a league as Ray actors.

A round is one call for each host that has something to do. Mail travels as msgpack batches, one
for each pair of hosts and round. Small batches pass through the league with the calls and their
answers; large ones go from host to host, and the league hands on a reference.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import (
    ActorUnschedulableError,
    NodeDiedError,
    ObjectLostError,
    RayActorError,
    RayTaskError,
)
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.cast import Cast
from actors.guard import JournalRow
from actors.host_actor import CONTROL, HostActor
from actors.local_ray import start_ray
from actors.lost import HostLost
from actors.machines import on_nodes, wanted
from actors.nodes import Node, all_nodes, answering, living_nodes, moved, spread
from actors.pace import Pace
from actors.ray_spools import RaySpools
from actors.reports import DayApart, DayRecords, Report, Saved
from actors.spool import Epoch, Spooled
from services.errors import HanseError

STARTING_SECONDS = 60.0
"""What a host may take for a call beside the time-outs of its agents, e.g. to start."""
JOINING_SECONDS = 240.0
"""What it may take beside that on a cluster, whose machines get the code first."""
SEARCH_SECONDS = 30.0
"""For how long a machine is looked for that has taken mail of others with it."""
_GONE = (RayActorError, ActorUnschedulableError, NodeDiedError, ObjectLostError)
"""What a call ends with when its host, its host's machine or its mail is gone."""


class RayHosts:
    """All hosts of a league, as Ray actors in one namespace."""

    def __init__(
        self,
        cast: Cast,
        layout: dict[str, str],
        run: str,
        folder: Path,
        trace_key: str | None = "",
        logged: bool = False,
    ) -> None:
        self._cast = cast
        self._folder = folder
        self._logged = logged
        self._run = run
        self._spools = RaySpools(run)
        self._trace_key = trace_key
        self._layout = layout
        self._names = sorted(set(layout.values()))
        self._namespace = f"hanse-{run}"
        self._started_ray = start_ray()
        self._config = cast.config.dump()
        watched = [sum(map(cast.watched, self._agents_of(name))) for name in self._names]
        # Twice what the time-outs of a host's watched agents can take together in a round.
        patience = STARTING_SECONDS + 2 * cast.config.turn_timeout * max(watched)
        patient = patience if any(watched) else None
        self._epoch = 0
        self.pace = Pace()
        self._actors: dict[str, Any] = {}
        self._observing: dict[str, Any] = {}
        self._nodes: dict[str, Node] = {}
        """The machines by id, if there are several; empty on one alone."""
        self._where: dict[str, str] = {}
        """The id of every host's machine."""
        try:
            self._place()
            joining = JOINING_SECONDS if self._where else 0.0
            self._patience = None if patient is None else patient + joining
            for name in self._names:
                self._actors[name] = self._make(name)
            self._get({n: a.health.remote() for n, a in self._actors.items()})
            self._patience = patient
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
        self._spools.new_run()
        return self._reports({n: self._call(n, "start") for n in self._names})

    def work(
        self,
        minute: int,
        round_: int,
        names: Sequence[str],
        inbound: dict[str, list[Any]],
        quiet: bool = False,
        alone_until: int = 0,
        meanwhile: Callable[[], None] | None = None,
    ) -> dict[str, Report]:
        """One round on the named hosts, with their mail (bytes or references to bytes)."""
        began = time.perf_counter()
        about = minute, round_, quiet, alone_until
        calls = {name: self._call(name, "work", *about, *inbound.get(name, ())) for name in names}
        if meanwhile is not None:
            meanwhile()
        reports = self._reports(calls)
        self.pace.add(time.perf_counter() - began, (r.seconds for r in reports.values()))
        return reports

    def play_apart(self, minute: int, until: int) -> dict[str, DayApart]:
        """A day on each host without the others."""
        began = time.perf_counter()
        calls = {n: a.play_apart.remote(minute, until) for n, a in self._actors.items()}
        days: dict[str, DayApart] = self._get(calls)
        self.pace.add(time.perf_counter() - began, (day.seconds for day in days.values()))
        return days

    def hear(self, mail: dict[str, list[Any]]) -> bool:
        """Hands over the silent mail of such a day (packed)."""
        calls = {n: self._actors[n].hear.remote(batches) for n, batches in mail.items()}
        return all(self._get(calls).values())

    def observe(
        self, minute: int, tick: int, batches: list[bytes], orders: Sequence[str] = ()
    ) -> None:
        """Shows the monitors' host a tick, and does not wait for it."""
        name = self._layout[self._cast.monitors[0]]
        self._observing = {name: self._call(name, "observe", minute, tick, batches, orders)}

    def observed(self) -> Report:
        """Waits for what the monitors have to say about it."""
        [report] = self._reports(self._observing).values()
        return report

    def end_day(self, day: int, safe: int) -> list[DayRecords]:
        """Collects the day's records of all hosts."""
        calls = {n: a.end_day.remote(day, safe) for n, a in self._actors.items()}
        return list(self._get(calls).values())

    def spooled(self, epoch: Epoch) -> list[Spooled]:
        """What is kept on other machines; the league itself reads what is on its own."""
        if not self._where:
            return []
        own = ray.get_runtime_context().get_node_id()
        first = {node: name for name, node in self._where.items() if node != own}
        calls = {name: self._actors[name].spooled.remote(epoch) for name in first.values()}
        living = [node.id for node in answering(living_nodes())]
        self._spools.collect(epoch, living, {own, *first})
        try:
            return self._spools.keep(self._get(calls).values())
        except HostLost:
            self._spools.keep(_given(calls.values()))
            raise

    def restore(
        self, saved: Saved | None, journal: list[JournalRow], epoch: Epoch
    ) -> dict[str, int | None]:
        """Puts all hosts back to the end of a day, or to before the first."""
        self._spools.begin(epoch)
        calls = {}
        for name, actor in self._actors.items():
            own = None if saved is None else {a: saved[a] for a in self._agents_of(name)}
            calls[name] = actor.restore.remote(own, journal, epoch)
        return self._get(calls)

    def revive(self, names: list[str]) -> None:
        """Replaces lost hosts by new ones; what they held is lost until :meth:`restore`."""
        self._epoch += 1
        for name in names:
            with contextlib.suppress(Exception):
                ray.kill(self._actors[name])
        if self._where:
            living = answering(living_nodes())
            if not living:
                raise HanseError("no machine of the cluster answers; then: hanse resume")
            self._nodes.update({node.id: node for node in living})
            self._spools.moved(self._where[name] for name in names)
            self._where.update(moved(names, self._where, [node.id for node in living]))
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

    def forget(self) -> None:
        """The run is over: its spools are removed, where the machines still live."""
        with contextlib.suppress(ray.exceptions.RayError):
            calls = [actor.forget.remote() for actor in self._actors.values()]
            ray.wait(calls, num_returns=len(calls), timeout=STARTING_SECONDS)

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

    def _place(self) -> None:
        """Deals the hosts out to the machines of a cluster; on one machine Ray decides alone."""
        nodes = answering(living_nodes())
        if len(nodes) > 1:
            own = ray.get_runtime_context().get_node_id()
            self._nodes = {node.id: node for node in nodes}
            asked = wanted(self._cast, self._layout)
            given = on_nodes(asked, nodes, all_nodes(), self._cast.source)
            self._where = spread(self._names, nodes, own, given)

    def _make(self, name: str) -> Any:
        remote = ray.remote(concurrency_groups={CONTROL: 2})(HostActor)
        cast = f"{type(self._cast).__module__}:{type(self._cast).__qualname__}"
        # A name is free again only a moment after its actor has died, so a replacement gets a
        # name of its own.
        actor_name = name if self._epoch == 0 else f"{name}.{self._epoch}"
        options: dict[str, Any] = {}
        run_folder: str | None = str(self._folder)
        if self._where:
            node = self._where[name]
            # Firmly: a host that Ray puts somewhere else would be where nobody looks for it.
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=False)
            if node != ray.get_runtime_context().get_node_id():
                run_folder = None  # it is on the league's machine alone
        return remote.options(
            name=actor_name, namespace=self._namespace, num_cpus=0, max_restarts=0, **options
        ).remote(
            name,
            self._config,
            cast,
            self._agents_of(name),
            self._layout,
            str(Path.cwd()),
            self._trace_key,
            self._run,
            run_folder,
            self._logged,
        )

    def _call(self, name: str, method: str, *arguments: Any) -> Any:
        return getattr(self._actors[name], method).remote(*arguments)

    def _reports(self, calls: dict[str, Any]) -> dict[str, Report]:
        reports: dict[str, Report] = self._get(calls)
        large = {
            name: [host for host, batch in report.outbound.items() if batch is None]
            for name, report in reports.items()
        }
        kept = {
            name: self._actors[name].mail.options(num_returns=1 + len(hosts)).remote(*hosts)
            for name, hosts in large.items()
            if hosts
        }
        if kept:
            self._get({name: references[0] for name, references in kept.items()})
        for name, references in kept.items():
            reports[name].outbound.update(zip(large[name], references[1:], strict=True))
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
            if not isinstance(error.cause, _GONE):
                # Bad input is told in a line; anything else keeps the traceback from the host.
                raise error.cause from None if isinstance(error.cause, HanseError) else error
            gone: Exception = error
        except _GONE as error:
            gone = error
        lost = []
        for name, call in calls.items():
            try:
                ray.get(call)
            except (RayActorError, ActorUnschedulableError) as error:
                started: Any = getattr(error, "cause", None)
                if isinstance(getattr(started, "cause", None), HanseError):
                    raise started.cause from None
                lost.append(name)
            except RayTaskError as error:
                if isinstance(error.cause, HanseError):
                    raise error.cause from None
            except _GONE:
                pass  # only its mail is gone, with another host
        if self._where:
            lost = self._with_neighbours(lost)
        elif not lost:
            raise gone
        raise HostLost(lost) from gone

    def _with_neighbours(self, lost: list[str]) -> list[str]:
        """The lost hosts, and all others on machines that are gone.

        When mail is gone but no host yet, its machine is: Ray's processes there end a little later.

        Raises:
            HanseError: no machine is gone.
        """
        deadline = time.monotonic() + SEARCH_SECONDS
        while True:
            used = [self._nodes[node] for node in sorted(set(self._where.values()))]
            alive = {node.id for node in answering(used)} & {node.id for node in living_nodes()}
            gone = [name for name in self._names if self._where[name] not in alive]
            if found := sorted({*lost, *gone}):
                return found
            if time.monotonic() > deadline:
                raise HanseError(
                    "mail between hosts was lost, though every host lives; is the object store too"
                    " small (--object-store-memory)? Then: hanse resume"
                )
            time.sleep(0.5)

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


def _given(calls: Iterable[Any]) -> list[Any]:
    """The values of those calls that have one; all have ended."""
    values = []
    for call in calls:
        with contextlib.suppress(Exception):
            values.append(ray.get(call))
    return values
