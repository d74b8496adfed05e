"""The truth ledger, statements and figures (note, S9)."""

from __future__ import annotations

from collections import Counter

import pytest

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import PayInvoice, ProduceItem, Roast, ViewTrialBalance
from services.economy.money import cents, dollars, micros, share
from services.economy.results import TrialBalance
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.setup import TownSetup
from services.economy.state import INCOME
from services.economy.town import Town
from tests.services.economy.by_hand import (
    balance,
    calm_town,
    do,
    evening,
    firms,
    morning,
    trade,
)

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)


def busy(rules: Rules) -> Town:
    """A town after two days of growing, roasting, trade and payment."""
    town = Town(TownSetup(rules=rules, loss_probability=0.0, delay_probability=0.0))
    morning(town, 0)
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=10))
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0, 0)
    trade(town, "roaster_A", "retailer_A", ROASTED, 10, 9.8)
    morning(town, 1)
    do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=10))
    do(town, "retailer_A", PayInvoice(invoice_id="I2"))
    evening(town, 2)
    return town


@BOTH
def test_starting_equity_is_cash_and_stock(rules: Rules) -> None:
    for name, equity in (
        ("farmer_A", 15_120.00),
        ("roaster_A", 15_176.40),
        ("retailer_A", 15_250.00),
    ):
        assert calm_town(rules).statement(name).equity == equity


@BOTH
def test_a_statement_of_a_roaster_worked_out_by_hand(rules: Rules) -> None:
    told = busy(rules).statement("roaster_A")
    # sold 10 of 30 kg that cost 5.88; owes 20 * 4.00 that was due on day 1; one late fee of 0.08
    assert told.revenue_net == 98
    assert told.cogs == pytest.approx(58.80)
    assert told.operating_costs == pytest.approx(3 * 30)
    assert told.interest_net == 0.08
    assert told.net_income == round(98 - 58.80 - 90 - 0.08, 2)
    assert told.equity_change == told.net_income
    assert told.cash == 15_000 - 90 - 30 + 98
    assert told.accounts_payable == 80.08
    assert told.accounts_receivable == 0
    # 20 kg at 5.88 and 8 kg roasted of 10 kg at 4.00 with labour of 30; 10 kg of green at 4.00
    assert told.inventory_value == pytest.approx(117.60 + 70 + 40)
    assert told.equity == pytest.approx(15_176.40 + told.net_income)


@BOTH
def test_every_row_debits_one_account_and_credits_another_and_they_make_the_balances(
    rules: Rules,
) -> None:
    town = busy(rules)
    found = {name: Counter[str]() for name in town.firms}
    for firm, debit, credit, amount, reference in town.drain().ledger:
        assert debit != credit
        assert amount > 0
        assert reference
        found[firm][debit] += amount
        found[firm][credit] -= amount
    for name, firm_state in town.firms.items():
        assert {k: v for k, v in firm_state.balances.items() if v} == (
            {k: v for k, v in found[name].items() if v}
        )


@BOTH
def test_equity_is_cash_stock_goods_under_way_and_claims_less_debts(rules: Rules) -> None:
    town = busy(rules)
    for name in town.firms:
        told = town.statement(name)
        assert told.equity == pytest.approx(
            told.cash
            + told.inventory_value
            + told.in_flight_value
            + told.accounts_receivable
            - told.accounts_payable
        )


@BOTH
def test_net_income_is_what_equity_has_grown_by_as_long_as_nothing_goes_back(rules: Rules) -> None:
    town = busy(rules)
    for name in town.firms:
        told = town.statement(name)
        assert told.net_income == told.equity_change
        assert told.net_income == pytest.approx(
            told.revenue_net - told.cogs - told.operating_costs - told.interest_net
        )


def test_net_income_is_the_sum_of_the_income_accounts_only() -> None:
    town = calm_town()
    firm = town.firms["farmer_A"]
    for account in firm.balances:
        before = firm.income()
        town.world.post(firm, account, "capital" if account != "capital" else "estate", 7, "test")
        assert firm.income() - before == (-7 if account in INCOME else 0)


def test_a_negative_amount_is_booked_the_other_way_round_and_nothing_not_at_all() -> None:
    town = calm_town()
    firm = town.firms["farmer_A"]
    town.world.post(firm, "cash", "revenue", -5, "test")
    town.world.post(firm, "cash", "revenue", 0, "test")
    assert town.drain().ledger == [("farmer_A", "revenue", "cash", 5, "test")]


@BOTH
def test_a_trial_balance_shows_the_same_books(rules: Rules) -> None:
    town = busy(rules)
    seen = do(town, "roaster_A", ViewTrialBalance()).data
    assert isinstance(seen, TrialBalance)
    told = town.statement("roaster_A")
    assert (seen.cash, seen.accounts_payable) == (told.cash, told.accounts_payable)
    assert seen.stock == {ROASTED: 28, GREEN: 10}
    assert seen.unit_costs == pytest.approx({ROASTED: (117.60 + 70) / 28, GREEN: 4.0})
    assert seen.income == {
        "revenue": 98.0,
        "returns": 0.0,
        "cogs": pytest.approx(58.80),
        "rent_utilities": 90.0,
        "spoilage": 0.0,
        "other": 0.0,
        "interest_expense": 0.08,
        "interest_revenue": 0.0,
    }
    assert seen.net_income == pytest.approx(told.net_income)


@BOTH
def test_a_days_figures_are_those_of_its_evening(rules: Rules) -> None:
    town = calm_town(rules, firms=firms(roaster_A={"stock": {ROASTED: 30}}))
    morning(town, 0)
    trade(town, "roaster_A", "retailer_A", ROASTED, 10, 9.8)
    town.drain()
    evening(town, 0)
    figures = {firm: told for day, firm, told in town.drain().figures if day == 0}
    shop = figures["retailer_A"]
    assert shop["cash"] == 15_000 - 50 + 378  # 21 kg at 18.00
    assert shop["stock"] == {ROASTED: 4}
    assert shop["pending_inbound_kg"] == 10
    assert shop["retail_prices"] == {ROASTED: 18.0, "roasted_specialty_kg": 50.0}
    assert (shop["deals"], shop["bankrupt"], shop["role"]) == (1, False, "retailer")
    assert figures["roaster_A"]["in_flight_value"] == pytest.approx(58.80)
    evening(town, 1)
    assert shop["stock"] == {ROASTED: 4}, "what was handed over does not change any more"


def test_money_is_whole_micro_dollars_and_rounded_like_the_original() -> None:
    assert micros(0.1) + micros(0.2) == micros(0.3)
    assert dollars(micros(12.345678)) == 12.345678
    assert cents(2.675) == 2_670_000  # as Python rounds 2.675, which is a little less
    assert cents(0.125) == 120_000  # half to even
    assert share(10, 1, 3) == 3
    assert share(10, 2, 3) == 7
    assert share(1, 1, 2) == 1  # half a micro-dollar goes up
    assert share(99, 3, 3) == 99
    assert balance(calm_town(), "farmer_A", "cash") == 15_000
