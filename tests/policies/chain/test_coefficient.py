from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.chain.coefficient import AutomaticCoefficient, CoefficientSettings

numbers = st.floats(0, 1e6, allow_nan=False)


def test_it_makes_the_term_a_tenth_of_the_loss() -> None:
    weight = AutomaticCoefficient(CoefficientSettings(beta=0.1, warm_up=0, most=1e9))
    weight.update(loss=2.0, churn=0.04)
    assert weight.value == pytest.approx(0.1 * 2.0 / 0.04, rel=1e-6)
    assert weight.proportion == pytest.approx(0.1, rel=1e-6)


def test_it_waits_until_it_has_warmed_up() -> None:
    weight = AutomaticCoefficient(CoefficientSettings(beta=0.1, first=1.0, warm_up=3))
    for _ in range(3):
        weight.update(1.0, 0.01)
        assert weight.value == 1.0
    weight.update(1.0, 0.01)
    assert weight.value == pytest.approx(10, rel=1e-5)


def test_only_the_window_counts() -> None:
    weight = AutomaticCoefficient(CoefficientSettings(beta=1.0, warm_up=0, window=2, most=1e9))
    for loss in (100.0, 1.0, 3.0):
        weight.update(loss, 1.0)
    assert weight.value == pytest.approx(2.0)


def test_losses_below_zero_count_by_their_size() -> None:
    weight = AutomaticCoefficient(CoefficientSettings(beta=1.0, warm_up=0))
    weight.update(-2.0, 1.0)
    assert weight.value == pytest.approx(2.0)


def test_it_falls_with_the_learning_rate_if_told() -> None:
    weight = AutomaticCoefficient(CoefficientSettings(beta=1.0, warm_up=0))
    weight.update(2.0, 1.0, factor=0.5)
    assert weight.value == pytest.approx(1.0)


@given(st.lists(st.tuples(numbers, numbers), max_size=60), st.floats(0, 1e5))
def test_it_stays_within_its_bounds(seen: list[tuple[float, float]], beta: float) -> None:
    weight = AutomaticCoefficient(CoefficientSettings(beta=beta, least=0.0, most=50.0))
    for loss, churn in seen:
        weight.update(loss, churn)
        assert 0 <= weight.value <= 50


def test_what_is_not_finite_is_passed_over() -> None:
    weight = AutomaticCoefficient(CoefficientSettings(warm_up=0))
    weight.update(1.0, 0.01)
    before = weight.save()
    weight.update(math.nan, 1.0)
    weight.update(1.0, math.inf)
    assert weight.save() == before


def test_a_new_regime_begins_anew() -> None:
    weight = AutomaticCoefficient(CoefficientSettings())
    for _ in range(9):
        weight.update(1.0, 0.01)
    weight.reset()
    assert weight.save() == AutomaticCoefficient(CoefficientSettings()).save()


@given(st.lists(st.tuples(numbers, numbers), max_size=30))
def test_saved_and_loaded_it_goes_on_as_if_nothing_had_happened(
    seen: list[tuple[float, float]],
) -> None:
    weight = AutomaticCoefficient(CoefficientSettings(window=5))
    for loss, churn in seen:
        weight.update(loss, churn)
    again = AutomaticCoefficient(CoefficientSettings(window=5))
    again.load(json.loads(json.dumps(weight.save())))
    weight.update(1.0, 2.0)
    again.update(1.0, 2.0)
    assert again.value == pytest.approx(weight.value)


def test_a_long_window_keeps_its_mean() -> None:
    weight = AutomaticCoefficient(CoefficientSettings(beta=1.0, warm_up=0, window=1500, most=1e12))
    for n in range(4000):
        weight.update(1e9 if n < 2000 else 0.1, 1.0)
    assert weight.value == pytest.approx(0.1, rel=1e-6)
