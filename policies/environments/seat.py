"""A seat: one firm of an episode as a learner has it: observation, mask, vector reward, info."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.environments.action_layout import ActionLayout
from policies.environments.checks import checked_budget, checked_preference
from policies.environments.episode import Episode
from policies.environments.observation_layout import ObservationLayout
from policies.environments.rewards import OBJECTIVES, Rewards
from services.economy.money import dollars

Vector = NDArray[np.float32]


class Seat:
    """What an environment needs for one firm, from episode to episode.

    A firm that is bankrupt keeps its seat: it sees its last observation, may set nothing (level 0
    of every lever only), earns no more profit, and each step costs 1.

    Args:
        episode: Any episode of the league in which the firm has a seat.
        firm: Its name.
        objectives: Names from :data:`~policies.environments.rewards.OBJECTIVES`.
        preference: Their weights; by default all on the first.
        cost: A name from :data:`~policies.environments.rewards.COSTS`.
        budget: What the mean cost of a step may be.
        descriptors: Whether preference and budget are appended to the observation.

    Raises:
        HanseError: something of that does not fit.
    """

    def __init__(
        self,
        episode: Episode,
        firm: str,
        *,
        objectives: Sequence[str] = tuple(OBJECTIVES),
        preference: Sequence[float] | None = None,
        cost: str = "stock_out",
        budget: float = 0.5,
        descriptors: bool = False,
    ) -> None:
        self.firm = firm
        self.role = episode.firm(firm).role
        self.cadence = episode.cadence
        self.cost = cost
        self.objectives = Rewards(episode.town, firm, objectives, cost).objectives
        if preference is None:
            preference = [1.0] + [0.0] * (len(self.objectives) - 1)
        self.preference = checked_preference(preference, self.objectives)
        self.budget = checked_budget(budget)
        named = self.objectives if descriptors else ()
        self.layout = ObservationLayout(self.role, episode.setup, named)
        self.actions = ActionLayout(self.role, episode.setup.catalogue)
        self._nothing = np.zeros(self.actions.size, dtype=np.bool_)
        self._nothing[np.cumsum(self.actions.nvec) - self.actions.nvec] = True
        self.sit(episode)

    def sit(self, episode: Episode) -> None:
        """Takes the seat in a new episode."""
        self.episode = episode
        self._state = episode.firm(self.firm)
        self.rewards = Rewards(episode.town, self.firm, self.objectives, self.cost)
        zeros = np.zeros(self.layout.size, dtype=np.float32)
        self.observation: Vector = np.clip(zeros, self.layout.low, self.layout.high)
        self.mask = self._nothing

    def wish(self, options: Mapping[str, Any] | None) -> None:
        """Takes ``preference`` and ``budget`` from the options of a reset; others are a wrapper's.

        Raises:
            HanseError: a value that does not fit.
        """
        wishes = options or {}
        if "preference" in wishes:
            self.preference = checked_preference(wishes["preference"], self.objectives)
        if "budget" in wishes:
            self.budget = checked_budget(wishes["budget"])

    @property
    def waits(self) -> bool:
        """Whether the firm waits for its levers."""
        return self.firm in self.episode.waiting

    @property
    def live(self) -> bool:
        """Whether the firm is in business."""
        return self._state.live

    def look(self) -> None:
        """Sees what the firm has seen, if it is to decide; otherwise it may set nothing."""
        if self.firm not in self.episode.waiting:
            self.mask = self._nothing
            return
        conduct = self.episode.conducts[self.firm]
        assert conduct.view is not None and conduct.mirror is not None
        descriptors: Any = [*self.preference, self.budget] if self.layout.objectives else ()
        self.observation = self.layout.encode(conduct.view, descriptors)
        self.mask = self.actions.mask(conduct.mirror)

    def act(self, action: Sequence[int] | NDArray[Any]) -> None:
        """Sets the levers for the pending decision.

        Raises:
            HanseError: the action does not fit the layout.
        """
        self.episode.levers[self.firm] = self.actions.values(action)

    def result(self) -> tuple[float, dict[str, Any]]:
        """The reward of the step that ends now, and its info."""
        vector = self.rewards.step()
        return float(self.preference.dot(vector)), self.info(vector, self.rewards.cost_now())

    def info(self, vector: NDArray[np.float64] | None = None, cost: float = 0.0) -> dict[str, Any]:
        """The info of a step; without arguments that of a reset."""
        episode, firm = self.episode, self._state
        return {
            "vector_reward": np.zeros(len(self.objectives)) if vector is None else vector,
            "cost": cost,
            "preference": self.preference,
            "budget": self.budget,
            "exposed_preference": self.preference,
            "exposed_budget": self.budget,
            "action_mask": self.mask,
            "stress": self.rewards.stress(),
            "day": episode.town.state.day,
            "seed": episode.config.seed,
            "net_income": dollars(firm.net_income()),
            "bankrupt": not firm.live,
            "commands": episode.commands[self.firm],
            "refused": dict(episode.refused[self.firm]),
        }
