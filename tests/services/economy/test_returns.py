"""Goods that go back: windows, credit and refund (note, S6)."""

from __future__ import annotations

from typing import Any

import pytest

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import PayInvoice, ProduceItem, ReturnShipment
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.town import Town
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
    refusal,
    trade,
)

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)


def delivered(rules: Rules = COFFEEBENCH, **values: Any) -> Town:
    """Farmer A (60 kg at 2.00) has delivered 20 kg at 4.00 to roaster A, on day 1: I1."""
    calm = {"firms": firms(farmer_A={"opex": 0.0}, roaster_A={"opex": 0.0}), **values}
    town = calm_town(rules, spoilage_per_day=0.0, **calm)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 1)
    town.drain()
    return town


def back(qty: int, invoice: str = "I1") -> ReturnShipment:
    return ReturnShipment(invoice_id=invoice, quantity_kg=qty, reason="too much")


def test_a_return_needs_no_consent_and_lowers_what_is_owed() -> None:
    town = delivered()
    done = do(town, "roaster_A", back(5))
    assert (done.value("credit"), done.value("refund")) == (20.0, 0.0)
    assert done.value("remaining_returnable") == 15
    assert town.state.invoices["I1"].outstanding() == 60_000_000
    assert balance(town, "roaster_A", "accounts_payable") == -60
    assert balance(town, "farmer_A", "accounts_receivable") == 60
    assert town.firms["roaster_A"].kg[GREEN] == 15
    assert town.firms["farmer_A"].kg[GREEN] == 45
    assert events(town, "return") == [
        {
            "invoice": "I1",
            "deal": "D1",
            "offer": "O1",
            "item": GREEN,
            "qty": 5,
            "credit": 20.0,
            "refund": 0.0,
            "day": 1,
            "reason": "too much",
        }
    ]


def test_a_return_takes_revenue_and_cost_of_goods_back() -> None:
    town = delivered()
    assert income(town, "farmer_A") == 80 - 40
    do(town, "roaster_A", back(5))
    assert balance(town, "farmer_A", "sale_reversal") == 20
    assert balance(town, "farmer_A", "cogs_reversal") == -10
    assert income(town, "farmer_A") == 60 - 30


def test_an_invoice_whose_whole_amount_is_credited_is_closed() -> None:
    town = delivered()
    do(town, "roaster_A", back(20))
    invoice = town.state.past_invoices["I1"]
    assert (invoice.returned, invoice.open, invoice.outstanding()) == (True, False, 0)
    assert refusal(town, "roaster_A", PayInvoice(invoice_id="I1")) == "invoice_closed"


def test_what_was_paid_already_is_refunded_in_cash() -> None:
    town = delivered()
    do(town, "roaster_A", PayInvoice(invoice_id="I1"))
    done = do(town, "roaster_A", back(5))
    assert done.value("refund") == 20.0
    assert cash(town, "roaster_A") == 15_000 - 80 + 20
    assert cash(town, "farmer_A") == 15_000 + 80 - 20
    assert not town.state.past_invoices["I1"].returned
    do(town, "roaster_A", back(15))
    assert town.state.past_invoices["I1"].returned, "in the end all of it came back"


@BOTH
def test_goods_go_back_within_fourteen_days_of_delivery(rules: Rules) -> None:
    town = delivered(rules)
    evening(town, 14)
    morning(town, 15)
    do(town, "roaster_A", back(1))
    morning(town, 16)
    assert refusal(town, "roaster_A", back(1)) == "return_window_closed"


@BOTH
def test_a_long_return_window_outlasts_the_memory(rules: Rules) -> None:
    town = delivered(rules, return_window_days=40, memory_days=2)
    morning(town, 41)
    do(town, "roaster_A", back(1))
    evening(town, 42)
    assert refusal(town, "roaster_A", back(1)) == "return_window_closed"


@BOTH
def test_only_the_buyer_returns_no_more_than_it_got_and_still_holds(rules: Rules) -> None:
    town = delivered(rules)
    assert refusal(town, "farmer_A", back(1)) == "not_owner"
    assert refusal(town, "roaster_A", back(1, "I9")) == "unknown_invoice"
    for qty in (0, -1):
        assert refusal(town, "roaster_A", back(qty)) == "quantity_out_of_range"
    assert refusal(town, "roaster_A", back(21)) == "return_exceeds_deal"
    do(town, "roaster_A", back(15))
    assert refusal(town, "roaster_A", back(6)) == "return_exceeds_deal"
    trade(town, "roaster_A", "roaster_B", GREEN, 4, 5.0)
    assert refusal(town, "roaster_A", back(5)) == "return_exceeds_stock"
    do(town, "roaster_A", back(1))


@BOTH
def test_returned_goods_may_overfill_the_sellers_store(rules: Rules) -> None:
    cramped = firms(farmer_A={"stock_cap": 60}, roaster_A={"stock": {}})
    town = delivered(rules, firms=cramped)
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=20))
    do(town, "roaster_A", back(20))
    assert town.firms["farmer_A"].committed == 80


@BOTH
def test_the_buyer_gives_goods_up_at_its_own_average_cost(rules: Rules) -> None:
    """30 kg at 5.88 and 10 kg at 9.00: 5 kg leave at 6.66 each."""
    town = calm_town(rules, spoilage_per_day=0.0)
    morning(town, 0)
    trade(town, "retailer_A", "roaster_A", ROASTED, 10, 9.0)
    morning(town, 1)
    do(town, "roaster_A", back(5))
    assert balance(town, "roaster_A", "inventory") == pytest.approx(35 * 6.66)


def test_a_credit_is_rounded_to_cents_and_a_rounded_surplus_is_not_paid_out() -> None:
    """2 kg at 3.335: 6.67 in all, but 3.33 or 3.34 for each kilogram alone."""
    town = calm_town(COFFEEBENCH)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 2, 3.337)  # 6.67; each alone 3.34
    morning(town, 1)
    assert do(town, "roaster_A", back(1)).value("credit") == 3.34
    last = do(town, "roaster_A", back(1))
    assert (last.value("credit"), last.value("refund")) == (3.34, 0.0)
    assert town.state.past_invoices["I1"].credited == 6_680_000
    assert balance(town, "roaster_A", "accounts_payable") == 0
