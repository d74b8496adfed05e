"""Attack by load: a firm repeats its requests, until those whom it asks can answer nobody well."""

from __future__ import annotations

from actors.agent import Agent
from actors.context import Context
from actors.injections.rumour import Attack, talker
from services.talk.load import MOST_ATTEMPTS


class RetryStorm(Attack):
    """Every hour the origin takes all its requests for unanswered, and asks for everything again.

    The requests themselves are the origin's ordinary ones; nobody is told anything wrong.
    """

    enquires = True

    def every_hour(self, agent: Agent, context: Context) -> None:
        """The origin has forgotten that it was answered."""
        super().every_hour(agent, context)
        strategy = talker(agent)
        if strategy is not None and self.role == "origin":
            strategy.work.open = dict.fromkeys(strategy.suppliers, MOST_ATTEMPTS)
