"""Monitors: agents that watch what the others say, and never act in the economy.

A monitor gets no mail. At the end of a tick (a virtual hour, say) the league shows it the rows that
the log has of the tick's messages, while the others are already at work on the next one; what the
monitor says about them is delivered a tick later, always, so that a run is the same on any layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.agent import Agent
from actors.context import Context


class Monitor(Agent):
    """Base of all monitors."""

    def observe(self, tick: int, rows: Sequence[tuple[Any, ...]], context: Context) -> None:
        """Called at the end of every tick in which something was said.

        Args:
            tick: The number of the tick since the start of the run.
            rows: The messages of the tick in the order of the log, with the columns of the log's
                table (``services.runs.schema``): minute, round, sender, number, recipient,
                channel, type, in_reply_to, cause, trace, body.
            context: What it may do: send alerts, record events.
        """

    def obey(self, orders: Sequence[str], context: Context) -> None:
        """Called before that with what an operator has ordered; monitors do not care.

        Args:
            orders: The measures that are to end.
            context: What may be done about it.
        """
