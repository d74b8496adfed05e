"""Hosts in this very process, without Ray: for unit tests, sweeps and small leagues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from actors.cast import Cast
from actors.guard import JournalRow
from actors.host import Host
from actors.reports import DayApart, DayRecords, Later, MessageRow, Report, Saved
from actors.spool import Epoch, Spooled
from services.messages import Message
from services.telemetry.logs import Place


class InlineHosts:
    """Carries all agents in this process, on one host or several."""

    def __init__(self, cast: Cast, layout: dict[str, str], trace_key: str | None = "") -> None:
        config = cast.config
        self._monitors = layout.get(cast.monitors[0], "") if cast.monitors else ""
        self._observed: Report | None = None
        self.hosts = {
            name: Host(
                name,
                config.seed,
                [agent for agent, host in layout.items() if host == name],
                cast.make,
                layout,
                turn_timeout=config.turn_timeout,
                mailbox_limit=config.mailbox_limit,
                trace_key=trace_key,
                unwatched=cast.unwatched,
                restraints=cast.restraints(),
            )
            for name in sorted(set(layout.values()))
        }

    def start(self) -> dict[str, Report]:
        """Starts all agents of a new run."""
        return {name: host.start() for name, host in self.hosts.items()}

    def work(
        self,
        minute: int,
        round_: int,
        names: Sequence[str],
        inbound: dict[str, list[list[Message]]],
        quiet: bool = False,
        alone_until: int = 0,
        meanwhile: Callable[[], None] | None = None,
    ) -> dict[str, Report]:
        """One round on the named hosts, with their mail."""
        if meanwhile is not None:
            meanwhile()
        return {
            name: self.hosts[name].work(
                minute,
                round_,
                [m for batch in inbound.get(name, ()) for m in batch],
                quiet,
                alone_until,
            )
            for name in names
        }

    def play_apart(self, minute: int, until: int) -> dict[str, DayApart]:
        """A day on each host without the others."""
        return {name: host.play_apart(minute, until) for name, host in self.hosts.items()}

    def hear(self, mail: dict[str, list[Later]]) -> bool:
        """Hands over the silent mail of such a day."""
        return all(self.hosts[n].hear([m for b in parts for m in b]) for n, parts in mail.items())

    def observe(
        self, minute: int, tick: int, batches: list[list[MessageRow]], orders: Sequence[str] = ()
    ) -> None:
        """Shows the monitors a tick; here they look at it at once."""
        rows = [row for batch in batches for row in batch]
        self._observed = self.hosts[self._monitors].observe(minute, tick, rows, orders)

    def observed(self) -> Report:
        """What they have to say about it."""
        assert self._observed is not None
        return self._observed

    def end_day(self, day: int, safe: int) -> list[DayRecords]:
        """Collects the day's records of all hosts."""
        return [host.end_day() for host in self.hosts.values()]

    def spooled(self, epoch: Epoch) -> list[Spooled]:
        """Nothing: an answer is in the league's own process when it is taken."""
        return []

    def restore(
        self, saved: Saved | None, journal: list[JournalRow], epoch: Epoch
    ) -> dict[str, int | None]:
        """Puts all hosts back to the end of a day (or, without states, before the first)."""
        return {
            name: host.restore(saved and {a: saved[a] for a in host.agents}, journal)
            for name, host in self.hosts.items()
        }

    def revive(self, names: list[str]) -> None:
        """Hosts in this process cannot be lost one by one."""
        raise RuntimeError(f"inline hosts {names} cannot be lost")

    def whereabouts(self) -> Place:
        """Who does what at the moment."""
        places = [host.whereabouts() for host in self.hosts.values()]
        return next((place for place in places if place.agent is not None), places[0])

    def trace_of(self, message: str) -> str | None:
        """The trace of the message that is being handled."""
        return next(filter(None, (h.trace_of(message) for h in self.hosts.values())), None)

    def summaries(self) -> dict[str, dict[str, Any]]:
        """All agents' summaries."""
        return {a: s for host in self.hosts.values() for a, s in host.summaries().items()}

    def handling(self) -> list[dict[str, object]]:
        """What each host is busy with, for the doctor."""
        return [h for host in self.hosts.values() if (h := host.busy_with()) is not None]

    def forget(self) -> None:
        """Nothing is anywhere else."""

    def close(self) -> None:
        """Ends the hosts' threads."""
        for host in self.hosts.values():
            host.close()
