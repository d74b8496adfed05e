from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from policies.concave.estimator import MultiLevel, PlugIn
from policies.concave.module_weights import ModuleWeights
from policies.concave.objective import Constraint
from policies.concave.returns import episode_return
from policies.concave.settings import ConcaveSettings, read_settings
from policies.concave.utilities import Linear, Quadratic, SoftMin, TargetShortfall
from services.errors import HanseError

SHORTFALL = TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0))
PARABOLA = Quadratic((2.0, 2.0), ((1.0, 0.0), (0.0, 1.0)))
"""Its omega is 2 less the mean return: it tells whose returns it comes from."""
FLOOR = Constraint(Linear((0.0, 1.0)), threshold=0.5, rate=0.1, start=0.4)
TABLE = {"utility": "soft_min", "beta": 5.0}


def returns(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 1, (n, 2))


def everywhere(n: int) -> np.ndarray:
    return np.ones(n, dtype=bool)


def test_each_half_of_a_rollout_is_weighed_by_the_returns_of_the_other() -> None:
    weights = ModuleWeights(ConcaveSettings(PARABOLA))
    assert not weights.fresh and weights.wanted() == 0
    G = returns(7)
    rows = weights.of_episodes(G, everywhere(7))
    even, odd = 2 - G[0::2].mean(axis=0), 2 - G[1::2].mean(axis=0)
    assert rows[0::2] == pytest.approx(np.tile(odd / odd.sum(), (4, 1)))
    assert rows[1::2] == pytest.approx(np.tile(even / even.sum(), (3, 1)))
    assert weights.figures()["omega_0"] == pytest.approx((even[0] + odd[0]) / 2)
    assert weights.figures()["episodes_spent"] == 0


def test_only_whole_episodes_have_returns_but_all_have_weights() -> None:
    weights = ModuleWeights(ConcaveSettings(PARABOLA))
    G, whole = returns(6), np.array([True, True, False, True, True, False])
    rows = weights.of_episodes(G, whole)
    odd = 2 - G[[1, 3]].mean(axis=0)
    assert rows[2] == pytest.approx(odd / odd.sum())


def test_without_whole_episodes_the_last_omega_stays_and_the_first_is_missed() -> None:
    weights = ModuleWeights(ConcaveSettings(PARABOLA))
    with pytest.raises(HanseError, match="1 of 4 episodes are whole, but omega needs two"):
        weights.of_episodes(returns(4), np.array([True, False, False, False]))
    before = weights.of_episodes(returns(4), everywhere(4))
    after = weights.of_episodes(returns(4, seed=1), np.zeros(4, dtype=bool))
    assert after.tolist() == before.tolist()
    assert weights.number == 1


def test_fresh_episodes_weigh_all_alike_and_are_used_once() -> None:
    weights = ModuleWeights(ConcaveSettings(SHORTFALL, levels=3, repetitions=2))
    assert weights.fresh
    first = weights.wanted()
    weights.take(returns(first + 5))
    rows = weights.of_episodes(returns(4), everywhere(4))
    assert (rows == rows[0]).all()
    assert np.abs(rows[0]).sum() == pytest.approx(1)
    assert weights.spent == first and weights.figures()["episodes_spent"] == first
    with pytest.raises(HanseError, match="train with ConcavePPO, or call"):
        weights.of_episodes(returns(4), everywhere(4))


def test_too_few_fresh_episodes_are_refused() -> None:
    weights = ModuleWeights(ConcaveSettings(SHORTFALL, levels=3, repetitions=2))
    with pytest.raises(HanseError, match="fresh episodes are needed for omega, 1 came"):
        weights.take(returns(1))


def test_levels_drawn_are_logged() -> None:
    weights = ModuleWeights(ConcaveSettings(SHORTFALL, levels=6, repetitions=8))
    weights.take(returns(weights.wanted()))
    made = weights.figures()
    assert 1 <= made["level_mean"] <= made["level_most"] <= 6
    assert {"omega_0", "omega_1", "return_0", "return_1", "value", "plug_in_value"} < set(made)


def test_a_negative_component_keeps_its_sign() -> None:
    weights = ModuleWeights(ConcaveSettings(Quadratic((0.0, 1.0), ((4.0, 0.0), (0.0, 0.0)))))
    rows = weights.of_episodes(np.full((2, 2), 0.5), everywhere(2))
    assert rows[0] == pytest.approx([-2 / 3, 1 / 3])


def test_a_gradient_of_zero_weighs_nothing() -> None:
    weights = ModuleWeights(ConcaveSettings(Quadratic((0.0,), ((1.0,),))))
    assert weights.of_episodes(np.zeros((2, 1)), everywhere(2)).tolist() == [[0.0], [0.0]]


