"""Objectives and cost of strategies that did not learn, measured as those of a policy are."""

from __future__ import annotations

import pytest

pytest.importorskip("gymnasium")

from policies.environments.firm_env import CoffeeFirmEnv
from policies.environments.leagues import with_strategies
from policies.training.measuring import DECIDING, measured
from services.config import standard
from services.errors import HanseError

SHORT = standard().with_overrides(days=6, seed=4)


def test_firms_are_measured_at_the_minute_at_which_one_that_learns_decides() -> None:
    env = CoffeeFirmEnv(SHORT, "retailer_A")
    env.reset(seed=4)
    assert env.episode._clock.now == DECIDING


def test_net_income_is_the_sum_of_the_days_profits() -> None:
    found = measured(SHORT, ["farmer_A", "retailer_B"], ("profit", "service"), "stock_out")
    for outcome in found.values():
        assert outcome.objectives["profit"] * 6 * 100 == pytest.approx(outcome.net_income)


def test_a_shop_that_does_nothing_serves_less_and_is_out_of_stock_more_often() -> None:
    objectives = ("profit", "service")
    idle = with_strategies(SHORT, {"retailer_A": "passive"})
    busy, lazy = (
        measured(one, ["retailer_A"], objectives, "stock_out")["retailer_A"]
        for one in (SHORT, idle)
    )
    assert lazy.objectives["service"] < busy.objectives["service"]
    assert lazy.cost > busy.cost


def test_a_league_that_an_episode_cannot_play_is_refused() -> None:
    values = SHORT.dump() | {"firms": [], "generate": {"firms": 24, "towns": 3}}
    with pytest.raises(HanseError, match="an environment plays one town"):
        measured(type(SHORT).parse(values, "test"), ["farmer_1"], ("profit",), "debt")
