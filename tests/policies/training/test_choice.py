"""Which policy a training keeps, what an episode comes to, and what cost is priced at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from policies.training.choice import Verdict, judged, metrics_of
from policies.training.lagrangian import moved
from policies.training.settings import LagrangianConfig, TrainingConfig
from policies.training.tally import Outcome, Tally, mean, score

BOTH = {"profit": 0.6, "service": 0.4}


def config(objectives: dict[str, float] | None = None, **more: Any) -> TrainingConfig:
    environment = {"objectives": objectives or {"profit": 1.0}, "budget": 0.2}
    return TrainingConfig.parse({"environment": environment} | more, "test")


def info(vector: list[float], cost: float, income: float, bankrupt: bool = False) -> dict[str, Any]:
    reward = np.array(vector)
    return {"vector_reward": reward, "cost": cost, "net_income": income, "bankrupt": bankrupt}


def test_an_episode_is_summed_up_by_the_day_and_its_cost_by_the_step() -> None:
    tally = Tally(("profit", "service"), days=4)
    tally.add(info([2.0, 1.0], 0.5, 200.0))
    tally.add(info([4.0, 0.0], 0.1, 600.0))
    found = tally.outcome()
    assert (found.net_income, found.objectives) == (600.0, {"profit": 1.5, "service": 0.25})
    assert found.cost == pytest.approx(0.3)


def test_what_comes_after_a_bankruptcy_does_not_count() -> None:
    tally = Tally(("profit",), days=2)
    tally.add(info([1.0], 1.0, 100.0, bankrupt=True))
    tally.add(info([5.0], 0.0, 900.0, bankrupt=True))
    assert tally.outcome() == Outcome(100.0, {"profit": 0.5}, 1.0)
    tally.begin()
    tally.add(info([5.0], 0.0, 900.0))
    assert tally.outcome().net_income == 900.0, "a new episode counts again"


def test_profit_alone_is_judged_by_net_income_and_several_objectives_by_their_weighted_sum() -> (
    None
):
    outcome = Outcome(900.0, {"profit": 0.1, "service": 0.8}, 0.0)
    assert score(outcome, {"profit": 1.0}) == 900.0
    assert score(outcome, {"profit": 1.0, "service": 0.0}) == 900.0
    assert score(outcome, BOTH) == pytest.approx(0.38)


def test_a_policy_with_less_income_is_kept_if_it_serves_the_weighted_objectives_better() -> None:
    rich = Outcome(1000.0, {"profit": 0.2, "service": 0.1}, 0.0)
    kind = Outcome(500.0, {"profit": 0.1, "service": 0.9}, 0.0)
    assert judged([kind], config(BOTH)).better_than(judged([rich], config(BOTH)))
    assert judged([rich], config()).better_than(judged([kind], config()))


def test_the_budget_comes_first_where_it_counts() -> None:
    dear = Outcome(1000.0, {"profit": 1.0}, 0.3)
    cheap = Outcome(100.0, {"profit": 0.1}, 0.2)
    kept = config(lagrangian={"enabled": True})
    assert judged([cheap], kept).better_than(judged([dear], kept))
    assert judged([dear], config()).better_than(judged([cheap], config()))
    assert judged([dear], kept).excess == pytest.approx(0.1)
    assert not Verdict(1.0).better_than(Verdict(1.0)), "the older of two that are equal is kept"


def test_firms_that_learn_together_are_judged_by_their_sum_and_the_dearest() -> None:
    outcomes = [Outcome(100.0, {"profit": 1.0}, 0.5), Outcome(50.0, {"profit": 0.5}, 0.1)]
    kept = judged(outcomes, config(lagrangian={"enabled": True}))
    assert (kept.score, kept.excess) == (150.0, pytest.approx(0.3))


def test_the_figures_of_a_training_for_profit_alone_are_net_income_alone() -> None:
    outcome = mean([Outcome(100.0, {"profit": 1.0}, 0.5), Outcome(50.0, {"profit": 0.5}, 0.1)])
    assert metrics_of(outcome, config()) == {"validation_net_income": 75.0}
    both = Outcome(75.0, {"profit": 0.75, "service": 0.5}, 0.3)
    assert list(metrics_of(both, config(BOTH, lagrangian={"enabled": True}))) == [
        "validation_net_income",
        "validation_score",
        "validation_profit",
        "validation_service",
        "validation_cost",
    ]


def test_the_price_of_cost_rises_above_the_budget_and_falls_below_it() -> None:
    settings = LagrangianConfig(enabled=True, rate=2.0, most=1.0)
    assert moved(0.5, 0.4, 0.3, settings) == pytest.approx(0.7)
    assert moved(0.5, 0.2, 0.3, settings) == pytest.approx(0.3)
    assert moved(0.5, 0.3, 0.3, settings) == 0.5


def test_the_price_of_cost_stays_between_nothing_and_the_most() -> None:
    settings = LagrangianConfig(enabled=True, rate=2.0, most=1.0)
    assert moved(0.1, 0.0, 1.0, settings) == 0.0
    assert moved(0.9, 1.0, 0.0, settings) == 1.0
