"""Delivery the next morning: on time, late or lost (note, S5)."""

from __future__ import annotations

import pytest

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import ProduceItem
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.town import Town
from tests.services.economy.by_hand import (
    balance,
    calm_town,
    do,
    evening,
    events,
    income,
    morning,
    trade,
)

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)


def with_a_deal(rules: Rules, **values: float) -> Town:
    """Farmer A has sold 20 kg at 4.00 to roaster A on day 0."""
    town = calm_town(rules, **values)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    town.drain()
    return town


@BOTH
def test_goods_arrive_the_next_morning_with_an_invoice_and_make_revenue(rules: Rules) -> None:
    town = with_a_deal(rules)
    evening(town, 0)
    assert town.firms["roaster_A"].kg.get(GREEN, 0) == 0
    town.drain()
    morning(town, 1)
    assert town.firms["roaster_A"].kg[GREEN] == 20
    assert town.firms["roaster_A"].cost[GREEN] == 80_000_000
    assert town.firms["roaster_A"].incoming[GREEN] == 0
    assert balance(town, "roaster_A", "accounts_payable") == -80
    assert balance(town, "farmer_A", "accounts_receivable") == 80
    assert balance(town, "farmer_A", "revenue") == -80
    assert balance(town, "farmer_A", "cogs") == 40
    assert balance(town, "farmer_A", "goods_in_transit") == 0
    assert events(town, "invoice") == [
        {
            "invoice": "I1",
            "deal": "D1",
            "offer": "O1",
            "issuer": "farmer_A",
            "payer": "roaster_A",
            "amount": 80.0,
            "issue_day": 1,
            "due_day": 31,
        }
    ]


def test_a_cost_is_pinned_when_the_goods_leave_not_when_they_arrive() -> None:
    town = with_a_deal(COFFEEBENCH)
    assert town.state.deals["D1"].cost == 40_000_000
    town.firms["farmer_A"].cost[GREEN] *= 3
    morning(town, 1)
    assert balance(town, "farmer_A", "cogs") == 40


@BOTH
def test_lost_goods_cost_the_seller_what_they_cost_it_and_the_buyer_nothing(rules: Rules) -> None:
    town = with_a_deal(rules, loss_probability=1.0)
    morning(town, 1)
    assert town.state.past_deals["D1"].status == "lost"
    assert town.state.invoices == {}
    assert balance(town, "farmer_A", "writedown") == 40
    assert income(town, "farmer_A") == -25 - 25 - 40
    assert income(town, "roaster_A") == -30 - 30
    assert town.firms["roaster_A"].committed == 30  # the room is free again
    assert town.state.goods[GREEN]["lost"] == 20


@BOTH
def test_late_goods_stay_on_the_road_a_day_longer(rules: Rules) -> None:
    town = with_a_deal(rules, delay_probability=1.0)
    morning(town, 1)
    deal = town.state.deals["D1"]
    assert (deal.due_day, deal.delays, deal.status) == (2, 1, "pending")
    assert town.firms["roaster_A"].incoming[GREEN] == 20


@BOTH
def test_the_draw_decides_below_loss_lost_below_loss_and_delay_late(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    for drawn, outcome in (
        (0.0, "lost"),
        (0.0149, "lost"),
        (0.015, "delayed"),
        (0.0849, "delayed"),
        (0.085, "delivered"),
        (0.99, "delivered"),
    ):
        town = with_a_deal(rules, loss_probability=0.015, delay_probability=0.07)
        monkeypatch.setattr(town.shipping.luck, "shipment", lambda *deal, u=drawn: u)
        town.drain()
        morning(town, 1)
        told = events(town, "delivery")[0]
        assert (told["outcome"], told["uniform"]) == (outcome, drawn)


@BOTH
def test_after_the_last_evening_one_more_delivery_is_booked_on_the_last_day(rules: Rules) -> None:
    town = calm_town(rules, days=3)
    morning(town, 2)
    trade(town, "roaster_A", "retailer_A", ROASTED, 10, 9.0)
    town.drain()
    evening(town, 2)
    assert town.closed
    assert town.state.closed_on == 2
    assert town.next_minute() is None
    assert town.firms["retailer_A"].balances["accounts_payable"] == -90_000_000
    records = town.drain()
    told = [body for kind, _, body in records.events if kind == "delivery"]
    assert [(b["deal"], b["day"]) for b in told if isinstance(b, dict)] == [("D1", 2)]
    evening_figures = {firm: figures for _, firm, figures in records.figures}
    assert evening_figures["retailer_A"]["accounts_payable"] == 0.0, "that was the day's end"


def test_production_and_roasts_that_are_not_ready_on_the_last_day_stay_unfinished() -> None:
    town = calm_town(days=2)
    morning(town, 0)
    morning(town, 1)
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=5))
    evening(town, 1)
    assert town.firms["farmer_A"].kg[GREEN] == 60
    assert town.statement("farmer_A").in_flight_value == 10
    assert income(town, "farmer_A") == -50
