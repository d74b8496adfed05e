"""The leagues of the cluster's benchmark, and what there is to do in them on so many machines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from actors.league import League
from actors.reports import DayApart, Report
from services.config import RunConfig
from tests.bench.cluster_model import Workload

TOWN_FIRMS: Final = 15
FIRST_DAYS: Final = 2
"""Days that are not looked at: agents start, and the league finds out whether hosts play apart."""


class Kind(NamedTuple):
    """A kind of league."""

    name: str
    strategy: str
    about: str
    days: int
    quick_days: int
    """Days that are looked at."""


KINDS: Final = (
    Kind(
        "trading", "scripted",
        "towns that trade at home: hosts play whole days apart, a day is one round", 20, 12,
    ),
    Kind(
        "talking", "informed",
        "firms that also talk, some with other towns: many rounds a day, with mail in each", 6, 4,
    ),
)  # fmt: skip


def league(kind: Kind, firms: int, machines: int, days: int) -> dict[str, Any]:
    """A league of so many firms for each machine, as values of a run file.

    Args:
        kind: Which.
        firms: For each machine.
        machines: How many.
        days: That are looked at.
    """
    total = firms * machines
    values: dict[str, Any] = {
        "name": kind.name,
        "seed": 3,
        "days": FIRST_DAYS + days,
        "generate": {
            "firms": total,
            "towns": max(1, firms // TOWN_FIRMS) * machines,
            "strategy": kind.strategy,
        },
    }
    if kind.strategy == "informed":
        values["talk"] = {}
    return values


class Counted:
    """Counts the rounds of a league on in-process hosts, and who has most to do in them.

    Args:
        hosts: The league's hosts, whose calls are looked at from now on.
    """

    def __init__(self, hosts: Any) -> None:
        self.rounds = 0
        self.slowest = 0
        """Messages of the host that handled most, added up over the rounds."""
        self._work, self._apart = hosts.work, hosts.play_apart
        hosts.work, hosts.play_apart = self._look_at_work, self._look_at_apart

    def _look_at_work(self, *arguments: Any, **named: Any) -> dict[str, Report]:
        reports: dict[str, Report] = self._work(*arguments, **named)
        self._add(report.handled for report in reports.values())
        return reports

    def _look_at_apart(self, *arguments: Any) -> dict[str, DayApart]:
        days: dict[str, DayApart] = self._apart(*arguments)
        self._add(day.handled for day in days.values())
        return days

    def _add(self, handled: Iterable[int]) -> None:
        self.rounds += 1
        self.slowest += max(handled)


def count(kind: Kind, firms: int, machines: int, days: int) -> tuple[Workload, str]:
    """A day's work of a league on so many machines, and the hash of its event log.

    It is played and counted in this process.
    """
    values = league(kind, firms, machines, days)
    config = RunConfig.parse({**values, "placement": "inline"}, "bench")
    with (
        tempfile.TemporaryDirectory() as folder,
        League.create(config, Path(folder) / "run", hosts=machines) as played,
    ):
        before = played.run(until_day=FIRST_DAYS - 1).messages
        counted = Counted(played.hosts)
        result = played.run()
    messages = result.messages - before
    work = Workload(machines, counted.rounds / days, messages / days, counted.slowest / days)
    return work, result.log_sha256
