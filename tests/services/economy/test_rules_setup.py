"""Rules `coffeebench` and `hanse`: settings that do not leak, what stays hidden, and the table.

W15, the leak of demand and the rounding of roasts of `services/economy/RULES.md`, and a check that
the table there has a row for everything.
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import services.economy
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY, Catalogue
from services.economy.catalogue import standard_catalogue as standard
from services.economy.commands import ProduceItem, Roast, ViewConsumerSales
from services.economy.results import SaleRow, SalesView
from services.economy.rules import COFFEEBENCH, HANSE, Rules, rules_named
from services.economy.setup import ROLE_STOCK, TownSetup, firm_setup, standard_firms
from services.economy.town import Town
from services.errors import HanseError
from tests.services.economy.by_hand import calm_town, do, evening, firms, morning, refusal

# ---- W15: settings -------------------------------------------------------------------------------


def altered() -> Catalogue:
    """Another price of no return for each item, and a better specialty recipe."""
    return standard().with_changes(
        {ROASTED: {"reservation_price": 60.0}, GREEN: {"daily_cap": 7}},
        {GREEN_SPECIALTY: {"yield_": 0.9, "labour": 1.0}},
    )


def test_w15_each_items_reservation_price_is_its_own() -> None:
    changed = altered()
    assert changed.items[ROASTED].reservation_price == 60.0
    assert changed.items[ROASTED_SPECIALTY].reservation_price == 80.0
    assert [item.reservation_price for item in changed.consumer_items] == [60.0, 80.0]


def test_w15_the_specialty_recipe_can_be_changed_like_the_other() -> None:
    stock = {GREEN: 10, GREEN_SPECIALTY: 10}
    town = calm_town(catalogue=altered(), firms=firms(roaster_A={"stock": stock}))
    morning(town, 0)
    done = do(town, "roaster_A", Roast(green_item_id=GREEN_SPECIALTY, qty_kg=10))
    assert (done.value("output_kg"), done.value("cost")) == (9, 10 * 10.0 + 10 * 1.0)
    done = do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=10))
    assert done.value("output_kg") == 8


def test_w15_an_unknown_item_or_recipe_is_an_error_not_ignored() -> None:
    with pytest.raises(HanseError, match="no item 'tea'; allowed: green_coffee_kg, "):
        standard().with_changes({"tea": {}}, {})
    with pytest.raises(HanseError, match="no recipe 'roasted_coffee_kg'; allowed: green_coffee"):
        standard().with_changes({}, {ROASTED: {}})
    with pytest.raises(TypeError):
        standard().with_changes({GREEN: {"colour": "green"}}, {})
    with pytest.raises(HanseError, match="'strict' do not exist; allowed: hanse, coffeebench"):
        rules_named("strict")


def test_w15_two_towns_with_different_settings_in_one_process_do_not_touch_each_other() -> None:
    def course(town: Town) -> bytes:
        morning(town, 0)
        do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=5))
        evening(town, 20)
        return town.dump()

    alone = course(calm_town())
    rich = firms(farmer_A={"cash": 1.0e6, "stock": {GREEN: 1}}, retailer_A={"opex": 1.0})
    other = calm_town(catalogue=altered(), firms=rich, spoilage_per_day=0.5, late_fee_per_day=0.9)
    plain = calm_town()
    course(other)
    assert course(plain) == alone
    assert standard() == Town(TownSetup()).setup.catalogue
    assert standard() != altered()


def test_w15_what_a_town_does_to_its_firms_leaves_the_standard_values_alone() -> None:
    before = repr((ROLE_STOCK, standard_firms(), standard(), TownSetup(), HANSE, COFFEEBENCH))
    town = calm_town(spoilage_per_day=0.9)
    town.firms["retailer_A"].retail_prices[ROASTED] = 1.0
    town.firms["retailer_A"].kg[ROASTED] = 0
    firm_setup("x", "farmer", stock={GREEN: 3}).stock.clear()
    evening(town, 5)
    after = repr((ROLE_STOCK, standard_firms(), standard(), TownSetup(), HANSE, COFFEEBENCH))
    assert after == before
    assert calm_town().firms["retailer_A"].retail_prices[ROASTED] == 18.0


def test_w15_rules_and_set_ups_cannot_be_changed_in_place() -> None:
    for frozen, key in (
        (HANSE, "credit_limit"),
        (TownSetup(), "seed"),
        (standard().items[GREEN], "daily_cap"),
        (standard_firms()[0], "cash"),
    ):
        with pytest.raises((AttributeError, TypeError)):
            setattr(frozen, key, 1)


# ---- what stays hidden ---------------------------------------------------------------------------


def own_sales(rules: Rules) -> tuple[Town, list[SaleRow]]:
    """A town on day 1, and what retailer A is told about its sales of day 0."""
    town = calm_town(rules)
    evening(town, 0)
    morning(town, 1)
    view = do(town, "retailer_A", ViewConsumerSales()).data
    assert isinstance(view, SalesView)
    return town, list(view.rows)


def test_leak_in_the_original_a_shop_sees_the_markets_demand_and_its_own_share() -> None:
    assert own_sales(COFFEEBENCH)[1] == [SaleRow(0, ROASTED, 21, 18.0, 378.0, 32.0, 16, 5, 0.5)]


def test_leak_under_hanse_a_shop_sees_what_it_sold_and_no_more() -> None:
    town, told = own_sales(HANSE)
    assert told == [SaleRow(0, ROASTED, 21, 18.0, 378.0)]
    assert town.observe("retailer_A", "morning").recent_sales == tuple(told)


# ---- rounding of roasts --------------------------------------------------------------------------


def roasted_in_small_lots(rules: Rules, lots: list[int], item: str = GREEN) -> int:
    town = calm_town(rules, firms=firms(roaster_A={"stock": {GREEN: 60, GREEN_SPECIALTY: 60}}))
    morning(town, 0)
    for kg in lots:
        do(town, "roaster_A", Roast(green_item_id=item, qty_kg=kg))
    morning(town, 1)
    return sum(kg for what, kg in town.firms["roaster_A"].kg.items() if what.startswith("roasted"))


def test_yield_in_the_original_sixteen_small_roasts_make_six_kilograms_more_than_one() -> None:
    assert roasted_in_small_lots(COFFEEBENCH, [3] * 16) == 48  # 2.55 each, rounded to 3
    assert roasted_in_small_lots(COFFEEBENCH, [48]) == 41


@pytest.mark.parametrize("lots", [[48], [3] * 16, [1, 47], [10, 10, 10, 10, 8]])
def test_yield_under_hanse_a_days_roasting_is_rounded_once(lots: list[int]) -> None:
    assert roasted_in_small_lots(HANSE, lots) == 41


def test_yield_under_hanse_the_two_recipes_are_rounded_apart_and_every_day_anew() -> None:
    town = calm_town(HANSE, firms=firms(roaster_A={"stock": {GREEN: 30, GREEN_SPECIALTY: 30}}))
    for day in range(2):
        morning(town, day)
        for item, output in ((GREEN, 3), (GREEN_SPECIALTY, 2)):  # 2.55 and 2.46
            done = do(town, "roaster_A", Roast(green_item_id=item, qty_kg=3))
            assert done.value("output_kg") == output


def test_yield_under_hanse_a_roast_that_would_add_nothing_is_refused() -> None:
    town = calm_town(HANSE, firms=firms(roaster_A={"stock": {GREEN: 30}}))
    morning(town, 0)
    do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=3))  # 2.55, rounded to 3
    code = refusal(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=1))  # 3.4 in all, still 3
    assert code == "quantity_out_of_range"
    do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=2))  # 4.25


# ---- the table -----------------------------------------------------------------------------------

TABLE = (Path(services.economy.__file__).parent / "RULES.md").read_text()
ROWS = [line for line in TABLE.splitlines() if line.startswith("| ")]


def test_the_table_has_a_row_for_every_field_of_the_rules() -> None:
    named = set(re.findall(r"`(\w+)`", "\n".join(row.split("|")[2] for row in ROWS)))
    assert {field.name for field in fields(Rules)} - {"name"} <= named


def test_the_table_has_a_row_for_every_weakness_that_concerns_the_rules() -> None:
    first = " ".join(row.split("|")[1] for row in ROWS)
    assert set(re.findall(r"W\d+", first)) == {f"W{number}" for number in range(1, 16)}


def test_the_table_names_the_values_in_force() -> None:
    for field in ("min_price", "max_price", "max_terms_days", "listing_days", "credit_limit"):
        row = next(row for row in ROWS if f"`{field}`" in row.split("|")[2])
        assert f"{getattr(HANSE, field):,.10g}" in row, field
