"""An isolation forest over features of ticks (Liu, Ting and Zhou, ICDM 2008)."""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.benchmark.baselines.contents import EmbeddingNovelty
from monitors.caspian.benchmark.statistic import Matrix, Statistic, cosines, counts
from monitors.caspian.events import CHANNELS, TickEvents
from monitors.caspian.possibility import PossibilityGraph


class TickFeatures(Statistic):
    """Ten features of a tick, of how much is said and of what."""

    columns: ClassVar[tuple[str, ...]] = (
        "events",
        "senders",
        "channel entropy",
        "largest singular value",
        "most received",
        "norm of u",
        "norm of v",
        "mean cosine",
        "largest cosine",
        "novelty",
    )

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._novelty = EmbeddingNovelty(graph, dimensions)

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        if not len(events):
            return (np.nan,) * len(self.columns)
        alike = cosines(events.u, events.v)
        shares = np.bincount(events.channel, minlength=len(CHANNELS)) / len(events)
        matrix = counts(events, len(self.graph))
        return (
            float(len(events)),
            float(np.count_nonzero(matrix.sum(1))),
            float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum()),
            float(np.linalg.norm(matrix, 2)),
            float(matrix.sum(0).max()),
            float(np.linalg.norm(events.u, axis=1).mean()),
            float(np.linalg.norm(events.v, axis=1).mean()),
            float(alike.mean()),
            float(alike.max()),
            self._novelty.observe(events)[0],
        )


class _Tree(NamedTuple):
    feature: NDArray[np.int64]
    """(K,) what each node splits by; -1 for leaves."""
    value: Matrix
    """(K,) where it splits; of a leaf, the path length that its samples are given."""
    child: NDArray[np.int64]
    """(K,) the child for smaller values; the other one follows it."""


class IsolationForest:
    """Trees that split at random: what is soon alone is unusual.

    Args:
        samples: (n, F) usual rows.
        rng: Where splits and samples come from.
    """

    TREES: Final = 50
    SAMPLES: Final = 128

    def __init__(self, samples: Matrix, rng: np.random.Generator) -> None:
        size = min(self.SAMPLES, len(samples))
        self._usual = _path_length(size)
        self._depth = int(np.ceil(np.log2(max(size, 2))))
        self._trees = [
            self._grow(samples[rng.choice(len(samples), size, replace=False)], rng)
            for _ in range(self.TREES)
        ]

    def scores(self, rows: Matrix) -> Matrix:
        """(n,) 2^(-mean path length / usual length): about 0.5 for usual rows, towards 1 else."""
        lengths = np.zeros(len(rows))
        every = np.arange(len(rows))
        for tree in self._trees:
            node = np.zeros(len(rows), np.int64)
            for _ in range(self._depth):
                feature = tree.feature[node]
                inner = feature >= 0
                right = rows[every, feature] >= tree.value[node]
                node = np.where(inner, tree.child[node] + right, node)
                lengths += inner
            lengths += tree.value[node]
        scores: Matrix = 2.0 ** (-lengths / self.TREES / self._usual)
        return scores

    def _grow(self, samples: Matrix, rng: np.random.Generator) -> _Tree:
        feature, value, child = [-1], [0.0], [0]
        open_nodes = [(0, samples, 0)]
        while open_nodes:
            node, here, depth = open_nodes.pop()
            low, high = here.min(0), here.max(0)
            splits = np.flatnonzero(high > low)
            if depth == self._depth or not splits.size:
                value[node] = _path_length(len(here))
                continue
            chosen = int(rng.choice(splits))
            border = float(rng.uniform(low[chosen], high[chosen]))
            # A border at the minimum would leave one side empty.
            smaller = here[:, chosen] < max(border, np.nextafter(low[chosen], np.inf))
            feature[node], value[node], child[node] = chosen, border, len(feature)
            feature += [-1, -1]
            value += [0.0, 0.0]
            child += [0, 0]
            open_nodes.append((child[node], here[smaller], depth + 1))
            open_nodes.append((child[node] + 1, here[~smaller], depth + 1))
        return _Tree(np.array(feature), np.array(value), np.array(child))


def _path_length(size: int) -> float:
    """Mean depth of an unsuccessful search in a binary tree of ``size`` leaves."""
    if size < 2:
        return 0.0
    return float(2 * (np.log(size - 1) + np.euler_gamma) - 2 * (size - 1) / size)
