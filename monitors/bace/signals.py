"""Activity signals: what each firm does, tick by tick, as BACE is given it.

BACE (arXiv 2510.20831, Section 3) reads N regions with C channels each over T ticks and a label
that says in which context each tick lies. Here a region is a firm, a channel one of its figures
(messages sent, price, stock), and a context a state of the market. A stretch of ticks without a
break is a trial; a recording is one or more trials of the same nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from services.errors import HanseError

CONSTANT_BELOW = 1e-6
"""A channel whose standard deviation is smaller says nothing."""
UNSTABLE_ABOVE = 10.0
"""A series whose variance in the last quarter is that many times that of the first one grows."""


class Refused(HanseError):
    """The data do not bear an analysis; the text says why and what would be needed."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A stretch of ticks without a break."""

    values: np.ndarray
    """float64 (N, C, T); NaN where nothing was measured."""
    context: np.ndarray
    """int64 (T,): the context of each tick, an index into the recording's contexts."""

    @property
    def length(self) -> int:
        """Ticks."""
        return int(self.values.shape[2])


@dataclass(frozen=True, slots=True)
class Recording:
    """Trials of the same nodes.

    Raises:
        ValueError: shapes do not fit together, a label is outside 0..P-1, or a value is infinite.
    """

    nodes: tuple[str, ...]
    channels: tuple[str, ...]
    contexts: tuple[str, ...]
    trials: tuple[Trial, ...]
    tick_minutes: float = 60.0
    """Virtual minutes between two ticks."""

    def __post_init__(self) -> None:
        for number, trial in enumerate(self.trials):
            shape = (len(self.nodes), len(self.channels), len(trial.context))
            if trial.values.shape != shape:
                raise ValueError(f"trial {number} is {trial.values.shape}, not {shape}")
            labels = np.unique(trial.context)
            if len(labels) and not 0 <= labels[0] <= labels[-1] < len(self.contexts):
                raise ValueError(
                    f"trial {number} has context labels {labels[0]} to {labels[-1]};"
                    f" allowed: 0 to {len(self.contexts) - 1}"
                )
            if np.isinf(trial.values).any():
                raise ValueError(f"trial {number} has infinite values")

    def __iter__(self) -> Iterator[Trial]:
        """The trials in order."""
        return iter(self.trials)

    def with_trials(self, trials: Sequence[Trial]) -> Recording:
        """The same nodes and contexts, other trials."""
        return replace(self, trials=tuple(trials))

    def with_nodes(self, kept: Sequence[str]) -> Recording:
        """Only these nodes, in this order."""
        places = [self.nodes.index(node) for node in kept]
        trials = [Trial(trial.values[places], trial.context) for trial in self.trials]
        return replace(self, nodes=tuple(kept), trials=tuple(trials))

    def blocks(self, ticks: int) -> Recording:
        """Long trials cut into blocks of so many ticks, so that halves of them can be compared.

        A rest of less than half a block stays with the block before it.
        """
        made: list[Trial] = []
        for trial in self.trials:
            number = max(1, (2 * trial.length + ticks) // (2 * ticks))
            edges = [*range(0, number * ticks, ticks), trial.length]
            made += [
                Trial(trial.values[:, :, a:b], trial.context[a:b])
                for a, b in pairwise(edges)
                if b > a
            ]
        return self.with_trials(made)


def stabilised(counts: np.ndarray) -> np.ndarray:
    """Counts on a scale on which their variance does not grow with their mean.

    Anscombe's transform 2 sqrt(n + 3/8): for Poisson counts of mean 4 or more the variance is
    about 1. NaN stays NaN.

    Raises:
        ValueError: a count is negative.
    """
    if np.any(np.asarray(counts) < 0):
        raise ValueError("a count is negative")
    return np.asarray(2.0 * np.sqrt(np.asarray(counts, dtype=float) + 0.375))


def unstable_series(recording: Recording) -> list[str]:
    """The series that grow: last-quarter variance above ten times first-quarter variance.

    Variances are about each trial's own quarter mean and pooled over trials. A series whose first
    quarter does not move at all is measured against 1 % of its whole variance instead of nothing.

    Returns:
        "node/channel" for each.
    """
    if not recording.trials:
        return []
    first, last, whole = (
        _pooled_variance([trial.values[:, :, part(trial.length)] for trial in recording])
        for part in (
            lambda length: slice(0, length // 4),
            lambda length: slice(length - length // 4, length),
            lambda length: slice(0, length),
        )
    )
    grows = last > UNSTABLE_ABOVE * np.maximum(first, 0.01 * whole)
    grows &= whole > CONSTANT_BELOW**2
    return [
        f"{recording.nodes[node]}/{recording.channels[channel]}"
        for node, channel in zip(*np.nonzero(grows), strict=True)
    ]


def refuse_unstable(recording: Recording) -> None:
    """Refuses a recording in which a series grows.

    Raises:
        Refused: one does.
    """
    growing = unstable_series(recording)
    if growing:
        raise Refused(
            f"unstable: {', '.join(growing[:5])}{' ...' if len(growing) > 5 else ''}: variance"
            " in the last quarter is more than ten times that in the first; use changes instead"
            " of levels, or a shorter stretch"
        )


def _pooled_variance(parts: Sequence[np.ndarray]) -> np.ndarray:
    """(N, C): squares about each part's own mean, over the number of values; 0 without values."""
    shape = parts[0].shape[:2]
    squares, numbers = np.zeros(shape), np.zeros(shape)
    for part in parts:
        there = ~np.isnan(part)
        number = there.sum(axis=2)
        mean = np.where(there, part, 0.0).sum(axis=2) / np.maximum(number, 1)
        squares += (np.where(there, part - mean[:, :, None], 0.0) ** 2).sum(axis=2)
        numbers += number
    return squares / np.maximum(numbers, 1)
