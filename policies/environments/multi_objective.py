"""Environments of mo-gymnasium under our convention: a scalar reward, the vector in ``info``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from policies.environments.checks import checked_budget, checked_preference, finite
from services.errors import HanseError

Cost = Callable[[NDArray[np.float64], dict[str, Any]], float]
"""The cost of a step, from its vector reward and info."""


class MultiObjective(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment whose reward is a vector.

    Args:
        env: It, or its id in mo-gymnasium (``deep-sea-treasure-v0``, ...).
        objectives: Names of the objectives; by default numbered.
        preference: Their weights; by default equal.
        cost: What a step costs; by default nothing.
        budget: What the mean cost of a step may be.
        arguments: Passed to mo-gymnasium with an id.

    Raises:
        HanseError: mo-gymnasium is not installed, has no such environment, or something else does
            not fit.
    """

    def __init__(
        self,
        env: str | gymnasium.Env[Any, Any],
        *,
        objectives: Sequence[str] | None = None,
        preference: Sequence[float] | None = None,
        cost: Cost | None = None,
        budget: float = 0.5,
        **arguments: Any,
    ) -> None:
        made = _made(env, arguments) if isinstance(env, str) else env
        super().__init__(made)
        space = getattr(made.unwrapped, "reward_space", None)
        shape = getattr(space, "shape", None)
        if shape is None or len(shape) != 1:
            raise HanseError(
                f"{env}: its reward is no vector; choose a multi-objective environment"
            )
        names = objectives or [f"objective_{n}" for n in range(1, shape[0] + 1)]
        if len(names) != shape[0] or len(set(names)) != len(names):
            raise HanseError(
                f"objectives: {len(names)} names for {shape[0]} rewards; give each one of its own"
            )
        self.objectives = tuple(names)
        self.preference = checked_preference(preference, self.objectives)
        self.budget = checked_budget(budget)
        self._cost = cost

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, info | self._told(np.zeros(len(self.objectives)), 0.0)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """A step, with the weighted sum as its reward.

        Raises:
            HanseError: the reward is not finite.
        """
        observation, reward, terminated, truncated, info = self.env.step(action)
        vector = finite(np.asarray(reward, dtype=np.float64), "reward")
        cost = 0.0 if self._cost is None else float(self._cost(vector, info))
        told = self._told(vector, float(finite(np.asarray(cost), "cost")))
        scalar = float(self.preference @ vector)
        return observation, scalar, bool(terminated), bool(truncated), info | told

    def _told(self, vector: NDArray[np.float64], cost: float) -> dict[str, Any]:
        return {
            "vector_reward": vector,
            "cost": cost,
            "preference": self.preference,
            "budget": self.budget,
            "exposed_preference": self.preference,
            "exposed_budget": self.budget,
        }


def _made(name: str, arguments: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    try:
        import mo_gymnasium
    except ImportError:
        raise HanseError(
            "mo-gymnasium is not installed: pip install 'hanse[rl]' (in a checkout: make rl)"
        ) from None
    try:
        made: gymnasium.Env[Any, Any] = mo_gymnasium.make(name, **arguments)
    except gymnasium.error.Error as error:
        reason = " ".join(str(error).split())
        raise HanseError(f"{name}: mo-gymnasium cannot make it: {reason}") from None
    return made