def test_a_constraint_adds_its_price_and_moves_it_once_an_iteration() -> None:
    weights = ModuleWeights(ConcaveSettings(Linear((1.0, 0.0)), FLOOR))
    rows = weights.of_episodes(np.array([[0.2, 0.1], [0.4, 0.3]]), everywhere(2))
    assert rows[0] == pytest.approx([1 / 1.4, 0.4 / 1.4])
    assert weights.figures()["price"] == pytest.approx(0.4 + 0.1 * 0.3)
    assert weights.figures()["constraint"] == pytest.approx(0.2)


def test_a_checkpoint_goes_on_with_the_same_plans_and_weights() -> None:
    def trained() -> ModuleWeights:
        made = ModuleWeights(ConcaveSettings(SHORTFALL, FLOOR, levels=3, repetitions=2))
        for number in range(3):
            made.take(returns(made.wanted(), number))
        return made

    one, two = trained(), ModuleWeights(ConcaveSettings(SHORTFALL, FLOOR, levels=3, repetitions=2))
    two.load(one.save())
    assert two.save() == one.save()
    assert (two.wanted(), two.spent, two.number) == (one.wanted(), one.spent, 3)
    rows = [each.of_episodes(returns(2), everywhere(2)).tolist() for each in (one, two)]
    assert rows[0] == rows[1]
    with pytest.raises(HanseError, match="the checkpoint's weights are damaged"):
        two.load({"number": 1})


def test_a_return_is_discounted_summed_or_averaged() -> None:
    rewards = np.array([[1.0, 0.0], [0.0, 2.0], [4.0, 0.0]])
    assert episode_return(rewards, 0.5).tolist() == [0.5 * (1 + 0.25 * 4), 0.5 * 0.5 * 2]
    assert episode_return(rewards, 0.5, "sum").tolist() == [5.0, 2.0]
    assert episode_return(rewards, 0.5, "mean").tolist() == [5 / 3, 2 / 3]


def test_settings_choose_where_omega_comes_from() -> None:
    assert not read_settings({"concave_scalarisation": TABLE}).fresh
    assert read_settings({"concave_scalarisation": SHORTFALL}).fresh
    assert not read_settings(
        {"concave_scalarisation": SHORTFALL, "concave_estimator": "plug_in"}
    ).fresh
    smooth = {"concave_scalarisation": TABLE, "concave_constraint": {"g": SHORTFALL}}
    assert read_settings(smooth).fresh
    assert read_settings({"concave_scalarisation": TABLE, "concave_source": "fresh"}).fresh


def test_settings_choose_the_estimator() -> None:
    settings = read_settings({"concave_scalarisation": TABLE, "concave_levels": 4})
    assert settings.estimator_of(SHORTFALL) == MultiLevel(4, 4)
    assert settings.estimator_of(SoftMin(5.0)) == PlugIn(17)
    forced = ConcaveSettings(SHORTFALL, estimator="plug_in", batch=6)
    assert forced.estimator_of(SHORTFALL) == PlugIn(6)
    assert ConcaveSettings(SoftMin(1.0), estimator="multi_level").fresh


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "'concave_scalarisation' is missing"),
        ({"concave_scalarization": TABLE}, "'concave_scalarization' is unknown; known are"),
        ({"concave_scalarisation": 3}, "must be a utility or a table that names one"),
        ({"concave_scalarisation": {"utility": "soft_min"}}, "concave_scalarisation: soft_min"),
        ({"concave_estimator": "mlmc"}, "'concave_estimator' must be one of auto, plug_in"),
        ({"concave_returns": "total"}, "must be one of discounted, sum, mean"),
        ({"concave_levels": 2.5}, "'concave_levels' must be a whole number, not 2.5"),
        ({"concave_levels": 0}, "levels must be a whole number from 1 up"),
        ({"concave_constraint": {"threshold": 1}}, "must be a table with g and perhaps threshold"),
        ({"concave_constraint": {"g": {"utility": "no"}}}, "concave_constraint.g: utility must be"),
        (
            {"concave_scalarisation": SHORTFALL, "concave_source": "rollout"},
            'use "fresh", or concave_estimator = "plug_in"',
        ),
    ],
)
def test_a_wrong_setting_is_told(given: dict[str, Any], says: str) -> None:
    whole = (
        given if says.startswith("'concave_scalar") else {"concave_scalarisation": TABLE, **given}
    )
    with pytest.raises(HanseError) as refused:
        read_settings(whole)
    assert says in str(refused.value) and "\n" not in str(refused.value)
