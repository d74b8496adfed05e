from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from policies.concave.estimator import (
    MultiLevel,
    PlugIn,
    automatic,
    draw_levels,
    estimate,
    level_probabilities,
    multilevel,
)
from policies.concave.scalarisation import Array, Scalarisation
from policies.concave.utilities import (
    Linear,
    ProportionalFairness,
    Quadratic,
    SoftMin,
    TargetShortfall,
)
from services.errors import HanseError

SHORTFALL = TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0))
J = np.array([0.5, 0.65])


def noisy(n: int, rng: np.random.Generator) -> Array:
    return J + 0.3 * rng.normal(size=(n, 2))


def one_draw(f: Scalarisation, returns: Array) -> Array:
    q = len(returns).bit_length() - 1
    return multilevel(f.grad, returns, np.array([q]), level_probabilities(3))[0]


def test_levels_are_half_as_likely_from_one_to_the_next() -> None:
    p = level_probabilities(9)
    assert p.sum() == pytest.approx(1)
    assert p[:-1] / p[1:] == pytest.approx(2)
    drawn = draw_levels(3, np.random.default_rng(0), 70_000)
    assert np.bincount(drawn) / 70_000 == pytest.approx([0, 4 / 7, 2 / 7, 1 / 7], abs=0.01)


def test_trajectories_per_draw_are_about_the_number_of_levels() -> None:
    p, q = level_probabilities(9), np.arange(1, 10)
    assert MultiLevel(9, 1).expected_trajectories == pytest.approx((p * 2**q).sum())
    assert MultiLevel(9, 4).expected_trajectories == pytest.approx(4 * 9, rel=0.01)
    spent = [sum(MultiLevel(5, 1).sizes(np.random.default_rng(n))) for n in range(4000)]
    assert np.mean(spent) == pytest.approx(MultiLevel(5, 1).expected_trajectories, rel=0.05)


def test_a_linear_utility_has_no_correction_at_all() -> None:
    f = Linear((0.3, 0.7))
    for q in (1, 2, 3):
        returns, drawn = noisy(2**q, np.random.default_rng(q)), np.array([q])
        weighty, light = (multilevel(f.grad, returns, drawn, np.full(3, p)) for p in (1e-30, 1.0))
        assert weighty.tolist() == light.tolist()
        assert weighty[0] == pytest.approx([0.3, 0.7], rel=1e-14)


def test_for_a_parabola_both_are_without_bias_at_any_size() -> None:
    f = Quadratic((1.0, 0.5), ((2.0, -1.0), (-1.0, 3.0)))
    two_points = np.array([[0.2, 0.9], [0.8, 0.4]])
    truth = f.grad(two_points.mean(axis=0))
    for number in (1, 2, 4):
        every = np.array(list(itertools.product(two_points, repeat=number)))
        assert f.grad(every.mean(axis=1)).mean(axis=0) == pytest.approx(truth, abs=1e-12)
    for q in (1, 2, 3):
        every = np.array(list(itertools.product(two_points, repeat=2**q)))
        got = np.mean([one_draw(f, one) for one in every], axis=0)
        assert got == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("f", [SHORTFALL, ProportionalFairness(delta=0.1), SoftMin(4.0)])
def test_the_mean_telescopes_to_the_bias_of_the_largest_batch(f: Scalarisation) -> None:
    points, chances = np.array([[0.1, 0.9], [0.8, 0.55]]), np.array([0.3, 0.7])
    total = np.zeros(2)
    for q, p in enumerate(level_probabilities(3), start=1):
        for picked in itertools.product((0, 1), repeat=2**q):
            total += p * chances[list(picked)].prod() * one_draw(f, points[list(picked)])
    largest = np.zeros(2)
    for picked in itertools.product((0, 1), repeat=8):
        largest += chances[list(picked)].prod() * f.grad(points[list(picked)].mean(axis=0))
    assert total == pytest.approx(largest, abs=1e-12)
    assert np.abs(largest - f.grad(chances @ points)).max() > 1e-3


def test_a_scaled_utility_has_a_scaled_estimate() -> None:
    for estimator in (PlugIn(4), MultiLevel(5, 3)):
        plain = estimate(SHORTFALL, noisy, estimator, (1, 2))
        scaled = estimate(SHORTFALL.scaled(4.0), noisy, estimator, (1, 2))
        assert scaled.gradient == pytest.approx(4 * plain.gradient, abs=1e-12)
        assert scaled.value == pytest.approx(4 * plain.value, abs=1e-12)


