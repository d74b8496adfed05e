"""From a statistic's series to evidence: how unusual a tick is (s), and how long it goes on (S).

Note ``caspian`` 8.3: s in standard units of a quiet reference, S its one-sided CUSUM. An abrupt
cascade shows in s, a gradual one in S.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from monitors.caspian.settings import Settings


@dataclass(slots=True)
class Reference:
    """Mean and variance of a statistic while nothing happens."""

    count: int = 0
    """Ticks that it was taken from."""
    mean: float = 0.0
    variance: float = 0.0

    def add(self, value: float) -> None:
        """Takes another tick into the plain averages."""
        self.count += 1
        apart = value - self.mean
        self.mean += apart / self.count
        self.variance += (apart * (value - self.mean) - self.variance) / self.count

    def fade(self, value: float, weight: float) -> None:
        """Takes another tick into averages that are plain until a tick has just this weight.

        Fifteen ticks alone would leave a standard error of a quarter in every s.
        """
        self.count += 1
        weight = max(weight, 1 / self.count)
        apart = value - self.mean
        self.mean += weight * apart
        self.variance += weight * (apart * apart * (1 - weight) - self.variance)


class Sequential:
    """The sequential layer of one statistic.

    Args:
        settings: The constants.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.reference = Reference()
        self.s = 0.0
        """The last tick in standard units."""
        self.sum = 0.0
        """S: the CUSUM of s."""

    @property
    def ready(self) -> bool:
        """Whether the reference is complete."""
        return self.reference.count >= self.settings.reference_ticks

    def assume(self, mean: float, deviation: float) -> None:
        """Takes a profile's reference instead of learning one (note 8.4)."""
        known = math.ceil(1 / self.settings.reference_weight)
        count = max(known, self.settings.reference_ticks)
        self.reference = Reference(count, mean, deviation * deviation)

    def step(self, value: float) -> None:
        """Goes on by a tick: into the reference until that is complete, then into s and S."""
        reference, settings = self.reference, self.settings
        if not self.ready:
            reference.add(value)
            return
        unit = math.sqrt(reference.variance) + 1e-6 + 0.02 * abs(reference.mean)
        self.s = (value - reference.mean) / unit
        self.sum = max(0.0, self.sum + min(self.s, settings.sum_clip) - settings.sum_drift)
        if self.s < settings.quiet_s and self.sum < settings.quiet_sum:
            reference.fade(value, settings.reference_weight)

    def rest(self) -> None:
        """Forgets the evidence, not the reference: what raised the alarm is over."""
        self.s = self.sum = 0.0

    def save(self) -> dict[str, Any]:
        """The state, as plain data."""
        return {"reference": asdict(self.reference), "s": self.s, "sum": self.sum}

    def load(self, saved: dict[str, Any]) -> None:
        """Takes back what :meth:`save` has returned."""
        self.reference = Reference(**saved["reference"])
        self.s, self.sum = saved["s"], saved["sum"]
