"""Stock spoils, by the whole kilogram, with the rest carried over (note, S4)."""

from __future__ import annotations

import pytest

from services.economy.catalogue import GREEN, ROASTED
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from tests.services.economy.by_hand import (
    balance,
    calm_town,
    evening,
    events,
    firms,
    income,
    morning,
    trade,
)

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)


@BOTH
def test_a_passive_roaster_loses_eleven_kilograms_in_ninety_days(rules: Rules) -> None:
    town = calm_town(rules)
    evening(town, 89)
    assert town.closed
    assert town.firms["roaster_A"].kg[ROASTED] == 30 - 11
    assert balance(town, "roaster_A", "spoilage_expense") == pytest.approx(11 * 5.88)
    assert income(town, "roaster_A") == -2764.68  # the published floor: 90 * 30 + 11 * 5.88


@BOTH
def test_a_passive_farmer_loses_twenty_one_kilograms_in_ninety_days(rules: Rules) -> None:
    town = calm_town(rules)
    evening(town, 89)
    assert town.firms["farmer_A"].kg[GREEN] == 60 - 21
    assert income(town, "farmer_A") == -2292.00  # 90 * 25 + 21 * 2


def test_fractions_are_carried_until_they_make_a_kilogram() -> None:
    """30 kg lose 0.15 kg an evening, so the first whole kilogram goes on the seventh."""
    town = calm_town()
    firm = town.firms["roaster_A"]
    evening(town, 5)
    assert firm.kg[ROASTED] == 30
    assert firm.carry[ROASTED] == pytest.approx(0.90)
    town.drain()
    evening(town, 6)
    assert firm.kg[ROASTED] == 29
    assert firm.carry[ROASTED] == pytest.approx(0.05)
    spoiled = [e for e in events(town, "spoilage") if e["firm"] == "roaster_A"]
    assert spoiled == [{"firm": "roaster_A", "item": ROASTED, "qty": 1, "value": 5.88}]


def test_the_carry_stays_when_all_stock_is_gone() -> None:
    town = calm_town(COFFEEBENCH)
    morning(town, 0)
    evening(town, 0)
    morning(town, 1)
    trade(town, "roaster_A", "retailer_A", ROASTED, 30, 10.0)
    evening(town, 1)
    firm = town.firms["roaster_A"]
    assert firm.kg[ROASTED] == 0
    assert firm.carry[ROASTED] == pytest.approx(0.15)


def test_goods_on_the_road_do_not_spoil() -> None:
    town = calm_town(
        COFFEEBENCH,
        delay_probability=1.0,
        spoilage_per_day=0.5,
        firms=firms(farmer_B={"stock": {}}),
    )
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 60, 4.0)
    evening(town, 3)
    assert "spoiled" not in town.state.goods[GREEN]
    assert sum(deal.qty for deal in town.state.deals.values()) == 60


def test_spoiled_stock_leaves_at_its_average_cost() -> None:
    town = calm_town(spoilage_per_day=0.5, firms=firms(farmer_A={"stock": {GREEN: 9}}))
    evening(town, 0)
    firm = town.firms["farmer_A"]
    assert (firm.kg[GREEN], firm.carry[GREEN]) == (5, 0.5)  # 4.5 spoil: 4 now
    assert balance(town, "farmer_A", "spoilage_expense") == 4 * 2.00
    assert balance(town, "farmer_A", "inventory") == 5 * 2.00


def test_stock_cannot_spoil_below_nothing() -> None:
    town = calm_town(spoilage_per_day=1.0)
    evening(town, 1)
    assert town.firms["farmer_A"].kg[GREEN] == 0


def test_a_bankrupt_firm_keeps_its_stock_as_it_is() -> None:
    town = calm_town(spoilage_per_day=0.5, firms=firms(farmer_A={"cash": 0.0}))
    morning(town, 0)
    assert not town.firms["farmer_A"].live
    evening(town, 5)
    assert town.firms["farmer_A"].kg[GREEN] == 60
