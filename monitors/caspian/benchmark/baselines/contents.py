"""Detectors that look at what is said, one message or one pair of messages at a time."""

from __future__ import annotations

from typing import Final

import numpy as np

from monitors.caspian.benchmark.statistic import (
    Matrix,
    Statistic,
    averages,
    cosines,
    slots,
    unit,
)
from monitors.caspian.events import CHANNELS, TickEvents
from monitors.caspian.possibility import PossibilityGraph


class MeanCosine(Statistic):
    """How alike what was said and what was then done are: the mean cosine of u and v."""

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        return (float(cosines(events.u, events.v).mean()) if len(events) else np.nan,)


class EmbeddingNovelty(Statistic):
    """How far messages are from what their senders usually say on the channel (mean distance)."""

    WEIGHT: Final = 0.05

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._centroid = np.zeros((len(graph) * len(CHANNELS), dimensions))
        self._ticks = np.zeros(len(self._centroid), np.int64)

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick; senders that were never heard before do not count."""
        slot = slots(events.source, events.channel)
        known = self._ticks[slot] > 0
        apart = np.linalg.norm(events.u - self._centroid[slot], axis=1)[known]
        said, mean = averages(slot, events.u, len(self._centroid))
        self._ticks[said] += 1
        weight = np.maximum(1 / self._ticks[said], self.WEIGHT)[:, None]
        self._centroid[said] += weight * (mean - self._centroid[said])
        return (float(apart.mean()) if apart.size else np.nan,)


class ThemeDistance(Statistic):
    """How far the agent farthest from the conversation's theme is (after XG-Guard, 2512.18733).

    The theme of a channel is the running mean of all directions on it; an agent is as far from it
    as 1 - cosine of the mean of what it says in the tick. XG-Guard learns its two levels of
    embeddings; this keeps only its idea of a theme prototype.
    """

    WEIGHT: Final = 0.05

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._theme = np.zeros((len(CHANNELS), dimensions))

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        if not len(events):
            return (np.nan,)
        directions = unit(events.u.astype(np.float64))
        said, mean = averages(
            slots(events.source, events.channel), directions, len(self.graph) * len(CHANNELS)
        )
        likeness = (unit(mean) * unit(self._theme)[said % len(CHANNELS)]).sum(1)
        agents = np.bincount(said // len(CHANNELS), 1 - likeness, len(self.graph))
        channels = np.bincount(said // len(CHANNELS), minlength=len(self.graph))
        farthest = float((agents / np.maximum(channels, 1)).max())
        heard, theme = averages(events.channel.astype(np.int64), directions, len(CHANNELS))
        first = not self._theme.any()
        self._theme[heard] += self.WEIGHT * (theme - self._theme[heard])
        return (np.nan if first else farthest,)


class PcaResidual(Statistic):
    """How badly the usual components describe agents (after GUARDIAN's graph autoencoder).

    An agent's features in a tick are the mean of what it says by comm, and its numbers of events
    sent and received by channel. The components are the leading
    eigenvectors of an exponentially weighted covariance: a linear autoencoder in closed form.
    """

    COMPONENTS: Final = 16
    WEIGHT: Final = 0.05
    EVERY: Final = 10
    """Ticks between two computations of the components."""

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._covariance = np.eye(dimensions + 2 * len(CHANNELS))
        self._components: Matrix | None = None
        self._ticks = 0

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick: the mean squared length of what the components leave over."""
        features = self._features(events)
        known = self._components
        left = np.nan
        if known is not None and len(features):
            left = float(((features - features @ known @ known.T) ** 2).sum(1).mean())
        if len(features):
            now = features.T @ features / len(features)
            self._covariance += self.WEIGHT * (now - self._covariance)
        if self._ticks % self.EVERY == 0:
            self._components = np.linalg.eigh(self._covariance)[1][:, -self.COMPONENTS :]
        self._ticks += 1
        return (left,)

    def _features(self, events: TickEvents) -> Matrix:
        nodes, width = len(self.graph), self.dimensions
        features = np.zeros((nodes, width + 2 * len(CHANNELS)))
        comm = events.channel == 0
        said, mean = averages(events.source[comm].astype(np.int64), events.u[comm], nodes)
        features[said, :width] = mean
        for side, agent in enumerate((events.source, events.target)):
            number = np.bincount(slots(agent, events.channel), minlength=nodes * len(CHANNELS))
            start = width + side * len(CHANNELS)
            features[:, start : start + len(CHANNELS)] = number.reshape(nodes, -1)
        return features[features.any(1)]


class RankPartialCorrelation(Statistic):
    """Mean rank correlation of u and v given the target's history, times novelty (GAMMAF, v5).

    ρ(u,v|h) = (ρ_uv - ρ_uh ρ_vh) / sqrt((1 - ρ_uh²)(1 - ρ_vh²)) over coordinates, clipped to
    [0, 1], times min(1, |v - h|) of the vectors at length 1. Note ``caspian`` 3.3.
    """

    WEIGHT: Final = 0.2

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._history = np.zeros((len(graph) * len(CHANNELS), dimensions))
        self._known = np.zeros(len(self._history), bool)

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick; targets without a history do not count."""
        slot = slots(events.target, events.channel)
        v = unit(events.v.astype(np.float64))
        known = self._known[slot]
        value = np.nan
        if known.any():
            h = self._history[slot[known]]
            value = float(self._scores(events.u[known].astype(np.float64), v[known], h).mean())
        heard, mean = averages(slot, v, len(self._history))
        weight = np.where(self._known[heard], self.WEIGHT, 1.0)[:, None]
        self._history[heard] += weight * (mean - self._history[heard])
        self._known[heard] = True
        return (value,)

    @staticmethod
    def _scores(u: Matrix, v: Matrix, h: Matrix) -> Matrix:
        of_u, of_v, of_h = _ranks(u), _ranks(v), _ranks(h)
        uv, uh, vh = (of_u * of_v).sum(1), (of_u * of_h).sum(1), (of_v * of_h).sum(1)
        spread = np.sqrt(np.maximum((1 - uh**2) * (1 - vh**2), 1e-12))
        novelty = np.minimum(1.0, np.linalg.norm(v - h, axis=1))
        scores: Matrix = np.clip((uv - uh * vh) / spread, 0.0, 1.0) * novelty
        return scores


def _ranks(rows: Matrix) -> Matrix:
    """Ranks of the coordinates in each row, centred and at length 1."""
    ranks = rows.argsort(1).argsort(1) - (rows.shape[1] - 1) / 2
    return unit(ranks)
