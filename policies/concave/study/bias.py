"""E1: how far estimates of the gradient are off at a fixed policy, where the truth is known.

4 states, 3 actions, gamma = .9, two rewards against each other. f falls short of a target for the
second one (kappa = 40), which is put so that the true derivative is .91, the note's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from policies.concave.draws import generator
from policies.concave.estimator import draw_levels, level_probabilities, multilevel
from policies.concave.scalarisation import Array, Scalarisation
from policies.concave.softmax import softmax
from policies.concave.tabular import TabularWorld, random_world
from policies.concave.utilities import ProportionalFairness, TargetShortfall

WORLD: Final = 0
"""Seed of the world; its policy has the next one."""
KAPPA: Final = 40.0
DERIVATIVE: Final = 0.91
DELTA: Final = 0.05
"""Of the logarithms."""
BATCHES: Final = (1, 2, 4, 8, 16, 64)
LEVELS: Final = 9
_AT_ONCE: Final = 16_384


@dataclass(frozen=True, slots=True)
class BiasRow:
    """One estimator of the second component of the gradient."""

    utility: str
    estimator: str
    batch: int
    """Trajectories; 0: multi-level."""
    trajectories: float
    """On average."""
    bias: float
    error: float
    """Standard error of the bias."""
    deviation: float
    """Of a single estimate."""
    repetitions: int


def fixed_world() -> tuple[TabularWorld, Array]:
    """The world and the policy."""
    world = random_world(WORLD)
    return world, softmax(np.random.default_rng(WORLD + 1).normal(size=world.rewards.shape[:2]))


def utilities(J: Array) -> dict[str, Scalarisation]:
    """The hard and the easy case at J."""
    target = float(J[1]) + DERIVATIVE / KAPPA
    return {
        "shortfall": TargetShortfall((1.0, 0.0), (0.0, target), (0.0, KAPPA)),
        "log": ProportionalFairness(delta=DELTA),
    }


def run_bias(
    repetitions: int = 30_000, trajectories: int = 128_000, seed: int = 0
) -> list[BiasRow]:
    """All estimators of both utilities; a function of the seed.

    Args:
        repetitions: Of the multi-level estimate. The note's 3000 leave a standard error of .03,
            which is about what is asked for; ten times as many tell.
        trajectories: What the plug-in estimates share; a multiple of 64.
        seed: Of all trajectories.
    """
    world, policy = fixed_world()
    J = world.expected(policy)
    pool = _returns(world, policy, trajectories, (seed, 0))
    drawn = draw_levels(LEVELS, generator((seed, 1)), repetitions)
    fresh = _returns(world, policy, int((2**drawn).sum()), (seed, 2))
    rows = []
    for name, f in utilities(J).items():
        truth = float(f.grad(J)[1])
        for batch in BATCHES:
            means = pool.reshape(-1, batch, 2).mean(axis=1)
            made = f.grad(means)[:, 1]
            rows.append(_row(name, f"plug-in {batch}", batch, batch, made, truth))
        made = multilevel(f.grad, fresh, drawn, level_probabilities(LEVELS))[:, 1]
        spent = float((2.0**drawn).mean())
        rows.append(_row(name, f"multi-level {LEVELS}", 0, spent, made, truth))
    return rows


def _returns(world: TabularWorld, policy: Array, n: int, seed: tuple[int, int]) -> Array:
    rng = generator(seed)
    sizes = [min(_AT_ONCE, n - start) for start in range(0, n, _AT_ONCE)]
    return np.concatenate([world.roll_out(policy, size, rng).returns for size in sizes])


def _row(
    utility: str, estimator: str, batch: int, trajectories: float, made: Array, truth: float
) -> BiasRow:
    deviation = float(made.std(ddof=1))
    error = deviation / math.sqrt(len(made))
    bias = float(made.mean()) - truth
    return BiasRow(utility, estimator, batch, trajectories, bias, error, deviation, len(made))
