"""Invoices, payment and late fees (note, S6)."""

from __future__ import annotations

from typing import Any

import pytest

from services.economy.catalogue import GREEN
from services.economy.commands import PayInvoice, ViewPayables, ViewReceivables
from services.economy.results import InvoicesView
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


def with_an_invoice(rules: Rules = HANSE, terms: int = 30, qty: int = 20, **values: Any) -> Town:
    """Farmer A has delivered so many kg at 4.00 to roaster A, on the morning of day 1: I1."""
    town = calm_town(rules, **values)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, qty, 4.0, terms)
    morning(town, 1)
    town.drain()
    return town


@BOTH
def test_an_invoice_is_due_so_many_days_after_delivery(rules: Rules) -> None:
    invoice = with_an_invoice(rules, terms=7).state.invoices["I1"]
    assert (invoice.amount, invoice.issue_day, invoice.due_day) == (80_000_000, 1, 8)


@BOTH
def test_nothing_is_paid_by_itself(rules: Rules) -> None:
    town = with_an_invoice(rules, terms=0)
    evening(town, 20)
    assert town.state.invoices["I1"].open


@BOTH
def test_payment_moves_cash_at_once(rules: Rules) -> None:
    town = with_an_invoice(rules)
    paid = do(town, "roaster_A", PayInvoice(invoice_id="I1"))
    assert paid.value("paid_amount") == 80.0
    assert paid.value("outstanding") == 0.0
    assert paid.value("remaining_cash") == cash(town, "roaster_A") == 15_000 - 60 - 80
    assert cash(town, "farmer_A") == 15_000 - 50 + 80
    assert balance(town, "roaster_A", "accounts_payable") == 0
    assert balance(town, "farmer_A", "accounts_receivable") == 0
    invoice = town.state.past_invoices["I1"]
    assert (invoice.paid, invoice.paid_day) == (True, 1)
    assert events(town, "payment") == [
        {
            "invoice": "I1",
            "deal": "D1",
            "offer": "O1",
            "payer": "roaster_A",
            "issuer": "farmer_A",
            "amount": 80.0,
            "day": 1,
        }
    ]


@BOTH
def test_only_the_payer_pays_only_once_and_only_what_it_can(rules: Rules) -> None:
    town = with_an_invoice(rules, firms=firms(roaster_A={"cash": 139.99}))  # 79.99 on day 1
    assert refusal(town, "roaster_A", PayInvoice(invoice_id="I1")) == "insufficient_cash"
    assert refusal(town, "farmer_A", PayInvoice(invoice_id="I1")) == "not_owner"
    assert refusal(town, "roaster_A", PayInvoice(invoice_id="I2")) == "unknown_invoice"
    town = with_an_invoice(rules)
    do(town, "roaster_A", PayInvoice(invoice_id="I1"))
    assert refusal(town, "roaster_A", PayInvoice(invoice_id="I1")) == "invoice_closed"


@BOTH
def test_from_the_day_after_the_due_day_each_evening_costs_a_thousandth(rules: Rules) -> None:
    town = with_an_invoice(rules, terms=2)  # due on day 3
    evening(town, 3)
    assert town.state.invoices["I1"].late_fees == 0
    evening(town, 4)
    assert town.state.invoices["I1"].late_fees == 80_000
    evening(town, 6)
    assert town.state.invoices["I1"].late_fees == 240_000  # simple, not compounding
    assert balance(town, "roaster_A", "interest_expense") == 0.24
    assert balance(town, "farmer_A", "interest_revenue") == -0.24
    assert town.statement("roaster_A").interest_net == 0.24
    paid = do(town, "roaster_A", PayInvoice(invoice_id="I1"))
    assert paid.value("paid_amount") == 80.24


@BOTH
def test_a_late_fee_has_four_decimals(rules: Rules) -> None:
    town = calm_town(rules)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 7, 4.11, 0)
    evening(town, 2)
    assert town.state.invoices["I1"].late_fees == 28_800  # 0.001 * 28.77 = 0.02877


@BOTH
def test_fees_are_frozen_when_either_side_is_bankrupt(rules: Rules) -> None:
    broke = firms(farmer_A={"cash": 74.99})  # cannot pay the running costs of day 2
    town = with_an_invoice(rules, terms=0, firms=broke)
    evening(town, 9)
    assert town.firms["farmer_A"].bankrupt_day == 2
    assert town.state.invoices["I1"].late_fees == 0
    do(town, "roaster_A", PayInvoice(invoice_id="I1"))  # it can still be paid


@BOTH
def test_payables_come_by_due_day_and_then_by_age_with_their_totals(rules: Rules) -> None:
    town = calm_town(rules)
    morning(town, 0)
    for seller, qty, terms in (
        ("farmer_A", 3, 30),
        ("farmer_B", 4, 2),
        ("farmer_B", 5, 30),
        ("farmer_A", 6, 2),
    ):
        trade(town, seller, "roaster_A", GREEN, qty, 4.0, terms)
    morning(town, 5)

    def payables(**arguments: Any) -> InvoicesView:
        view = do(town, "roaster_A", ViewPayables(**arguments)).data
        assert isinstance(view, InvoicesView)
        return view

    seen = payables()
    assert [row.id for row in seen.rows] == ["I2", "I4", "I1", "I3"]
    assert (seen.open_count, seen.overdue_count) == (4, 2)
    assert seen.total_outstanding == pytest.approx(4 * (3 + 4 + 5 + 6) + 0.016 + 0.024)
    first = seen.rows[0]
    assert first._asdict() == {
        "id": "I2",
        "counterparty": "farmer_B",
        "amount": 16.0,
        "late_fees": 0.016,  # day 4; day 5 has not ended
        "credited": 0.0,
        "outstanding": 16.016,
        "due_day": 3,
        "days_to_due": -2,
        "overdue": True,
        "bad_debt": False,
    }
    assert [row.id for row in payables(only_overdue=True).rows] == ["I2", "I4"]
    assert [row.id for row in payables(counterparty="farmer_A").rows] == ["I4", "I1"]
    assert [row.id for row in payables(limit=1).rows] == ["I2"]
    owed = do(town, "farmer_A", ViewReceivables()).data
    assert isinstance(owed, InvoicesView)
    assert [row.counterparty for row in owed.rows] == ["roaster_A", "roaster_A"]


@BOTH
def test_income_follows_delivery_not_payment(rules: Rules) -> None:
    town = with_an_invoice(rules)
    before = income(town, "farmer_A")
    assert before == -50 + 80 - 40
    do(town, "roaster_A", PayInvoice(invoice_id="I1"))
    assert income(town, "farmer_A") == before
