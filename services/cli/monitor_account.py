"""What has been seen of a league so far: the account that grows as its days are written."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from services.cli.monitor_words import NEWS, WATCHED, Noted, bar, told, withheld_line
from services.telemetry.inspection.words import when

if TYPE_CHECKING:
    from services.runs import Run

_KEPT: Final = 12
"""Ticks that a panel shows."""


class Line(NamedTuple):
    """A line of the account."""

    text: str
    news: bool
    """Whether it tells of something that has happened, and not only of a score."""


class Tick(NamedTuple):
    """How a tick looked to the monitor."""

    minute: int
    events: int
    score: float | None
    """The largest statistic over its threshold; None without a calibration, or in the warm-up."""
    flags: tuple[str, ...]

    def line(self) -> str:
        """`day 8 11:00  ██████··············│             0.31  134 events`."""
        score = "     " if self.score is None else f"{self.score:5.2f}"
        flags = f"  {', '.join(self.flags)}" if self.flags else ""
        return f"{when(self.minute)}  {bar(self.score)} {score}  {self.events:,} events{flags}"


@dataclass
class Account:
    """Takes the events of a run, day by day, and tells them.

    Args:
        tick_minutes: Virtual minutes of a tick.
    """

    tick_minutes: int
    ticks: int = 0
    last: deque[Tick] = field(default_factory=lambda: deque(maxlen=_KEPT))
    alarmed: int | None = None
    """The minute of the first alert."""
    alerts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The reports by id, as they were revised last."""
    measures: dict[str, str] = field(default_factory=dict)
    """All that were taken, by id: against whom."""
    standing: dict[str, str] = field(default_factory=dict)
    """Those of them that are not over."""
    until: dict[str, int] = field(default_factory=dict)
    """The minute at which each measure was to end by itself."""
    withheld: Counter[str] = field(default_factory=Counter)
    """Messages by the agent that may not send them."""
    advised: int = 0
    """How many agents were advised at the last time."""
    scored: bool = False
    """Whether there was any score: without a calibration there is none."""

    def day(self, events: Iterable[Noted]) -> Iterator[Line]:
        """Tells a day."""
        before = self.withheld.copy()
        minute = 0
        for event in events:
            minute = event.minute
            if event.kind == "signals":
                if "tick" in event.body:
                    yield Line(self._tick(event.body).line(), news=False)
            elif event.kind == "withheld":
                self.withheld[event.agent] += 1
            else:
                self.note(event)
                until = self.until.get(str(event.body.get("measure")))
                for text in told(event, self.tick_minutes, until):
                    yield Line(text, news=True)
        if more := self.withheld - before:
            yield Line(f"{when(minute)[:-6]}  {withheld_line(more.most_common())}", news=True)

    def document(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "ticks": self.ticks,
            "alerts": list(self.alerts.values()),
            "measures": [
                {"measure": name, "agent": agent, "stands": name in self.standing}
                for name, agent in self.measures.items()
            ],
            "withheld": dict(self.withheld.most_common()),
            "advised": self.advised,
        }

    def summary(self) -> str:
        """One line: alerts, measures, messages withheld."""
        if not self.alerts:
            if self.ticks == 0:
                return "nobody has said anything"
            if self.last and "warm_up" in self.last[-1].flags:
                return f"no alert possible yet: still learning after {_count(self.ticks, 'tick')}"
            if not self.scored:
                ticks = _count(self.ticks, "tick")
                return f"no alert possible: {ticks} watched, but without a calibration"
            return f"no alert in {_count(self.ticks, 'tick')}"
        parts = [f"{_count(len(self.alerts), 'alert')} in {_count(self.ticks, 'tick')}"]
        if self.measures:
            parts.append(
                f"{_count(len(self.measures), 'measure')}, {len(self.standing)} of them standing"
            )
        if self.withheld:
            parts.append(f"{self.withheld.total():,} messages withheld")
        if self.advised:
            parts.append(f"all {self.advised:,} advised")
        return "; ".join(parts)

    def _tick(self, body: dict[str, Any]) -> Tick:
        flags = tuple(body.get("flags", ()))
        minute = body["tick"] * self.tick_minutes
        found = Tick(minute, body.get("events", 0), body.get("score"), flags)
        self.ticks += 1
        self.scored = self.scored or found.score is not None
        self.last.append(found)
        return found

    def note(self, event: Noted) -> None:
        """Keeps what there is to keep of an alert, a measure, or its end."""
        if event.kind in ("alert", "alert_revised"):
            self.alerts[str(event.body.get("id", event.minute))] = event.body
            if self.alarmed is None:
                self.alarmed = event.minute
        elif event.kind == "measure":
            name = str(event.body.get("measure"))
            self.measures[name] = self.standing[name] = event.agent
            if isinstance(event.body.get("until"), int):
                self.until[name] = event.body["until"]
        elif event.kind == "advised" and isinstance(event.body.get("to"), int):
            self.advised = event.body["to"]
        elif event.kind == "measure_over":
            self.standing.pop(str(event.body.get("measure")), None)


def events_of(run: Run, day: int, kinds: tuple[str, ...] = WATCHED) -> list[Noted]:
    """A day's events of some kinds, in order."""
    marks = ", ".join("?" * len(kinds))
    rows = run.rows("events", f"kind IN ({marks})", kinds, days=range(day, day + 1))
    return [Noted.of(row) for row in rows]


def news_of(run: Run, day: int, tick_minutes: int) -> list[str]:
    """What there is to tell of a day besides its scores."""
    account = Account(tick_minutes)
    events = events_of(run, day, (*NEWS, "withheld"))
    if any(event.kind == "measure_over" for event in events):
        for row in run.rows("events", "kind = 'measure'", days=range(day)):
            account.note(Noted.of(row))  # when each was to end by itself
    return [line.text for line in account.day(events)]


def account_of(run: Run, tick_minutes: int) -> Account:
    """The account of all whole days of a run."""
    account = Account(tick_minutes)
    last = run.day
    for day in range(0 if last is None else last + 1):
        for _ in account.day(events_of(run, day)):
            pass
    return account


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
