from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.balanced import solver
from policies.balanced.solver import Balance, balance, onto_simplex
from policies.balanced.study import brute_force, instance, residual

Vectors = list[tuple[float, ...]]


def solved(rows: Vectors, curvatures: list[float] | None = None) -> tuple[Balance, list[float]]:
    gradients = np.array(rows)
    lengths = np.linalg.norm(gradients, axis=1)
    found = balance(gradients @ gradients.T, lengths if curvatures is None else curvatures)
    return found, (found.weights @ gradients).tolist()


@pytest.mark.parametrize(
    ("rows", "curvatures", "step", "rate"),
    [
        ([(1, 0), (0, 1)], [1, 1], (0.5, 0.5), 0.5),
        ([(1, 0), (0, 2)], [1, 1], (2 / 3, 2 / 3), 4 / 9),
        ([(1, 0.2), (-1, 0.2)], [1, 1], (0, 0.2), 0.03846),
        ([(1, 0), (-1, 0)], [1, 1], (0, 0), 0),
        ([(1, 0), (0, 2)], [1, 4], (1 / 3, 1 / 3), 4 / 9),
        ([(1, 0, 0), (0.6, 0.8, 0), (0.3, 0.1, 0.9)], None, (0.58813, 0.29407, 0.39466), 0.58813),
        ([(3, 4)], [2], (1.5, 2), 1),
    ],
)
def test_the_steps_of_the_note(
    rows: Vectors, curvatures: list[float] | None, step: tuple[float, ...], rate: float
) -> None:
    found, direction = solved(rows, curvatures)
    assert direction == pytest.approx(step, abs=1e-5)
    assert found.rate == pytest.approx(rate, abs=1e-5)
    assert found.length == pytest.approx(float(np.linalg.norm(step)), abs=1e-5)


def test_a_task_that_is_served_anyway_does_not_bind() -> None:
    found, direction = solved([(1, 0), (1, 0.1), (0, 1)], [1, 1, 1])
    assert found.active == (0, 2)
    assert direction == pytest.approx((0.5, 0.5))
    assert found.rates == pytest.approx((0.5, 0.594, 0.5), abs=1e-3)
    assert found.shares == pytest.approx((0.5, 0, 0.5))


def test_the_same_task_twice_is_one_task() -> None:
    found, direction = solved([(1, 0), (1, 0), (0, 1)], [1, 1, 1])
    assert direction == pytest.approx((0.5, 0.5), abs=1e-8)
    assert found.rate == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(60))
def test_it_is_what_brute_force_finds(seed: int) -> None:
    gradients, h = instance(seed)
    inner = gradients @ gradients.T
    scale = h / np.diagonal(inner)
    found = balance(inner, h)
    expected = brute_force(inner * np.outer(scale, scale), h**2 / np.diagonal(inner))
    assert found.rate == pytest.approx(expected, abs=1e-4)


def random_tasks(seed: int, count: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scales = np.exp(2 * rng.normal(size=(count, 1)))
    return rng.normal(size=(count, dimensions)) * scales, np.exp(2 * rng.normal(size=count))


tasks = st.builds(random_tasks, st.integers(0, 10_000), st.integers(1, 8), st.integers(2, 12))


@given(tasks)
def test_the_conditions_of_karush_kuhn_and_tucker_hold(made: tuple[np.ndarray, np.ndarray]) -> None:
    gradients, h = made
    found = balance(gradients @ gradients.T, h)
    assert found.weights.min() >= -1e-8
    assert found.shares.sum() == pytest.approx(1)
    if found.rate > 1e-4:  # the ridge blurs a rate near 0, where no step helps
        assert residual(found) < (1e-6 if len(h) <= gradients.shape[1] else 1e-5)


@given(tasks)
def test_a_rate_is_a_share(made: tuple[np.ndarray, np.ndarray]) -> None:
    gradients, h = made
    found = balance(gradients @ gradients.T, h)
    assert -1e-6 <= found.rate <= 1 + 1e-9
    assert found.rates.max() <= 1 + 1e-9


@given(tasks, st.integers(0, 1000))
def test_no_other_step_serves_the_worst_better(
    made: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    gradients, h = made
    found = balance(gradients @ gradients.T, h)
    step = found.weights @ gradients
    norms = (gradients**2).sum(1)

    def worst(d: np.ndarray) -> float:
        return float((2 * h * (gradients @ d) / norms - h**2 / norms * (d @ d)).min())

    assert worst(step) == pytest.approx(found.rate, abs=1e-6)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        size = np.exp(rng.normal() * 3)
        other = step + size * np.linalg.norm(step) * rng.normal(size=len(step)) / len(step)
        assert worst(other) <= found.rate + 1e-6


@given(tasks, st.integers(0, 1000))
def test_the_units_of_losses_do_not_matter(made: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    gradients, h = made
    unit = np.exp(3 * np.random.default_rng(seed).normal(size=len(h)))
    plain = balance(gradients @ gradients.T, h)
    other = gradients * unit[:, None]
    scaled = balance(other @ other.T, h * unit)
    assert scaled.rate == pytest.approx(plain.rate, abs=1e-5)
    if plain.rate > 1e-2:
        step = plain.weights @ gradients
        assert scaled.weights @ other == pytest.approx(step, abs=1e-4 * float(np.linalg.norm(step)))


@given(tasks)
def test_both_ways_out_of_a_circle_find_the_same(made: tuple[np.ndarray, np.ndarray]) -> None:
    gradients, h = made
    lengths = np.linalg.norm(gradients, axis=1)
    units = gradients / lengths[:, None]
    products, q = units @ units.T, np.ones(len(h))
    expected = balance(products, q).rate
    for beta, _ in (
        solver._enumerate(products, q, 1e-10),
        solver._descend(products, q, 1e-10),
    ):
        rates, _ = solver._rates(products, q, beta)
        assert rates.min() == pytest.approx(expected, abs=1e-5)


def test_a_search_in_circles_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    # At first the closed form sends away the first task of any two, though that is wrong.
    gradients = np.eye(3)
    real = solver.closed_form
    calls: list[int] = []

    def unsettled(products: np.ndarray, q: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        t, beta = real(products, q, ridge)
        calls.append(len(q))
        if len(q) > 1 and len(calls) < 5:
            beta = beta * np.where(np.arange(len(q)) == 0, -1, 1)
        return t, beta

    monkeypatch.setattr(solver, "closed_form", unsettled)
    assert balance(gradients, np.ones(3)).rate == pytest.approx(1 / 3)
    assert len(calls) > 3 + 7 - 1  # it has tried all seven sets


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9))
def test_the_nearest_point_of_the_simplex(point: list[float]) -> None:
    nearest = onto_simplex(np.array(point))
    assert nearest.min() >= 0
    assert nearest.sum() == pytest.approx(1)
    # The difference is the same wherever the nearest point is inside.
    inside = nearest > 1e-9
    assert np.ptp((np.array(point) - nearest)[inside]) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("gram", "h"),
    [
        ([[0.0]], [1.0]),
        ([[1.0]], [0.0]),
        ([[1.0]], [1.0, 1.0]),
        ([[float("nan")]], [1.0]),
        ([], []),
    ],
)
def test_what_has_no_answer_is_refused(gram: list[list[float]], h: list[float]) -> None:
    with pytest.raises(ValueError, match=r"gradients must not be 0|gram is"):
        balance(gram, h)
