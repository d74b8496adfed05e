"""Trade between two towns: an order leaves one, goods and a bill come from the other (ours)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.economy.abroad import TradeFill, TradeOrder, TradeRefused
from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import OrderAbroad, PostListing
from services.economy.town import Town
from tests.services.economy.books import check_town
from tests.services.economy.by_hand import (
    balance,
    calm_town,
    cash,
    do,
    evening,
    events,
    firms,
    income,
    morning,
    notices,
    refusal,
)

Towns = tuple[Town, Town]


def two_towns(**values: Any) -> Towns:
    """Home and abroad at 09:00 of day 0; freight is 0.25 dollars a kilogram and takes two days."""
    towns = tuple(
        calm_town(name=name, foreign_trade=True, spoilage_per_day=0.0, **values)
        for name in ("home", "abroad")
    )
    for town in towns:
        morning(town, 0)
    return towns[0], towns[1]


def order(home: Town, qty: int = 10, max_price: float = 5.0) -> TradeOrder:
    """Roaster A of the home town orders green coffee abroad."""
    do(home, "roaster_A", OrderAbroad(item_id=GREEN, qty=qty, max_price=max_price))
    [wanted] = home.abroad.outbox
    home.abroad.outbox.clear()
    return TradeOrder(
        order=wanted.id,
        town="home",
        reply_to="exchange_home",
        item=wanted.item,
        qty=wanted.qty,
        max_price=wanted.max_price,
    )


def on_offer(abroad: Town, **asks: float) -> None:
    """Both farmers abroad list 6 kg each at these prices."""
    for firm, price in asks.items():
        do(abroad, firm, PostListing(item_id=GREEN, qty=6, asking_price=price))


def test_an_order_sets_the_most_that_it_can_cost_and_the_room_aside() -> None:
    home, _ = two_towns()
    before = cash(home, "roaster_A")
    order(home)
    assert cash(home, "roaster_A") == before - 10 * (5.0 + 0.25)
    assert balance(home, "roaster_A", "escrow") == 52.5
    assert home.firms["roaster_A"].incoming[GREEN] == 10
    assert income(home, "roaster_A") == -30, "nothing is lost yet"


def test_the_other_town_sells_from_its_listings_the_cheapest_first_for_cash() -> None:
    home, abroad = two_towns()
    on_offer(abroad, farmer_A=4.5, farmer_B=4.0)
    filled = abroad.abroad.fill(order(home))
    assert filled == TradeFill(
        order="F1", town="abroad", item=GREEN, qty=10, total_micros=(6 * 4_000_000 + 4 * 4_500_000)
    )
    assert cash(abroad, "farmer_B") == 15_000 - 25 + 24
    assert cash(abroad, "farmer_A") == 15_000 - 25 + 18
    assert income(abroad, "farmer_B") == -25 + 24 - 12
    assert list(abroad.state.listings) == ["L1"]
    assert abroad.state.listings["L1"].qty == 2


def test_goods_bought_abroad_arrive_after_the_freight_days_at_price_and_freight() -> None:
    home, abroad = two_towns()
    on_offer(abroad, farmer_A=4.5, farmer_B=4.0)
    filled = abroad.abroad.fill(order(home))
    assert isinstance(filled, TradeFill)
    home.abroad.settle(filled)
    assert balance(home, "roaster_A", "escrow") == 0
    assert balance(home, "roaster_A", "goods_in_transit") == 42 + 2.5
    assert cash(home, "roaster_A") == 15_000 - 30 - 44.5
    evening(home, 1)
    assert home.firms["roaster_A"].kg.get(GREEN, 0) == 0
    morning(home, 2)
    assert home.firms["roaster_A"].kg[GREEN] == 10
    assert home.firms["roaster_A"].cost[GREEN] == 44_500_000
    assert home.state.clearing + abroad.state.clearing == 0


def test_what_is_not_to_be_had_comes_back_in_money_and_room() -> None:
    home, abroad = two_towns()
    on_offer(abroad, farmer_A=4.5, farmer_B=5.01)
    filled = abroad.abroad.fill(order(home))
    assert isinstance(filled, TradeFill)
    assert filled.qty == 6, "the other's price is above the limit"
    home.abroad.settle(filled)
    assert cash(home, "roaster_A") == 15_000 - 30 - 6 * (4.5 + 0.25)
    assert home.firms["roaster_A"].incoming[GREEN] == 6


def test_an_order_that_nobody_fills_costs_nothing_and_is_told() -> None:
    home, abroad = two_towns()
    refused = abroad.abroad.fill(order(home))
    assert isinstance(refused, TradeRefused)
    home.abroad.give_back(refused)
    assert cash(home, "roaster_A") == 15_000 - 30
    assert home.firms["roaster_A"].incoming[GREEN] == 0
    assert notices(home, "roaster_A") == ["F1 could not be filled: nothing on offer at that price"]


def test_an_answer_that_comes_twice_is_settled_once() -> None:
    home, abroad = two_towns()
    on_offer(abroad, farmer_A=4.5)
    filled = abroad.abroad.fill(order(home))
    assert isinstance(filled, TradeFill)
    home.abroad.settle(filled)
    before = home.dump()
    home.abroad.settle(filled)
    home.abroad.give_back(TradeRefused(order="F1", reason="late"))
    assert home.dump() == before


def test_an_order_needs_a_router_money_and_room() -> None:
    command = OrderAbroad(item_id=GREEN, qty=10, max_price=5.0)
    lonely = calm_town()
    morning(lonely, 0)
    assert refusal(lonely, "roaster_A", command) == "no_foreign_trade"
    home, _ = two_towns(firms=firms(roaster_A={"cash": 82.49}))
    assert refusal(home, "roaster_A", command) == "insufficient_cash"
    home, _ = two_towns(firms=firms(roaster_A={"stock": {ROASTED: 111}}))
    assert refusal(home, "roaster_A", command) == "inventory_cap"
    for qty in (0, -1):
        wrong = command.model_copy(update={"qty": qty})
        assert refusal(home, "roaster_A", wrong) == "quantity_out_of_range"
    assert refusal(home, "roaster_A", command.model_copy(update={"item_id": "tea"})) == (
        "unknown_item"
    )


def test_a_town_tells_routers_its_lowest_asks_and_what_is_really_there() -> None:
    _, abroad = two_towns()
    on_offer(abroad, farmer_A=4.5, farmer_B=4.0)
    quote = abroad.abroad.quote("exchange_abroad", 3)
    assert (quote.asks, quote.kg, quote.load) == ({GREEN: 4.0}, {GREEN: 12}, 3)


def test_both_sides_of_a_trade_are_in_the_event_log() -> None:
    home, abroad = two_towns()
    on_offer(abroad, farmer_A=4.5)
    for town in (home, abroad):
        town.drain()
    filled = abroad.abroad.fill(order(home, qty=6))
    assert isinstance(filled, TradeFill)
    home.abroad.settle(filled)
    [sold], [bought] = events(abroad, "trade"), events(home, "trade")
    assert (sold["direction"], sold["qty"], sold["amount"]) == ("export", 6, 27.0)
    assert (bought["direction"], bought["qty"], bought["amount"]) == ("import", 6, 28.5)


def test_goods_that_are_not_there_any_more_are_not_sold_abroad() -> None:
    home, abroad = two_towns(firms=firms(farmer_A={"cash": 30.0}))
    on_offer(abroad, farmer_A=4.0, farmer_B=4.5)
    morning(abroad, 1)
    assert not abroad.firms["farmer_A"].live
    filled = abroad.abroad.fill(order(home, qty=6))
    assert isinstance(filled, TradeFill)
    assert filled.total_micros == 6 * 4_500_000
    assert abroad.firms["farmer_A"].kg[GREEN] == 60


def money_back(home: Town) -> bool:
    """Whether nothing is set aside or expected any more."""
    firm = home.firms["roaster_A"]
    return (firm.cash, firm.balances["escrow"], firm.incoming[GREEN]) == (14_970_000_000, 0, 0)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"qty": 0}, "for a quantity"),
        ({"qty": -1}, "for a quantity"),
        ({"qty": 11, "total_micros": 0}, "for a quantity"),
        ({"item": ROASTED}, "for another item"),
        ({"total_micros": -1}, "at a price"),
        ({"total_micros": 50_000_001}, "at a price"),
        ({"qty": 3, "total_micros": 15_010_000}, "at a price"),
    ],
)
def test_an_answer_that_does_not_fit_its_order_is_a_refusal_and_all_money_comes_back(
    wrong: dict[str, Any], told: str
) -> None:
    home, _ = two_towns()
    right = TradeFill(
        order=order(home).order, town="nowhere", item=GREEN, qty=10, total_micros=50_000_000
    )
    home.drain()
    home.abroad.settle(right.model_copy(update=wrong))
    assert money_back(home)
    assert (home.state.imports, home.state.foreign_orders, home.state.clearing) == ([], {}, 0)
    [event] = events(home, "trade")
    assert (event["direction"], event["order"], event["amount"]) == ("refused", "F1", 52.5)
    assert told in event["reason"]
    assert notices(home, "roaster_A") == [f"F1 could not be filled: {event['reason']}"]
    check_town(home)
    home.abroad.settle(right)
    assert money_back(home), "and a right answer afterwards comes too late"


def test_an_answer_may_cost_as_much_as_its_order_allows() -> None:
    home, _ = two_towns()
    home.abroad.settle(
        TradeFill(order=order(home).order, town="x", item=GREEN, qty=3, total_micros=15_000_000)
    )
    assert balance(home, "roaster_A", "goods_in_transit") == 15 + 0.75
    assert balance(home, "roaster_A", "escrow") == 0


def test_an_order_filled_in_parts_costs_no_more_than_was_set_aside() -> None:
    """Rounded by themselves to the nearest cent, two parts of 1 kg at 0.016 would cost 0.04."""
    home, abroad = two_towns()
    for firm in ("farmer_A", "farmer_B"):
        do(abroad, firm, PostListing(item_id=GREEN, qty=1, asking_price=0.016))
    filled = abroad.abroad.fill(order(home, qty=2, max_price=0.016))
    assert isinstance(filled, TradeFill)
    assert (filled.qty, filled.total_micros) == (2, 20_000)
    assert [e["amount"] for e in events(abroad, "trade")] == [0.01, 0.01]
    home.abroad.settle(filled)
    assert balance(home, "roaster_A", "goods_in_transit") == 0.02 + 0.5
    assert home.state.clearing + abroad.state.clearing == 0


PRICES = st.floats(0.01, 30.0)


@given(st.lists(st.tuples(st.integers(1, 40), PRICES), min_size=2, max_size=2), PRICES, PRICES)
def test_what_a_town_fills_always_fits_the_order_whatever_the_prices(
    asks: list[tuple[int, float]], limit: float, freight: float
) -> None:
    home, abroad = two_towns(freight_per_kg=freight)
    for firm, (qty, price) in zip(("farmer_A", "farmer_B"), asks, strict=True):
        do(abroad, firm, PostListing(item_id=GREEN, qty=qty, asking_price=min(price, limit)))
    filled = abroad.abroad.fill(order(home, qty=60, max_price=limit))
    assert isinstance(filled, TradeFill)
    home.abroad.settle(filled)
    assert balance(home, "roaster_A", "escrow") == 0
    assert cash(home, "roaster_A") <= 15_000 - 30
    assert home.firms["roaster_A"].incoming[GREEN] == filled.qty > 0
    assert home.state.clearing + abroad.state.clearing == 0


def test_goods_at_sea_are_worth_no_more_than_what_can_be_had_for_them() -> None:
    home, abroad = two_towns()
    on_offer(abroad, farmer_A=1000.0)
    fill = abroad.abroad.fill(order(home, 1, 1000.0))
    assert isinstance(fill, TradeFill)
    home.abroad.settle(fill)
    before = income(home, "roaster_A")
    evening(home, 0)
    # What consumers paid that evening (18 dollars), less roasting loss and labour.
    worth = 18 * 0.85 - 3
    assert balance(home, "roaster_A", "goods_in_transit") == pytest.approx(worth)
    assert income(home, "roaster_A") == pytest.approx(before - (1000.25 - worth))
    check_town(home)
