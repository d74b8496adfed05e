"""What hosts and leagues hand each other: mail, reports of rounds and days, states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from actors.guard import JournalRow
from actors.notes import DayNotes
from services.messages import Message

MessageRow = tuple[Any, ...]
"""A row of the log's table of messages; its columns stand in ``services.runs.schema``."""

Saved = dict[str, dict[str, Any]]
"""Agent name to its saved state, counters and wake-ups, as plain data."""


class Report(NamedTuple):
    """What a host has to say after a round."""

    outbound: dict[str, list[Message]]
    """Mail for other hosts, by host."""
    due: bool
    """Whether own agents have mail for the next round of this minute."""
    next_wake: int | None
    """The next minute at which an own agent wants to be woken."""
    waits: bool
    """Whether an own agent waits for an answer."""
    handled: int
    """Messages handled since the league's call."""
    minute: int
    round: int
    """The last round that was worked, and its minute."""
    journal: list[JournalRow]
    """Answers that cannot be computed again; to be written at once."""
    watched: list[MessageRow]
    """What was sent that monitors look at."""
    seconds: float = 0.0
    """What it took on the host, by the clock on the wall; 0 if nobody has looked."""


Later = list[tuple[int, Message]]
"""Mail that may wait for the end of the day, each with the round in which it was sent."""


class DayApart(NamedTuple):
    """What a host has to say after a day without the other hosts."""

    kept: bool
    """Whether it was a day like any other: nobody here needed another host."""
    later: dict[str, Later]
    """Silent mail, by host (also for this one)."""
    next_wake: int | None
    handled: int
    seconds: float = 0.0
    """As in :class:`Report`."""


class DayRecords(NamedTuple):
    """A host's log rows of a day, its agents' states and its counters; see ``services.runs``."""

    messages: list[MessageRow]
    events: list[tuple[Any, ...]]
    ledger: list[tuple[Any, ...]]
    metrics: list[tuple[Any, ...]]
    saved: Saved
    counters: dict[str, int]
    host: str
    notes: DayNotes
    """What tracing needs of the day."""
    log: Sequence[str] = ()
    """Lines for the run's log, from where the run's folder is not."""
