"""What a false belief or a storm does to a league, from its log alone.

A firm is *infected* from when it first expects a price that is wrong, or has more work than it can
do while a storm goes on; a board or a forecaster from when it first states such a price.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from services.messages import MINUTES_PER_DAY
from services.talk.claims import is_wrong
from services.talk.hours import FIRST_HOUR, LAST_HOUR

Row = Sequence[Any]
"""A row of the log: messages as (minute, round, sender, number, recipient, channel, type,
in_reply_to, cause, trace, body), events as (minute, round, agent, ordinal, cause, kind, subject,
body)."""

TALK: Final = ("market_note", "board_write", "board_view", "forecast_request", "forecast")
ENQUIRIES: Final = ("status_request", "status_reply")
EVENTS: Final = ("injection", "belief", "overloaded", "recovered")
"""Of the log, what :func:`harm` looks at."""
OLD_NEWS: Final = MINUTES_PER_DAY
"""What was true so many minutes ago may still be said: it is old, not wrong."""
STORMS: Final = ("retry_storm", "mixed")


@dataclass(frozen=True)
class GroundTruth:
    """An injection as the log tells it."""

    kind: str
    attack: bool
    onset: int
    end: int
    town: str
    origin: str
    bridge: str
    amplifier: str
    truth: dict[str, float] = field(default_factory=dict)


@dataclass
class Harm:
    """What became of it; hours are working hours from the onset to the end of the run."""

    truths: list[GroundTruth]
    infected: dict[str, int] = field(default_factory=dict)
    """Each infected agent and the minute from which it is."""
    parents: dict[str, str] = field(default_factory=dict)
    """By whom it was infected, where a message did it: the infection tree."""
    wrong_hours: int = 0
    """Hours that firms spent believing something wrong, summed over them."""
    overloaded_hours: int = 0
    """Hours that firms spent with more work than they could do."""
    infected_messages: int = 0
    """Messages that state a wrong price."""
    messages: int = 0
    """All talk from the onset on."""


def ground_truths(events: Iterable[Row]) -> list[GroundTruth]:
    """The injections of a run, in the order of their onsets."""
    return [
        GroundTruth(**json.loads(row[7]))
        for row in sorted(events, key=_order)
        if row[5] == "injection"
    ]


def harm(
    events: Iterable[Row],
    messages: Iterable[Row],
    days: int,
    towns: dict[str, str] | None = None,
    since: int | None = None,
) -> Harm:
    """Measures a run.

    Args:
        events: The log's events; others than :data:`EVENTS` are skipped.
        messages: The log's messages; others than :data:`TALK` are skipped.
        days: How long the run is.
        towns: The town of each agent, for truths that hold in one town only; without it they hold
            everywhere.
        since: The minute from which is counted; ``None``: the first injection's onset.
    """
    events = [row for row in events if row[5] in EVENTS]
    truths = ground_truths(events)
    onset = min((t.onset for t in truths), default=0) if since is None else since
    storm = any(t.kind in STORMS for t in truths)
    found = Harm(truths)
    wrong: dict[str, dict[str, bool]] = {}
    changes: dict[str, list[tuple[int, bool]]] = {}
    overloads: dict[str, list[tuple[int, bool]]] = {}

    def real(item: str, agent: str, minute: int, later: int = 0) -> float:
        for truth in truths:
            concerned = towns is None or towns.get(agent, truth.town) == truth.town
            if truth.onset <= minute < truth.end + later and concerned and item in truth.truth:
                return truth.truth[item]
        return 1.0

    def infect(agent: str, minute: int, cause: str | None) -> None:
        if minute >= onset and agent not in found.infected:
            found.infected[agent] = minute
            if cause:
                found.parents[agent] = cause.rpartition("#")[0]

    for minute, _, agent, _, cause, kind, _, body in sorted(events, key=_order):
        if kind == "belief":
            told = json.loads(body)
            held = wrong.setdefault(agent, {})
            held[told["item"]] = is_wrong(told["factor"], real(told["item"], agent, minute))
            changes.setdefault(agent, []).append((minute, any(held.values())))
            if any(held.values()):
                infect(agent, minute, cause)
        elif kind in ("overloaded", "recovered"):
            overloads.setdefault(agent, []).append((minute, kind == "overloaded"))
            if kind == "overloaded" and storm:
                infect(agent, minute, cause)
    last: dict[str, str] = {}
    for row in messages:
        minute, sender, recipient, kind = row[0], row[2], row[4], row[6]
        if kind not in TALK or minute < onset:
            continue
        found.messages += 1
        claims = json.loads(row[10]).get("claims", ())
        if any(is_wrong(c["factor"], real(c["item"], sender, minute, OLD_NEWS)) for c in claims):
            found.infected_messages += 1
            infect(sender, minute, last.get(sender))
            last[recipient] = f"{sender}#{row[3]}"
    hours = [
        day * MINUTES_PER_DAY + hour * 60
        for day in range(days)
        for hour in range(FIRST_HOUR, LAST_HOUR + 1)
        if day * MINUTES_PER_DAY + hour * 60 >= onset
    ]
    found.wrong_hours = sum(_hours(steps, hours) for steps in changes.values())
    found.overloaded_hours = sum(_hours(steps, hours) for steps in overloads.values())
    return found


def _order(row: Row) -> tuple[Any, ...]:
    return tuple(row[:4])


def _hours(steps: list[tuple[int, bool]], hours: list[int]) -> int:
    """At how many of the hours, at their end, the last step so far was a true one."""
    count, place, state = 0, 0, False
    for hour in hours:
        while place < len(steps) and steps[place][0] < hour + 60:
            state = steps[place][1]
            place += 1
        count += state
    return count
