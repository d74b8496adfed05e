"""Rows of a message log for the tests, written as briefly as they read."""

from __future__ import annotations

import json
from typing import Any

from monitors.caspian.feed import LogRow
from monitors.caspian.possibility import PossibilityGraph

_CHANNEL = {
    "market_note": "comm",
    "board_write": "mem",
    "board_read": "mem",
    "board_view": "mem",
    "forecast_request": "tool",
    "forecast": "tool",
    "status_request": "exec",
    "status_reply": "exec",
}


class Log:
    """Numbers the messages of every sender as a league does."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def row(
        self,
        minute: int,
        sender: str,
        recipient: str,
        said: str | dict[str, Any] | None = None,
        *,
        round: int = 0,
        type: str = "market_note",
        reply: str | None = None,
        cause: str | None = None,
        channel: str | None = None,
    ) -> LogRow:
        """A message; ``said`` is its text, or its whole body."""
        number = self._numbers[sender] = self._numbers.get(sender, 0) + 1
        body = {} if said is None else {"text": said} if isinstance(said, str) else said
        on = channel or _CHANNEL[type]
        return LogRow(
            minute, round, sender, number, recipient, on, type, reply, cause, None, json.dumps(body)
        )


def mesh(*names: str) -> PossibilityGraph:
    """Everybody reaches everybody on every channel."""
    return PossibilityGraph.from_edges(
        names, [(a, b, ("comm", "mem", "tool", "exec")) for a in names for b in names if a != b]
    )
