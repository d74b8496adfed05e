"""Firms that take their time to decide, as those with a language model do."""

from __future__ import annotations

import time
from typing import Any

from actors.context import Context
from actors.exchange import Turn
from actors.strategies.informed import Informed, informed
from services.economy import commands as c


def pondering(firm: str, role: str, seconds: float = 0.01, **options: Any) -> Informed:
    """An informed firm that waits before each command, as for the answer of a model.

    Args:
        firm: Its name.
        role: farmer, roaster or retailer.
        seconds: How long; hosted models take a tenth of a second and more.
        options: Those of ``informed``.
    """
    strategy = informed(firm, role, **options)
    decide = strategy.decide

    def ponder(turn: Turn, context: Context) -> c.Command:
        time.sleep(seconds)
        return decide(turn, context)

    strategy.decide = ponder  # type: ignore[method-assign]
    return strategy
