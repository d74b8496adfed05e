"""A few strong events among many ordinary ones: the likelihood ratio of a sparse mixture (q4).

A cascade that has only just begun touches few of a large league's edges, so the mean of all scores
(q1) hardly moves, while single events are already far out. Page's CUSUM (1954) of the log
likelihood ratio between "all is as usual" and "a share ``epsilon`` of the events is shifted by
``delta``" (the sparse mixture of Donoho and Jin, 2004) is made for that::

    S = max(0, S + sum over events of log(1 + epsilon (exp(delta z - delta^2 / 2) - 1)))

The scores of real talk have heavier tails than a normal distribution, so z is first replaced by the
normal score of its rank among benign events of its channel. All of it is done on counts: how many
events of each channel fall into each of :data:`BINS` bins. So the result depends neither on the
order of the events nor on how they were dealt out to shards.

A second mixture (``dense``: every event shifted a little) is there for what touches everybody.
"""

from __future__ import annotations

from math import fsum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator
from scipy.special import ndtri

from monitors.caspian.events import CHANNELS

LOW: Final = -4.0
HIGH: Final = 5.0
"""Scores are within these (Settings.clip_low, clip_high)."""
BINS: Final = 180
"""Each is 0.05 wide."""
SHAPES: Final[dict[str, tuple[float, float]]] = {"sparse": (0.05, 3.0), "dense": (1.0, 0.5)}
"""(epsilon, delta): a few events shifted far, as by a rumour that convinces one firm after the
other; all of them shifted a little, as by a storm that everybody is in."""
VIEWS: Final = ("all", *CHANNELS)
"""Over what the CUSUM runs: all channels together, and each by itself."""
LIMIT: Final = 200.0
"""Where it stops growing."""
_PRIOR: Final = 200.0
"""Weight, in events, of a normal distribution in a channel's reference: a channel that says little
in benign times must not be taken for one whose scores are known."""

Counts = NDArray[np.int64]
"""(4, BINS) events by channel and bin of their score."""


def sparsely(counts: Counts) -> dict[int, int]:
    """The counts that are not 0, by their place in the flattened table."""
    flat = counts.ravel()
    places = np.flatnonzero(flat)
    return dict(zip(places.tolist(), flat[places].tolist(), strict=True))


def fully(counts: dict[int, int]) -> Counts:
    """What :func:`sparsely` was given."""
    flat = np.zeros(len(CHANNELS) * BINS, np.int64)
    flat[list(counts)] = list(counts.values())
    return flat.reshape(len(CHANNELS), BINS)


def binned(channel: NDArray[np.int8], z: NDArray[np.float64]) -> Counts:
    """How many events of each channel have scores in each bin.

    Args:
        channel: (B,) places in CHANNELS.
        z: (B,) standardised scores; those outside the range count at its ends.
    """
    place = np.floor((z - LOW) * (BINS / (HIGH - LOW))).astype(np.int64)
    place = np.clip(place, 0, BINS - 1)
    counts = np.bincount(channel.astype(np.int64) * BINS + place, minlength=len(CHANNELS) * BINS)
    return counts.reshape(len(CHANNELS), BINS)


