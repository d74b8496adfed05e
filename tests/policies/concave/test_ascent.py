from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from policies.concave.ascent import AscentSettings, ascend
from policies.concave.estimator import MultiLevel, PlugIn
from policies.concave.natural_gradient import Solver
from policies.concave.objective import Constraint, Objective
from policies.concave.scalarisation import Array
from policies.concave.softmax import SoftmaxTask
from policies.concave.tabular import bandit, random_world
from policies.concave.utilities import (
    Linear,
    ProportionalFairness,
    Quadratic,
    SoftMin,
    TargetShortfall,
)
from services.errors import HanseError

ARMS = bandit(np.array([[1, 0], [0.75, 0.45], [0.4, 0.75], [0, 0.9]]), noise=0.5)
SHORTFALL = TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0))
WORLD = random_world(3)


def test_the_exact_direction_of_a_table_is_its_advantage() -> None:
    task, omega = SoftmaxTask(WORLD), np.array([0.4, 1.5])
    theta = np.random.default_rng(0).normal(size=12)
    exact = task.direction(theta, None, omega).reshape(4, 3)
    assert exact == pytest.approx(WORLD.advantages(task.policy(theta)) @ omega / (1 - 0.9))


def test_a_small_step_raises_omega_j_by_the_square_of_its_fisher_length() -> None:
    task, omega = SoftmaxTask(WORLD), np.array([0.4, 1.5])
    theta = np.random.default_rng(0).normal(size=12)
    way = task.direction(theta, None, omega)
    gained = (task.expected(theta + 1e-6 * way) - task.expected(theta)) @ omega / 1e-6
    policy = task.policy(theta)
    A = WORLD.advantages(policy) @ omega
    fisher = (WORLD.occupancy(policy) * A**2).sum() / (1 - 0.9) ** 2
    assert gained == pytest.approx(fisher, rel=1e-4)


@pytest.mark.parametrize("solver", ["lstsq", "cg"])
def test_regression_on_scores_gives_the_same_policy_as_the_table(solver: Solver) -> None:
    one_hot = np.eye(12).reshape(4, 3, 12)
    table, general = SoftmaxTask(WORLD), SoftmaxTask(WORLD, one_hot, ridge=1e-9, solver=solver)
    theta, omega = np.random.default_rng(1).normal(size=12), np.array([1.0, 0.3])
    steps = [theta + 0.5 * task.direction(theta, None, omega) for task in (table, general)]
    assert table.policy(steps[0]) == pytest.approx(general.policy(steps[1]), abs=1e-4)


def test_directions_from_trajectories_come_near_the_exact_one() -> None:
    theta, omega = 0.3 * np.random.default_rng(1).normal(size=12), np.array([1.0, 0.3])
    for stopping in (False, True):
        task = SoftmaxTask(WORLD, ridge=1e-6, stopping=stopping)
        rollouts = task.roll_out(theta, 4000, np.random.default_rng(2))
        sampled = task.direction(theta, rollouts, omega).reshape(4, 3)
        exact = task.direction(theta, None, omega).reshape(4, 3)
        # Preferences of a state are known up to a constant.
        sampled -= (task.policy(theta) * sampled).sum(axis=1, keepdims=True)
        assert sampled == pytest.approx(exact, abs=0.03)
        assert np.abs(exact).max() > 0.25


def test_no_step_changes_the_policy_by_more_than_the_bound() -> None:
    task = SoftmaxTask(WORLD)
    settings = AscentSettings(iterations=30, rate=50.0, rate_after=1e9, average_over=1.0)
    path = ascend(task, Objective(SoftMin(3.0), estimator=PlugIn(4)), settings).averaged
    moved = [task.divergence(before, after) for before, after in pairwise(path)]
    assert 0.005 < max(moved) <= 0.02


def test_a_smooth_utility_is_raised_to_its_optimum_by_plain_npg() -> None:
    f = SoftMin(5.0)
    best, _ = WORLD.optimum(f)
    task = SoftmaxTask(WORLD)
    settings = AscentSettings(iterations=150, rate=1.0, divergence=None, batch=8)
    made = ascend(task, Objective(f, estimator=PlugIn(8)), settings, seed=1)
    first = float(f.value(made.expected[0]))
    assert best - f.value(made.output()) < 0.1 * (best - first)
    assert made.trajectories == 150 * 16


def test_the_multi_level_estimate_goes_on_where_plug_in_has_stopped() -> None:
    best, _ = ARMS.optimum(SHORTFALL)
    task = SoftmaxTask(ARMS)
    settings = AscentSettings(iterations=1000, rate=0.3, divergence=None)
    gaps = {}
    for estimator in (PlugIn(2), MultiLevel(7, 1)):
        made = ascend(task, Objective(SHORTFALL, estimator=estimator, seed=3), settings, seed=3)
        gaps[type(estimator).__name__] = best - float(
            np.mean(SHORTFALL.value(made.expected[-250:]))
        )
    assert gaps["PlugIn"] > 0.03
    assert gaps["MultiLevel"] < 0.5 * gaps["PlugIn"]


