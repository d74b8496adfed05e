import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policies.becon import metrics
from policies.becon.metrics import Record, hypervolume


def record(
    utility: list[float], cost: list[float], jumps: tuple[int, ...] = (), oracle: float = 1.0
) -> Record:
    """One episode with a budget of 0.5 and two objectives, acted on as if w were (1, 0)."""
    steps = len(utility)
    jumped = np.zeros((1, steps), dtype=bool)
    jumped[0, list(jumps)] = True
    return Record(
        np.array([utility]),
        np.full((1, steps), oracle),
        np.array([cost]),
        np.full((1, steps), 0.5),
        jumped,
        np.full((1, steps, 2), 0.5),
        np.tile([1.0, 0.0], (1, steps, 1)),
        np.full((1, steps), 0.7),
    )


def test_expected_utility_counts_violating_steps_in_full() -> None:
    assert metrics.expected_utility(record([1.0, 0.5], [0.9, 0.1])) == pytest.approx(0.75)


def test_safe_regret_counts_nothing_for_a_step_that_violates() -> None:
    assert metrics.safe_regret(record([1.0, 0.5], [0.9, 0.1])) == pytest.approx(0.75)


def test_a_cost_that_just_meets_the_budget_is_no_violation() -> None:
    assert metrics.violation_rate(record([0, 0, 0, 0], [0.5, 0.6, 0.4, 0.5])) == 0.25


def test_excess_is_what_is_spent_above_the_budget() -> None:
    assert metrics.mean_excess(record([0, 0], [0.7, 0.1])) == pytest.approx(0.1)


def test_post_shift_regret_looks_at_the_steps_from_each_jump_on() -> None:
    made = record([1.0, 0.0, 0.5, 1.0, 1.0], [0.0] * 5, jumps=(1,))
    assert metrics.post_shift_regret(made, 2) == pytest.approx((1.0 + 0.5) / 2)


def test_without_a_jump_there_is_no_post_shift_regret() -> None:
    assert np.isnan(metrics.post_shift_regret(record([1.0], [0.0]), 4))


def test_a_new_jump_starts_the_count_again() -> None:
    jumped = np.array([[False, True, False, False, True, False]])
    assert metrics.steps_since_jump(jumped).tolist() == [[-1, 0, 1, 2, 0, 1]]


def test_recovery_is_the_first_distance_from_a_jump_within_ten_per_cent_of_the_oracle() -> None:
    made = record([1.0, 0.0, 0.5, 0.95, 1.0], [0.0] * 5, jumps=(1,))
    assert metrics.recovery_time(made) == 2


def test_what_never_recovers_has_no_recovery_time() -> None:
    assert np.isnan(metrics.recovery_time(record([0.0] * 5, [0.0] * 5, jumps=(1,))))


def test_a_segment_violates_by_its_mean_cost() -> None:
    made = record([0] * 4, [0.9, 0.2, 0.9, 0.4], jumps=(2,))
    assert metrics.segment_violation_rate(made) == pytest.approx((1 + 1) / 2)
    assert metrics.segment_excess(made) == pytest.approx((0.05 * 2 + 0.15 * 2) / 4)


def test_context_errors_are_against_the_truth() -> None:
    made = record([0], [0])
    assert metrics.preference_error(made) == pytest.approx(0.5)
    assert metrics.budget_error(made) == pytest.approx(0.2)


def test_a_gate_agrees_where_it_sides_with_what_is_nearer() -> None:
    gate, belief = np.array([0.9, 0.9, 0.1, 0.1]), np.array([1.0, 3.0, 1.0, 3.0])
    assert metrics.gate_agreement(gate, belief, np.full(4, 2.0)) == 0.5


def test_a_true_gaussian_is_covered_as_often_as_the_interval_says() -> None:
    error = np.random.default_rng(0).normal(0, 2.0, 50_000)
    assert metrics.coverage(error, np.full(50_000, 2.0)) == pytest.approx(0.8, abs=0.01)


def test_the_grid_of_three_objectives_has_twenty_one_points() -> None:
    grid = metrics.simplex_grid(3, 5)
    assert grid.shape == (21, 3)
    assert grid.sum(axis=1) == pytest.approx(1.0)
    assert len({tuple(point) for point in grid}) == 21


def test_hypervolume_of_two_overlapping_boxes() -> None:
    points = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert hypervolume(points, np.zeros(2)) == pytest.approx(3.0)


def test_hypervolume_of_three_objectives_by_hand() -> None:
    points = np.array([[1.0, 1.0, 2.0], [2.0, 1.0, 1.0]])
    assert hypervolume(points, np.zeros(3)) == pytest.approx(2 + 2 - 1)


def test_points_that_do_not_dominate_the_reference_count_nothing() -> None:
    assert hypervolume(np.array([[2.0, -0.1]]), np.zeros(2)) == 0.0


def test_a_reference_of_the_wrong_width_is_an_error() -> None:
    with pytest.raises(ValueError, match="width 3"):
        hypervolume(np.zeros((1, 2)), np.zeros(3))


@given(arrays(float, (5, 3), elements=st.floats(0, 1)))
def test_hypervolume_agrees_with_counting_cells(points: np.ndarray) -> None:
    points = np.round(points * 4) / 4
    middles = (np.stack(np.meshgrid(*[np.arange(4)] * 3), -1).reshape(-1, 3) + 0.5) / 4
    dominated = (points[:, None] > middles[None]).all(axis=-1).any(axis=0)
    assert hypervolume(points, np.zeros(3)) == pytest.approx(dominated.sum() / 64)


def test_the_standard_error_of_one_seed_is_unknown() -> None:
    assert np.isnan(metrics.standard_error([1.0]))
    assert metrics.standard_error([1.0, 3.0]) == pytest.approx(1.0)
