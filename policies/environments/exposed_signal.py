"""What an agent is shown of its task: noisy, late, with gaps; and the feedback that gives it away.

Plain numpy with a generator of its own; :mod:`policies.environments.corruption` puts it around an
environment. Levels and constants follow our note on BECON, section 2.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.environments.tradeoff_desk import (
    ALARM_SLOPE,
    BUDGET_NOISE_SHARE,
    CORRUPTIONS,
    SATISFACTION_NOISE,
    Corruption,
)
from services.errors import HanseError

Level = Corruption
"""How badly the exposed signal is corrupted."""
LEVELS: Final = CORRUPTIONS
_MUCH: Final = 100.0


def level_named(level: str | Level) -> Level:
    """The level of that name.

    Raises:
        HanseError: there is no such level, or one of its numbers does not fit.
    """
    if isinstance(level, Level):
        if not (0.0 <= level.noise < _MUCH and 0.0 <= level.bias < _MUCH):
            raise HanseError(
                f"corruption: noise = {level.noise}, bias = {level.bias}; allowed: 0 to {_MUCH:g}"
            )
        if level.delay < 0 or not 0.0 <= level.missing <= 1.0:
            raise HanseError(
                f"corruption: delay = {level.delay}, missing = {level.missing};"
                " allowed: a delay from 0, a probability"
            )
        return level
    if level not in LEVELS:
        raise HanseError(
            f"corruption: there is no level {level!r}; allowed: {', '.join(LEVELS)},"
            " or a Level of your own"
        )
    return LEVELS[level]


class ExposedSignal:
    """What is shown of preference and budget, step by step.

    Args:
        level: How badly it is corrupted.
        objectives: How many weights there are.
        rng: Draws everything.
    """

    def __init__(self, level: Level, objectives: int, rng: np.random.Generator) -> None:
        self.level = level
        self.preference = np.full(objectives, 1.0 / objectives)
        self.budget = 0.5
        self.age = 0
        """Steps since something arrived last."""
        self.missing = False
        """Whether nothing has arrived in this step."""
        self._K = objectives
        self._rng = rng
        self._under_way: deque[tuple[NDArray[np.float64], float]] = deque()
        self._bias = np.zeros(objectives)
        self._budget_bias = 0.0

    def begin(self, preference: NDArray[np.float64], budget: float) -> None:
        """The first step of an episode, in which something always arrives."""
        bias = self.level.bias
        self._bias = self._rng.normal(0.0, bias, self._K) if bias else np.zeros(self._K)
        self._budget_bias = float(self._rng.normal(0.0, BUDGET_NOISE_SHARE * bias)) if bias else 0.0
        # Before the episode it has been as it is at its beginning.
        self._under_way = deque([(preference, budget)] * self.level.delay)
        self._arrive(preference, budget)

    def step(self, preference: NDArray[np.float64], budget: float) -> None:
        """The next step: something arrives, or the last value is held and grows old."""
        self._under_way.append((preference, budget))
        due = self._under_way.popleft()
        if self._rng.random() < self.level.missing:
            self.missing = True
            self.age += 1
            return
        self._arrive(*due)

    def score(self, preference: NDArray[np.float64], vector: NDArray[np.float64]) -> float:
        """How satisfied the client is with a step: ``w·r`` and noise; NaN: it says nothing."""
        if not self.level.feedback:
            return math.nan
        return float(preference @ vector + self._rng.normal(0.0, SATISFACTION_NOISE))

    def alarm(self, cost: float, budget: float) -> float:
        """1 if somebody complains, likelier the more a step has cost above the budget, else 0.

        NaN: nobody would.
        """
        if not self.level.feedback:
            return math.nan
        chance = 1.0 / (1.0 + np.exp(-np.clip(ALARM_SLOPE * (cost - budget), -500.0, 500.0)))
        return float(self._rng.random() < chance)

    def _arrive(self, preference: NDArray[np.float64], budget: float) -> None:
        noise = self.level.noise
        logs = np.log(preference + 1e-9) + self._bias + noise * self._rng.normal(size=self._K)
        weights = np.exp(logs - logs.max())
        self.preference = weights / weights.sum()
        moved = budget + self._budget_bias + BUDGET_NOISE_SHARE * noise * self._rng.normal()
        self.budget = float(np.clip(moved, 0.0, 1.0))
        self.age, self.missing = 0, False
