"""One firm of a league as a gymnasium environment; every other firm plays its strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from policies.environments.conduct import Cadence
from policies.environments.episode import Episode
from policies.environments.leagues import as_config, with_strategies
from policies.environments.rewards import OBJECTIVES, Weighted, names_and_weights
from policies.environments.seat import Seat, Vector
from policies.environments.seeds import Seeds
from services.config import RunConfig
from services.errors import HanseError


class CoffeeFirmEnv(gymnasium.Env[Vector, Any]):
    """A firm that is learned, against firms that are not.

    An action sets the firm's levers (:class:`ActionLayout`). With the cadence ``day`` a step is a
    day, from the minute at which the firm has looked around to the same minute of the next day;
    with ``turn`` it is one call of the firm. The profits of an episode's steps sum to the firm's
    net income. An episode ends (``terminated``) with the run, or with the firm's bankruptcy.

    ``info`` holds ``vector_reward``, ``cost``, ``preference``, ``budget``, ``exposed_preference``,
    ``exposed_budget``, ``action_mask``, ``stress``, ``day``, ``seed``, ``net_income`` (dollars),
    ``bankrupt``, ``commands``, and ``refused``: the firm's commands that the town has refused, by
    code.

    Args:
        config: A run file, its path, or ``None`` for the standard league.
        firm: The firm that is learned.
        strategies: Strategies for other firms in place of those of the run file.
        seed: The seed of the first episode where ``reset`` names none; ``None``: drawn.
        seeds: Where seeds are drawn from, first and last. Those below are left for evaluation.
        cadence: ``day`` or ``turn``.
        objectives: Names from :data:`~policies.environments.rewards.OBJECTIVES`, or their weights
            by name.
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
        seeds: tuple[int, int] = Seeds.TRAINING,
        cadence: Cadence = "day",
        objectives: Weighted = tuple(OBJECTIVES),
        preference: Sequence[float] | None = None,
        cost: str = "stock_out",
        budget: float = 0.5,
        descriptors: bool = False,
    ) -> None:
        self.config = with_strategies(as_config(config), strategies or {})
        self.firm = firm
        self.cadence = cadence
        names, weights = names_and_weights(objectives, preference)
        self.seat = Seat(
            Episode(self.config, [firm], cadence),
            firm,
            objectives=names,
            preference=weights,
            cost=cost,
            budget=budget,
            descriptors=descriptors,
        )
        self.role = self.seat.role
        self.layout = self.seat.layout
        self.actions = self.seat.actions
        self.objectives = self.seat.objectives
        self.observation_space = spaces.Box(self.layout.low, self.layout.high, dtype=np.float32)
        self.action_space = spaces.MultiDiscrete(self.actions.nvec)
        self._seeds = Seeds(seed, seeds)

    @property
    def preference(self) -> NDArray[np.float64]:
        """The weights of the objectives."""
        return self.seat.preference

    @property
    def budget(self) -> float:
        """What the mean cost of a step may be."""
        return self.seat.budget

    @property
    def episode(self) -> Episode:
        """The episode that is being played."""
        return self.seat.episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: The league's seed, as in a run file; without one, it is drawn.
            options: ``preference`` and ``budget`` for this episode and the following.

        Returns:
            The first observation, and the info described above (nothing is earned yet).

        Raises:
            HanseError: an option that does not fit.
        """
        super().reset(seed=seed)
        self.seat.wish(options)
        config = self.config.model_copy(update={"seed": self._seeds.next(seed, self.np_random)})
        self.seat.sit(Episode(config, [self.firm], self.cadence))
        self.episode.proceed()
        self.seat.look()
        return self.seat.observation, self.seat.info()

    def step(self, action: Any) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Sets the levers and plays on until the firm decides again.

        Raises:
            HanseError: the episode is over or has not begun, or the action does not fit.
        """
        seat = self.seat
        if not seat.waits:
            raise HanseError(f"{self.firm}: no decision is pending; call reset first")
        seat.act(action)
        self.episode.proceed()
        seat.look()
        reward, info = seat.result()
        return seat.observation, reward, not seat.waits, False, info
