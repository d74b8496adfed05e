"""A8: what the paper's normalised signals are bound to be, whatever happens (note 7.4, 10.3)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from monitors.caspian.literal.records import Constants, Signals
from monitors.caspian.literal.spectrum import (
    entropy,
    influence,
    leading,
    normalised,
    signals,
    weak_link,
)

EPSILON = 1e-8
Matrix = NDArray[np.float64]


@st.composite
def influences(draw: st.DrawFn) -> Matrix:
    """Random influence: any size, sparse or full, weights over six orders of magnitude."""
    size = draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights: Matrix = 10.0 ** rng.uniform(-3, 3, (size, size))
    weights *= rng.random((size, size)) < draw(st.floats(0.1, 1.0))
    np.fill_diagonal(weights, 0)
    weights[0, 1] = 1.0
    return weights


@given(influences())
def test_the_largest_singular_value_is_one(matrix: Matrix) -> None:
    assert leading(normalised(matrix, EPSILON))[0] == pytest.approx(1.0, abs=1e-6)


@given(influences(), influences())
def test_traffic_both_ways_between_two_layers_closes_the_gap(down: Matrix, up: Matrix) -> None:
    """Hub and spokes, farmers and roasters: each direction has a singular value 1 of its own."""
    size = max(len(down), len(up))
    matrix = np.zeros((2 * size, 2 * size))
    matrix[: len(down), size : size + len(down)] = down
    matrix[size : size + len(up), : len(up)] = up
    first, second = leading(normalised(matrix, EPSILON))

    assert 1 - second / first <= 1e-6


@given(influences())
def test_without_a_cycle_all_eigenvalues_are_zero(matrix: Matrix) -> None:
    acyclic = np.triu(matrix, 1)

    # Of a nilpotent matrix rounding leaves eigenvalues of the size of ε^(1/n); a triangular one
    # has them on its diagonal.
    assert leading(normalised(acyclic, EPSILON), "eigen") == (0.0, 0.0)


def test_every_singular_value_of_a_chain_is_one() -> None:
    chain = np.diag([0.2, 5.0, 1.0, 0.01], 1)

    values = np.linalg.svd(normalised(chain, EPSILON), compute_uv=False)

    np.testing.assert_allclose(values, [1, 1, 1, 1, 0], atol=1e-6)


@given(influences())
def test_the_weak_link_always_holds(matrix: Matrix) -> None:
    assert weak_link(matrix, EPSILON)
    assert weak_link(normalised(matrix, EPSILON), EPSILON)


@pytest.mark.parametrize("active", [1, 2, 3, 4])
def test_single_hop_entropy_counts_the_active_channels(active: int) -> None:
    tensor = np.zeros((4, 3, 3))
    # Energies of very different size; the normalisation makes them all alike.
    tensor[:active, 0, 1] = [5.0, 0.1, 20.0, 0.003][:active]

    assert entropy(normalised(tensor, EPSILON), EPSILON) == pytest.approx(
        math.log(active) / math.log(4), abs=1e-6
    )


def test_silence_has_no_spectrum() -> None:
    quiet = influence(np.zeros((4, 3, 3)), EPSILON)
    said = signals(0, quiet, None, 0, Constants())

    assert (said.lambda1, said.lambda2, said.entropy, said.watch) == (0, 0, 0, False)


def test_signals_by_hand() -> None:
    """A ring of two and a bystander, then full mutual traffic of three: singular values known."""
    pair = np.zeros((4, 3, 3))
    pair[0, 0, 1] = pair[0, 1, 0] = 1.0
    triangle = np.zeros((4, 3, 3))
    triangle[0] = triangle[1] = 1 - np.eye(3)
    constants = Constants()
    before = signals(3, influence(triangle, EPSILON), None, 0, constants)
    now = signals(4, influence(pair, EPSILON), before, 2, constants)

    # The triangle's Ã is (1 - I)/2 with singular values 1, 1/2, 1/2; the pair's are 1 and 1.
    assert before.coupling == pytest.approx(0.5, abs=1e-6)
    assert before.entropy == pytest.approx(0.5, abs=1e-6) and not before.watch
    assert now.amplification == pytest.approx(2 / 1.5, abs=1e-6)
    assert now.contraction == pytest.approx(0.5, abs=1e-6)
    assert now.phase == pytest.approx(1.0, abs=1e-6) and now.phase_shift
    assert (now.tick, now.dropped) == (4, 2)


@given(st.lists(influences(), min_size=2, max_size=2))
def test_a_closing_gap_is_nearly_always_a_phase_shift(pair: list[Matrix]) -> None:
    """Φ = |ΔR|/R >= |ΔR| = Δg as R < 1: so nearly every watch turn is an instant alert."""
    said: Signals | None = None
    for tick, matrix in enumerate(pair):
        said = signals(tick, influence(np.stack([matrix] * 4), EPSILON), said, 0, Constants())

    assert said is not None
    assert said.phase_shift or said.contraction <= 0 or said.gap < 1e-6
