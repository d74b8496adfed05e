"""E2 and E3: where learning ends up with either estimate, many runs at once.

E2 is the note's concave bandit: 4 arms, noisy pulls, a target for the second reward. E3 is the
world of E1 with logarithms, which are second-order smooth: there either estimate should do.
Advantages are exact, so that omega is the only thing estimated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from policies.concave.draws import generator
from policies.concave.estimator import draw_levels, level_probabilities, multilevel
from policies.concave.natural_gradient import falling_rate
from policies.concave.scalarisation import Array, Scalarisation
from policies.concave.softmax import softmax
from policies.concave.study.bias import DELTA, fixed_world
from policies.concave.tabular import TabularWorld, bandit
from policies.concave.utilities import ProportionalFairness, TargetShortfall

ARMS: Final = ((1.0, 0.0), (0.75, 0.45), (0.4, 0.75), (0.0, 0.9))
NOISE: Final = 0.5
SHORTFALL: Final = TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0))
LEVELS: Final = 11
"""Of the bandit: as dear as plug-in with 11 trajectories."""
HORIZONS: Final = (500, 4000, 20_000)
BATCHES: Final = (1, 4, 11, 44)
LOG_BATCH: Final = 8
LOG_LEVELS: Final = 8
LOG_ITERATIONS: Final = 1000
RATE: Final = 0.2
"""The note's; with it, what is left of the gap is what has not been climbed yet."""
FAST: Final = 1.0
"""With it, it is the noise of omega, of which multi-level has more."""

Sampler = Callable[[Array, np.ndarray, np.random.Generator], Array]
"""From policies (R, S, A), the policy of each trajectory (n,), and a generator to (n, M)."""


@dataclass(frozen=True, slots=True)
class LearningRow:
    """One estimator after some iterations."""

    study: str
    rate: float
    """Of the first step."""
    estimator: str
    batch: int
    """Trajectories; 0: multi-level."""
    iterations: int
    gap: float
    """The best f(J) less that of the output, which is the mean over the last quarter."""
    error: float
    """Standard error over runs."""
    trajectories: float
    """For each iteration and run, on average."""
    runs: int


def pulls(policies: Array, owner: np.ndarray, rng: np.random.Generator) -> Array:
    """Returns of one pull each, of the arms that the policies prefer."""
    acts = np.cumsum(policies[:, 0], axis=-1)[:, :-1]
    arms = (rng.random((len(owner), 1)) >= acts[owner]).sum(axis=1)
    return np.asarray(np.asarray(ARMS)[arms] + NOISE * rng.normal(size=(len(owner), 2)))


def climb(
    world: TabularWorld,
    f: Scalarisation,
    sampler: Sampler,
    *,
    batch: int,
    levels: int,
    iterations: int,
    runs: int,
    rate: float,
    seed: int,
) -> tuple[Array, float]:
    """Natural policy gradient from the uniform policy; the same rule in every run.

    Args:
        world: Whose exact advantages are followed.
        f: What is raised.
        sampler: What omega is estimated from.
        batch: Of plug-in; 0: multi-level.
        levels: Q of multi-level, one draw for each iteration.
        iterations: T.
        runs: R.
        rate: Of the first step.
        seed: Of everything.

    Returns:
        f(J) before each step, (T, R), and trajectories for each iteration and run.
    """
    rng = generator((seed, batch))
    theta = np.zeros((runs, *world.rewards.shape[:2]))
    path = np.empty((iterations, runs))
    scale = 1.0 / (1.0 - world.gamma)
    probabilities, spent = level_probabilities(levels), 0
    for t in range(iterations):
        policies = softmax(theta)
        path[t] = f.value(world.expected(policies))
        if batch:
            owner = np.repeat(np.arange(runs), batch)
            returns = sampler(policies, owner, rng)
            omega = f.grad(returns.reshape(runs, batch, -1).mean(axis=1))
        else:
            drawn = draw_levels(levels, rng, runs)
            owner = np.repeat(np.arange(runs), 2**drawn)
            returns = sampler(policies, owner, rng)
            omega = multilevel(f.grad, returns, drawn, probabilities)
        spent += len(owner)
        worth = (world.advantages(policies) * omega[:, None, None]).sum(axis=-1)
        theta = theta + falling_rate(t, rate) * scale * worth
    return path, spent / (iterations * runs)


def run_bandit(
    runs: int = 32, horizons: tuple[int, ...] = HORIZONS, seed: int = 0
) -> list[LearningRow]:
    """E2; a function of the seed."""
    world = bandit(np.array(ARMS), NOISE)
    best, _ = world.optimum(SHORTFALL)
    rows = []
    for batch in (*BATCHES, 0):
        path, spent = climb(
            world,
            SHORTFALL,
            pulls,
            batch=batch,
            levels=LEVELS,
            iterations=max(horizons),
            runs=runs,
            rate=RATE,
            seed=seed,
        )
        name = f"plug-in {batch}" if batch else f"multi-level {LEVELS}"
        rows += [_row("bandit", RATE, name, batch, T, best, path, spent) for T in horizons]
    return rows


def run_log(
    runs: int = 8, iterations: int = LOG_ITERATIONS, seed: int = 0, rate: float = RATE
) -> list[LearningRow]:
    """E3; a function of the seed."""
    world, _ = fixed_world()
    f = ProportionalFairness(delta=DELTA)
    best, _ = world.optimum(f)

    def sampler(policies: Array, owner: np.ndarray, rng: np.random.Generator) -> Array:
        return world.roll_out(policies, len(owner), rng, owner=owner).returns

    rows = []
    for batch in (LOG_BATCH, 0):
        path, spent = climb(
            world,
            f,
            sampler,
            batch=batch,
            levels=LOG_LEVELS,
            iterations=iterations,
            runs=runs,
            rate=rate,
            seed=seed,
        )
        name = f"plug-in {batch}" if batch else f"multi-level {LOG_LEVELS}"
        rows.append(_row("log", rate, name, batch, iterations, best, path, spent))
    return rows


def _row(
    study: str,
    rate: float,
    name: str,
    batch: int,
    iterations: int,
    best: float,
    path: Array,
    spent: float,
) -> LearningRow:
    late = path[iterations - iterations // 4 : iterations].mean(axis=0)
    gaps = best - late
    runs = len(gaps)
    error = float(gaps.std(ddof=1)) / math.sqrt(runs) if runs > 1 else math.nan
    return LearningRow(study, rate, name, batch, iterations, float(gaps.mean()), error, spent, runs)
