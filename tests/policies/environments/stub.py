"""A small environment of the convention, whose every number a test can set."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Stub(gymnasium.Env[Any, Any]):
    """Two objectives; the action is the vector reward, and the cost is always the same."""

    objectives = ("speed", "care")

    def __init__(self, cost: float = 0.5, stress: float | None = None) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (1,), dtype=np.float32)
        self.action_space = spaces.Box(-np.inf, np.inf, (2,))
        self.cost = cost
        self.stress = stress

    def _info(self, vector: Any) -> dict[str, Any]:
        half = np.array([0.5, 0.5])
        info = {
            "vector_reward": vector,
            "cost": self.cost,
            "preference": half,
            "budget": 0.4,
            "exposed_preference": half,
            "exposed_budget": 0.4,
        }
        return info if self.stress is None else info | {"stress": self.stress}

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), self._info(np.zeros(2))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        vector = np.asarray(action, dtype=np.float64)
        return np.zeros(1, np.float32), float(vector.mean()), False, False, self._info(vector)
