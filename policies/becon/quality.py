"""How good the exposed descriptor seems to be: plain running numbers, nothing learned.

A gate that does not see them cannot tell a clean line from a noisy one, and loses to the descriptor
where that is clean (measured, note section 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

QUALITIES: Final = ("log_jitter", "log_discrepancy", "missing_rate", "log_age")
"""What the gates see, in this order."""


@dataclass(frozen=True, slots=True)
class QualitySettings:
    """How fast the running numbers forget."""

    jitter_memory: float = 0.85
    """Of the squared change of w_hat from one reading to the next."""
    discrepancy_memory: float = 0.9
    """Of the squared distance of w_hat from the belief's mean."""
    missing_memory: float = 0.9
    """Of the share of steps without a reading."""
    start: float = 0.02
    """Where jitter and discrepancy start, before anything was seen."""
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
        self.last = np.full((batch, objectives), np.nan)
        """(B, K): the last reading; NaN before the first."""

    def update(self, exposed: np.ndarray, belief: np.ndarray, fresh: np.ndarray) -> None:
        """A step's descriptor.

        Args:
            exposed: (B, K), w_hat as it is held.
            belief: (B, K), the belief's mean at the same time.
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

    def features(self, age: np.ndarray) -> np.ndarray:
        """(B, 4), in the order of `QUALITIES`; age in steps (B,)."""
        floor = self.settings.floor
        return np.stack(
            [
                np.log(self.jitter + floor),
                np.log(self.discrepancy + floor),
                self.missing,
                np.log1p(age),
            ],
            axis=1,
        )

    def reset(self, rows: np.ndarray) -> None:
        """Lines that are new: bool (B,)."""
        self.jitter[rows] = self.discrepancy[rows] = self.settings.start
        self.missing[rows] = 0.0
        self.last[rows] = np.nan

    def get_state(self) -> dict[str, np.ndarray]:
        """All that it knows, copied."""
        return {
            "jitter": self.jitter.copy(),
            "discrepancy": self.discrepancy.copy(),
            "missing": self.missing.copy(),
            "last": self.last.copy(),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Goes on where `get_state` was called."""
        self.jitter, self.discrepancy = state["jitter"].copy(), state["discrepancy"].copy()
        self.missing, self.last = state["missing"].copy(), state["last"].copy()


def _moved(average: np.ndarray, value: np.ndarray, memory: float) -> np.ndarray:
    return memory * average + (1.0 - memory) * value
