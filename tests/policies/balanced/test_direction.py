from __future__ import annotations

import math

import numpy as np
import pytest

from policies.balanced.curvature import Curvature
from policies.balanced.direction import Balancer, BalanceSettings

PLAIN = BalanceSettings(ridge=1e-10)
TWO = np.array([[1.0, 0.0], [0.0, 1.0]])


def test_a_step_keeps_the_usual_length_of_gradients() -> None:
    found = Balancer(PLAIN).direction(("a", "b"), 10 * TWO)
    step = np.array([found.weights["a"], found.weights["b"]]) @ (10 * TWO)
    assert step == pytest.approx([5.0, 5.0])  # as the mean gradient would be
    assert found.rate == pytest.approx(0.5)


def test_tasks_without_a_gradient_have_converged() -> None:
    found = Balancer(PLAIN).direction(("a", "b", "c"), np.array([[1.0, 0], [0, 0], [0, 1.0]]))
    assert found.converged == ("b",)
    assert "b" not in found.weights
    assert found.rate == pytest.approx(0.5)


def test_where_all_have_converged_there_is_no_step() -> None:
    found = Balancer(PLAIN).direction(("a",), np.zeros((1, 2)))
    assert found.weights == {}
    assert math.isnan(found.rate)


def test_a_gradient_within_its_noise_is_set_aside_until_it_grows() -> None:
    balancer = Balancer(PLAIN)
    balancer.heard({"b": 0.5})
    assert balancer.direction(("a", "b"), TWO).frozen == ("b",)
    assert balancer.direction(("a", "b"), 2 * TWO).frozen == ()


def test_running_means_calm_the_step() -> None:
    rng = np.random.default_rng(0)
    steps: dict[float, list[float]] = {0.0: [], 0.9: []}
    for decay, found in steps.items():
        balancer = Balancer(BalanceSettings(decay=decay))
        for _ in range(60):
            noisy = np.eye(2, 6) + 0.5 * rng.normal(size=(2, 6))
            weights = balancer.direction(("a", "b"), noisy).weights
            found.append(weights["a"] / (weights["a"] + weights["b"]))
    assert np.std(steps[0.9][20:]) < 0.5 * np.std(steps[0.0][20:])


def test_many_tasks_are_sampled_and_those_that_bound_stay() -> None:
    names = tuple(f"task {n}" for n in range(20))
    balancer = Balancer(BalanceSettings(most_tasks=8), seed=1)
    gradients = np.random.default_rng(0).normal(size=(20, 12))
    seen: set[str] = set()
    bottleneck: tuple[str, ...] = ()
    for _ in range(30):
        chosen = balancer.choose(names)
        assert len(chosen) == 8
        assert set(bottleneck[:6]) <= set(chosen)
        assert list(chosen) == sorted(chosen, key=names.index)
        seen |= set(chosen)
        rows = gradients[[names.index(name) for name in chosen]]
        bottleneck = balancer.direction(chosen, rows).active
    assert seen == set(names)


def test_few_tasks_are_all_taken() -> None:
    assert Balancer().choose(["a", "b"]) == ("a", "b")


def test_a_stall_is_left_after_a_while() -> None:
    balancer = Balancer(BalanceSettings(stall_steps=3, ridge=1e-10))
    opposed = np.array([[2.0, 0.0], [-1.0, 0.0]])
    for _ in range(2):
        found = balancer.direction(("a", "b"), opposed)
        assert np.array(list(found.weights.values())) @ opposed == pytest.approx([0, 0], abs=1e-8)
    gradients = np.array([[1.0, 1e-3], [-1.0, 1e-3]])
    found = balancer.direction(("a", "b"), gradients)
    step = np.array(list(found.weights.values())) @ gradients
    assert step[1] == pytest.approx((1 + 0.05) * 1e-3, rel=1e-3)


def test_a_long_step_is_shortened() -> None:
    settings = BalanceSettings(mode="common", most_length=0.1, ridge=1e-10)
    found = Balancer(settings).direction(("a", "b"), 10 * TWO)
    assert np.linalg.norm(np.array(list(found.weights.values())) @ (10 * TWO)) == pytest.approx(0.1)


def test_curvature_of_a_parabola_is_found_from_two_points() -> None:
    # h = 4 along every direction; the running mean takes the first estimate whole.
    curvature = Curvature("secant")
    before, moved = np.array([[4.0, 8.0]]), np.array([-0.1, 0.3])
    assert curvature.of(("a",), before, None).tolist() == [np.linalg.norm(before)]
    after = before + 4 * moved
    assert curvature.of(("a",), after, moved) == pytest.approx([4.0])


def test_a_curvature_stays_within_reach_of_the_gradient() -> None:
    curvature = Curvature("secant")
    moved = np.array([1.0, 0.0])
    curvature.of(("a", "b"), np.array([[1.0, 0], [1, 0]]), None)
    found = curvature.of(("a", "b"), np.array([[1.0, 0], [1e6, 0]]), moved)
    assert found.tolist() == [0.1, 999999.0]  # a tenth of the length; the secant, below 1000 times


@pytest.mark.parametrize("mode", ["normalized", "secant"])
def test_modes_do_not_depend_on_the_units_of_losses(mode: str) -> None:
    unit = np.array([1e-3, 1.0, 1e3])[:, None]
    found = []
    for factor in (np.ones((3, 1)), unit):
        rng = np.random.default_rng(0)
        balancer = Balancer(BalanceSettings(mode=mode, ridge=1e-10))  # type: ignore[arg-type]
        for _ in range(4):
            gradients, moved = rng.normal(size=(3, 5)), rng.normal(size=5)
            one = balancer.direction(("a", "b", "c"), gradients * factor, moved)
        weights = np.array(list(one.weights.values())) / one.scale
        found.append(weights @ (gradients * factor))
    assert found[0] == pytest.approx(found[1], rel=1e-9)
