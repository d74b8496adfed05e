"""LI-CTE: how much a source's message says about its target's next act, history given.

Source: arXiv 2605.19240, equations 1 and 16-19; note ``caspian`` 3.1 and 3.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from monitors.caspian.events import CHANNELS, TickEvents
from monitors.caspian.literal.information import conditional_information, regularised
from monitors.caspian.literal.records import Constants
from monitors.caspian.possibility import PossibilityGraph

Rows = NDArray[np.int64]
Matrix = NDArray[np.float64]


class InfluenceEstimator:
    """The state of every edge and channel; a row each, ``edge * 4 + channel``.

    Memory grows with the turns: exact mid-ranks need all samples that an edge has had.
    """

    def __init__(self, graph: PossibilityGraph, constants: Constants, dimensions: int) -> None:
        self._graph = graph
        self._constants = constants
        self._block = constants.projection or dimensions
        self._project: Matrix | None = None
        if constants.projection is not None:
            draws = np.random.default_rng([dimensions, constants.projection])
            self._project = draws.standard_normal((dimensions, self._block))
            self._project /= np.sqrt(self._block)
        rows, width = graph.edges * len(CHANNELS), 3 * self._block
        self._count = np.zeros(rows, np.int64)
        self._mean = np.zeros((rows, width))
        self._covariance = np.zeros((rows, width, width))
        self._samples = np.full((rows, 16, width), np.inf)
        self._history = np.zeros((len(graph.nodes) * len(CHANNELS), self._block))
        self._influence = np.zeros(rows)

    def observe(self, events: TickEvents) -> tuple[Matrix, int]:
        """Scores a turn with the histories before it, then updates these.

        Returns:
            (4, N, N) influence in nats by channel, source and target; how many events were dropped,
            because they lie off the graph or hold something else than numbers.
        """
        edge = self._graph.edge_ids(events.source, events.target)
        finite = np.isfinite(events.u).all(1) & np.isfinite(events.v).all(1)
        inside = np.flatnonzero((edge >= 0) & finite)
        if self._constants.missing == "zero":
            self._influence[:] = 0.0
        if inside.size:
            channel = events.channel[inside].astype(np.int64)
            u, v = (self._projected(vectors[inside]) for vectors in (events.u, events.v))
            rows, u_mean = _averaged(edge[inside] * len(CHANNELS) + channel, u)
            v_mean = _averaged(edge[inside] * len(CHANNELS) + channel, v)[1]
            target = self._graph.target[rows // len(CHANNELS)].astype(np.int64)
            history = self._history[target * len(CHANNELS) + rows % len(CHANNELS)]
            self._learn(rows, np.hstack([u_mean, v_mean, history]))
            self._score(rows)
            heard, behaviour = _averaged(
                events.target[inside].astype(np.int64) * len(CHANNELS) + channel, v
            )
            self._history[heard] += self._constants.history_weight * (
                behaviour - self._history[heard]
            )
        return self._tensor(), len(events) - inside.size

    def _projected(self, vectors: NDArray[np.float32]) -> Matrix:
        wide = vectors.astype(np.float64)
        return wide if self._project is None else wide @ self._project

    def _learn(self, rows: Rows, samples: Matrix) -> None:
        """Exponentially weighted mean and covariance of the samples' normal scores."""
        self._count[rows] += 1
        count = self._count[rows]
        if count.max() > self._samples.shape[1]:
            self._samples = np.concatenate([self._samples, np.full_like(self._samples, np.inf)], 1)
        self._samples[rows, count - 1] = samples
        known = self._samples[rows, : count.max()]
        below = (known < samples[:, None]).sum(1)
        equal = (known == samples[:, None]).sum(1)
        scores = ndtri((below + 0.5 * equal) / count[:, None])
        first = count == 1
        self._mean[rows[first]] = scores[first]
        rows, scores = rows[~first], scores[~first]
        weight = self._constants.covariance_weight
        step = scores - self._mean[rows]
        self._mean[rows] += weight * step
        spread = weight * step[:, :, None] * step[:, None, :]
        self._covariance[rows] = (1 - weight) * (self._covariance[rows] + spread)

    def _score(self, rows: Rows) -> None:
        ready = rows[self._count[rows] >= self._constants.min_samples]
        if ready.size:
            covariance = regularised(
                self._covariance[ready], self._constants.shrinkage, self._constants.jitter
            )
            sizes = (self._block, self._block, self._block)
            self._influence[ready] = conditional_information(covariance, sizes)

    def _tensor(self) -> Matrix:
        nodes = len(self._graph.nodes)
        tensor = np.zeros((len(CHANNELS), nodes, nodes))
        tensor[:, self._graph.source, self._graph.target] = self._influence.reshape(
            -1, len(CHANNELS)
        ).T
        return tensor


def _averaged(keys: NDArray[np.integer], vectors: Matrix) -> tuple[Rows, Matrix]:
    """The distinct keys, sorted, and the mean vector of each."""
    distinct, place, count = np.unique(
        keys.astype(np.int64), return_inverse=True, return_counts=True
    )
    total = np.stack([np.bincount(place, column) for column in vectors.T], axis=1)
    return distinct, total / count[:, None]
