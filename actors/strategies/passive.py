"""The passive firm: does nothing at all (CoffeeBench's floor; note, S11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from actors.strategies.strategy import Strategy
from services.economy.commands import Command, WaitForNextDay

if TYPE_CHECKING:
    from actors.context import Context
    from actors.exchange import Turn


class Passive(Strategy):
    """Waits, always."""

    observes: ClassVar[bool] = False

    def decide(self, turn: Turn, context: Context) -> Command:
        """Waits for the next day."""
        return WaitForNextDay()
