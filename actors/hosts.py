"""What a league needs of whatever carries its agents: this process, or Ray actors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from actors.guard import JournalRow
from actors.reports import DayApart, DayRecords, Report, Saved
from actors.spool import Epoch, Spooled


class Hosts(Protocol):
    """All hosts of a league.

    Mail between hosts is opaque to the league: it hands on what a :class:`Report` holds as
    ``outbound`` (messages in one process; packed batches, or references to them, on Ray). So is
    what it holds as ``watched``, for monitors (rows, or packed rows).
    """

    def start(self) -> dict[str, Report]:
        """Starts all agents of a new run."""
        ...

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
        """One round on the named hosts; see :meth:`actors.host.Host.work`.

        ``meanwhile`` is called once they are at work, so that what it does delays nobody.

        Raises:
            HostLost: some hosts have died.
        """
        ...

    def play_apart(self, minute: int, until: int) -> dict[str, DayApart]:
        """A day on each host without the others; see :meth:`actors.host.Host.play_apart`.

        Raises:
            HostLost: some hosts have died.
        """
        ...

    def hear(self, mail: dict[str, list[Any]]) -> bool:
        """Hands over what the hosts have kept back; see :meth:`actors.host.Host.hear`.

        Args:
            mail: By host, what the days' ``later`` hold for it.
        """
        ...

    def observe(
        self, minute: int, tick: int, batches: list[Any], orders: Sequence[str] = ()
    ) -> None:
        """Shows the monitors a tick; see :meth:`actors.host.Host.observe`. Does not wait.

        Args:
            minute: When they have it shown.
            tick: The number of the tick.
            batches: What the reports of its rounds hold as ``watched``.
            orders: The measures that an operator wants to end.
        """
        ...

    def observed(self) -> Report:
        """Waits for what they have to say about the tick that they were shown last.

        Raises:
            HostLost: their host has died.
        """
        ...

    def end_day(self, day: int, safe: int) -> list[DayRecords]:
        """Collects the day's records of all hosts.

        Args:
            day: Which.
            safe: The last day that is safe in the run's folder.
        """
        ...

    def spooled(self, epoch: Epoch) -> list[Spooled]:
        """What hosts on other machines have kept; see :mod:`actors.spool`.

        Raises:
            HostLost: some hosts have died.
        """
        ...

    def restore(
        self, saved: Saved | None, journal: list[JournalRow], epoch: Epoch
    ) -> dict[str, int | None]:
        """Puts all hosts back to the end of a day, or (``None``) to before the first.

        Args:
            saved: The states of all agents.
            journal: Answers to give again.
            epoch: What begins now.

        Returns:
            For every host the next minute at which an agent wants to be woken.
        """
        ...

    def revive(self, names: list[str]) -> None:
        """Replaces lost hosts by new ones."""
        ...

    def summaries(self) -> dict[str, dict[str, Any]]:
        """All agents' summaries."""
        ...

    def handling(self) -> list[dict[str, object]]:
        """What each host is busy with, for the doctor."""
        ...

    def forget(self) -> None:
        """The run is over: nothing of it stays on other machines."""
        ...

    def close(self) -> None:
        """Ends all hosts."""
        ...
