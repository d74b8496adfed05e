"""Level 2: is a policy that has to be learned better off with the fused context?

Costs pile up, and nobody knows the tables: every variant learns by PPO on the same course of
events, with all corruption levels mixed, and is then judged in each regime by its likeliest deals
(note, section 7). Safe regret is against a planner who knows everything (`planner`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from policies.becon import metrics
from policies.becon.estimator import Estimator
from policies.becon.network import Acted, Agent
from policies.becon.study.desk_watch import Watch
from policies.becon.study.holding_back import as_noted, as_ours
from policies.becon.study.planner import oracle_utility
from policies.becon.study.ppo import PPOSettings, Progress, desks_of, roll_out, train
from policies.becon.variants import VARIANTS, Variant
from policies.environments.tradeoff_desk import CORRUPTIONS, Desks

HELD_BACK: Final[Mapping[str, Callable[[Estimator], Estimator]]] = {
    "becon_note": as_noted,
    "becon_safe": as_ours,
}
"""Rows that are `becon` with another estimator in acting."""
EPISODES = 96
"""Judged per regime."""
SWEEP_DIVISIONS = 5
"""Preferences of the sweep are multiples of a fifth: 21 of them."""
SWEEP_EPISODES = 8
SWEEP_BUDGET = 0.5
SWEEP_REGIME = "moderate"
REFERENCE = -0.1
"""Of the hypervolume, in every objective: what the idle policy earns (0) minus 0.1."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One variant in one regime."""

    safe_regret: float
    violation: float
    excess: float
    utility: float
    segment_violation: float
    """Share of segments between jumps whose mean cost is above the budget."""
    post_shift: tuple[float, ...]
    recovery: float
    preference_error: float
    budget_error: float
    gate_w: float
    price: float
    """Mean lambda."""


@dataclass(frozen=True, slots=True)
class LevelTwo:
    """One variant trained with one seed."""

    variant: str
    seed: int
    regimes: Mapping[str, Judged]
    hypervolume: float
    feasible: int
    """How many preferences of the sweep were served within the budget."""
    train_seconds: float
    """CPU seconds of training."""

    @property
    def mean_regret(self) -> float:
        """Over regimes."""
        return float(np.mean([each.safe_regret for each in self.regimes.values()]))


def run_level_two(
    name: str, seed: int, settings: PPOSettings | None = None
) -> tuple[LevelTwo, ...]:
    """Trains a variant of `VARIANTS` and judges it; a function of the seed.

    Returns:
        One study; of `becon` also those of `HELD_BACK`, which are the same training.
    """
    settings = settings or PPOSettings()
    agent, progress = train(VARIANTS[name], seed, settings)
    return judge_all(agent, name, seed, settings, progress)


def judge_all(
    agent: Agent, name: str, seed: int, settings: PPOSettings, progress: Progress
) -> tuple[LevelTwo, ...]:
    """Judges a trained agent in every regime, and by a sweep over preferences."""
    variant, studies = VARIANTS[name], []
    for row in (name, *(HELD_BACK if name == "becon" else ())):
        acting = agent
        if row in HELD_BACK:
            acting = deepcopy(agent)
            acting.estimator = HELD_BACK[row](agent.estimator)
        regimes = {regime: judge(acting, variant, regime, seed, settings) for regime in CORRUPTIONS}
        volume, feasible = sweep(acting, variant, seed, settings)
        studies.append(LevelTwo(row, seed, regimes, volume, feasible, progress.seconds))
    return tuple(studies)


def judge(agent: Agent, variant: Variant, regime: str, seed: int, settings: PPOSettings) -> Judged:
    """Episodes that nobody was trained on; the same for all variants. Labels only judge."""
    watch = desks_of(variant, [regime] * EPISODES, settings)
    course = course_of(regime, seed)
    rolled = roll_out(agent, watch, course, np.zeros(EPISODES, dtype=int), greedy=True)
    acted = Acted.unpacked(rolled.acted, settings.desk.objectives)
    truth = rolled.truth.double().numpy()
    return judged(
        watch,
        rolled.reward,
        truth,
        acted.plain.numpy(),
        oracle_of(regime, seed, settings),
        gate_w=float(acted.gates[..., 0].mean()),
        price=float(acted.price.mean()),
    )


