"""Objectives and costs, from the town's own books."""

from __future__ import annotations

from typing import Any

import pytest

from policies.environments.action_layout import ActionLayout
from policies.environments.episode import Episode
from policies.environments.rewards import COSTS, OBJECTIVES, Rewards
from services.config import RunConfig, standard
from services.economy.catalogue import ROASTED, ROASTED_SPECIALTY
from services.economy.money import dollars, micros
from tests.policies.environments.playing import FIRMS, at_day


def _course(role: str, days: int = 20, cadence: Any = "day") -> tuple[Episode, list[Any]]:
    firm = FIRMS[role]
    episode = Episode(standard().with_overrides(days=days), [firm], cadence)
    rewards = Rewards(episode.town, firm)
    layout = ActionLayout(episode.conducts[firm].role, episode.setup.catalogue)
    found = []
    going = episode.proceed()
    while going:
        episode.levers[firm] = layout.values(layout.usual)
        going = episode.proceed()
        found.append(dict(zip(OBJECTIVES, rewards.step().tolist(), strict=True)))
    return episode, found


def test_profit_is_net_income_in_hundreds_of_dollars() -> None:
    episode, course = _course("roaster")
    assert sum(r["profit"] for r in course) * 100 == pytest.approx(
        episode.town.statement("roaster_A").net_income, abs=0.01
    )


def test_waste_is_what_has_spoiled_in_tens_of_dollars() -> None:
    episode, course = _course("roaster")
    spoiled = dollars(episode.firm("roaster_A").balances["spoilage_expense"])
    assert spoiled > 0
    assert sum(r["waste"] for r in course) == pytest.approx(-spoiled / 10)


@pytest.mark.parametrize("role", FIRMS)
def test_service_is_a_share_and_is_measured_once_a_day(role: str) -> None:
    _, course = _course(role)
    assert len(course) == 20
    assert all(0.0 <= r["service"] <= 1.0 for r in course)
    _, turns = _course(role, cadence="turn")
    assert sum(r["service"] > 0 for r in turns) <= 20 < len(turns)


def test_a_retailer_s_service_is_what_consumers_found_of_what_they_wanted() -> None:
    firm = "retailer_A"
    episode = Episode(standard().with_overrides(days=20), [firm])
    rewards = Rewards(episode.town, firm, ["service"])
    layout = ActionLayout("retailer", episode.setup.catalogue)
    episode.proceed()
    episode.levers[firm] = layout.values(layout.usual)
    episode.proceed()
    sold = {row.item: row for row in episode.town.state.sales[firm]}
    assert set(sold) == {ROASTED}  # it begins without specialty
    row = sold[ROASTED]
    wanted = (row.elastic_qty or 0) + (row.floor_qty or 0)
    assert rewards.step().tolist() == pytest.approx([(row.qty / wanted + 0.0) / 2])


def test_liquidity_is_what_cash_does_not_cover_of_a_week() -> None:
    episode = at_day("roaster", 5)
    firm = episode.firm("roaster_A")
    rewards = Rewards(episode.town, "roaster_A", ["liquidity"])
    assert rewards.stress() == 0.0
    due = sum(
        i.outstanding() for i in episode.town.world.owed_by["roaster_A"] if i.due_day <= 5 + 7
    )
    firm.balances["cash"] = (due + 7 * micros(30.0)) // 4  # it runs at 30 dollars a day
    assert rewards.stress() == pytest.approx(0.75)
    firm.balances["cash"] = -micros(10)
    assert rewards.stress() == 1.0


def test_every_cost_is_within_zero_and_one_and_bankruptcy_costs_all() -> None:
    config = standard().dump()
    config["firms"][2]["cash"] = 100.0
    config["days"] = 12
    for cost in COSTS:
        episode = Episode(RunConfig.parse(config, "test"), ["roaster_A", "farmer_A"])
        rewards = {n: Rewards(episode.town, n, cost=cost) for n in episode.conducts}
        while waiting := episode.proceed():
            for name in waiting:
                conduct = episode.conducts[name]
                layout = ActionLayout(conduct.role, episode.setup.catalogue)
                episode.levers[name] = layout.values(layout.usual)
            assert all(0.0 <= r.cost_now() <= 1.0 for r in rewards.values())
        assert not episode.firm("roaster_A").live
        assert rewards["roaster_A"].cost_now() == 1.0
        assert rewards["farmer_A"].cost_now() < 1.0


def test_costs_are_read_off_the_books() -> None:
    episode = at_day("roaster", 12)
    firm = episode.firm("roaster_A")

    def cost(name: str) -> float:
        return Rewards(episode.town, "roaster_A", cost=name).cost_now()

    firm.kg[ROASTED_SPECIALTY] = 0
    firm.kg[ROASTED] = 10
    assert cost("stock_out") == 0.5
    firm.balances["accounts_payable"] = -micros(3_000)
    assert cost("debt") == pytest.approx(0.2)  # of a credit limit of 15,000
    assert cost("overdraft") == 0.0
    firm.balances["cash"] = micros(7 * 30 - 1)
    assert cost("overdraft") == 1.0
    assert cost("overdue") == 0.0
    for invoice in episode.town.world.owed_by["roaster_A"]:
        invoice.due_day = 3
    assert cost("overdue") == 1.0
