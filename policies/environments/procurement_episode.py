"""An episode in which somebody else does a firm's purchasing: the league's town, without a league.

Everything is an :class:`~policies.environments.episode.Episode` of the run file; only who answers
the firms' stock reports may be put in from outside, as a learner that collects what it needs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policies.environments.episode import Episode
from services.config import RunConfig
from services.errors import HanseError

if TYPE_CHECKING:
    from actors.agent import Agent

OUTCOME = "purchasing_outcome"
"""The event in which a firm says what a day came to, with the truth."""


class ProcurementEpisode(Episode):
    """A league's run with controllers of one's own.

    Args:
        config: What is run.
        controllers: Who stands in for the run file's controllers, by name.

    Raises:
        HanseError: the run file has no such controller, or an episode cannot play it.
    """

    def __init__(self, config: RunConfig, controllers: Mapping[str, Agent] | None = None) -> None:
        super().__init__(config)
        known = [each.name for each in config.controllers]
        for name, agent in (controllers or {}).items():
            if name not in known:
                raise HanseError(
                    f"controllers: there is no controller {name!r} in the run file;"
                    f" allowed: {', '.join(known) or 'none, as it has none'}"
                )
            self._agents[name] = agent

    def outcomes(self, firm: str) -> list[dict[str, Any]]:
        """What a firm's days came to, with the truth, day by day: for labels and for judging."""
        rows = self._contexts[firm].events
        return [json.loads(row[7]) for row in rows if row[5] == OUTCOME]
