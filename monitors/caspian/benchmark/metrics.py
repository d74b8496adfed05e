"""What a detector is measured by, from the evidence on benign and attacked segments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.benchmark.statistic import Matrix

MISSED = np.inf
"""The delay of a cascade that no alarm follows."""


def auroc(attacked: Matrix, benign: Matrix) -> float:
    """Chance that an attacked segment (n,) scores above a benign one (m,); ties count half."""
    order = np.sort(benign)
    below = np.searchsorted(order, attacked, "left") + np.searchsorted(order, attacked, "right")
    return float(below.mean() / 2 / len(benign))


def roc(attacked: Matrix, benign: Matrix) -> tuple[list[float], list[float]]:
    """False and true positive rates, from no alarm at all to all; a point for each threshold."""
    cuts = np.concatenate([[np.inf], np.unique(np.concatenate([attacked, benign]))[::-1]])
    false = [float((benign >= cut).mean()) for cut in cuts]
    true = [float((attacked >= cut).mean()) for cut in cuts]
    return false, true


def matched(benign: Matrix, rate: float = 0.05) -> float:
    """The score that at most the share ``rate`` of benign segments (m,) exceeds."""
    return float(np.sort(benign)[::-1][int(rate * len(benign))])


class Course(NamedTuple):
    """Scores of one segment over time, relative to thresholds."""

    peak: float
    """The largest."""
    ratio: Matrix
    """(T,) largest statistic over its threshold."""


def course(evidence: Matrix, thresholds: NDArray[np.float64]) -> Course:
    """How a segment's evidence (T, K) stands to thresholds (K,), all positive."""
    ratio: Matrix = (evidence / thresholds).max(1)
    return Course(float(ratio.max()), ratio)


def delay(ratio: Matrix, onset: int, above: float) -> float:
    """Ticks from the onset to the first alarm, or MISSED.

    An alarm before the onset is a false one, and a latched alarm cannot be raised again: then the
    cascade counts as missed.

    Args:
        ratio: (T,) score of each tick.
        onset: Tick of the first payload.
        above: What a score must exceed to be an alarm.
    """
    alarms = np.flatnonzero(ratio > above)
    return float(alarms[0] - onset) if alarms.size and alarms[0] >= onset else MISSED


def within(delays: Matrix, ticks: int) -> float:
    """Share of cascades with an alarm in the onset's tick or up to ``ticks`` later (EDR)."""
    return float((delays <= ticks).mean())


def middle(delays: Matrix) -> float:
    """The median delay over all cascades: infinite if half of them are missed."""
    # Not numpy's median, which has inf - inf when it interpolates.
    ranked = np.sort(delays)
    low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return float(low if low == high else (low + high) / 2)
