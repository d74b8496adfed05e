"""A gymnasium environment over several towns of the economy: the router between them is learned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from policies.environments.checks import checked_budget, checked_objectives, checked_preference
from policies.environments.leagues import as_config
from policies.environments.rewards import Weighted, names_and_weights
from policies.environments.routing_episode import (
    COSTS,
    OBJECTIVES,
    SURPLUS_UNIT,
    RoutingEpisode,
    routable,
)
from policies.environments.routing_layout import RoutingDecision, RoutingLayout
from policies.environments.seeds import Seeds
from services.config import RunConfig
from services.economy.abroad import TradeOrder
from services.errors import HanseError

Vector = NDArray[np.float32]


class RoutingSeat:
    """What an environment and a trainer need of the router that learns.

    Args:
        config: The league.
        objectives: The names of the vector reward's components.
    """

    role = "router"
    cadence = "order"

    def __init__(self, config: RunConfig, objectives: tuple[str, ...]) -> None:
        from actors.cast import Cast

        cast = Cast(config)
        self.exchanges = cast.exchanges
        towns = len(cast.towns) - 1
        self.layout = RoutingLayout(towns, cast.setup(cast.towns[0]))
        self.actions = RoutingDecision(towns)
        self.objectives = objectives


class CoffeeRouterEnv(gymnasium.Env[Vector, Any]):
    """One router between the towns of a league, whose firms play strategies.

    A step is an order that some town may fill, by the towns' last quotes; the action is the rank
    by price of the town that is asked
    (:class:`~policies.environments.routing_layout.RoutingDecision`). Rewards come with the answers:
    a step is paid for every order answered since the one before. An episode ends (``terminated``)
    with the run.

    ``info`` holds ``vector_reward``, ``cost``, ``preference``, ``budget``, ``action_mask``,
    ``day``, ``seed``, ``net_income`` (dollars, of all firms in all towns), ``bankrupt`` (never) and
    ``refused`` (orders that came back with nothing).

    Args:
        config: A run file with towns and a router, or its path.
        router: The router's name.
        seed: The seed of the first episode where ``reset`` names none; ``None``: drawn.
        seeds: Where seeds are drawn from, first and last. Those below are left for evaluation.
        objectives: Names from :data:`~policies.environments.routing_episode.OBJECTIVES`, or their
            weights by name.
        preference: Their weights; by default all on the first.
        budget: What the mean cost of a step may be.

    Raises:
        HanseError: something of that does not fit.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's own declaration)

    def __init__(
        self,
        config: RunConfig | str | Path,
        router: str = "router",
        *,
        seed: int | None = None,
        seeds: tuple[int, int] = Seeds.TRAINING,
        objectives: Weighted = tuple(OBJECTIVES),
        preference: Sequence[float] | None = None,
        cost: str = "empty_handed",
        budget: float = 0.5,
    ) -> None:
        self.config = as_config(config)
        self.router = router
        routable(self.config, router)
        if cost not in COSTS:
            raise HanseError(f"cost: there is no cost {cost!r}; allowed: {', '.join(COSTS)}")
        names, weights = names_and_weights(objectives, preference)
        self.objectives = checked_objectives(names, tuple(OBJECTIVES))
        if weights is None:
            weights = [1.0] + [0.0] * (len(self.objectives) - 1)
        self.preference = checked_preference(weights, self.objectives)
        self.budget = checked_budget(budget)
        self.seat = RoutingSeat(self.config, self.objectives)
        self.layout, self.actions = self.seat.layout, self.seat.actions
        self.observation_space = spaces.Box(self.layout.low, self.layout.high, dtype=np.float32)
        self.action_space = spaces.MultiDiscrete(self.actions.nvec)
        self._seeds = Seeds(seed, seeds)
        self._order: TradeOrder | None = None
        self._observation: Vector = np.clip(
            np.zeros(self.layout.size, dtype=np.float32), self.layout.low, self.layout.high
        )
        self._mask = np.zeros(self.actions.size, dtype=np.bool_)
        self._mask[0] = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: The league's seed, as in a run file; without one, it is drawn.
            options: None are known.

        Raises:
            HanseError: nobody orders abroad in this league.
        """
        from actors.routing import WaitingRouter

        super().reset(seed=seed)
        config = self.config.model_copy(update={"seed": self._seeds.next(seed, self.np_random)})
        self._waiting = WaitingRouter(self.router, self.seat.exchanges)
        self.episode = RoutingEpisode(config, self.router, self._waiting)
        self._counted = 0, 0, 0.0, 0.0
        self._proceed()
        if self._order is None:
            raise HanseError(
                "router: nobody orders anything abroad in this league; give a roaster the strategy"
                " importing"
            )
        return self._observation, self._info(np.zeros(len(self.objectives)), 0.0)

    def step(self, action: Any) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Asks a town, and plays on until the next order.

        Raises:
            HanseError: the episode is over or has not begun, or there is no town of that rank.
        """
        if self._order is None:
            raise HanseError(f"{self.router}: no decision is pending; call reset first")
        rank = int(np.asarray(action).reshape(-1)[0])
        if not (0 <= rank < self.actions.size and self._mask[rank]):
            raise HanseError(
                f"action: there is no town of rank {rank} to ask; {int(self._mask.sum())} may be"
            )
        self._waiting.asks = self._view.candidates[rank].town
        self._proceed()
        vector, cost = self._earned()
        over = self._order is None
        reward = float(self.preference @ vector)
        return self._observation, reward, over, False, self._info(vector, cost)

    def _proceed(self) -> None:
        self._order = self.episode.proceed()
        if self._order is None:
            return
        self._view = self._waiting.view(self._order, self.episode.now)
        self._observation = self.layout.encode(self._view)
        self._mask = self.actions.mask(self._view)

    def _earned(self) -> tuple[NDArray[np.float64], float]:
        """The vector reward and the cost of what was answered since the last call."""
        trade = self.episode.trade
        orders, empty, surplus, filled = self._counted
        found = {
            "surplus": (trade.surplus - surplus) / SURPLUS_UNIT,
            "filled": trade.filled - filled,
        }
        answered = trade.orders - orders
        cost = (trade.empty_handed - empty) / answered if answered else 0.0
        self._counted = trade.orders, trade.empty_handed, trade.surplus, trade.filled
        return np.array([found[name] for name in self.objectives]), cost

    def _info(self, vector: NDArray[np.float64], cost: float) -> dict[str, Any]:
        return {
            "vector_reward": vector,
            "cost": cost,
            "preference": self.preference,
            "budget": self.budget,
            "action_mask": self._mask,
            "day": self.episode.day,
            "seed": self.episode.config.seed,
            "net_income": self.episode.net_income(),
            "bankrupt": False,
            "refused": {"empty_handed": self.episode.trade.empty_handed},
        }
