"""How good the exposed descriptor seems to be: plain running numbers, nothing learned.

A gate that does not see them cannot tell a clean line from a noisy one, and loses to the descriptor
where that is clean (measured, note section 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

QUALITIES: Final = (
    *("log_jitter", "log_discrepancy", "missing_rate", "log_age"),
    *("log_score_misfit", "log_alarm_misfit"),
)
"""What the gates see, in this order. The first four are the note's (section 3.4)."""


@dataclass(frozen=True, slots=True)
class QualitySettings:
    """How fast the running numbers forget."""

    jitter_memory: float = 0.85
    """Of the squared change of w_hat from one reading to the next."""
    discrepancy_memory: float = 0.9
    """Of the squared distance of w_hat from the belief's mean."""
    missing_memory: float = 0.9
    """Of the share of steps without a reading."""
    misfit_memory: float = 0.8
    """Of how badly the descriptor explains scores and alarms."""
    slope: float = 25.0
    """Of the alarm's probability."""
    start: float = 0.02
    """Where jitter, discrepancy and misfits start, before anything was seen."""
    floor: float = 1e-5
    """Added before taking logarithms."""


class QualityTracker:
    """The running numbers for B lines at once, float64.

    Args:
        batch: B.
        objectives: K.
        settings: How fast it forgets.
    """

    def __init__(
        self, batch: int, objectives: int, settings: QualitySettings = QualitySettings()
    ) -> None:
        self.settings = settings
        self.jitter = np.full(batch, settings.start)
        self.discrepancy = np.full(batch, settings.start)
        self.missing = np.zeros(batch)
        self.score_misfit = np.full(batch, settings.start)
        self.alarm_misfit = np.full(batch, settings.start)
        self.last = np.full((batch, objectives), np.nan)
        """(B, K): the last reading; NaN before the first."""
        self.budget = np.full(batch, np.nan)
        """(B,): d_hat as it is held."""

    def judge(
        self, reward: np.ndarray, cost: np.ndarray, satisfaction: np.ndarray, alarm: np.ndarray
    ) -> None:
        """Holds a step's feedback against the descriptor that was held during the step.

        A line that is late, or frozen, looks as clean as any; but right after a jump it explains
        neither scores nor alarms.

        Args:
            reward: (B, K).
            cost: (B,).
            satisfaction: (B,); NaN: none.
            alarm: (B,), 1 or 0; NaN: none.
        """
        memory = self.settings.misfit_memory
        error = (satisfaction - (self.last * reward).sum(axis=1)) ** 2
        expected = 1.0 / (1.0 + np.exp(-self.settings.slope * (cost - self.budget)))
        for name, squared in (("score_misfit", error), ("alarm_misfit", (alarm - expected) ** 2)):
            old = getattr(self, name)
            setattr(self, name, np.where(np.isnan(squared), old, _moved(old, squared, memory)))

    def update(
        self, exposed: np.ndarray, budget: np.ndarray, belief: np.ndarray, fresh: np.ndarray
    ) -> None:
        """A step's descriptor.

        Args:
            exposed: (B, K), w_hat as it is held.
            budget: (B,), d_hat as it is held.
            belief: (B, K), the belief's mean of w at the same time.
            fresh: bool (B,), whether a reading arrived.
        """
        settings = self.settings
        known = fresh & ~np.isnan(self.last).any(axis=1)
        change = ((exposed - np.where(known[:, None], self.last, exposed)) ** 2).sum(axis=1)
        self.jitter = np.where(
            known, _moved(self.jitter, change, settings.jitter_memory), self.jitter
        )
        distance = ((exposed - belief) ** 2).sum(axis=1)
        self.discrepancy = _moved(self.discrepancy, distance, settings.discrepancy_memory)
        self.missing = _moved(self.missing, (~fresh).astype(float), settings.missing_memory)
        self.last = np.where(fresh[:, None], exposed, self.last)
        self.budget = np.array(budget, dtype=float)

    def features(self, age: np.ndarray) -> np.ndarray:
        """(B, 6), in the order of `QUALITIES`; age in steps (B,)."""
        floor = self.settings.floor
        return np.stack(
            [
                np.log(self.jitter + floor),
                np.log(self.discrepancy + floor),
                self.missing,
                np.log1p(age),
                np.log(self.score_misfit + 1e-3),
                np.log(self.alarm_misfit + 1e-2),
            ],
            axis=1,
        )

    def reset(self, rows: np.ndarray) -> None:
        """Lines that are new: bool (B,)."""
        self.jitter[rows] = self.discrepancy[rows] = self.settings.start
        self.score_misfit[rows] = self.alarm_misfit[rows] = self.settings.start
        self.missing[rows] = 0.0
        self.last[rows] = np.nan
        self.budget[rows] = np.nan

    def get_state(self) -> dict[str, np.ndarray]:
        """All that it knows, copied."""
        return {name: getattr(self, name).copy() for name in _KEPT}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Goes on where `get_state` was called."""
        for name in _KEPT:
            setattr(self, name, state[name].copy())


def _moved(average: np.ndarray, value: np.ndarray, memory: float) -> np.ndarray:
    return memory * average + (1.0 - memory) * value


_KEPT: Final = (
    *("jitter", "discrepancy", "missing", "score_misfit", "alarm_misfit", "last", "budget"),
)
