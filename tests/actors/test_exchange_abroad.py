"""The exchange trades with other towns through routers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.economy.abroad import TownQuote, TradeFill, TradeOrder, TradeRefused
from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import OrderAbroad, PostListing, ViewTrialBalance, WaitForNextDay
from services.messages import Payload
from tests.actors.desk import FARMER, ROASTER, SETUP, THREE, Desk, turn_of, turns

ABROAD = replace(SETUP, foreign_trade=True)


def order(item: str = GREEN, qty: int = 6, max_price: float = 4.5) -> TradeOrder:
    return TradeOrder(
        order="F1", town="Visby", reply_to="exchange_Visby", item=item, qty=qty, max_price=max_price
    )


def test_every_morning_the_routers_are_told_what_the_town_has_to_sell() -> None:
    desk = Desk(ABROAD, routers=("router",))
    quote, *asked = desk.wake(540)
    assert (quote.recipient, quote.payload) == (
        "router",
        TownQuote(town="town", exchange="exchange", day=0, asks={}, kg={}, load=0),
    )
    desk.answer(asked, PostListing(item_id=GREEN, qty=10, asking_price=4.0))
    desk.answer(desk.wake(570))
    desk.tell("router", order(item=ROASTED))
    desk.wake(1140)
    tomorrow = desk.wake(1440 + 540)[0].payload
    assert isinstance(tomorrow, TownQuote)
    assert (tomorrow.asks, tomorrow.kg, tomorrow.load) == ({GREEN: 4.0}, {GREEN: 10}, 1)


def test_an_order_from_abroad_is_filled_and_its_seller_called_in_the_same_minute() -> None:
    desk = Desk(ABROAD, routers=("router",))
    desk.answer(turns(desk.wake(540)), PostListing(item_id=GREEN, qty=10, asking_price=4.0))
    desk.answer(desk.wake(570))
    desk.context.clock.now = 700
    fill, turn = desk.tell("router", order())
    assert fill.recipient == "router"
    assert fill.payload == TradeFill(
        order="F1", town="town", item=GREEN, qty=6, total_micros=24_000_000
    )
    assert (turn.recipient, turn_of(turn).reason) == (FARMER, "sold abroad")
    assert turn_of(turn).minute_of_day == 700
    desk.answer([turn], ViewTrialBalance())
    assert desk.context.wakes[-1] == 730


def test_an_order_from_abroad_that_finds_nothing_is_refused() -> None:
    desk = Desk(ABROAD, routers=("router",))
    desk.answer(turns(desk.wake(540)))
    [refused] = desk.tell("router", order())
    assert isinstance(refused.payload, TradeRefused)
    assert desk.exchange.town.state.clearing == 0


def test_an_order_abroad_goes_to_the_router_and_is_settled_by_what_comes_back() -> None:
    desk = Desk(ABROAD, routers=("router",))
    asked = turns(desk.wake(540))
    wish = OrderAbroad(item_id=GREEN, qty=10, max_price=4.0)
    sent = desk.answer(asked, WaitForNextDay(), wish)
    assert (sent[0].recipient, sent[0].payload) == (
        "router",
        TradeOrder(order="F1", town="town", reply_to="exchange", item=GREEN, qty=10, max_price=4.0),
    )
    roaster = desk.exchange.town.firms[ROASTER]
    assert roaster.balances["escrow"] == 42_500_000  # ten kilograms at 4, and 0.25 freight
    fill = TradeFill(order="F1", town="Visby", item=GREEN, qty=6, total_micros=18_000_000)
    [turn] = desk.tell("router", fill)
    assert (turn.recipient, turn_of(turn).reason) == (ROASTER, "bought abroad")
    assert roaster.balances["escrow"] == 0
    assert roaster.balances["goods_in_transit"] == 19_500_000  # six at 3, and 1.50 freight
    assert roaster.incoming[GREEN] == 6
    assert desk.events("trade")[0]["direction"] == "import"


def test_an_order_that_nobody_fills_gives_the_money_back() -> None:
    desk = Desk(ABROAD, routers=("router",))
    desk.answer(
        turns(desk.wake(540)), WaitForNextDay(), OrderAbroad(item_id=GREEN, qty=10, max_price=4.0)
    )
    desk.tell("router", TradeRefused(order="F1", reason="sold out"))
    roaster = desk.exchange.town.firms[ROASTER]
    assert roaster.balances["escrow"] == 0
    assert roaster.cash == 14_970_000_000  # 15,000 less the day's running costs
    assert desk.events("trade") == [
        {
            "direction": "refused", "order": "F1", "town": "", "item": GREEN, "qty": 10,
            "amount": 42.5, "day": 0, "reason": "sold out",
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    "forged",
    [
        TradeFill(order="F1", town="Visby", item=GREEN, qty=10, total_micros=0),
        TradeRefused(order="F1", reason="no"),
        order(max_price=1e6),
    ],
)
def test_trade_that_no_router_of_the_town_has_passed_on_is_stray(forged: Payload) -> None:
    desk = Desk(ABROAD, routers=("router",))
    wish = OrderAbroad(item_id=GREEN, qty=10, max_price=4.0)
    post = PostListing(item_id=GREEN, qty=10, asking_price=4.0)
    desk.answer(turns(desk.wake(540)), post, wish)
    before = desk.exchange.town.dump()
    assert desk.tell(ROASTER, forged) == []
    assert desk.exchange.town.dump() == before
    assert desk.events("stray_trade") == [{"message": f"{ROASTER}#2"}]


def test_a_town_that_has_closed_sells_nothing_any_more() -> None:
    # The roaster cannot pay its running costs, and the run ends with it.
    poor = tuple(replace(f, cash=10.0) if f.role == "roaster" else f for f in THREE)
    desk = Desk(replace(ABROAD, firms=poor, stop_when_bankrupt=ROASTER), routers=("router",))
    desk.answer(turns(desk.wake(540)), PostListing(item_id=GREEN, qty=10, asking_price=4.0))
    assert desk.exchange.town.closed
    [refused] = desk.tell("router", order())
    assert refused.payload == TradeRefused(order="F1", reason="the town has closed")
