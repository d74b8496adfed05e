"""The statistics of a tick: all events together, edges one by one, and their spectrum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.settings import Settings
from monitors.caspian.statistics import (
    EdgeCusum,
    Excess,
    Spectral,
    conditional_mean,
    cusum_mass,
    entropy,
    iterate,
)


def test_q1_is_the_sum_over_the_root_of_the_number() -> None:
    assert conditional_mean(np.array([1.0, 2.0, -0.5, 1.5])) == 2.0
    assert conditional_mean(np.empty(0)) == 0.0


def test_q1_of_a_draw_has_the_same_variance_as_of_all() -> None:
    z = np.random.default_rng(0).standard_normal((2_000, 64))
    every = [conditional_mean(row) for row in z]
    drawn = [conditional_mean(row[:13]) for row in z]
    assert np.var(every) == pytest.approx(1.0, abs=0.1)
    assert np.var(drawn) == pytest.approx(1.0, abs=0.1)


def test_an_edges_cusum_adds_its_scores_less_the_drift_of_each_event() -> None:
    cusum = EdgeCusum(3, Settings())
    cusum.step(np.array([1, 1]), np.array([1.0, 2.0]))
    assert cusum.value.tolist() == pytest.approx([0.0, 2.4, 0.0])


def test_a_silent_edges_cusum_fades_and_a_negative_one_is_nothing() -> None:
    cusum = EdgeCusum(2, Settings())
    cusum.step(np.array([0, 1]), np.array([2.3, 2.3]))
    cusum.step(np.array([1]), np.array([-4.0]))
    assert cusum.value.tolist() == pytest.approx([2.0 * 0.97, 0.0])


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.floats(-4, 5)), max_size=8), max_size=20))
def test_cusums_stay_between_nothing_and_the_limit(ticks: list[list[tuple[int, float]]]) -> None:
    cusum = EdgeCusum(4, Settings())
    for tick in ticks:
        cusum.step(np.array([e for e, _ in tick], np.intp), np.array([z for _, z in tick], float))
        assert (cusum.value >= 0).all() and (cusum.value <= 15).all()


def test_q2_counts_what_edges_have_above_the_floor() -> None:
    assert cusum_mass(np.array([0.5, 2.0, 4.0]), 1.0) == pytest.approx(math.log(5.0))


def excess_of(matrix: np.ndarray) -> Excess:
    source, target = np.nonzero(matrix)
    return Excess(source.astype(np.int32), target.astype(np.int32), matrix[source, target])


@pytest.mark.parametrize("seed", range(5))
def test_power_iteration_finds_the_two_leading_singular_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.random((9, 9)) * (rng.random((9, 9)) < 0.4)
    start = Spectral(9).vectors
    _, values = iterate(excess_of(matrix), start, 300)
    assert values == pytest.approx(tuple(np.linalg.svd(matrix)[1][:2]), rel=1e-6)


def test_warm_vectors_follow_a_matrix_that_stays() -> None:
    matrix = np.random.default_rng(1).random((8, 8))
    spectral = Spectral(8)
    for _ in range(40):
        spectral.step(excess_of(matrix))
    leading = np.linalg.svd(matrix)[1]
    assert spectral.q3 == pytest.approx(math.log1p(leading[0]))
    assert spectral.signals()["gap"] == pytest.approx(1 - leading[1] / leading[0], rel=1e-5)
    assert spectral.signals()["amplification"] == pytest.approx(1.0)
    assert not spectral.signals()["watch"]


def test_a_single_edge_has_one_singular_value() -> None:
    spectral = Spectral(4)
    spectral.step(Excess(np.array([0], np.int32), np.array([1], np.int32), np.array([3.0])))
    assert spectral.lambda1 == pytest.approx(3.0)
    assert spectral.lambda2 == pytest.approx(0.0, abs=1e-9)


def test_it_finds_its_way_back_after_a_tick_without_any_excess() -> None:
    spectral = Spectral(4)
    edge = Excess(np.array([0], np.int32), np.array([1], np.int32), np.array([3.0]))
    other = Excess(np.array([2], np.int32), np.array([3], np.int32), np.array([5.0]))
    nothing = Excess(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    spectral.step(edge)
    spectral.step(nothing)
    assert spectral.q3 == 0.0
    for _ in range(3):
        spectral.step(other)
    assert spectral.lambda1 == pytest.approx(5.0)


def test_entropy_is_one_when_all_channels_carry_alike_and_zero_for_one() -> None:
    assert entropy(np.ones(4)) == pytest.approx(1.0)
    assert entropy(np.array([2.0, 2.0, 0.0, 0.0])) == pytest.approx(0.5)
    assert entropy(np.array([0.0, 7.0, 0.0, 0.0])) == 0.0
    assert entropy(np.zeros(4)) == 0.0
