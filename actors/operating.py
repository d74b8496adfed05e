"""The operator: an agent that says in the league what somebody has ordered from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.containment import LiftRequest
from actors.context import Context
from actors.monitor import Monitor


class Operator(Monitor):
    """Passes orders on to the controllers of containment, as messages like any other.

    So an order is in the log, has a trace, and takes effect when it is delivered: a tick after the
    league has taken it, as everything that monitors say.

    Args:
        name: Its name.
        controllers: Whom it tells.
    """

    def __init__(self, name: str, controllers: Sequence[str]) -> None:
        super().__init__(name)
        self.controllers = tuple(controllers)

    def observe(self, tick: int, rows: Sequence[tuple[Any, ...]], context: Context) -> None:
        """Looks at nothing."""

    def obey(self, orders: Sequence[str], context: Context) -> None:
        """Asks that measures end."""
        for measure in orders:
            context.record("order", "", {"lift": measure})
            for controller in self.controllers:
                context.send(controller, LiftRequest(measure=measure))
