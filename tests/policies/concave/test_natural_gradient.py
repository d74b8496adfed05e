from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.concave.natural_gradient import (
    bounded_step,
    conjugate_gradient,
    falling_rate,
    natural_direction,
)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), ridge=st.sampled_from([1e-3, 0.1]))
def test_both_solvers_solve_the_ridge_regression(seed: int, ridge: float) -> None:
    rng = np.random.default_rng(seed)
    scores, worth, weights = rng.normal(size=(40, 5)), rng.normal(size=40), rng.random(40)
    share = weights / weights.sum()
    system = scores.T @ (share[:, None] * scores) + ridge * np.eye(5)
    expected = np.linalg.solve(system, scores.T @ (share * worth))
    for solver in ("lstsq", "cg"):
        got = natural_direction(scores, worth, weights=weights, ridge=ridge, solver=solver)  # type: ignore[arg-type]
        assert got == pytest.approx(expected, abs=1e-6)


def test_without_weights_all_samples_count_alike() -> None:
    rng = np.random.default_rng(0)
    scores, worth = rng.normal(size=(20, 3)), rng.normal(size=20)
    plain = natural_direction(scores, worth)
    assert plain == pytest.approx(natural_direction(scores, worth, weights=np.full(20, 7.0)))


def test_redundant_parameters_are_no_trouble() -> None:
    scores = np.repeat(np.random.default_rng(1).normal(size=(30, 1)), 3, axis=1)
    for solver in ("lstsq", "cg"):
        w = natural_direction(scores, scores[:, 0], ridge=1e-8, solver=solver)  # type: ignore[arg-type]
        assert w == pytest.approx(np.full(3, 1 / 3), abs=1e-4)


def test_conjugate_gradients_need_products_only_and_stop_at_nothing_to_do() -> None:
    A = np.diag([1.0, 4.0, 9.0])
    got = conjugate_gradient(lambda x: A @ x, np.array([1.0, 4.0, 9.0]))
    assert got == pytest.approx(np.ones(3))
    assert conjugate_gradient(lambda x: A @ x, np.zeros(3)).tolist() == [0, 0, 0]


def test_step_sizes_fall_as_the_note_says() -> None:
    assert falling_rate(0, 0.2) == 0.2
    assert falling_rate(200, 0.2) == pytest.approx(0.2 / 2**0.7)
    assert falling_rate(20_000, 0.2) == pytest.approx(0.2 / 101**0.7)


def test_a_step_is_halved_until_its_divergence_is_small_enough() -> None:
    assert bounded_step(lambda step: step**2, 1.0, 0.02) == 0.125
    assert bounded_step(lambda step: step**2, 0.1, 0.02) == 0.1
    assert bounded_step(lambda step: 1.0, 1.0, 0.02) == 0.0
