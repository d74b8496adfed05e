"""The end of a firm (note, S7)."""

from __future__ import annotations

from typing import Any

import pytest

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import ProduceItem, Roast
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.town import Town
from tests.services.economy.by_hand import (
    advance,
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
    trade,
)

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)


def failing(rules: Rules, name: str = "roaster_A", day: int = 3, **values: Any) -> Town:
    """A town in which a firm cannot pay its running costs of a day unless it earns something."""
    opex = {"farmer": 25.0, "roaster": 30.0, "retailer": 50.0}[name.split("_")[0]]
    return calm_town(rules, firms=firms(**{name: {"cash": day * opex + 10.0}}), **values)


@BOTH
def test_a_firm_is_bankrupt_when_its_cash_is_below_zero_at_its_turn(rules: Rules) -> None:
    town = failing(rules, "roaster_A", day=3)
    turns = morning(town, 2)
    assert "roaster_A" in [turn.firm for turn in turns]
    assert cash(town, "roaster_A") == 10
    town.drain()
    turns = morning(town, 3)
    assert "roaster_A" not in [turn.firm for turn in turns]
    assert town.firms["roaster_A"].bankrupt_day == 3
    assert cash(town, "roaster_A") == -20
    assert events(town, "bankruptcy") == [
        {"firm": "roaster_A", "day": 3, "equity": pytest.approx(-20 + 30 * 5.88)}
    ]


@BOTH
def test_no_cash_at_all_is_no_bankruptcy(rules: Rules) -> None:
    town = calm_town(rules, firms=firms(roaster_A={"cash": 30.0}))
    morning(town, 0)
    assert cash(town, "roaster_A") == 0
    assert town.firms["roaster_A"].live


@BOTH
def test_unfinished_batches_are_worth_nothing(rules: Rules) -> None:
    town = failing(rules, "farmer_A", day=2)
    morning(town, 1)
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=5))
    morning(town, 2)
    assert not town.firms["farmer_A"].live
    assert balance(town, "farmer_A", "writedown") == 10
    assert balance(town, "farmer_A", "work_in_progress") == 0
    assert town.firms["farmer_A"].incoming[GREEN] == 0
    evening(town, 5)
    assert town.firms["farmer_A"].kg[GREEN] == 60


def test_a_roast_in_the_roaster_is_lost_too() -> None:
    town = calm_town(firms=firms(roaster_A={"cash": 70.0, "stock": {GREEN: 10}}))
    morning(town, 0)
    do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=10))
    assert cash(town, "roaster_A") == 10
    # it lands before the costs are known to be too high: batches of a bankrupt firm are those
    # that are not ready yet
    morning(town, 1)
    assert town.firms["roaster_A"].kg[ROASTED] == 8
    assert not town.firms["roaster_A"].live
    assert balance(town, "roaster_A", "writedown") == 0


@BOTH
def test_what_it_owes_becomes_its_creditors_bad_debt(rules: Rules) -> None:
    town = failing(rules, "roaster_A", day=3)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 2)
    assert income(town, "farmer_A") == 80 - 40 - 75
    morning(town, 3)
    assert balance(town, "farmer_A", "bad_debt_expense") == 80
    assert balance(town, "farmer_A", "accounts_receivable") == 0
    assert balance(town, "roaster_A", "accounts_payable") == 0
    assert town.state.past_invoices["I1"].bad_debt
    assert town.state.invoices == {}
    assert any("80.00 are lost" in line for line in notices(town, "farmer_A"))


def test_the_original_rounds_a_bad_debt_to_cents_with_its_late_fees() -> None:
    town = failing(COFFEEBENCH, "roaster_A", day=3)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 7, 4.11, terms=0)  # 28.77, fees of 0.0288
    evening(town, 2)
    morning(town, 3)
    assert town.state.past_invoices["I1"].late_fees == 28_800
    assert balance(town, "farmer_A", "bad_debt_expense") == 28.80  # not 28.7988
    assert balance(town, "farmer_A", "accounts_receivable") == 0


@BOTH
def test_a_bankrupt_firm_has_no_turns_no_costs_and_no_customers(rules: Rules) -> None:
    town = failing(rules, "retailer_A", day=1)
    shop = town.firms["retailer_A"]
    morning(town, 0)
    trade(town, "retailer_A", "roaster_A", ROASTED, 25, 9.0)  # nothing left for consumers
    trade(town, "roaster_B", "retailer_A", ROASTED, 20, 10.0)
    morning(town, 1)
    assert (shop.bankrupt_day, shop.kg[ROASTED]) == (1, 20)
    while (minute := town.next_minute()) is not None:
        assert "retailer_A" not in [turn.firm for turn in town.advance(minute)]
    assert balance(town, "retailer_A", "operating_expense") == 100  # days 0 and 1
    assert shop.kg[ROASTED] == 20


@BOTH
def test_others_are_told(rules: Rules) -> None:
    town = failing(rules, "roaster_A", day=1)
    morning(town, 1)
    assert "roaster_A went bankrupt on day 1" in notices(town, "retailer_B")


@BOTH
def test_what_it_has_sold_is_still_delivered_and_owed_to_it(rules: Rules) -> None:
    town = failing(rules, "farmer_A", day=1, delay_probability=1.0)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 1)  # the shipment is late, and the farmer fails
    assert not town.firms["farmer_A"].live
    town.shipping.luck.shipment = lambda seller, buyer, nth: 1.0  # type: ignore[method-assign]
    morning(town, 2)
    assert town.firms["roaster_A"].kg[GREEN] == 20
    assert balance(town, "farmer_A", "accounts_receivable") == 80


@BOTH
def test_equity_is_frozen_at_bankruptcy(rules: Rules) -> None:
    town = failing(rules, "roaster_A", day=1)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 1)
    told = town.statement("roaster_A")
    assert told.equity_change == -60, "the debt still counted when it was frozen"
    assert told.equity == pytest.approx(-20 + 30 * 5.88 + 80)


@BOTH
def test_a_run_may_end_with_the_bankruptcy_of_one_firm(rules: Rules) -> None:
    town = failing(rules, "roaster_A", day=2, stop_when_bankrupt="roaster_A")
    advance(town, 10**9)
    assert town.closed
    town = failing(rules, "roaster_A", day=2, stop_when_bankrupt="roaster_B")
    evening(town, 50)
    assert not town.closed
