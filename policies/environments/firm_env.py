"""One firm of a league as a gymnasium environment; every other firm plays its strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from policies.environments.action_layout import ActionLayout
from policies.environments.checks import checked_budget, checked_preference
from policies.environments.conduct import Cadence
from policies.environments.episode import Episode, playable
from policies.environments.leagues import as_config, with_strategies
from policies.environments.observation_layout import ObservationLayout
from policies.environments.rewards import OBJECTIVES, Rewards
from services.config import RunConfig
from services.economy.money import dollars
from services.errors import HanseError

Observation = NDArray[np.float32]


class CoffeeFirmEnv(gymnasium.Env[Observation, Any]):
    """A firm that is learned, against firms that are not.

    An action sets the firm's levers (:class:`ActionLayout`). With the cadence ``day`` a step is a
    day, from the minute at which the firm has looked around to the same minute of the next day;
    with ``turn`` it is one call of the firm. The profits of an episode's steps sum to the firm's
    net income. An episode ends (``terminated``) with the run, or with the firm's bankruptcy.

    ``info`` holds ``vector_reward``, ``cost``, ``preference``, ``budget``, ``exposed_preference``,
    ``exposed_budget``, ``action_mask``, ``stress``, ``day``, ``seed``, ``net_income`` (dollars),
    ``commands``, and ``refused``: the firm's commands that the town has refused, by code.

    Args:
        config: A run file, its path, or ``None`` for the standard league.
        firm: The firm that is learned.
        strategies: Strategies for other firms in place of those of the run file.
        seed: The seed of the first episode where ``reset`` names none; ``None``: drawn.
        seeds: Where seeds are drawn from, first and last. Those below are left for evaluation.
        cadence: ``day`` or ``turn``.
        objectives: Names from :data:`~policies.environments.rewards.OBJECTIVES`.
        preference: Their weights; by default all on the first.
        cost: A name from :data:`~policies.environments.rewards.COSTS`.
        budget: What the mean cost of a step may be.
        descriptors: Whether preference and budget are appended to the observation.

    Raises:
        HanseError: something of that does not fit.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's own declaration)

    def __init__(
        self,
        config: RunConfig | str | Path | None = None,
        firm: str = "roaster_A",
        *,
        strategies: Mapping[str, str] | None = None,
        seed: int | None = None,
        seeds: tuple[int, int] = (1_000, 2**31 - 1),
        cadence: Cadence = "day",
        objectives: Sequence[str] = tuple(OBJECTIVES),
        preference: Sequence[float] | None = None,
        cost: str = "stock_out",
        budget: float = 0.5,
        descriptors: bool = False,
    ) -> None:
        self.config = with_strategies(as_config(config), strategies or {})
        playable(self.config)
        self.firm = firm
        self.cadence = cadence
        self.cost = cost
        self.seeds = seeds
        self._next_seed = seed
        probe = Episode(self.config, [firm], cadence)
        self.role = probe.firm(firm).role
        self.objectives = Rewards(probe.town, firm, objectives, cost).objectives
        if preference is None:
            preference = [1.0] + [0.0] * (len(self.objectives) - 1)
        self.preference = checked_preference(preference, self.objectives)
        self.budget = checked_budget(budget)
        self.layout = ObservationLayout(
            self.role, probe.setup, self.objectives if descriptors else ()
        )
        self.actions = ActionLayout(self.role, probe.setup.catalogue)
        self.observation_space = spaces.Box(self.layout.low, self.layout.high, dtype=np.float32)
        self.action_space = spaces.MultiDiscrete(self.actions.nvec)
        self._episode: Episode | None = None
        self._rewards: Rewards | None = None
        self._last: Observation = np.clip(
            np.zeros(self.layout.size, np.float32), self.layout.low, self.layout.high
        )
        self._mask = np.ones(int(self.actions.nvec.sum()), dtype=np.bool_)

    @property
    def episode(self) -> Episode:
        """The episode that is being played.

        Raises:
            HanseError: there is none.
        """
        if self._episode is None:
            raise HanseError(f"{self.firm}: no episode has begun; call reset first")
        return self._episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: The league's seed, as in a run file; without one, it is drawn.
            options: ``preference`` and ``budget`` for this episode and the following.

        Returns:
            The first observation, and the info described above (nothing is earned yet).
        """
        super().reset(seed=seed)
        for key, value in (options or {}).items():
            if key == "preference":
                self.preference = checked_preference(value, self.objectives)
            elif key == "budget":
                self.budget = checked_budget(value)
            else:
                raise HanseError(f"options: there is no {key!r}; allowed: preference, budget")
        if seed is None:
            seed, self._next_seed = self._next_seed, None
        if seed is None:
            seed = int(self.np_random.integers(self.seeds[0], self.seeds[1], endpoint=True))
        config = self.config.model_copy(update={"seed": seed})
        self._episode = Episode(config, [self.firm], self.cadence)
        self._rewards = Rewards(self._episode.town, self.firm, self.objectives, self.cost)
        self._episode.proceed()
        self._look()
        return self._last, self._info(np.zeros(len(self.objectives)), 0.0)

    def step(
        self, action: NDArray[np.int64]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Sets the levers and plays on until the firm decides again."""
        episode, rewards = self.episode, self._rewards
        assert rewards is not None
        if not episode.waiting:
            raise HanseError(f"{self.firm}: the episode is over; call reset")
        episode.levers[self.firm] = self.actions.values(action)
        going = bool(episode.proceed())
        if going:
            self._look()
        vector = rewards.step()
        reward = float(self.preference @ vector)
        info = self._info(vector, rewards.cost_now())
        return self._last, reward, not going, False, info

    def _look(self) -> None:
        conduct = self.episode.conducts[self.firm]
        assert conduct.view is not None and conduct.mirror is not None
        descriptors: Any = ()
        if self.layout.objectives:
            descriptors = [*self.preference, self.budget]
        self._last = self.layout.encode(conduct.view, descriptors)
        self._mask = self.actions.mask(conduct.mirror)

    def _info(self, vector: NDArray[np.float64], cost: float) -> dict[str, Any]:
        episode, rewards = self.episode, self._rewards
        assert rewards is not None
        return {
            "vector_reward": vector,
            "cost": cost,
            "preference": self.preference,
            "budget": self.budget,
            "exposed_preference": self.preference,
            "exposed_budget": self.budget,
            "action_mask": self._mask,
            "stress": rewards.stress(),
            "day": episode.town.state.day,
            "seed": episode.config.seed,
            "net_income": dollars(episode.firm(self.firm).net_income()),
            "commands": episode.commands[self.firm],
            "refused": dict(episode.refused[self.firm]),
        }
