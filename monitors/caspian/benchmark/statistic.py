"""What every detector in the comparison is made of: a number or more for each tick."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from monitors.caspian.events import CHANNELS, TickEvents
from monitors.caspian.possibility import PossibilityGraph

Matrix = NDArray[np.float64]


class Statistic(ABC):
    """Computes something of each tick, from that tick and those before it.

    Args:
        graph: The possibility graph of the segment; events must lie on it.
        dimensions: Length D of the vectors.
    """

    columns: ClassVar[tuple[str, ...]] = ("value",)
    """Names of what :meth:`observe` returns."""

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        self.graph = graph
        self.dimensions = dimensions

    @abstractmethod
    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick; NaN stands for what is not known yet."""

    def series(self, ticks: list[TickEvents]) -> Matrix:
        """(T, F) what it says of all ticks of a segment, one after the other."""
        return np.array([self.observe(events) for events in ticks], np.float64).reshape(
            len(ticks), len(self.columns)
        )


def cosines(u: NDArray[np.float32], v: NDArray[np.float32]) -> Matrix:
    """(B,) cosine of every pair of rows; 0 where one has no length."""
    length = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    product: Matrix = (u * v).sum(1).astype(np.float64)
    cosine: Matrix = np.divide(product, length, out=np.zeros_like(product), where=length > 0)
    return cosine


def unit(rows: Matrix) -> Matrix:
    """The rows at length 1; rows of zeros stay."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Matrix = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    return scaled


def averages(
    keys: NDArray[np.int64], rows: NDArray[np.floating], size: int
) -> tuple[NDArray[np.int64], Matrix]:
    """The keys below ``size`` that occur, ascending, and the mean of the rows (B, D) of each."""
    counts = np.bincount(keys, minlength=size)
    present = np.flatnonzero(counts)
    return present, totals(keys, rows, size)[present] / counts[present, None]


def totals(keys: NDArray[np.int64], rows: NDArray[np.floating], size: int) -> Matrix:
    """(size, D) sum of the rows (B, D) of each key, in their order.

    By a sparse product, which takes a fraction of the time of ``np.add.at``.
    """
    order = np.argsort(keys, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=size))])
    table = csr_array((np.ones(len(keys)), order, ends), shape=(size, len(keys)))
    sums: Matrix = table @ rows
    return sums


def slots(agents: NDArray[np.int32], channels: NDArray[np.int8]) -> NDArray[np.int64]:
    """(B,) ``agent * 4 + channel``."""
    return agents.astype(np.int64) * len(CHANNELS) + channels


def counts(events: TickEvents, nodes: int) -> Matrix:
    """(N, N) events of the tick from each agent to each."""
    flat = events.source.astype(np.int64) * nodes + events.target
    matrix: Matrix = np.bincount(flat, minlength=nodes * nodes).astype(np.float64)
    matrix.shape = (nodes, nodes)
    return matrix
