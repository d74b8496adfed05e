from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.balanced.baselines import (
    BASELINES,
    CAGrad,
    NashMTL,
    equal_projection_weights,
    shortest_weights,
)
from policies.balanced.solver import balance
from policies.balanced.study import TASKS, Problem, best_rate, descend, three_against_one


def gradients_of(seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 9)) * np.exp(rng.normal(size=(count, 1)))


gradients = st.builds(gradients_of, st.integers(0, 1000), st.integers(2, 6))


def test_the_shortest_vector_by_hand() -> None:
    assert shortest_weights(np.array([[1.0, 0], [0, 2]])) == pytest.approx([0.8, 0.2])
    assert shortest_weights(np.array([[1.0, 0], [2, 0]])) == pytest.approx([1.0, 0.0])


@given(gradients)
def test_no_point_of_the_hull_is_shorter(rows: np.ndarray) -> None:
    shortest = shortest_weights(rows) @ rows
    # Of the nearest point to 0, no gradient lies on its near side.
    assert (rows @ shortest).min() >= shortest @ shortest - 1e-6 * (rows**2).sum(1).max()


@given(gradients)
def test_normalized_balance_is_the_shortest_vector_of_unit_gradients(rows: np.ndarray) -> None:
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    step = balance(units @ units.T, np.ones(len(units))).weights @ units
    assert step == pytest.approx(shortest_weights(units) @ units, abs=1e-5)


@given(gradients)
def test_imtl_has_equal_projections(rows: np.ndarray) -> None:
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    along = units @ (equal_projection_weights(rows) @ units)
    assert along == pytest.approx(np.ones(len(rows)), abs=1e-6)


@given(gradients)
def test_balance_is_imtl_where_no_weight_of_it_is_below_zero(rows: np.ndarray) -> None:
    weights = equal_projection_weights(rows)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    rate = balance(units @ units.T, np.ones(len(units))).rate
    if weights.min() > 0:
        assert best_rate(units, weights @ units) == pytest.approx(rate, abs=1e-6)
    else:
        assert best_rate(units, weights @ units) <= rate + 1e-9


@given(gradients)
def test_nash_solves_its_equation(rows: np.ndarray) -> None:
    direction = NashMTL().direction(rows, np.ones(len(rows)))
    # direction = Σ alpha_i g_i with g_i·direction = 1/alpha_i.
    alpha = 1 / (rows @ direction)
    assert alpha.min() > 0
    assert alpha @ rows == pytest.approx(direction, rel=1e-4, abs=1e-6)


@given(gradients)
def test_cagrad_stays_in_its_ball(rows: np.ndarray) -> None:
    mean = rows.mean(axis=0)
    direction = CAGrad(0.5).direction(rows, np.ones(len(rows)))
    length = np.linalg.norm(mean)
    assert np.linalg.norm(direction - mean) <= (0.5 + 1e-6) * length
    assert (rows @ direction).min() >= (rows @ mean).min() - 1e-4 * length


@pytest.mark.parametrize("rule", [*BASELINES, "balanced, normalized", "balanced, secant"])
def test_every_rule_lowers_the_mean_loss(rule: str) -> None:
    assert descend(rule, Problem(1, np.ones(TASKS)), steps=40).mean() < 1.0


def test_three_against_one_sends_imtl_below_zero_and_balance_serves_the_worst_better() -> None:
    found = three_against_one(draws=20)
    assert found.negative > 0.5
    assert found.balanced_rate > found.imtl_rate > found.mean_rate


def test_an_invariant_rule_ends_at_the_same_place_whatever_the_units() -> None:
    unit = 10.0 ** np.array([-3, -1.5, 0, 1.5, 3])
    for rule, same in (("balanced, normalized", True), ("mean gradient", False)):
        plain, scaled = (descend(rule, Problem(0, scale), 60) for scale in (np.ones(TASKS), unit))
        assert (float(np.abs(plain - scaled).max()) < 1e-9) == same
