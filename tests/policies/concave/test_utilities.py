from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.concave.reading import read_scalarisation
from policies.concave.scalarisation import Part, Scalarisation
from policies.concave.utilities import (
    AlphaFair,
    Linear,
    ProportionalFairness,
    Quadratic,
    SoftMin,
    TargetShortfall,
)
from services.errors import HanseError

SHORTFALL = TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0))
EVERY: list[Scalarisation] = [
    Linear((0.3, 0.7)),
    ProportionalFairness(delta=0.05, floor=0.01),
    AlphaFair(0.5, floor=0.1),
    AlphaFair(2.0, delta=0.1, floor=0.05),
    SHORTFALL,
    SoftMin(5.0),
    Quadratic((0.5, 0.5), ((2.0, -1.0), (-1.0, 3.0)), (0.2, 0.1)),
    Quadratic.mean_variance(2, 3.0),
    SHORTFALL.scaled(2.5),
    Part(SoftMin(3.0), (1,), of=2),
]
BOTH = st.tuples(st.floats(-1, 2), st.floats(-1, 2)).map(np.array)


@pytest.mark.parametrize("f", EVERY, ids=lambda f: type(f).__name__)
def test_gradients_are_those_of_the_values(f: Scalarisation) -> None:
    for J in np.random.default_rng(0).uniform(-0.5, 1.5, (20, 2)):
        h = 1e-6
        numeric = [(f.value(J + h * e) - f.value(J - h * e)) / (2 * h) for e in np.eye(2)]
        assert f.grad(J) == pytest.approx(np.array(numeric), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("f", EVERY, ids=lambda f: type(f).__name__)
@settings(max_examples=50, deadline=None)
@given(a=BOTH, b=BOTH, share=st.floats(0, 1))
def test_utilities_are_concave(f: Scalarisation, a: Any, b: Any, share: float) -> None:
    between = share * a + (1 - share) * b
    least = share * f.value(a) + (1 - share) * f.value(b)
    assert f.value(between) >= least - 1e-9 * (1 + abs(least))
    assert f.value(b) <= f.value(a) + f.grad(a) @ (b - a) + 1e-9 * (1 + abs(f.value(b)))


@pytest.mark.parametrize("f", EVERY, ids=lambda f: type(f).__name__)
def test_leading_axes_are_rows_by_themselves(f: Scalarisation) -> None:
    J = np.random.default_rng(1).uniform(0, 1, (3, 4, 2))
    assert f.value(J).shape == (3, 4)
    assert f.grad(J).shape == (3, 4, 2)
    assert f.value(J)[2, 1] == pytest.approx(f.value(J[2, 1]))
    assert f.grad(J)[2, 1] == pytest.approx(f.grad(J[2, 1]))


def test_values_are_those_of_the_definitions() -> None:
    J = np.array([0.5, 0.25])
    assert ProportionalFairness(delta=0.25).value(J) == pytest.approx(math.log(0.75 * 0.5))
    assert AlphaFair(2.0).value(J) == pytest.approx(-2.0 - 4.0)
    assert AlphaFair(1.0).value(J) == ProportionalFairness().value(J)
    assert SHORTFALL.value(J) == pytest.approx(0.5 - 4 * 0.45**2)
    assert SHORTFALL.grad(J) == pytest.approx([1.0, 8 * 0.45])
    assert SHORTFALL.grad(np.array([0.5, 0.8])) == pytest.approx([1.0, 0.0])
    assert SoftMin(1.0).value(np.array([0.0, 0.0])) == pytest.approx(-math.log(2))
    assert SoftMin(2.0).value(np.array([-800.0, 800.0])) == pytest.approx(-800.0)
    # mean 0.375, variance over the two objectives 0.125^2
    assert Quadratic.mean_variance(2, 4.0).value(J) == pytest.approx(0.375 - 2 * 0.125**2)
    assert Linear((1.0, -2.0), offset=0.5).value(J) == pytest.approx(0.5)


def test_only_a_kink_in_the_slope_makes_a_utility_less_than_second_order_smooth() -> None:
    smooth = [f for f in EVERY if f.second_order_smooth]
    assert [f for f in EVERY if f not in smooth] == [SHORTFALL, SHORTFALL.scaled(2.5)]
    assert TargetShortfall((1.0,), (0.5,), (0.0,)).second_order_smooth
    assert all(f.lipschitz for f in EVERY)
    bare = ProportionalFairness()
    assert not bare.lipschitz and not bare.second_order_smooth


def test_below_its_floor_fairness_goes_on_with_the_same_curvature() -> None:
    f, h = ProportionalFairness(floor=0.5), 1e-4
    below, above = (
        (f.grad(np.array([x + h])) - f.grad(np.array([x - h]))) / (2 * h) for x in (0.49, 0.51)
    )
    assert float(below[0]) == pytest.approx(-4.0)
    assert float(above[0]) == pytest.approx(-1 / 0.51**2, rel=1e-4)
    assert f.value(np.array([0.7])) == pytest.approx(math.log(0.7))


def test_part_of_a_vector_counts_alone() -> None:
    f = Part(SHORTFALL, (2, 0), of=3)
    J = np.array([0.4, 9.0, 1.0])
    assert f.value(J) == SHORTFALL.value(np.array([1.0, 0.4]))
    assert f.grad(J) == pytest.approx([8 * 0.3, 0.0, 1.0])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Linear(()), "Linear: weights must be a row of numbers"),
        (lambda: Linear((1.0, math.nan)), "weights must be a row of numbers"),
        (lambda: AlphaFair(-1.0), "AlphaFair: alpha must be a number from 0 up, not -1.0"),
        (lambda: ProportionalFairness(delta=-0.1), "delta must be a number from 0 up"),
        (lambda: ProportionalFairness(floor=0.0), "floor must be a number above 0, or left out"),
        (lambda: ProportionalFairness(alpha=2.0), "for another use AlphaFair"),
        (lambda: SoftMin(0.0), "beta must be a number above 0"),
        (lambda: TargetShortfall((1.0,), (0.5, 0.5), (1.0,)), "must be equally long, not 1, 2"),
        (lambda: TargetShortfall((1.0,), (0.5,), (-1.0,)), "would not be concave"),
        (lambda: Quadratic((1.0, 1.0), ((1.0,),)), "2 weights need as many"),
        (lambda: Quadratic((1.0, 1.0), ((1.0, 1.0), (0.0, 1.0))), "must be symmetric"),
        (lambda: Quadratic((1.0,), ((-1.0,),)), "least eigenvalue is -1"),
        (lambda: Quadratic.mean_variance(0, 1.0), "objectives must be a number from 1 up"),
        (lambda: SoftMin(1.0).scaled(-1.0), "factor must be a number from 0 up"),
        (lambda: Part(SHORTFALL, (0, 0), of=2), "must be different numbers"),
        (lambda: Part(SHORTFALL, (0, 2), of=2), "component 2 is not among 2"),
        (lambda: Part(SHORTFALL, (0,), of=2), "about 2 objectives, but 1"),
        (lambda: SHORTFALL.value(np.zeros(3)), "about 2 objectives, but the returns have shape"),
        (lambda: ProportionalFairness().grad(np.array([1.0, -0.5])), "for objective 1 it is -0.5"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(make: Any, says: str) -> None:
    with pytest.raises(HanseError) as refused:
        make()
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_utility_can_be_named_in_a_file() -> None:
    table = {
        "utility": "target_shortfall",
        "weights": [1, 0],
        "targets": [0, 0.7],
        "penalties": [0, 8],
    }
    assert read_scalarisation(table) == SHORTFALL
    named = read_scalarisation({"utility": "proportional_fairness", "delta": 0.1})
    assert named == ProportionalFairness(delta=0.1)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "utility must be one of alpha_fair, linear"),
        ({"utility": "min"}, "not 'min'"),
        ({"utility": "soft_min"}, "concave.f: soft_min needs 'beta'"),
        ({"utility": "soft_min", "gamma": 1}, "'gamma' is no parameter of soft_min; it has beta"),
        ({"utility": "soft_min", "beta": -1}, "concave.f: SoftMin: beta must be"),
        ({"utility": "proportional_fairness", "alpha": 1}, "it has delta, floor"),
    ],
)
def test_a_wrong_name_or_parameter_is_told_with_its_place(table: Any, says: str) -> None:
    with pytest.raises(HanseError) as refused:
        read_scalarisation(table, "concave.f")
    assert says in str(refused.value)