def test_an_estimate_is_never_clipped() -> None:
    # Halves on either side of a target make up for what single returns say too much of, so that
    # estimates fall below the least gradient there is (here 0).
    got = [estimate(SHORTFALL, noisy, MultiLevel(6, 1), (seed,)) for seed in range(300)]
    assert min(each.gradient[1] for each in got) < 0


def test_the_multi_level_estimate_is_right_where_plug_in_is_not() -> None:
    truth = SHORTFALL.grad(J)[1]
    plug = SHORTFALL.grad(noisy(4000, np.random.default_rng(0)).reshape(-1, 2, 2).mean(axis=1))
    drawn = draw_levels(9, np.random.default_rng(1), 20_000)
    returns = noisy(int((2**drawn).sum()), np.random.default_rng(2))
    many = multilevel(SHORTFALL.grad, returns, drawn, level_probabilities(9))[:, 1]
    error = many.std() / math.sqrt(len(many))
    assert plug[:, 1].mean() - truth > 0.4
    assert abs(many.mean() - truth) < 4 * error < 0.1


def test_repetitions_divide_the_variance() -> None:
    def variance(repetitions: int) -> float:
        estimator = MultiLevel(6, repetitions)
        made = [estimate(SoftMin(3.0), noisy, estimator, (n,)).gradient[0] for n in range(500)]
        return float(np.var(made))

    assert variance(1) / variance(4) == pytest.approx(4, rel=0.5)


def test_an_estimate_says_what_it_took_and_what_plug_in_would_say() -> None:
    made = estimate(SHORTFALL, noisy, MultiLevel(4, 3), (5,))
    assert made.trajectories == sum(2**q for q in made.levels)
    assert len(made.levels) == 3
    assert made.plug_in_value == pytest.approx(float(SHORTFALL.value(made.mean)))
    assert made.value_error > 0
    plug = estimate(SHORTFALL, noisy, PlugIn(7), (5,))
    assert plug.trajectories == 7 and plug.levels == () and math.isnan(plug.value_error)
    assert plug.value == plug.plug_in_value


def test_the_value_is_without_bias_too() -> None:
    f = ProportionalFairness(delta=0.2, floor=0.05)
    made = [estimate(f, noisy, MultiLevel(7, 4), (n,)) for n in range(600)]
    values = np.array([each.value for each in made])
    assert abs(values.mean() - f.value(J)) < 4 * values.std() / math.sqrt(len(values))
    singles = f.value(noisy(20_000, np.random.default_rng(0))).mean()
    assert f.value(J) - singles > 0.1


def test_accuracy_asks_for_levels() -> None:
    assert MultiLevel.for_accuracy(0.05).levels == math.ceil(2 * math.log2(20)) == 9


def test_plug_in_is_chosen_where_it_is_good_enough() -> None:
    assert automatic(SHORTFALL) == MultiLevel(9, 4)
    chosen = automatic(SoftMin(2.0))
    assert isinstance(chosen, PlugIn)
    assert chosen.batch == pytest.approx(MultiLevel(9, 4).expected_trajectories, abs=1)
    assert automatic(ProportionalFairness()) == MultiLevel(9, 4)


def test_what_cannot_be_is_refused() -> None:
    for make, says in (
        (lambda: PlugIn(0), "PlugIn: batch must be a whole number from 1 up, not 0"),
        (lambda: MultiLevel(0), "levels must be a whole number from 1 up"),
        (lambda: MultiLevel(30), "at most 20"),
        (lambda: MultiLevel(3, 0), "repetitions must be a whole number"),
        (lambda: MultiLevel.for_accuracy(2.0), "epsilon must be between 0 and 1"),
    ):
        with pytest.raises(HanseError, match=says):
            make()


def test_a_sampler_is_told_when_it_answers_nonsense() -> None:
    with pytest.raises(HanseError, match=r"must answer an array of shape \(4, M\)"):
        estimate(SHORTFALL, lambda n, rng: np.zeros((n + 1, 2)), PlugIn(4), (0,))
    with pytest.raises(HanseError, match="not finite"):
        estimate(SHORTFALL, lambda n, rng: np.full((n, 2), np.nan), PlugIn(4), (0,))
