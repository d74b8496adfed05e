"""What f and its gradient are at J, from trajectories: multi-level (no bias) and plug-in.

The gradient of f at a mean of B returns is not, on average, the gradient at J: the bias is O(1/B)
if f is second-order smooth, O(B^-1/2) if its gradient is only Lipschitz, and it does not average
out over iterations. The multi-level estimate has the bias of 2^Q trajectories at the cost of about
Q: it corrects a cheap, biased estimate by differences between batch sizes, of which a random one is
drawn (note, section 3).

    made = estimate(ProportionalFairness(delta=0.1), sampler, MultiLevel(), seed=(0,))
    made.value, made.plug_in_value      # how fair it is, and what plug-in would say

A sampler answers the vector returns of n fresh, independent trajectories.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from policies.concave.draws import (
    Draws,
    Sampler,
    Seed,
    checked_returns,
    generator,
    in_process,
    seeds_of,
)
from policies.concave.scalarisation import Array, Scalarisation
from services.errors import HanseError

Statistic = Callable[[Array], Array]
"""From means (..., M) to (..., D)."""


def level_probabilities(levels: int) -> Array:
    """p_q for q = 1 to `levels`, in proportion to 2^-q."""
    weights = 0.5 ** np.arange(1, levels + 1)
    return np.asarray(weights / weights.sum())


def draw_levels(levels: int, rng: np.random.Generator, size: int) -> np.ndarray:
    """`size` levels q by those probabilities; int."""
    edges = np.cumsum(level_probabilities(levels))
    return 1 + np.minimum(np.searchsorted(edges, rng.random(size), side="right"), levels - 1)


def multilevel(
    statistic: Statistic, returns: Array, drawn: np.ndarray, probabilities: Array
) -> Array:
    """Multi-level estimates of statistic(J), one for each level drawn.

    With q drawn: the statistic of single trajectories, plus 1 / p_q of the difference between the
    statistic of all 2^q and the mean of that of either half (antithetic). Never clipped, not even
    where the statistic is known to be positive: clipping would bring a bias back.

    Args:
        statistic: Of means.
        returns: (sum of 2^q, M), draw after draw.
        drawn: int (R,), the levels q.
        probabilities: (Q,), p_q.

    Returns:
        (R, D).
    """
    sizes = 2**drawn
    starts = np.cumsum(sizes) - sizes
    halves = np.stack([starts, starts + sizes // 2], axis=1).ravel()
    means = np.add.reduceat(returns, halves) / np.repeat(sizes // 2, 2)[:, None]
    first, second = means[0::2], means[1::2]
    fine = statistic((first + second) / 2)
    coarse = (statistic(first) + statistic(second)) / 2
    base = np.add.reduceat(statistic(returns), starts) / sizes[:, None]
    return np.asarray(base + (fine - coarse) / probabilities[drawn - 1][:, None])


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the trajectories say of f at J."""

    value: float
    """Of f; without bias if the estimator is multi-level."""
    gradient: Array
    """(M,), omega, likewise."""
    value_error: float
    """Standard error of `value`, over repetitions; NaN for one."""
    plug_in_value: float
    """f of the mean of all trajectories drawn, for comparison."""
    mean: Array
    """(M,), that mean: without bias, but f of it is not."""
    trajectories: int
    """How many were spent."""
    levels: tuple[int, ...]
    """q of each draw; none for plug-in."""