def course_of(regime: str, seed: int) -> list[int]:
    """The seed of the episodes on which everybody is judged in a regime."""
    return [seed, 21, zlib.crc32(regime.encode())]


@lru_cache(maxsize=2 * len(CORRUPTIONS))
def oracle_of(regime: str, seed: int, settings: PPOSettings) -> np.ndarray:
    """(N, T): what the planner makes of those episodes; the same for all variants of a seed."""
    lines, drifts = [CORRUPTIONS[regime]] * EPISODES, [settings.drift] * EPISODES
    return oracle_utility(Desks(settings.desk, lines, drifts), course_of(regime, seed))


def judged(
    watch: Watch,
    reward: np.ndarray,
    truth: np.ndarray,
    context: np.ndarray,
    oracle: np.ndarray,
    *,
    gate_w: float = 0.0,
    price: float = 0.0,
) -> Judged:
    """The figures of episodes that are over.

    Args:
        watch: The desks on which they were.
        reward: (N, T, K + 1), rewards, then cost.
        truth: (N, T, K + 1), preference, then budget.
        context: (N, T, K + 1), what was acted on in their place.
        oracle: (N, T).
        gate_w: Mean; 0 where the descriptor alone is believed.
        price: Mean lambda; 0 where cost is not priced.
    """
    k = reward.shape[-1] - 1
    record = metrics.Record(
        (reward[..., :k] * truth[..., :k]).sum(axis=-1),
        oracle,
        reward[..., k],
        truth[..., k],
        watch.desks.course.jumped[:, : reward.shape[1]],
        truth[..., :k],
        context[..., :k],
        context[..., k],
    )
    return Judged(
        metrics.safe_regret(record),
        metrics.violation_rate(record),
        metrics.mean_excess(record),
        metrics.expected_utility(record),
        metrics.segment_violation_rate(record),
        tuple(metrics.post_shift_regret(record, n) for n in metrics.POST_SHIFT),
        metrics.recovery_time(record),
        metrics.preference_error(record),
        metrics.budget_error(record),
        gate_w,
        price,
    )


def sweep(agent: Agent, variant: Variant, seed: int, settings: PPOSettings) -> tuple[float, int]:
    """Hypervolume of the mean vector rewards over fixed preferences, at a budget of one half.

    Returns:
        As `covered`.
    """
    held = swept_contexts(settings)
    watch = desks_of(variant, [SWEEP_REGIME] * len(held[0]), settings)
    level = np.zeros(len(held[0]), dtype=int)
    rolled = roll_out(agent, watch, [seed, 22], level, greedy=True, held=held)
    return covered(rolled.reward)


def swept_contexts(settings: PPOSettings) -> tuple[np.ndarray, np.ndarray]:
    """Preferences (N, K) and budgets (N,) of the sweep's episodes."""
    grid = metrics.simplex_grid(settings.desk.objectives, SWEEP_DIVISIONS)
    held = np.repeat(grid, SWEEP_EPISODES, axis=0)
    return held, np.full(len(held), SWEEP_BUDGET)


def covered(reward: np.ndarray) -> tuple[float, int]:
    """Of the rewards (N, T, K + 1) of the sweep's episodes.

    Returns:
        The volume above `REFERENCE` of those preferences whose mean cost was within the budget, and
        how many they are.
    """
    width = reward.shape[-1]
    means = reward.mean(axis=1).reshape(-1, SWEEP_EPISODES, width).mean(axis=1)
    kept = means[means[:, -1] <= SWEEP_BUDGET, :-1]
    return metrics.hypervolume(kept, np.full(width - 1, REFERENCE)), len(kept)
