"""Have the firms recovered? How many believed something wrong, or had too much to do, and when."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from services.messages import MINUTES_PER_DAY
from services.runs.bodies import body_of
from services.talk.claims import is_wrong
from services.talk.harm import GroundTruth, ground_truths
from services.telemetry.inspection.words import when

if TYPE_CHECKING:
    from actors.cast import Cast
    from services.runs import Run

KINDS: Final = ("injection", "belief", "overloaded", "recovered")
"""The events of the log that tell of it."""
Steps = Sequence[tuple[int, int]]
"""(minute, how many firms from then on), in order."""


@dataclass(frozen=True)
class Recovery:
    """How many firms were in a bad way, from minute to minute.

    Args:
        firms: All firms of the league.
        wrong: How many of them believed something wrong about a price.
        overloaded: How many had more work than they could do.
        end: The first minute after the last whole day.
        alert: The minute of the first alert, if there was one.
    """

    firms: int
    wrong: Steps
    overloaded: Steps
    end: int
    alert: int | None = None

    def lines(self) -> list[str]:
        """What there is to say: a line, or none if nobody was ever in a bad way."""
        lines = []
        if self.wrong or self.alert is not None:
            lines.append(self._line(self.wrong, "believing something wrong"))
        # Somebody always has too much to do for an hour; that is no storm.
        if at(self.overloaded, self.alert) or at(self.overloaded, self.end):
            lines.append(self._line(self.overloaded, "with more work than they can do"))
        return lines

    def document(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "firms": self.firms,
            **{
                name: {
                    "at_alert": None if self.alert is None else at(steps, self.alert),
                    "most": max((count for _, count in steps), default=0),
                    "at_end": at(steps, self.end),
                }
                for name, steps in (("wrong", self.wrong), ("overloaded", self.overloaded))
            },
        }

    def _line(self, steps: Steps, what: str) -> str:
        last = at(steps, self.end)
        most, minute = max(((c, -m) for m, c in steps), default=(0, 0))
        if not most:
            return f"firms {what}: none of {self.firms}, at no time"
        parts = []
        if self.alert is not None:
            parts.append(f"{at(steps, self.alert)} of {self.firms} at the alert")
            parts.append(f"{most} at most (on {when(-minute)})")
        else:
            parts.append(f"{most} of {self.firms} at most (on {when(-minute)})")
        parts.append(f"{last or 'none'} at the end")
        verdict = "they have recovered" if not last else "they have not recovered"
        if 0 < last < most:
            verdict = "not all have recovered"
        return f"firms {what}: {', '.join(parts)}; {verdict}"


def recovery_of(run: Run, cast: Cast, alert: int | None) -> Recovery | None:
    """What a run's log tells of it; None where nobody talks, or no day is whole yet.

    Args:
        run: The run.
        cast: Who plays in it.
        alert: The minute of the first alert, if there was one.
    """
    if not cast.talkers.talks or run.day is None:
        return None
    marks = ", ".join("?" * len(KINDS))
    rows = list(run.rows("events", f"kind IN ({marks})", KINDS))
    towns = {name: town for name in cast.names if (town := cast.talkers.town_of(name)) is not None}
    wrong, overloaded = bad_ways(rows, towns)
    end = (run.day + 1) * MINUTES_PER_DAY
    return Recovery(len(cast.firms), wrong, overloaded, end, alert)


def bad_ways(events: Iterable[Sequence[Any]], towns: Mapping[str, str]) -> tuple[Steps, Steps]:
    """How many firms believe something wrong, and how many are overloaded, from minute to minute.

    What is wrong is as for :func:`services.talk.harm.harm`.

    Args:
        events: Rows of the log's table of events.
        towns: The town of each agent: a truth holds in one town.
    """
    events = sorted(events, key=lambda row: tuple(row[:4]))
    truths = ground_truths(events)
    held: dict[str, set[str]] = {}
    busy: set[str] = set()
    mistaken = 0
    wrong: dict[int, int] = {}
    overloaded: dict[int, int] = {}
    for row in events:
        minute, agent, kind = row[0], row[2], row[5]
        if kind == "belief":
            told = body_of(row[7]) or {}
            item, factor = str(told["item"]), float(told["factor"])
            beliefs = held.setdefault(agent, set())
            mistaken -= bool(beliefs)
            beliefs.discard(item)
            if is_wrong(factor, _real(truths, item, towns.get(agent), minute)):
                beliefs.add(item)
            mistaken += bool(beliefs)
            wrong[minute] = mistaken
        elif kind in ("overloaded", "recovered"):
            busy.discard(agent)
            if kind == "overloaded":
                busy.add(agent)
            overloaded[minute] = len(busy)
    return _changes(wrong), _changes(overloaded)


def at(steps: Steps, minute: int | None) -> int:
    """How many there are at the end of a minute."""
    if minute is None:
        return 0
    place = bisect_right(steps, minute, key=lambda step: step[0])
    return steps[place - 1][1] if place else 0


def _real(truths: Sequence[GroundTruth], item: str, town: str | None, minute: int) -> float:
    for truth in truths:
        concerned = town is None or town == truth.town
        if truth.onset <= minute < truth.end and concerned and item in truth.truth:
            return truth.truth[item]
    return 1.0


def _changes(counts: Mapping[int, int]) -> Steps:
    steps: list[tuple[int, int]] = []
    for minute, count in counts.items():
        if count != (steps[-1][1] if steps else 0):
            steps.append((minute, count))
    return steps
