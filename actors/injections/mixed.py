"""Attack on all channels at once: notes, the board, the forecaster's survey, and requests."""

from __future__ import annotations

from actors.agent import Agent
from actors.context import Context
from actors.injections.rumour import Rumour, talker
from services.talk.load import MOST_ATTEMPTS
from services.talk.payloads import BoardWrite, ForecastRequest, MarketNote


class Mixed(Rumour):
    """The origin tells the story wherever it says anything, and repeats all its requests."""

    enquires = True
    payloads = (MarketNote, BoardWrite, ForecastRequest)

    def every_hour(self, agent: Agent, context: Context) -> None:
        """The story drifts, and no answer was good enough."""
        super().every_hour(agent, context)
        strategy = talker(agent)
        if strategy is not None and self.role == "origin":
            strategy.work.open = dict.fromkeys(strategy.suppliers, MOST_ATTEMPTS)
