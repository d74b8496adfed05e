import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.becon.budget_filter import BudgetFilter


def test_at_first_any_budget_is_as_likely() -> None:
    fresh = BudgetFilter(2)
    assert fresh.mean == pytest.approx(0.5)
    assert fresh.deviation == pytest.approx(np.sqrt(1 / 12), abs=1e-3)


def test_an_alarm_says_that_the_budget_is_below_what_was_spent() -> None:
    one = BudgetFilter(1)
    one.update(np.array([0.5]), np.array([1.0]))
    assert one.mean[0] == pytest.approx(0.25, abs=0.01)


def test_silence_of_the_alarm_says_that_it_is_above() -> None:
    one = BudgetFilter(1)
    one.update(np.array([0.5]), np.array([0.0]))
    assert one.mean[0] == pytest.approx(0.75, abs=0.01)


def test_the_posterior_of_a_cell_is_its_likelihood_times_its_prior() -> None:
    one = BudgetFilter(1)
    one.update(np.array([0.3]), np.array([1.0]))
    chance = 1 / (1 + np.exp(-25 * (0.3 - one.grid)))
    assert one.mass[0] == pytest.approx(chance / chance.sum())


def test_without_an_audit_nothing_is_learned() -> None:
    one = BudgetFilter(1)
    one.update(np.array([0.3]), np.array([np.nan]))
    assert one.mass == pytest.approx(1 / 24)


def test_prediction_moves_three_per_cent_to_the_neighbours_and_mixes_with_anything() -> None:
    one = BudgetFilter(1)
    one.mass = np.eye(24)[[10]]
    one.predict()
    hazard = 1 / 24
    assert one.mass[0, 10] == pytest.approx((1 - hazard) * 0.97 + hazard / 24)
    assert one.mass[0, 9] == pytest.approx((1 - hazard) * 0.015 + hazard / 24)
    assert one.mass[0, 0] == pytest.approx(hazard / 24)


def test_the_edge_of_the_grid_loses_nothing() -> None:
    one = BudgetFilter(1)
    one.mass = np.eye(24)[[0]]
    one.predict()
    assert one.mass.sum() == pytest.approx(1.0)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=60))
def test_the_mass_stays_a_distribution_whatever_alarms_contradict_each_other(
    steps: list[tuple[float, bool]],
) -> None:
    one = BudgetFilter(1)
    for cost, alarm in steps:
        one.update(np.array([cost]), np.array([float(alarm)]))
        one.predict()
    assert one.mass.sum() == pytest.approx(1.0)
    assert np.isfinite(one.mass).all() and (one.mass > 0).all()
