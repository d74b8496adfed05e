"""How well a task was done whose objective drifted unseen (note, section 5).

Everything is computed from a `Record` of what happened; nothing here runs a policy. Utilities are
w . r under the true preference. A violation is a step whose cost is above the true budget.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

POST_SHIFT: Final = (4, 8, 16)
"""Steps after a jump over which post-shift regret is taken; the second is the main one."""
RECOVERED: Final = 0.9
"""Share of the oracle's utility at which a policy has recovered."""


@dataclass(frozen=True, slots=True)
class Record:
    """What happened in N episodes of T steps; float64 (N, T) unless stated otherwise."""

    utility: np.ndarray
    """w . r."""
    oracle_utility: np.ndarray
    """What the oracle would have got, violations already counted 0."""
    cost: np.ndarray
    budget: np.ndarray
    """The truth."""
    jumped: np.ndarray
    """bool: the context of this step is new."""
    preference: np.ndarray
    """(N, T, K): the truth."""
    believed_preference: np.ndarray
    """(N, T, K): the context that was acted on."""
    believed_budget: np.ndarray
    """The budget that was acted on, before anything was held back."""

    @property
    def violated(self) -> np.ndarray:
        """Shaped (N, T)."""
        return self.cost > self.budget

    @property
    def safe_utility(self) -> np.ndarray:
        """(N, T): utility, counted 0 where the budget was violated."""
        return np.where(self.violated, 0.0, self.utility)


def expected_utility(record: Record) -> float:
    """Mean true utility per step, whatever it cost."""
    return float(record.utility.mean())


def violation_rate(record: Record) -> float:
    """Share of steps with cost above the true budget."""
    return float(record.violated.mean())


def mean_excess(record: Record) -> float:
    """Mean of max(cost - budget, 0)."""
    return float(np.maximum(record.cost - record.budget, 0.0).mean())


def safe_regret(record: Record) -> float:
    """Oracle utility minus utility counted 0 at violating steps, per step: the main scalar."""
    return float((record.oracle_utility - record.safe_utility).mean())


def post_shift_regret(record: Record, steps: int) -> float:
    """Safe regret per step over the first steps after each jump; NaN if nothing jumped."""
    since = steps_since_jump(record.jumped)
    chosen = (since >= 0) & (since < steps)
    regret = record.oracle_utility - record.safe_utility
    return float(regret[chosen].mean()) if chosen.any() else float("nan")


def recovery_time(record: Record, horizon: int = 32) -> float:
    """Steps after a jump until safe utility is within 10 % of the oracle's, on average over jumps.

    Utilities are averaged over all jumps at equal distance first, since those of single steps
    scatter with the situation. NaN if that is not reached within the horizon.
    """
    since = steps_since_jump(record.jumped)
    for distance in range(horizon):
        at = since == distance
        if not at.any():
            break
        if record.safe_utility[at].mean() >= RECOVERED * record.oracle_utility[at].mean():
            return float(distance)
    return float("nan")


def steps_since_jump(jumped: np.ndarray) -> np.ndarray:
    """Counts (N, T): 0 at a jump, then 1, 2, ...; -1 before the first."""
    steps = jumped.shape[1]
    at = np.where(jumped, np.arange(steps)[None, :], -1)
    last = np.maximum.accumulate(at, axis=1)
    return np.where(last >= 0, np.arange(steps)[None, :] - last, -1)


def segment_violation_rate(record: Record) -> float:
    """Share of segments between jumps whose mean cost is above their mean budget."""
    cost, budget = _segment_means(record)
    return float((cost > budget).mean())


def segment_excess(record: Record) -> float:
    """Mean over segments of how far mean cost is above mean budget, weighted by length."""
    cost, budget = _segment_means(record)
    lengths = np.bincount(_segments(record.jumped).ravel())
    return float(np.average(np.maximum(cost - budget, 0.0), weights=lengths))


def preference_error(record: Record) -> float:
    """Mean squared distance |w_bar - w|^2."""
    return float(((record.believed_preference - record.preference) ** 2).sum(axis=-1).mean())


def budget_error(record: Record) -> float:
    """Mean of |d_bar - d|."""
    return float(np.abs(record.believed_budget - record.budget).mean())


def gate_agreement(gate: np.ndarray, belief_error: np.ndarray, exposed_error: np.ndarray) -> float:
    """Share of steps where a gate above one half goes with a belief nearer to the truth.

    All of one shape; errors are squared distances.
    """
    return float(((gate > 0.5) == (belief_error < exposed_error)).mean())


def coverage(error: np.ndarray, deviation: np.ndarray, share: float = 0.8) -> float:
    """How often the truth lies in the central Gaussian interval of that share.

    Args:
        error: Truth minus mean, any shape.
        deviation: Standard deviation, same shape.
        share: Of the interval: a calibrated belief covers just as often.
    """
    half_width = NormalDist().inv_cdf(0.5 + share / 2)
    return float((np.abs(error) <= half_width * deviation).mean())


def simplex_grid(objectives: int, divisions: int) -> np.ndarray:
    """All preferences that are multiples of 1 / divisions: (M, K); M = 21 for K = 3 and 5."""
    parts = itertools.product(range(divisions + 1), repeat=objectives)
    return np.array([each for each in parts if sum(each) == divisions], dtype=float) / divisions


def hypervolume(points: np.ndarray, reference: np.ndarray) -> float:
    """Volume that is dominated by some point and dominates the reference (more is better).

    Exact, by slicing along the last objective: fit for the tens of points of a preference sweep.

    Args:
        points: (M, K).
        reference: (K,). Points that do not dominate it count nothing.

    Raises:
        ValueError: widths differ.
    """
    points, reference = np.asarray(points, float), np.asarray(reference, float)
    if points.ndim != 2 or points.shape[1] != len(reference):
        raise ValueError(
            f"points of width {points.shape[-1]}, but a reference of width {len(reference)}"
        )
    return _volume(points[(points > reference).all(axis=1)] - reference)


def _volume(points: np.ndarray) -> float:
    if not len(points):
        return 0.0
    if points.shape[1] == 1:
        return float(points.max())
    order = np.argsort(-points[:, -1])
    ordered = points[order]
    total = 0.0
    for count in range(1, len(ordered) + 1):
        below = ordered[count, -1] if count < len(ordered) else 0.0
        thickness = ordered[count - 1, -1] - below
        if thickness > 0:
            total += thickness * _volume(ordered[:count, :-1])
    return total


def _segments(jumped: np.ndarray) -> np.ndarray:
    """Shaped (N, T): a number for each segment of each episode."""
    starts = jumped.copy()
    starts[:, 0] = True
    return (np.cumsum(starts.ravel()) - 1).reshape(jumped.shape)


def _segment_means(record: Record) -> tuple[np.ndarray, np.ndarray]:
    segment = _segments(record.jumped).ravel()
    lengths = np.bincount(segment)
    return (
        np.bincount(segment, weights=record.cost.ravel()) / lengths,
        np.bincount(segment, weights=record.budget.ravel()) / lengths,
    )


def standard_error(values: Sequence[float]) -> float:
    """Of the mean over seeds; NaN for one seed."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))
