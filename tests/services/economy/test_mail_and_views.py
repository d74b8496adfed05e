"""Letters, observations and the other views (note, S10)."""

from __future__ import annotations

from typing import Any

import pytest

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import (
    ReadMessage,
    SendMessage,
    ViewConsumerSales,
    ViewDeals,
    ViewMarketAggregate,
    ViewMessages,
)
from services.economy.results import AggregateView, DealsView, LettersView, SalesView
from services.economy.town import Town
from tests.services.economy.by_hand import calm_town, do, evening, made, morning, refusal, trade


def opened(**values: Any) -> Town:
    town = calm_town(**values)
    morning(town, 0)
    return town


def write(town: Town, author: str, recipient: str, title: str = "hello") -> str:
    return made(town, author, SendMessage(recipient=recipient, title=title, body="text"))


def heads(town: Town, firm: str, **arguments: Any) -> LettersView:
    view = do(town, firm, ViewMessages(**arguments)).data
    assert isinstance(view, LettersView)
    return view


def test_a_letter_is_private_and_unread_until_its_recipient_opens_it() -> None:
    town = opened()
    letter = write(town, "farmer_A", "roaster_A")
    assert heads(town, "roaster_A").unread == 1
    assert heads(town, "roaster_B").rows == ()
    read = do(town, "farmer_A", ReadMessage(message_id=letter))  # its author may look, too
    assert heads(town, "roaster_A").unread == 1
    read = do(town, "roaster_A", ReadMessage(message_id=letter))
    assert read.value("body") == "text"
    view = heads(town, "roaster_A")
    assert (view.unread, view.rows[0].read) == (0, True)
    assert refusal(town, "roaster_B", ReadMessage(message_id=letter)) == "unknown_message"
    assert refusal(town, "roaster_A", ReadMessage(message_id="M2")) == "unknown_message"


def test_the_newest_letters_come_first_and_can_be_sifted() -> None:
    town = opened()
    first = write(town, "farmer_A", "roaster_A")
    second = write(town, "farmer_B", "roaster_A")
    morning(town, 1)
    third = write(town, "farmer_A", "roaster_A")
    assert [row.id for row in heads(town, "roaster_A").rows] == [third, second, first]
    assert [row.id for row in heads(town, "roaster_A", counterparty="farmer_A").rows] == [
        third,
        first,
    ]
    assert [row.id for row in heads(town, "roaster_A", since_day=1).rows] == [third]
    assert [row.id for row in heads(town, "roaster_A", limit=1).rows] == [third]
    assert [row.id for row in heads(town, "farmer_A", counterparty="self").rows] == [third, first]


@pytest.mark.parametrize(
    ("recipient", "title", "body", "code"),
    [
        ("roaster_A", "", "text", "empty_message"),
        ("roaster_A", "hello", " \n", "empty_message"),
        ("roaster_A", "x" * 81, "text", "title_too_long"),
        ("farmer_A", "hello", "text", "own_message"),
        ("nobody", "hello", "text", "unknown_firm"),
    ],
)
def test_a_letter_needs_a_title_a_body_and_a_known_recipient(
    recipient: str, title: str, body: str, code: str
) -> None:
    command = SendMessage(recipient=recipient, title=title, body=body)
    assert refusal(opened(), "farmer_A", command) == code


def test_letters_are_counted_by_day_and_in_all() -> None:
    town = opened()
    write(town, "farmer_A", "roaster_A", "x" * 80)
    write(town, "farmer_A", "roaster_B")
    assert town.firms["farmer_A"].messages_today == 2
    morning(town, 1)
    assert town.firms["farmer_A"].messages_today == 0
    assert town.firms["farmer_A"].messages_sent == 2


def test_deals_show_both_sides_where_the_goods_are() -> None:
    town = opened()
    trade(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)

    def deals(firm: str, status: str = "pending") -> list[tuple[str, str, str | None]]:
        view = do(town, firm, ViewDeals(status=status)).data
        assert isinstance(view, DealsView)
        return [(row.id, row.status, row.invoice) for row in view.rows]

    assert deals("farmer_A") == deals("roaster_A") == [("D1", "pending", None)]
    assert deals("roaster_B", "all") == [], "deals of others are nobody's business"
    morning(town, 1)
    trade(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
    assert deals("roaster_A") == [("D2", "pending", None)]
    assert deals("roaster_A", "all") == [("D1", "delivered", "I1"), ("D2", "pending", None)]


def test_consumer_sales_are_for_retailers_and_their_own() -> None:
    town = opened()
    evening(town, 1)
    view = do(town, "retailer_A", ViewConsumerSales()).data
    assert isinstance(view, SalesView)
    assert [(row.day, row.qty, row.revenue) for row in view.rows] == [(0, 21, 378.0), (1, 4, 72.0)]
    view = do(town, "retailer_A", ViewConsumerSales(since_day=1)).data
    assert isinstance(view, SalesView)
    assert [row.day for row in view.rows] == [1]
    assert refusal(town, "roaster_A", ViewConsumerSales()) == "wrong_role"


def test_the_market_aggregate_adds_all_shops_up() -> None:
    town = opened()
    evening(town, 1)

    def days(days_back: int) -> list[tuple[Any, ...]]:
        view = do(town, "farmer_A", ViewMarketAggregate(days_back=days_back)).data
        assert isinstance(view, AggregateView)
        return [tuple(row) for row in view.rows]

    assert days(7) == [(0, ROASTED, 42, 756.0, 18.0), (1, ROASTED, 8, 144.0, 18.0)]
    morning(town, 2)
    assert days(1) == [(1, ROASTED, 8, 144.0, 18.0)]


def test_an_observation_tells_a_firm_how_it_stands() -> None:
    town = opened()
    trade(town, "farmer_A", "roaster_A", GREEN, 10, 4.0, 0)
    trade(town, "roaster_A", "retailer_A", ROASTED, 10, 9.0)
    write(town, "farmer_A", "roaster_A")
    morning(town, 2)
    town.world.notify(town.firms["roaster_A"], "news")
    seen = town.observe("roaster_A", "morning")
    assert (seen.day, seen.minute_of_day, seen.weekday) == (2, 540, "Wednesday")
    assert seen.cash == 15_000 - 90
    assert (seen.accounts_receivable, seen.accounts_payable) == (90.0, 40.0)
    assert (seen.overdue_payables, seen.overdue_receivables) == (1, 0)
    assert seen.stock == {ROASTED: 20, GREEN: 10}
    assert (seen.stock_cap, seen.open_listings) == (120, 0)
    assert seen.unread_letters == {"farmer_A": 1}
    assert seen.notices == ("news",)
    assert town.observe("roaster_A", "message").notices == (), "they are told once"


def test_a_firm_that_never_looks_keeps_the_latest_fifty_notices_only() -> None:
    town = opened()
    for number in range(60):
        town.world.notify(town.firms["roaster_A"], f"news {number}")
    assert len(town.firms["roaster_A"].notices) == 50
    assert town.firms["roaster_A"].notices[-1] == "news 59"


def test_what_is_remembered_is_bounded() -> None:
    town = calm_town(memory_days=5, return_window_days=2)
    for day in range(12):
        morning(town, day)
        trade(town, "roaster_A", "retailer_B", ROASTED, 2, 9.0)
        write(town, "farmer_A", "roaster_A")
    evening(town, 11)
    state = town.state
    assert len(state.past_deals) == 5
    assert len(state.letters) == 5
    assert {row.day for row in state.market} <= set(range(7, 12))
    assert all(row.day > 6 for rows in state.sales.values() for row in rows)
