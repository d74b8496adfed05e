"""Detectors that look at who talks to whom and how often, never at what is said."""

from __future__ import annotations

from typing import Final

import numpy as np

from monitors.caspian.benchmark.statistic import Matrix, Statistic, counts
from monitors.caspian.events import TickEvents
from monitors.caspian.possibility import PossibilityGraph


class MessageRate(Statistic):
    """How many events a tick has."""

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        return (float(len(events)),)


class CountSpectrum(Statistic):
    """The largest singular value of the tick's message counts (N, N)."""

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        return (float(np.linalg.norm(counts(events, len(self.graph)), 2)),)


class SpectralResidual(Statistic):
    """What of the tick's message counts lies off the leading directions of the counts so far.

    The graph anomaly detector in its simplest form: ||C - U Uᵀ C V Vᵀ||, U and V being the three
    leading singular vectors of an exponentially weighted mean of the counts.
    """

    RANK: Final = 3
    WEIGHT: Final = 0.05

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._usual: Matrix | None = None

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        now = counts(events, len(self.graph))
        if self._usual is None:
            self._usual = now
            return (np.nan,)
        left, _, right = np.linalg.svd(self._usual)
        left, right = left[:, : self.RANK], right[: self.RANK].T
        residual = now - left @ (left.T @ now @ right) @ right.T
        self._usual = self._usual + self.WEIGHT * (now - self._usual)
        return (float(np.linalg.norm(residual)),)
