"""Growing and roasting (note, S3)."""

from __future__ import annotations

import pytest

from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.commands import ProduceItem, Roast
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.town import Town
from tests.services.economy.by_hand import (
    balance,
    calm_town,
    cash,
    do,
    evening,
    firms,
    morning,
    refusal,
)

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)


def roastery(green: int = 0, specialty: int = 0, rules: Rules = HANSE) -> Town:
    """A town on day 0, whose roaster_A holds green coffee only, and 15,000 dollars."""
    stock = {GREEN: green, GREEN_SPECIALTY: specialty}
    town = calm_town(rules, firms=firms(roaster_A={"stock": stock, "opex": 0.0}))
    morning(town, 0)
    return town


@BOTH
def test_production_is_paid_now_and_lands_two_mornings_later(rules: Rules) -> None:
    town = calm_town(rules)
    morning(town, 0)
    ordered = do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=30))
    assert ordered.value("ready_day") == 2
    assert ordered.value("capacity_left") == 0
    assert cash(town, "farmer_A") == 15_000 - 25 - 60
    assert balance(town, "farmer_A", "work_in_progress") == 60
    morning(town, 1)
    assert town.firms["farmer_A"].kg[GREEN] == 60
    morning(town, 2)
    assert town.firms["farmer_A"].kg[GREEN] == 90
    assert balance(town, "farmer_A", "work_in_progress") == 0
    assert balance(town, "farmer_A", "inventory") == 180


def test_each_item_has_its_own_daily_cap_which_starts_anew_every_morning() -> None:
    town = calm_town(firms=firms(farmer_A={"stock": {}, "stock_cap": 1000}))
    morning(town, 0)
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=20))
    assert refusal(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=11)) == "daily_cap"
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=10))
    do(town, "farmer_A", ProduceItem(item_id=GREEN_SPECIALTY, quantity=10))
    assert refusal(town, "farmer_A", ProduceItem(item_id=GREEN_SPECIALTY, quantity=1)) == (
        "daily_cap"
    )
    morning(town, 1)
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=30))


def test_what_is_ordered_already_takes_room_in_the_store() -> None:
    town = calm_town()
    morning(town, 0)  # 60 kg of at most 120 are held
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=30))
    morning(town, 1)
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=30))
    code = refusal(town, "farmer_A", ProduceItem(item_id=GREEN_SPECIALTY, quantity=1))
    assert code == "inventory_cap"


def test_a_farmer_cannot_order_more_than_it_can_pay() -> None:
    town = calm_town(firms=firms(farmer_A={"cash": 84.99}))
    morning(town, 0)  # running costs of 25.00 leave 59.99
    assert refusal(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=30)) == (
        "insufficient_cash"
    )
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=29))
    assert cash(town, "farmer_A") == 1.99


@pytest.mark.parametrize(
    ("firm", "item", "quantity", "code"),
    [
        ("roaster_A", GREEN, 1, "wrong_role"),
        ("retailer_A", GREEN, 1, "wrong_role"),
        ("farmer_A", ROASTED, 1, "wrong_role"),
        ("farmer_A", "tea", 1, "unknown_item"),
        ("farmer_A", GREEN, 0, "quantity_out_of_range"),
        ("farmer_A", GREEN, -1, "quantity_out_of_range"),
    ],
)
def test_only_farmers_grow_and_only_green_coffee(
    firm: str, item: str, quantity: int, code: str
) -> None:
    town = calm_town()
    morning(town, 0)
    assert refusal(town, firm, ProduceItem(item_id=item, quantity=quantity)) == code


@BOTH
@pytest.mark.parametrize(
    ("green", "roasted"),
    [(1, 1), (3, 3), (4, 3), (10, 8), (20, 17), (30, 26), (50, 42)],
)
def test_the_yield_of_a_roast_is_rounded_half_to_even(
    green: int, roasted: int, rules: Rules
) -> None:
    """10 kg make 8.5, rounded to 8; 30 kg make 25.5, rounded to 26; 50 kg 42.5, rounded to 42."""
    town = roastery(green=green, rules=rules)
    assert do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=green)).value("output_kg") == (
        roasted
    )
    morning(town, 1)
    assert town.firms["roaster_A"].kg == {GREEN: 0, GREEN_SPECIALTY: 0, ROASTED: roasted}


