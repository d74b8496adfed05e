"""What the forecaster finds where nothing can be found: thresholds for edges (note 4).

Every node's series is shifted in a circle by a lag of its own within each trial. What a node does
by itself stays as it was; that one node follows another is lost. A model fitted to that gives the
weights that arise without influence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitors.bace.scores import off_diagonal
from monitors.bace.signals import Recording, Refused, Trial

LEAST_LAG = 20
"""Ticks; shorter lags would leave some of the influence in place."""
SCREENING_QUANTILE = 0.99


def shifted(recording: Recording, rng: np.random.Generator, period: int = 1) -> Recording:
    """A surrogate without influence: lags of 20 to T - 20 ticks, drawn for each node and trial.

    Trials shorter than 60 ticks are shifted by a quarter to three quarters of their length.

    Args:
        recording: The signals.
        rng: Draws the lags.
        period: Lags are multiples of it, so that a rhythm that all nodes share (the hours of a
            day) stays shared and does not count as influence.

    Raises:
        Refused: a trial is too short for two different lags.
    """
    return recording.with_trials([_shifted(trial, rng, period) for trial in recording])


def _shifted(trial: Trial, rng: np.random.Generator, period: int) -> Trial:
    length = trial.length
    least = LEAST_LAG if length >= 3 * LEAST_LAG else -(-length // 4)
    low, high = -(-least // period), (length - least) // period
    if high <= low:
        raise Refused(
            f"a trial of {length} ticks is too short to be shifted by lags that are multiples of"
            f" {period}; {4 * period} ticks are needed at least"
        )
    lags = rng.integers(low, high + 1, len(trial.values)) * period
    rolled = [np.roll(series, lag, axis=-1) for series, lag in zip(trial.values, lags, strict=True)]
    return Trial(np.stack(rolled), trial.context)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What |A| must exceed for an edge to be reported."""

    screening: float
    """The 99th percentile of the null's weights: about 1 false edge in 100 possible ones."""
    strict: float
    """Their maximum."""

    @classmethod
    def of(cls, null: np.ndarray) -> Thresholds:
        """From the graphs (P, N, N) of a fit to surrogates, all contexts together."""
        weights = np.abs(off_diagonal(null)).ravel()
        return cls(float(np.quantile(weights, SCREENING_QUANTILE)), float(weights.max()))
