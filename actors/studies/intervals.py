"""How sure a figure is: 95 % intervals of shares, means and ratios over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

import numpy as np

_Z: Final = NormalDist().inv_cdf(0.975)
RESAMPLES: Final = 2_000


def share(hits: int, of: int) -> tuple[float, float, float]:
    """(share, low, high): Wilson's interval of a binomial share; NaN of nothing."""
    if of == 0:
        return math.nan, math.nan, math.nan
    p, z2 = hits / of, _Z * _Z / of
    middle = (p + z2 / 2) / (1 + z2)
    half = _Z / (1 + z2) * math.sqrt(p * (1 - p) / of + z2 / (4 * of))
    return p, max(0.0, middle - half), min(1.0, middle + half)


def avoided(without: Sequence[float], with_: Sequence[float]) -> tuple[float, float, float]:
    """(share, low, high) of the harm that is avoided, over paired seeds, by bootstrap.

    The share is of the sums, so that a seed without harm counts for nothing.

    Args:
        without: Harm of each seed where nothing is done.
        with_: Harm of the same seeds where something is.
    """
    before, after = np.asarray(without, float), np.asarray(with_, float)
    if not len(before) or before.sum() <= 0:
        return math.nan, math.nan, math.nan
    draws = np.random.default_rng(0).integers(0, len(before), (RESAMPLES, len(before)))
    totals = before[draws].sum(axis=1)
    shares = 1 - after[draws].sum(axis=1)[totals > 0] / totals[totals > 0]
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(1 - after.sum() / before.sum()), float(low), float(high)


def mean(values: Sequence[float]) -> tuple[float, float, float]:
    """(mean, low, high) by bootstrap; NaN of nothing."""
    found = np.asarray(values, float)
    if not len(found):
        return math.nan, math.nan, math.nan
    draws = np.random.default_rng(0).integers(0, len(found), (RESAMPLES, len(found)))
    low, high = np.quantile(found[draws].mean(axis=1), [0.025, 0.975])
    return float(found.mean()), float(low), float(high)
