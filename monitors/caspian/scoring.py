"""How much of what a source said turns up in what its target then did: a score for every event.

The score is the partial correlation of u and v over their coordinates, given the target's own last
behaviour and its slow average, under Fisher's transformation (note ``caspian`` 8.2; the paper's
LI-CTE, arXiv 2605.19240 eqs 1 and 16-19, with coordinates as samples instead of turns). Because
the target's last behaviour is conditioned on, an outside event that reaches everybody at once
scores low: it is in that behaviour already, a message that has just arrived is not.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from monitors.caspian.events import CHANNELS
from monitors.caspian.settings import Settings

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]

_NOTHING_LEFT: Final = 1e-4
"""A residual below this share of a vector's length is rounding: single precision has 7 digits."""


def dot(a: Vectors, b: Vectors) -> Floats:
    """Inner products of the rows of a and b, (B, D) each -> (B,).

    Product and pairwise sum one after the other, so a row's result depends neither on the rows
    around it nor on the processor (a fused multiply-add would).
    """
    products: Floats = np.add.reduce(a * b, axis=1).astype(np.float64)
    return products


def sums(keys: NDArray[Any], values: Floats, count: int) -> Floats:
    """(count,) for each key the sum of its values, added one after the other in their order.

    Args:
        keys: (B,) from 0 to count - 1.
        values: (B,)
        count: How many keys there are.
    """
    added: Any = np.bincount(keys, values, count)
    return added  # type: ignore[no-any-return]


class Groups(NamedTuple):
    """Sorted rows in runs of one key."""

    keys: NDArray[np.intp]
    """(G,) the keys, ascending."""
    starts: NDArray[np.intp]
    """(G + 1,) where the runs begin, and the number of rows."""
    of_row: NDArray[np.intp]
    """(B,) the run of each row."""

    @property
    def counts(self) -> NDArray[np.intp]:
        """(G,) rows in each run."""
        return np.diff(self.starts)

    @classmethod
    def of(cls, keys: NDArray[Any]) -> Groups:
        """The runs of keys (B,), which must be sorted."""
        first = np.ones(len(keys), np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        starts = np.flatnonzero(first)
        return cls(keys[starts].astype(np.intp), np.append(starts, len(keys)), np.cumsum(first) - 1)

    def means(self, vectors: Vectors) -> Vectors:
        """(G, D) mean of the vectors (B, D) of each run, summed in their order."""
        ones = np.ones(len(vectors), np.float32)
        rows = np.arange(len(vectors))
        sums = csr_array((ones, rows, self.starts), shape=(len(self.keys), len(vectors))) @ vectors
        means: Vectors = sums / self.counts[:, None].astype(np.float32)
        return means


class Scorer:
    """Scores events and remembers what their targets did: the last tick's mean, and a slow one.

    The state is local to targets, so targets can be dealt out to any number of scorers.

    Args:
        targets: How many targets there are; a slot is ``target * 4 + channel``.
        settings: The constants.
    """

    def __init__(self, targets: int, settings: Settings) -> None:
        self.settings = settings
        shape = (targets * len(CHANNELS), settings.dimensions)
        self.last: Vectors = np.zeros(shape, np.float32)
        """(slots, D) mean behaviour in the last tick in which there was any (h1)."""
        self.slow: Vectors = np.zeros(shape, np.float32)
        """(slots, D) its exponentially weighted mean (h2)."""

    def score(self, groups: Groups, u: Vectors, v: Vectors, uu: Floats, vv: Floats) -> Floats:
        """The scores f of a tick's events, whose slots are ``groups``; then remembers v.

        Args:
            groups: The slots of the events.
            u: (B, D) what the sources said.
            v: (B, D) what the targets then did.
            uu: (B,) squared lengths of u, above 0.
            vv: (B,) squared lengths of v, above 0.

        Returns:
            (B,) Fisher-transformed partial correlations.
        """
        last, slow = self.last[groups.keys], self.slow[groups.keys]
        q1, q2 = orthonormal(last, slow)
        if len(groups.keys) < len(u):
            q1, q2 = q1[groups.of_row], q2[groups.of_row]
        u1, u2, v1, v2 = dot(u, q1), dot(u, q2), dot(v, q1), dot(v, q2)
        common = dot(u, v) - u1 * v1 - u2 * v2
        rest_u, rest_v = uu - u1 * u1 - u2 * u2, vv - v1 * v1 - v2 * v2
        # Whoever only repeats what the target did last says nothing new: no correlation.
        new = (rest_u > _NOTHING_LEFT * uu) & (rest_v > _NOTHING_LEFT * vv)
        correlation = np.zeros(len(u))
        np.divide(common, np.sqrt(np.where(new, rest_u * rest_v, 1.0)), correlation, where=new)
        limit = self.settings.clip_correlation
        scores: Floats = np.arctanh(np.clip(correlation, -limit, limit))
        self._remember(groups, v, slow)
        return scores

    def _remember(self, groups: Groups, v: Vectors, slow: Vectors) -> None:
        means = groups.means(v)
        weight = np.float32(self.settings.history_weight)
        self.last[groups.keys] = means
        self.slow[groups.keys] = slow + weight * (means - slow)


def orthonormal(last: Vectors, slow: Vectors) -> tuple[Vectors, Vectors]:
    """Unit vectors along the first, and along what the second adds to it; zero where there is none.

    Args:
        last: (G, D); kept.
        slow: (G, D); kept.
    """
    q1 = _unit(last, np.zeros(len(last)))
    length = np.sqrt(dot(slow, slow))
    rest = slow - dot(slow, q1).astype(np.float32)[:, None] * q1
    return q1, _unit(rest, _NOTHING_LEFT * length)


def _unit(vectors: Vectors, least: Floats) -> Vectors:
    lengths = np.sqrt(dot(vectors, vectors))
    inverse = np.zeros(len(vectors))
    np.divide(1.0, lengths, inverse, where=lengths > least)
    unit: Vectors = vectors * inverse.astype(np.float32)[:, None]
    return unit