def test_specialty_yields_82_kg_of_100() -> None:
    town = roastery(specialty=25)
    done = do(town, "roaster_A", Roast(green_item_id=GREEN_SPECIALTY, qty_kg=25))
    assert done.value("output_kg") == 20  # 20.5, half to even


def test_a_roast_costs_its_green_coffee_and_its_labour() -> None:
    town = roastery(green=10)  # held at 2.00 dollars a kilogram
    done = do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=10))
    assert done.value("cost") == 10 * 2.00 + 10 * 3.00
    assert cash(town, "roaster_A") == 15_000 - 30
    assert balance(town, "roaster_A", "inventory") == 0
    assert balance(town, "roaster_A", "work_in_progress") == 50
    morning(town, 1)
    assert balance(town, "roaster_A", "inventory") == 50
    assert town.firms["roaster_A"].cost[ROASTED] == 50_000_000  # 8 kg at 6.25


def test_labour_for_specialty_is_five_dollars_a_kilogram() -> None:
    town = roastery(specialty=4)
    do(town, "roaster_A", Roast(green_item_id=GREEN_SPECIALTY, qty_kg=4))
    assert cash(town, "roaster_A") == 15_000 - 20
    morning(town, 1)
    assert town.firms["roaster_A"].kg[ROASTED_SPECIALTY] == 3  # 3.28


def test_both_recipes_share_fifty_kilograms_a_day() -> None:
    town = roastery(green=60, specialty=20)
    done = do(town, "roaster_A", Roast(green_item_id=GREEN_SPECIALTY, qty_kg=20))
    assert done.value("capacity_left") == 30
    assert refusal(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=31)) == "daily_cap"
    do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=30))
    morning(town, 1)
    do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=30))


@pytest.mark.parametrize(
    ("firm", "item", "quantity", "code"),
    [
        ("farmer_A", GREEN, 1, "wrong_role"),
        ("roaster_A", ROASTED, 1, "unknown_item"),
        ("roaster_A", "tea", 1, "unknown_item"),
        ("roaster_A", GREEN, 0, "quantity_out_of_range"),
        ("roaster_A", GREEN, 11, "exceeds_stock"),
        ("roaster_A", GREEN_SPECIALTY, 1, "exceeds_stock"),
    ],
)
def test_only_roasters_roast_and_only_green_coffee_that_they_hold(
    firm: str, item: str, quantity: int, code: str
) -> None:
    assert refusal(roastery(green=10), firm, Roast(green_item_id=item, qty_kg=quantity)) == code


def test_labour_must_be_paid_at_once() -> None:
    town = calm_town(firms=firms(roaster_A={"stock": {GREEN: 10}, "cash": 32.99, "opex": 30.0}))
    morning(town, 0)
    assert refusal(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=1)) == "insufficient_cash"


def test_a_roast_that_needs_more_room_than_there_is_is_refused() -> None:
    recipes = {GREEN: {"yield_": 2.0}}
    town = calm_town(firms=firms(roaster_A={"stock": {GREEN: 60}, "stock_cap": 70}))
    catalogue = town.setup.catalogue.with_changes({}, recipes)
    town = calm_town(catalogue=catalogue, firms=town.setup.firms)
    morning(town, 0)
    assert refusal(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=11)) == "inventory_cap"
    do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=10))


def test_a_roast_that_yields_nothing_is_refused() -> None:
    catalogue = calm_town().setup.catalogue.with_changes({}, {GREEN: {"yield_": 0.4}})
    town = calm_town(catalogue=catalogue, firms=firms(roaster_A={"stock": {GREEN: 9}}))
    morning(town, 0)
    assert refusal(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=1)) == (
        "quantity_out_of_range"
    )


def test_stock_is_kept_at_its_weighted_average_cost() -> None:
    town = calm_town(
        firms=firms(roaster_A={"stock": {GREEN: 10, ROASTED: 30}}), spoilage_per_day=0.0
    )
    morning(town, 0)
    do(town, "roaster_A", Roast(green_item_id=GREEN, qty_kg=10))
    evening(town, 0)
    morning(town, 1)
    # 30 kg at 5.88 and 8 kg at 6.25
    assert town.firms["roaster_A"].cost[ROASTED] == 176_400_000 + 50_000_000
    assert town.firms["roaster_A"].kg[ROASTED] == 38
