"""Means with their 95 % intervals, of independent seeds and of pairs with the same seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds. `half_width` is None for a single value: it says nothing about others."""

    count: int
    mean: float
    half_width: float | None
    low: float
    """The smallest value."""
    high: float
    """The largest value."""

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.half_width is not None and abs(self.mean) > self.half_width


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and 95 % interval by Student's t.

    Args:
        values: at least one.
    """
    count = len(values)
    mean = sum(values) / count
    if count == 1:
        return Estimate(1, mean, None, mean, mean)
    from scipy.special import stdtrit  # scipy.stats takes a second to import

    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    quantile = float(stdtrit(count - 1, 0.975))
    return Estimate(count, mean, quantile * sqrt(variance / count), min(values), max(values))


def paired(these: Mapping[int, float], those: Mapping[int, float]) -> Estimate | None:
    """The mean of the differences these - those over the seeds that both have; None without any.

    The same seed means the same luck, which the difference takes out.
    """
    seeds = sorted(set(these) & set(those))
    return estimate([these[seed] - those[seed] for seed in seeds]) if seeds else None