class Estimator(Protocol):
    """Says how many trajectories it wants, in which parts, and what they come to."""

    @property
    def expected_trajectories(self) -> float:
        """How many one estimate takes on average."""

    def sizes(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Trajectories of each part of the next estimate."""

    def estimate(self, f: Scalarisation, parts: Sequence[Array]) -> Estimate:
        """The estimate from the returns of those parts, (size, M) each."""


@dataclass(frozen=True, slots=True)
class PlugIn:
    """f and its gradient at the mean of `batch` trajectories: cheap in variance, but biased."""

    batch: int = 16

    def __post_init__(self) -> None:
        """Refuses an empty batch."""
        _whole("PlugIn", "batch", self.batch, 1)

    @property
    def expected_trajectories(self) -> float:
        """The batch."""
        return float(self.batch)

    def sizes(self, rng: np.random.Generator) -> tuple[int, ...]:
        """One part."""
        del rng
        return (self.batch,)

    def estimate(self, f: Scalarisation, parts: Sequence[Array]) -> Estimate:
        """From all trajectories at once."""
        returns = np.concatenate(parts)
        mean = returns.mean(axis=0)
        value = float(f.value(mean))
        return Estimate(value, f.grad(mean), math.nan, value, mean, len(returns), ())


@dataclass(frozen=True, slots=True)
class MultiLevel:
    """The mean of several multi-level draws, which tames their variance."""

    levels: int = 9
    """Q: the bias is that of 2^Q trajectories; about Q are drawn on average, 2^Q at most."""
    repetitions: int = 4

    def __post_init__(self) -> None:
        """Refuses numbers below 1, and levels that could never be drawn in time."""
        _whole("MultiLevel", "levels", self.levels, 1)
        _whole("MultiLevel", "repetitions", self.repetitions, 1)
        if self.levels > 20:
            raise HanseError(
                f"MultiLevel: levels must be at most 20 (a million trajectories in one draw), not"
                f" {self.levels}"
            )

    @classmethod
    def for_accuracy(cls, epsilon: float, repetitions: int = 4) -> MultiLevel:
        """As many levels as a bias of about `epsilon` asks for: 2 log2(1 / epsilon)."""
        if not 0 < epsilon < 1:
            raise HanseError(f"MultiLevel: epsilon must be between 0 and 1, not {epsilon!r}")
        return cls(max(1, math.ceil(2 * math.log2(1 / epsilon))), repetitions)

    @property
    def expected_trajectories(self) -> float:
        """Q / (1 - 2^-Q) for each repetition."""
        return self.repetitions * self.levels / (1 - 0.5**self.levels)

    def sizes(self, rng: np.random.Generator) -> tuple[int, ...]:
        """2^q for each repetition."""
        return tuple(int(2**q) for q in draw_levels(self.levels, rng, self.repetitions))

    def estimate(self, f: Scalarisation, parts: Sequence[Array]) -> Estimate:
        """The mean over parts, whose sizes say which levels they are."""

        def statistic(means: Array) -> Array:
            return np.concatenate([f.value(means)[..., None], f.grad(means)], axis=-1)

        drawn = np.array([len(part).bit_length() - 1 for part in parts])
        returns = np.concatenate(parts)
        made = multilevel(statistic, returns, drawn, level_probabilities(self.levels))
        mean = returns.mean(axis=0)
        number = len(made)
        error = float(made[:, 0].std(ddof=1)) / math.sqrt(number) if number > 1 else math.nan
        middle = made.mean(axis=0)
        return Estimate(
            float(middle[0]),
            middle[1:],
            error,
            float(f.value(mean)),
            mean,
            len(returns),
            tuple(int(q) for q in drawn),
        )


def automatic(f: Scalarisation, *, levels: int = 9, repetitions: int = 4) -> Estimator:
    """Plug-in where that is good enough (second-order smooth f), otherwise multi-level.

    Either takes about as many trajectories.
    """
    many = MultiLevel(levels, repetitions)
    if f.second_order_smooth:
        return PlugIn(max(2, round(many.expected_trajectories)))
    return many


def estimate(
    f: Scalarisation,
    sampler: Sampler,
    estimator: Estimator,
    seed: Seed,
    draws: Draws = in_process,
) -> Estimate:
    """Draws what the estimator wants and estimates; a function of the seed.

    Raises:
        HanseError: the sampler answers something else than finite returns.
    """
    sizes = estimator.sizes(generator((*seed, -1)))
    drawn = draws(sampler, sizes, seeds_of(seed, len(sizes)))
    parts = [checked_returns(part, size) for part, size in zip(drawn, sizes, strict=True)]
    return estimator.estimate(f, parts)


def _whole(owner: str, name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise HanseError(f"{owner}: {name} must be a whole number from {least} up, not {value!r}")
