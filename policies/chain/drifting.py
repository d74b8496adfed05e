"""CartPole whose observations get another constant offset in every task (section 8 of the note)."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

REWARD_SCALE = 0.1
"""Returns of a few hundred would drown the policy's loss in the critic's."""


def offset_of(task: int, seed: int) -> NDArray[np.float32]:
    """Added to every observation: 0 in the first task, then standard normal per dimension."""
    if task == 0:
        return np.zeros(4, np.float32)
    return np.random.default_rng([seed, task]).normal(size=4).astype(np.float32)


class OffsetCartPole(gym.Wrapper[NDArray[np.float32], Any, NDArray[np.float32], Any]):
    """CartPole-v1 with an offset that `set_task` changes, and a scaled reward.

    Args:
        config: `seed`: of the offsets.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(gym.make("CartPole-v1"))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self._seed = int((config or {}).get("seed", 0))
        self._offset = offset_of(0, self._seed)

    def set_task(self, task: int) -> None:
        """Changes the offset at once."""
        self._offset = offset_of(task, self._seed)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """As CartPole, with the offset."""
        seen, info = self.env.reset(seed=seed, options=options)
        return seen + self._offset, info

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """As CartPole, with the offset and a scaled reward."""
        seen, reward, terminated, truncated, info = self.env.step(action)
        return seen + self._offset, float(reward) * REWARD_SCALE, terminated, truncated, info
