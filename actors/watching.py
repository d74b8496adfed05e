"""What monitors are shown, and when their answers are delivered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from actors.hosts import Hosts
from actors.reports import Report


class Watching:
    """Collects what is said in a tick, and has it looked at while the next tick is played.

    Args:
        hosts: Who carries the agents, monitors among them.
        tick_minutes: Virtual minutes of a tick.
        orders: What an operator has ordered by a minute and is to be carried out now.
    """

    def __init__(
        self,
        hosts: Hosts,
        tick_minutes: int,
        orders: Callable[[int], Sequence[str]] = lambda minute: (),
    ) -> None:
        self._hosts = hosts
        self._tick_minutes = tick_minutes
        self._orders = orders
        self._tick = 0
        self._batches: list[Any] = []
        self._under_way = False

    def begin(self) -> None:
        """Forgets what is under way: the hosts are at the end of an earlier day."""
        self._tick = 0
        self._batches = []
        self._under_way = False

    def end_of_tick(self, minute: int) -> int:
        """The first minute of the next tick."""
        return (minute // self._tick_minutes + 1) * self._tick_minutes

    def add(self, report: Report) -> None:
        """Takes what has been said in a round."""
        if report.watched:
            self._batches.append(report.watched)

    def turns(self, minute: int) -> bool:
        """Whether a tick begins: then mail is to be collected, and the last tick to be shown."""
        return minute // self._tick_minutes != self._tick

    def collect(self) -> dict[str, list[Any]]:
        """At the first minute of a tick: what monitors have to say about the tick before the last.

        Returns:
            Mail to be delivered now, by host.
        """
        if not self._under_way:
            return {}
        self._under_way = False
        return {host: [batch] for host, batch in self._hosts.observed().outbound.items()}

    def show(self, minute: int) -> None:
        """Has the tick that is over looked at; to be called while the hosts play the next one."""
        # Only here: at the end of a day there may be several showings within one minute, and the
        # journal would not tell at which of them an order was given.
        self._show(minute, self._orders(minute))
        self._tick = minute // self._tick_minutes

    def close(self, minute: int) -> dict[str, list[Any]]:
        """In the last minute of a day: all that monitors have to say about the day.

        Returns:
            Mail to be delivered now, by host.
        """
        mail = self.collect()
        self._show(minute)
        for host, batches in self.collect().items():
            mail.setdefault(host, []).extend(batches)
        self._tick = minute // self._tick_minutes
        return mail

    def _show(self, minute: int, orders: Sequence[str] = ()) -> None:
        batches, self._batches = self._batches, []
        if batches or orders:
            self._hosts.observe(minute, self._tick, batches, orders)
            self._under_way = True
