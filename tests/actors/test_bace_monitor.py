"""BACE watches a league by the hour, fits beside it, and tells in the morning what it found."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

from actors.bace_monitor import BaceMonitor
from actors.context import Context
from monitors.bace.connectivity import Job, Outcome

FIRMS = ("ann", "bob")
Row = tuple[Any, ...]


@pytest.fixture(autouse=True)
def fits(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The fits that were asked for; none finds anything, as that takes torch and minutes."""
    asked: list[Job] = []

    def fitted(job: Job) -> Outcome:
        asked.append(job)
        return Outcome(job.number, refused=f"fit {job.number} of {len(job.recording.trials)}")

    monkeypatch.setattr("actors.bace_monitor.refit", fitted)
    return asked


class Desk:
    def __init__(self) -> None:
        self.monitor = BaceMonitor("bace", FIRMS, refit_ticks=15)
        self.context = Context("bace")

    def day(self, day: int) -> None:
        """Ann writes to Bob once every working hour."""
        for hour in range(9, 20):
            minute = day * 1440 + hour * 60
            row: Row = (minute, 0, "ann", minute, "bob", "comm", "text", None, None, None, "{}")
            self.context.clock.now = minute + 60
            self.monitor.observe(minute // 60, [row], self.context)

    def told(self) -> list[tuple[int, str]]:
        """(day, kind) of what was noted."""
        return [(row[0] // 1440, row[5]) for row in self.context.events]

    def end_day(self) -> Desk:
        """The same after a resume."""
        saved = msgpack.unpackb(msgpack.packb(self.monitor.save()), strict_map_key=False)
        other = Desk()
        other.context = self.context
        other.monitor.load(saved)
        return other


def test_a_fit_is_made_after_so_many_hours_and_told_in_the_next_morning(fits: list[Job]) -> None:
    desk = Desk()
    desk.day(0)
    assert fits == [] and desk.told() == []
    desk.day(1)
    desk.monitor.save()
    assert len(fits) == 1 and desk.told() == []
    desk.day(2)
    assert desk.told() == [(2, "influence_refused")]


def test_a_resumed_run_makes_the_same_fits_and_tells_the_same(fits: list[Job]) -> None:
    straight, resumed = Desk(), Desk()
    for day in range(7):
        straight.day(day)
        straight.monitor.save()
    numbers = [job.number for job in fits]
    fits.clear()
    for day in range(7):
        resumed.day(day)
        resumed = resumed.end_day()
    assert [job.number for job in fits] == numbers
    assert len(numbers) >= 3
    assert resumed.context.events == straight.context.events


def test_an_hour_without_talk_is_not_an_hour() -> None:
    desk = Desk()
    desk.monitor.observe(9, [], desk.context)
    assert desk.told() == []