class Reference(BaseModel):
    """How the scores of benign events are distributed, for each channel."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    counts: tuple[tuple[int, ...], ...]
    """Events by channel and bin."""

    @model_validator(mode="after")
    def _has_all_bins(self) -> Reference:
        shape = [len(row) for row in self.counts]
        if shape != [BINS] * len(CHANNELS) or any(n < 0 for row in self.counts for n in row):
            raise ValueError(f"a reference has {len(CHANNELS)} rows of {BINS} counts")
        return self

    @classmethod
    def of(cls, counts: Counts) -> Reference:
        """The reference of benign events."""
        return cls(counts=tuple(tuple(row) for row in counts.tolist()))

    @classmethod
    def normal(cls) -> Reference:
        """What there is without benign events: scores are taken to be normal already."""
        return cls.of(np.zeros((len(CHANNELS), BINS), np.int64))

    def normal_scores(self) -> NDArray[np.float64]:
        """(4, BINS) the normal score of an event in each bin: Phi^-1 of its mid-rank."""
        counts = np.array(self.counts, np.float64) + _PRIOR * _normal_shares()
        below = np.cumsum(counts, axis=1) - counts / 2
        return np.asarray(ndtri(below / counts.sum(axis=1, keepdims=True)))


def ratios(reference: Reference, epsilon: float, delta: float) -> NDArray[Any]:
    """(4, BINS) the log likelihood ratio of an event in each bin."""
    scores = reference.normal_scores()
    tilted = np.exp(delta * scores - delta * delta / 2)
    return np.asarray(np.log1p(epsilon * (tilted - 1)))


NAMES: Final = tuple(f"{shape}.{view}" for shape in SHAPES for view in VIEWS)
"""The statistics: ``sparse.all``, ``sparse.comm`` and so on."""


class Mixtures:
    """The CUSUMs of all shapes and views: the statistics of :data:`NAMES`.

    Args:
        reference: How benign scores are distributed.
    """

    def __init__(self, reference: Reference) -> None:
        self._cusums = {shape: SparseCusum(reference, *SHAPES[shape]) for shape in SHAPES}

    @property
    def sums(self) -> dict[str, float]:
        """The statistics as they are."""
        return {
            f"{shape}.{view}": value
            for shape, cusum in self._cusums.items()
            for view, value in cusum.sums.items()
        }

    def step(self, counts: Counts) -> dict[str, float]:
        """Takes a tick in; returns the statistics."""
        for cusum in self._cusums.values():
            cusum.step(counts)
        return self.sums

    def rest(self) -> None:
        """Begins anew, after a cascade."""
        for cusum in self._cusums.values():
            cusum.rest()

    def save(self) -> dict[str, Any]:
        """The state, as plain data."""
        return {shape: cusum.save() for shape, cusum in self._cusums.items()}

    def load(self, saved: dict[str, Any]) -> None:
        """Takes back what :meth:`save` returned."""
        for shape, cusum in self._cusums.items():
            cusum.load(saved[shape])


class SparseCusum:
    """The CUSUMs of all views, for one shape.

    Args:
        reference: How benign scores are distributed.
        epsilon: Share of shifted events.
        delta: Their shift.
    """

    def __init__(self, reference: Reference, epsilon: float, delta: float) -> None:
        self._ratios = ratios(reference, epsilon, delta)
        self.sums: dict[str, float] = dict.fromkeys(VIEWS, 0.0)

    def step(self, counts: Counts) -> dict[str, float]:
        """Takes a tick in; returns the sums.

        A view without events in the tick stays as it is.
        """
        # Exact sums, so that no library's order of adding matters.
        by_channel = [
            fsum((row[places] * ratio[places]).tolist())
            for row, ratio in zip(counts, self._ratios, strict=True)
            for places in [np.flatnonzero(row)]
        ]
        steps = {"all": fsum(by_channel), **dict(zip(CHANNELS, by_channel, strict=True))}
        for view, step in steps.items():
            self.sums[view] = min(max(self.sums[view] + step, 0.0), LIMIT)
        return self.sums

    def rest(self) -> None:
        """Begins anew, after a cascade."""
        self.sums = dict.fromkeys(VIEWS, 0.0)

    def save(self) -> dict[str, float]:
        """The sums."""
        return dict(self.sums)

    def load(self, saved: dict[str, float]) -> None:
        """Takes back what :meth:`save` returned."""
        self.sums = {view: float(saved[view]) for view in VIEWS}


def _normal_shares() -> NDArray[np.float64]:
    """(BINS,) the share of a standard normal variable in each bin; the ends take the tails."""
    from scipy.special import ndtr

    edges = np.linspace(LOW, HIGH, BINS + 1)
    edges[0], edges[-1] = -np.inf, np.inf
    return np.asarray(np.diff(ndtr(edges)))
