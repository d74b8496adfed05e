"""What the client tolerates, inferred from alarms: a Bayes filter on a grid of budgets.

An alarm at cost c says that the budget d is probably below c, silence that it is probably above:
P(alarm) = sigmoid(25 (c - d)). The grid keeps the whole distribution, since it is skewed wherever
costs were only ever tried on one side (note, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class BudgetFilterSettings:
    """The constants of the note, section 3.1."""

    hazard: float = 1 / 24
    """Probability that the context jumps between two steps; the budget is then anything."""
    cells: int = 24
    """Of the grid on (0, 1)."""
    stay: float = 0.97
    """Probability to stay in a cell without a jump; the rest goes to the two neighbours."""
    slope: float = 25.0
    """Of the alarm's probability."""


class BudgetFilter:
    """The distribution of d for B clients at once, float64.

    Args:
        batch: B.
        settings: Its constants.
    """

    def __init__(self, batch: int, settings: BudgetFilterSettings = BudgetFilterSettings()) -> None:
        self.settings = settings
        self.grid = (np.arange(settings.cells) + 0.5) / settings.cells
        """(cells,): the middles of the cells."""
        self.mass = np.full((batch, settings.cells), 1.0 / settings.cells)
        """(B, cells): sums to 1."""

    def predict(self) -> None:
        """A step passes; what would leave the grid stays in its outermost cell."""
        settings = self.settings
        aside = (1.0 - settings.stay) / 2
        moved = settings.stay * self.mass
        moved[:, 1:] += aside * self.mass[:, :-1]
        moved[:, :-1] += aside * self.mass[:, 1:]
        moved[:, 0] += aside * self.mass[:, 0]
        moved[:, -1] += aside * self.mass[:, -1]
        self.mass = (1 - settings.hazard) * moved + settings.hazard / settings.cells

    def update(self, cost: np.ndarray, alarm: np.ndarray) -> None:
        """An alarm sounds, or does not.

        Args:
            cost: (B,), what was spent.
            alarm: (B,), 1 or 0; NaN: there is no audit, nothing is learned.
        """
        there = ~np.isnan(alarm)
        sounded = np.where(there, alarm, 0.0)[:, None] > 0.5
        chance = 1.0 / (1.0 + np.exp(-self.settings.slope * (cost[:, None] - self.grid)))
        # A floor keeps a mass that two contradictory alarms would take to zero.
        likelihood = np.maximum(np.where(sounded, chance, 1.0 - chance), 1e-12)
        mass = self.mass * np.where(there[:, None], likelihood, 1.0)
        self.mass = mass / mass.sum(axis=1, keepdims=True)

    @property
    def mean(self) -> np.ndarray:
        """(B,): the expected budget."""
        return np.asarray(self.mass @ self.grid)

    @property
    def deviation(self) -> np.ndarray:
        """(B,): its standard deviation."""
        variance = self.mass @ self.grid**2 - self.mean**2
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def reset(self, rows: np.ndarray) -> None:
        """Clients that are new: bool (B,)."""
        self.mass[rows] = 1.0 / self.settings.cells

    def get_state(self) -> dict[str, np.ndarray]:
        """All that it knows, copied."""
        return {"mass": self.mass.copy()}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Goes on where `get_state` was called."""
        self.mass = state["mass"].copy()
