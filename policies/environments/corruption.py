"""An agent that is told its task badly, around any vector-reward environment."""

from __future__ import annotations

import math
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from policies.environments.checks import finite
from policies.environments.convention import exposed_names, objectives_of, own_stream
from policies.environments.exposed_signal import ExposedSignal, Level, level_named
from services.errors import HanseError

AGE_SCALE: Final = 16.0
"""Steps of age that count as one in the observation."""


class Corruption(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Appends to the observation what is shown of the task, and what the last step has told of it.

    The block, entry by entry, is :attr:`descriptors`: the exposed weights and budget, the age of
    that reading and whether one is missing now; the last step's vector reward and cost; the score
    ``y``, the alarm ``b``, and whether these two arrive. ``info`` has the same as
    ``exposed_preference``, ``exposed_budget``, ``age``, ``missing``, ``feedback`` and ``alarm``
    (both NaN where they do not arrive). The truth stays in ``preference`` and ``budget``.

    Args:
        env: An environment of the convention with a flat observation; put it into a
            :class:`~policies.environments.drift.Drift` first if its intent is to change.
        level: ``clean``, ``moderate``, ``severe``, ``no_feedback``, or a :class:`Level`.

    Raises:
        HanseError: an unknown level, or an environment that does not fit.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], level: str | Level = "moderate") -> None:
        super().__init__(env)
        self.objectives = objectives_of(env)
        self.level = level_named(level)
        inner = env.observation_space
        if not isinstance(inner, spaces.Box) or len(inner.shape) != 1:
            raise HanseError(
                f"corruption: the observation {inner} is no flat vector; put the environment into"
                " gymnasium.wrappers.FlattenObservation first"
            )
        K = len(self.objectives)
        self.signal = ExposedSignal(self.level, K, np.random.default_rng())
        self.descriptors = exposed_names(self.objectives)
        low = [0.0] * (K + 3) + [-np.inf] * (K + 2) + [0.0, 0.0]
        high = [1.0] * (K + 1) + [np.inf, 1.0] + [np.inf] * (K + 2) + [1.0, 1.0]
        self.observation_space = spaces.Box(
            np.concatenate([inner.low.astype(np.float32), np.array(low, np.float32)]),
            np.concatenate([inner.high.astype(np.float32), np.array(high, np.float32)]),
            dtype=np.float32,
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            stream = own_stream(seed, "corruption")
            self.signal = ExposedSignal(self.level, len(self.objectives), stream)
        self.signal.begin(np.asarray(info["exposed_preference"]), float(info["exposed_budget"]))
        return self._see(observation, info, np.zeros(len(self.objectives)), 0.0, math.nan, math.nan)

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """A step, and what is shown of the next one's task.

        Raises:
            HanseError: reward or cost is not finite.
        """
        observation, reward, terminated, truncated, info = self.env.step(action)
        vector = finite(np.asarray(info["vector_reward"], dtype=np.float64), "reward")
        cost = float(finite(np.asarray(info["cost"], dtype=np.float64), "cost"))
        signal = self.signal
        score = signal.score(np.asarray(info["preference"]), vector)
        alarm = signal.alarm(cost, float(info["budget"]))
        signal.step(np.asarray(info["exposed_preference"]), float(info["exposed_budget"]))
        seen, info = self._see(observation, info, vector, cost, score, alarm)
        return seen, float(reward), terminated, truncated, info

    def _see(
        self,
        observation: Any,
        info: dict[str, Any],
        vector: NDArray[np.float64],
        cost: float,
        score: float,
        alarm: float,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        signal = self.signal
        there = not math.isnan(score)
        block = [
            *signal.preference,
            signal.budget,
            signal.age / AGE_SCALE,
            signal.missing,
            *vector,
            cost,
            score if there else 0.0,
            alarm if there else 0.0,
            there,
        ]
        seen = np.concatenate([np.asarray(observation, np.float32), np.array(block, np.float32)])
        finite(seen, "observation")
        told = {
            "exposed_preference": signal.preference,
            "exposed_budget": signal.budget,
            "age": signal.age,
            "missing": signal.missing,
            "feedback": score,
            "alarm": alarm,
        }
        return seen, info | told