@pytest.mark.parametrize("independence", ["apart", "swapped"])
def test_both_kinds_of_independence_find_the_optimum(independence: Any) -> None:
    f = ProportionalFairness(delta=0.05)
    best, _ = WORLD.optimum(f)
    task = SoftmaxTask(WORLD)
    settings = AscentSettings(
        iterations=120, rate=0.3, divergence=None, batch=8, independence=independence
    )
    made = ascend(task, Objective(f, estimator=PlugIn(8)), settings)
    assert best - float(f.value(made.output())) < 0.1 * (best - f.value(made.expected[0]))


class Recording:
    """A task whose directions say which trajectories they come from."""

    def __init__(self) -> None:
        self.used: list[tuple[float, float]] = []

    def start(self) -> Array:
        return np.zeros(1)

    def roll_out(self, parameters: Array, n: int, rng: np.random.Generator) -> Array:
        return rng.normal(size=(n, 1))

    def returns(self, rollouts: Array) -> Array:
        return rollouts

    def direction(self, parameters: Array, rollouts: Array | None, omega: Array) -> Array:
        assert rollouts is not None
        self.used.append((float(rollouts.mean()), float(omega[0])))
        return omega

    def divergence(self, old: Array, new: Array) -> float:
        return 0.0

    def expected(self, parameters: Array) -> Array:
        return np.zeros(1)


@pytest.mark.parametrize("independence", ["apart", "swapped"])
def test_omega_never_comes_from_the_trajectories_of_its_advantages(independence: Any) -> None:
    # Of a parabola, omega is the mean return with the sign turned: it tells its trajectories.
    task = Recording()
    objective = Objective(Quadratic((0.0,), ((1.0,),)), estimator=PlugIn(6))
    made = ascend(task, objective, AscentSettings(iterations=5, batch=6, independence=independence))
    assert all(abs(mean + omega) > 1e-9 for mean, omega in task.used)
    if independence == "swapped":
        for (mean, omega), (other, swapped) in zip(task.used[::2], task.used[1::2], strict=True):
            assert (omega, swapped) == pytest.approx((-other, -mean))
        assert made.omegas[0] == pytest.approx([-(task.used[0][0] + task.used[1][0]) / 2])
    assert made.trajectories == 5 * 12


def test_a_constraint_is_met_and_its_price_settles() -> None:
    f, floor = Linear((1.0, 0.0)), Constraint(Linear((0.0, 1.0)), threshold=0.6, rate=0.1)
    task = SoftmaxTask(ARMS)
    objective = Objective(
        f, constraint=floor, estimator=PlugIn(1), constraint_estimator=MultiLevel(3, 2)
    )
    settings = AscentSettings(iterations=1000, rate=0.4, rate_after=1e9, divergence=None)
    made = ascend(task, objective, settings)
    # On the edge between the arms (.75, .45) and (.4, .75) that is met at (.575, .6).
    assert made.output() == pytest.approx([0.575, 0.6], abs=0.03)
    assert np.mean(made.prices[-250:]) == pytest.approx(0.35 / 0.30, rel=0.15)
    free = ascend(task, Objective(f, estimator=PlugIn(1)), settings)
    assert free.output()[1] < 0.1


def test_the_mixture_of_the_output_has_the_mean_return() -> None:
    task = SoftmaxTask(WORLD)
    settings = AscentSettings(iterations=40, rate=2.0, divergence=None)
    made = ascend(task, Objective(SoftMin(5.0), estimator=PlugIn(2)), settings)
    assert len(made.averaged) == 10
    mixed = WORLD.expected(task.mixture(made.averaged))
    assert mixed == pytest.approx(made.output(), abs=1e-9)


def test_an_ascent_is_a_function_of_its_seed() -> None:
    def run(seed: int) -> list[float]:
        settings = AscentSettings(iterations=20, batch=2)
        objective = Objective(SHORTFALL, estimator=MultiLevel(3, 2), seed=seed)
        return list(ascend(SoftmaxTask(ARMS), objective, settings, seed=seed).parameters)

    assert run(1) == run(1) != run(2)


def test_settings_that_cannot_be_are_refused() -> None:
    for options, says in (
        ({"iterations": 0}, "iterations must be a whole number from 1 up"),
        ({"rate": -1.0}, "rate must be a number from 0 up"),
        ({"rate_after": 0.0}, "rate_after must be above 0"),
        ({"average_over": 0.0}, "average_over must be above 0"),
    ):
        with pytest.raises(HanseError, match=says):
            AscentSettings(**options)  # type: ignore[arg-type]
