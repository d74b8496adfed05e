"""The rows of the league's message log, as a monitor takes them: checked, and in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any, Final, NamedTuple

from monitors.caspian.events import CHANNELS

TICK_MINUTES: Final = 60
"""Virtual minutes of a tick: an hour."""


class LogRow(NamedTuple):
    """A message as the table ``messages`` of a run keeps it, column for column."""

    minute: int
    """When it was sent: virtual minutes since the start of the run."""
    round: int
    """The round of that minute; who gets it handles it in a later one."""
    sender: str
    number: int
    """The sender's own counter: it rises from message to message."""
    recipient: str
    channel: str
    type: str
    in_reply_to: str | None
    cause: str | None
    trace: str | None
    body: str
    """The payload as JSON text, without fields at their default."""

    @property
    def id(self) -> str:
        """``sender#number``, as `Message.id`."""
        return f"{self.sender}#{self.number}"


_KEY: Final = itemgetter(0, 1, 2, 3)
_KNOWN_CHANNELS: Final = frozenset(CHANNELS)


def ordered(rows: Iterable[Any], tick: int, tick_minutes: int, dropped: Counter[str]) -> list[Any]:
    """The sound rows in the order of the log, (minute, round, sender, number).

    Args:
        rows: In any order, for instance as several hosts have handed them over.
        tick: The tick that all of them should belong to.
        tick_minutes: Its length.
        dropped: Takes a count for each row that is left out, by reason.
    """
    sound = []
    for row in rows:
        reason = _unsound(row)
        if reason is None and row[0] // tick_minutes != tick:
            reason = "other tick"
        if reason is None:
            sound.append(row)
        else:
            dropped[reason] += 1
    sound.sort(key=_KEY)
    return sound


def _unsound(row: Any) -> str | None:
    """Why a row cannot be used; None if it can."""
    try:
        minute, round_, sender, number, recipient, channel, kind, reply, cause, _, body = row
    except (TypeError, ValueError):
        return "malformed row"
    # One comparison of types for the lot: this is asked for every row.
    if (
        type(minute) is int
        and type(round_) is int
        and type(number) is int
        and type(sender) is str
        and type(recipient) is str
        and type(kind) is str
        and type(body) is str
        and (reply is None or type(reply) is str)
        and (cause is None or type(cause) is str)
        and type(channel) is str
    ):
        return None if channel in _KNOWN_CHANNELS else "unknown channel"
    return "malformed row"


def by_tick(
    rows: Iterable[Any], tick_minutes: int = TICK_MINUTES
) -> Iterator[tuple[int, list[Any]]]:
    """Cuts rows in the order of the log into ticks; hours without traffic do not come.

    Args:
        rows: Sorted by minute at least.
        tick_minutes: The length of a tick in virtual minutes.
    """
    tick = -1
    batch: list[Any] = []
    for row in rows:
        now = row[0] // tick_minutes
        if now != tick and batch:
            yield tick, batch
            batch = []
        tick = now
        batch.append(row)
    if batch:
        yield tick, batch
