"""What firms come to in a league, whatever strategy they play: objectives and cost, day by day.

A league's log has no objectives. An episode with the same run file and seed has the same books, so
they are measured there, at the minute at which firms that learn decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from policies.environments.episode import Episode
from policies.environments.rewards import Rewards
from policies.environments.view import LOOKS
from policies.training.tally import Outcome, Tally
from services.config import RunConfig
from services.economy.money import dollars
from services.messages import MINUTES_PER_DAY

_MORNING: Final = 9 * 60
_CALL: Final = 30
DECIDING: Final = _MORNING + _CALL * len(LOOKS)
"""The minute of a day at which a firm that learns has looked around."""


def measured(
    config: RunConfig, firms: Iterable[str], objectives: Sequence[str], cost: str
) -> dict[str, Outcome]:
    """Plays a league and measures some of its firms.

    Args:
        config: The league, with its seed; each firm plays the strategy that it names.
        firms: Which firms.
        objectives: Names from :data:`~policies.environments.rewards.OBJECTIVES`.
        cost: A name from :data:`~policies.environments.rewards.COSTS`.

    Returns:
        By firm; the same as :func:`~policies.training.episodes.play` for a policy that learned once
        a day.

    Raises:
        HanseError: an episode cannot play the league, or something does not fit.
    """
    episode = _Watched(config, firms, objectives, cost)
    episode.proceed()
    return episode.outcomes()


class _Watched(Episode):
    """An episode without seats that is measured once a day."""

    def __init__(
        self, config: RunConfig, firms: Iterable[str], objectives: Sequence[str], cost: str
    ) -> None:
        super().__init__(config)
        self._watched = {
            name: (Rewards(self.town, name, objectives, cost), Tally(objectives, config.days))
            for name in firms
        }
        self._due = MINUTES_PER_DAY + DECIDING

    def outcomes(self) -> dict[str, Outcome]:
        """What the firms have come to by the end of the run."""
        self._measure()
        return {name: tally.outcome() for name, (_, tally) in self._watched.items()}

    def minute_begins(self, minute: int) -> None:
        """Measures, once a day."""
        if minute >= self._due:
            self._measure()
            self._due = (minute // MINUTES_PER_DAY + 1) * MINUTES_PER_DAY + DECIDING

    def _measure(self) -> None:
        for name, (rewards, tally) in self._watched.items():
            firm = self.firm(name)
            tally.add(
                {
                    "vector_reward": rewards.step(),
                    "cost": rewards.cost_now(),
                    "net_income": dollars(firm.net_income()),
                    "bankrupt": not firm.live,
                }
            )
