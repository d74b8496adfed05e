"""The clock of a league: minutes, played round by round on its hosts, or whole days at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from actors.guard import JournalRow
from actors.hosts import Hosts
from actors.reports import Report
from actors.watching import Watching


class Playing:
    """Beats the clock for the hosts of a league.

    Args:
        hosts: Who carries the agents.
        names: The hosts' names.
        journal: Writes answers that cannot be computed again; they are safe when it returns.
        watching: Shows the traffic to monitors, if there are any.
    """

    def __init__(
        self,
        hosts: Hosts,
        names: list[str],
        journal: Callable[[list[JournalRow]], None],
        watching: Watching | None = None,
    ) -> None:
        self.minute = 0
        self.round = 0
        self.messages = 0
        """Messages handled, also those of days that were played again."""
        self._hosts = hosts
        self._names = names
        self._journal = journal
        self._watching = watching
        self._wakes: dict[str, int | None] = dict.fromkeys(names)
        self._waits = dict.fromkeys(names, False)

    @property
    def next_minute(self) -> int | None:
        """The earliest minute at which an agent wants to be woken."""
        return min((w for w in self._wakes.values() if w is not None), default=None)

    def start(self) -> None:
        """Minute 0 of a new run."""
        self._work_off(0, 0, self._hosts.start())

    def play(self, minute: int, until: int) -> None:
        """Works off one minute, round by round, until nothing is due any more.

        A host that has the league to itself goes on by itself, also to later minutes before
        ``until``.
        """
        self._work_off(minute, until, None)

    def play_apart(self, minute: int, until: int) -> bool:
        """Has each host play to ``until`` for itself; whether that came to the same as together."""
        later: dict[str, list[Any]] = {}
        kept = True
        self.minute, self.round = minute, 0
        for name, day in self._hosts.play_apart(minute, until).items():
            kept = kept and day.kept
            self._wakes[name] = day.next_wake
            self.messages += day.handled
            for host, mail in day.later.items():
                later.setdefault(host, []).append(mail)
        return kept and (not later or self._hosts.hear(later))

    def close_day(self, minute: int) -> None:
        """In a day's last minute: delivers what monitors have to say about the day."""
        while self._watching is not None:
            mail = self._watching.close(minute)
            if not mail:
                return
            self._work_off(minute, minute + 1, None, mail)

    def go_back(self, wakes: dict[str, int | None]) -> None:
        """The hosts are at the end of an earlier day.

        Args:
            wakes: For every host the next minute at which an agent wants to be woken.
        """
        self._wakes = wakes
        if self._watching is not None:
            self._watching.begin()
        self._waits = dict.fromkeys(self._names, False)

    def _work_off(
        self,
        minute: int,
        until: int,
        reports: dict[str, Report] | None,
        mail: dict[str, list[Any]] | None = None,
    ) -> None:
        self.minute = minute
        round_ = 0
        inbound: dict[str, list[Any]] = mail or {}
        quiet = False
        watching = self._watching
        show = None
        if watching is not None and mail is None:
            if watching.turns(minute):
                inbound = watching.collect()
                show = partial(watching.show, minute)
            until = min(until, watching.end_of_tick(minute))
        active = [n for n, w in self._wakes.items() if w is not None and w <= minute]
        if inbound:
            active = sorted({*active, *inbound})
        while True:
            self.round = round_
            if reports is None:
                if not active:
                    if show is not None:
                        show()
                    return
                alone = self._alone_until(active[0], until) if len(active) == 1 else 0
                reports = self._hosts.work(minute, round_, active, inbound, quiet, alone, show)
                show = None
            inbound = {}
            due = set()
            for name in sorted(reports):
                report = reports[name]
                self.minute = minute = report.minute
                round_ = report.round
                self._wakes[name] = report.next_wake
                self._waits[name] = report.waits
                self.messages += report.handled
                if report.journal:
                    self._journal(report.journal)
                if watching is not None:
                    watching.add(report)
                if report.due:
                    due.add(name)
                for target, batch in report.outbound.items():
                    inbound.setdefault(target, []).append(batch)
            reports = None
            round_ += 1
            active = sorted(due.union(inbound))
            quiet = not active and any(self._waits.values())
            if quiet:
                active = [name for name, waits in self._waits.items() if waits]

    def _alone_until(self, host: str, until: int) -> int:
        """The first minute at which another host, or the league, has something to do."""
        others = [w for n, w in self._wakes.items() if n != host and w is not None]
        return min([*others, until])
