"""What is asked of an agent and how it changes: preferences and budgets that drift.

A process is plain numpy with a generator of its own; :mod:`policies.environments.drift` puts one
around an environment. Kinds and constants follow our note on BECON, section 2 (our proposal; the
abstract itself gives none).
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from policies.environments.tradeoff_desk import BUDGET_RANGE, LEAST_BUDGET, STRESS_EFFECT
from services.errors import HanseError

DriftKind = Literal["none", "jumps", "slow", "context", "adversarial"]
DRIFTS: Final[dict[str, str]] = {
    "none": "nothing changes within an episode",
    "jumps": "with probability 1/24 a step everything is drawn anew",
    "slow": "weights walk on a logarithmic scale (sd 0.03), the budget by 0.01",
    "context": "the budget shrinks by 0.3 times the stress that the environment reports",
    "adversarial": "jumps, but what is exposed stays at its old value for a while after each",
}
HAZARD: Final = 1 / 24
WALK: Final = 0.03
BUDGET_WALK: Final = 0.01
FROZEN_STEPS: Final = 16
"""Steps for which the exposed values stay behind; two thirds of the mean time between jumps."""


class Intent:
    """The true preference and budget, step by step.

    Args:
        kind: One of :data:`DRIFTS`.
        objectives: How many weights there are.
        rng: Draws everything.
        hazard: The chance of a jump in a step.

    Raises:
        HanseError: there is no such kind, or the hazard is no probability.
    """

    def __init__(
        self, kind: str, objectives: int, rng: np.random.Generator, hazard: float = HAZARD
    ) -> None:
        if kind not in DRIFTS:
            raise HanseError(f"drift: there is no drift {kind!r}; allowed: {', '.join(DRIFTS)}")
        if not 0.0 <= hazard <= 1.0:
            raise HanseError(f"hazard: {hazard} is no probability; allowed: 0 to 1")
        self.kind = kind
        self.hazard = hazard
        self.jumped = False
        """Whether the last step was a jump."""
        self._rng = rng
        self._K = objectives
        self.begin()

    def begin(
        self, preference: NDArray[np.float64] | None = None, budget: float | None = None
    ) -> None:
        """A new episode, at given values or at drawn ones."""
        drawn, spent = self._draw()
        self.preference = drawn if preference is None else preference
        self.budget = self._calm = spent if budget is None else budget
        self.jumped = False
        self._behind = 0
        self._shown = self.preference, self.budget

    @property
    def shown(self) -> tuple[NDArray[np.float64], float]:
        """What is exposed before anything corrupts it: the truth, or what was true before."""
        return self._shown if self._behind else (self.preference, self.budget)

    def step(self, stress: float = 0.0) -> None:
        """Goes on to the next step.

        Args:
            stress: What the environment reports, in [0, 1]; for the kind ``context``.
        """
        self.jumped = False
        self._behind = max(0, self._behind - 1)
        if self.kind in ("jumps", "adversarial") and self._rng.random() < self.hazard:
            if self.kind == "adversarial":
                self._shown = self.shown
                self._behind = FROZEN_STEPS
            self.preference, self.budget = self._draw()
            self.jumped = True
        elif self.kind == "slow":
            logs = np.log(self.preference + 1e-12) + self._rng.normal(0.0, WALK, self._K)
            weights = np.exp(logs - logs.max())
            self.preference = weights / weights.sum()
            moved = self.budget + self._rng.normal(0.0, BUDGET_WALK)
            self.budget = float(np.clip(moved, *BUDGET_RANGE))
        elif self.kind == "context":
            self.budget = max(LEAST_BUDGET, self._calm - STRESS_EFFECT * stress)

    def _draw(self) -> tuple[NDArray[np.float64], float]:
        return self._rng.dirichlet(np.ones(self._K)), float(self._rng.uniform(*BUDGET_RANGE))
