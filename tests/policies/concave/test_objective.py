from __future__ import annotations

import numpy as np
import pytest

from policies.concave.draws import generator
from policies.concave.estimator import MultiLevel, PlugIn
from policies.concave.objective import Constraint, Objective
from policies.concave.scalarisation import Array
from policies.concave.utilities import Linear, ProportionalFairness, SoftMin, TargetShortfall
from services.errors import HanseError

SHORTFALL = TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0))
FLOOR = Constraint(Linear((0.0, 1.0)), threshold=0.5, rate=0.1, start=0.2)


def returns(sizes: tuple[int, ...], mean: tuple[float, float] = (0.4, 0.3)) -> list[Array]:
    return [np.tile(mean, (size, 1)) for size in sizes]


def test_omega_is_the_gradient_of_f_at_the_returns() -> None:
    objective = Objective(SHORTFALL, estimator=PlugIn(5))
    plan = objective.plan(0)
    assert plan.sizes == (5,)
    seen = objective.measured(plan, returns(plan.sizes))
    assert seen.omega == pytest.approx([1.0, 8 * 0.4])
    assert (seen.trajectories, seen.levels, seen.g) == (5, (), None)
    assert objective.adjust([seen]) == 0.0


def test_the_estimator_is_plug_in_only_for_second_order_smooth_utilities() -> None:
    assert isinstance(Objective(SHORTFALL).estimator, MultiLevel)
    assert isinstance(Objective(SoftMin(2.0)).estimator, PlugIn)
    both = Objective(SoftMin(2.0), constraint=Constraint(SHORTFALL))
    assert isinstance(both.constraint_estimator, MultiLevel)
    forced = Objective(SHORTFALL, estimator=PlugIn(3))
    assert forced.estimator == PlugIn(3)


def test_a_constraint_adds_its_gradient_at_its_price_from_trajectories_of_its_own() -> None:
    objective = Objective(SHORTFALL, constraint=FLOOR, estimator=PlugIn(3))
    objective.constraint_estimator = PlugIn(4)
    plan = objective.plan(0)
    assert (plan.for_f, plan.for_g) == ((3,), (4,))
    parts = [*returns((3,)), *returns((4,), (0.4, 0.1))]
    seen = objective.measured(plan, parts)
    assert seen.omega == pytest.approx([1.0, 8 * 0.4 + 0.2])
    assert seen.g is not None and seen.g.value == pytest.approx(0.1)
    assert seen.trajectories == 7


def test_the_price_rises_by_what_is_violated_and_falls_to_nothing() -> None:
    objective = Objective(SHORTFALL, constraint=FLOOR, estimator=PlugIn(1))
    objective.constraint_estimator = PlugIn(1)

    def step(level: float) -> float:
        plan = objective.plan(0)
        return objective.adjust([objective.measured(plan, returns(plan.sizes, (0, level)))])

    assert step(0.1) == pytest.approx(0.2 + 0.1 * 0.4)
    assert step(0.9) == pytest.approx(0.24 - 0.1 * 0.4)
    assert [step(0.9) for _ in range(6)][-1] == 0.0


def test_two_halves_move_the_price_once_by_their_mean() -> None:
    objective = Objective(SHORTFALL, constraint=FLOOR, estimator=PlugIn(1))
    objective.constraint_estimator = PlugIn(1)
    plan = objective.plan(0)
    halves = [objective.measured(plan, returns(plan.sizes, (0, x))) for x in (0.1, 0.3)]
    assert objective.adjust(halves) == pytest.approx(0.2 + 0.1 * 0.3)


def test_what_is_planned_follows_from_seed_and_number() -> None:
    plans = [Objective(SHORTFALL, seed=1).plan(number) for number in range(30)]
    assert plans == [Objective(SHORTFALL, seed=1).plan(number) for number in range(30)]
    assert plans != [Objective(SHORTFALL, seed=2).plan(number) for number in range(30)]
    assert len(set(plans)) > 5


def test_seeds_of_different_length_are_different_seeds() -> None:
    drawn = {float(generator(seed).random()) for seed in ((1,), (1, 0), (0, 1), (10,), (1, 0, 0))}
    assert len(drawn) == 5


def test_a_checkpoint_brings_back_the_price() -> None:
    objective = Objective(SHORTFALL, constraint=FLOOR, estimator=PlugIn(2))
    plan = objective.plan(0)
    objective.adjust([objective.measured(plan, returns(plan.sizes))])
    again = Objective(SHORTFALL, constraint=FLOOR, estimator=PlugIn(2))
    again.load(objective.save())
    assert again.price == objective.price != FLOOR.start


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(HanseError, match="rate must be a number from 0 up"):
        Constraint(SHORTFALL, rate=-1.0)
    objective = Objective(ProportionalFairness(delta=0.1))
    with pytest.raises(HanseError, match="the plan has 1 parts, but returns of 2"):
        objective.measured(objective.plan(0), returns((1, 1)))
    for saved, says in (({}, "damaged"), ({"price": -1}, "from 0 up, not -1")):
        with pytest.raises(HanseError, match=says):
            objective.load(saved)
