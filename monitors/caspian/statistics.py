"""The detection statistics of a tick: q1 (all events), q2 (edges), q3 (their spectrum).

Note ``caspian`` 8.3. q1 is the strongest when much of the system is touched; q2 in larger, sparse
ones; q3 and what is derived from it (the paper's section 5.1) is for display.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.events import CHANNELS
from monitors.caspian.packing import pack, unpack
from monitors.caspian.scoring import Floats, sums
from monitors.caspian.settings import Settings

STATISTICS: Final = ("q1", "q2", "q3")

_STEPS: Final = 3
"""Power iterations a tick: the vectors are warm from the tick before (note 9)."""
_FRESH: Final = 0.01
_EPSILON: Final = 1e-9


def conditional_mean(z: Floats) -> float:
    """q1 = sum(z)/sqrt(B): standard normal while nothing spreads, whatever B is.

    Args:
        z: (B,) standardised scores in canonical order; B may be 0.
    """
    return float(np.add.reduce(z)) / math.sqrt(len(z)) if len(z) else 0.0


def cusum_mass(cusum: Floats, floor: float) -> float:
    """q2 = log(1 + sum of what the edges' CUSUMs have above the floor).

    Args:
        cusum: (A,) CUSUMs of the active edges, in the order of edges.
        floor: From where they count.
    """
    return math.log1p(float(np.add.reduce(np.maximum(cusum - floor, 0.0))))


class EdgeCusum:
    """One-sided CUSUM of the standardised scores of each edge: c + sum(z) - drift * events.

    Args:
        edges: How many there are.
        settings: The constants.
    """

    def __init__(self, edges: int, settings: Settings) -> None:
        self.settings = settings
        self.value: Floats = np.zeros(edges)
        """(E,) between 0 and the limit."""

    def step(self, edge: NDArray[np.intp], z: Floats) -> None:
        """Adds a tick's events; the CUSUM of a silent edge fades.

        Args:
            edge: (B,) the edges of the events.
            z: (B,) their standardised scores, in canonical order.
        """
        size = len(self.value)
        events = np.bincount(edge, minlength=size)
        change = sums(edge, z, size) - self.settings.cusum_drift * events
        faded = self.value * np.where(events > 0, 1.0, self.settings.cusum_fade)
        self.value = np.clip(faded + change, 0.0, self.settings.cusum_limit)

    def active(self) -> tuple[NDArray[np.intp], Floats]:
        """(edges, their CUSUMs) of those that any statistic counts."""
        floor = min(self.settings.mass_floor, self.settings.excess_floor)
        edges = np.flatnonzero(self.value > floor)
        return edges, self.value[edges]


class Excess(NamedTuple):
    """The sparse matrix of what edges' CUSUMs have above the floor, in the order of edges."""

    source: NDArray[np.int32]
    """(A,)"""
    target: NDArray[np.int32]
    """(A,)"""
    value: Floats
    """(A,) above 0."""


class Spectral:
    """The two leading singular values of the excess matrix, by warm block power iteration.

    Args:
        nodes: How many agents there are.
    """

    def __init__(self, nodes: int) -> None:
        self._start = _start(nodes)
        self.vectors: Floats = self._start
        """(N, 2) right singular vectors, as of the last tick with any excess."""
        self.lambda1 = 0.0
        self.lambda2 = 0.0
        self.before = (0.0, 0.0)
        """lambda1 and lambda2 of the tick before."""

    def step(self, excess: Excess) -> None:
        """Moves on to this tick's matrix."""
        self.before = (self.lambda1, self.lambda2)
        self.lambda1 = self.lambda2 = 0.0
        if len(excess.value):
            # A little of the start: warm vectors alone would never see what is new beside them.
            warm = self.vectors + _FRESH * self._start
            self.vectors, (self.lambda1, self.lambda2) = iterate(excess, warm, _STEPS)

    @property
    def q3(self) -> float:
        """log(1 + lambda1)."""
        return math.log1p(self.lambda1)

    def signals(self) -> dict[str, float | bool]:
        """The paper's signals (eqs 3-6 and 7) without the entropy over channels."""
        (old1, old2), (new1, new2) = self.before, (self.lambda1, self.lambda2)
        ratio, old_ratio = new2 / (new1 + _EPSILON), old2 / (old1 + _EPSILON)
        amplification = (new1 + new2) / (old1 + old2) if old1 + old2 > _EPSILON else 1.0
        return {
            "lambda1": new1,
            "lambda2": new2,
            "amplification": amplification,
            "gap": 1.0 - ratio,
            "phase": abs(ratio - old_ratio) / old_ratio if old_ratio > _EPSILON else 0.0,
            "watch": amplification > 1 and ratio > old_ratio and new1 > old1,
        }

    def save(self) -> dict[str, Any]:
        """The state, as plain data."""
        return {
            "vectors": pack(self.vectors),
            "now": [self.lambda1, self.lambda2],
            "before": list(self.before),
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Takes back what :meth:`save` has returned."""
        self.vectors = unpack(saved["vectors"], self.vectors)
        self.lambda1, self.lambda2 = saved["now"]
        self.before = (saved["before"][0], saved["before"][1])


def iterate(excess: Excess, vectors: Floats, steps: int) -> tuple[Floats, tuple[float, float]]:
    """Block power iteration on C^T C.

    Args:
        excess: C, not empty.
        vectors: (N, 2) where to begin.
        steps: How often to multiply.

    Returns:
        The vectors to go on with, and the two leading singular values of C on their span.
    """
    nodes = len(vectors)
    first, second = vectors[:, 0], vectors[:, 1]
    for _ in range(steps):
        left1, left2 = _forth(excess, first, nodes), _forth(excess, second, nodes)
        first, second = _orthonormal(_back(excess, left1, nodes), _back(excess, left2, nodes))
    left1, left2 = _forth(excess, first, nodes), _forth(excess, second, nodes)
    # Singular values of the two columns C v1, C v2, in closed form from their Gram matrix.
    a, b, c = _inner(left1, left1), _inner(left1, left2), _inner(left2, left2)
    middle, spread = (a + c) / 2, math.hypot((a - c) / 2, b)
    values = math.sqrt(middle + spread), math.sqrt(max(middle - spread, 0.0))
    return np.column_stack([first, second]), values


def entropy(values: Floats) -> float:
    """Evenness of the leading values e_c of the channels: -sum(p log p)/log 4 (paper eq 6)."""
    total = float(np.add.reduce(values))
    if total <= 0:
        return 0.0
    shares = values[values > 0] / total
    return abs(float(-np.add.reduce(shares * np.log(shares))) / math.log(len(CHANNELS)))


def _start(nodes: int) -> Floats:
    """(N, 2) orthogonal, and to no non-negative matrix."""
    place = np.arange(nodes, dtype=np.float64)
    first, second = _orthonormal(np.ones(nodes), np.cos(place * 2.399963))
    return np.column_stack([first, second])


def _forth(excess: Excess, vector: Floats, nodes: int) -> Floats:
    """C x, always added in the order of edges."""
    return sums(excess.source, excess.value * vector[excess.target], nodes)


def _back(excess: Excess, vector: Floats, nodes: int) -> Floats:
    return sums(excess.target, excess.value * vector[excess.source], nodes)


def _inner(a: Floats, b: Floats) -> float:
    return float(np.add.reduce(a * b))


def _orthonormal(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    length = math.sqrt(_inner(first, first))
    first = first / length if length > 0 else first
    before = math.sqrt(_inner(second, second))
    second = second - _inner(first, second) * first
    length = math.sqrt(_inner(second, second))
    # Of rank one there is no second vector: a tiny one may grow again when the matrix does.
    return first, second / length if length > _EPSILON * before else np.zeros_like(second)
