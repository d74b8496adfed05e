"""Consumers: pool, shares, floors, festival, caps (note, S8), with figures worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from services.economy.catalogue import ROASTED, ROASTED_SPECIALTY
from services.economy.commands import SetRetailPrice
from services.economy.luck import Luck
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
    morning,
    refusal,
)

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)
FULL = {"stock": {ROASTED: 70, ROASTED_SPECIALTY: 10}, "opex": 0.0}


def shops(rules: Rules = HANSE, **values: Any) -> Town:
    """Two full shops of equal loyalty at 18.00 and 50.00, on the first morning."""
    retailers = firms(retailer_A=FULL, retailer_B=FULL)
    town = calm_town(rules, **{"firms": retailers, "spoilage_per_day": 0.0, **values})
    morning(town, 0)
    return town


def price(town: Town, shop: str, dollars: float, item: str = ROASTED) -> None:
    do(town, shop, SetRetailPrice(item_id=item, price_per_unit=dollars))


def sold(town: Town, item: str = ROASTED) -> dict[str, int]:
    """What each shop sells of an item this evening."""
    town.drain()
    evening(town, town.state.day)
    return {e["shop"]: e["qty"] for e in events(town, "consumer_sale") if e["item"] == item}


@BOTH
def test_at_18_dollars_both_shops_together_sell_32_elastic_and_10_floor_kilograms(
    rules: Rules,
) -> None:
    """M = 80 * (1 - 18/30) = 32, half for each shop, and 5 kg on top for each."""
    town = shops(rules)
    town.drain()
    evening(town, 0)
    first, second = (e for e in events(town, "consumer_sale") if e["item"] == ROASTED)
    assert first == {
        "day": 0,
        "shop": "retailer_A",
        "item": ROASTED,
        "qty": 21,
        "elastic_qty": 16,
        "floor_qty": 5,
        "unit_price": 18.0,
        "revenue": 378.0,
        "market_demand": 32.0,
        "share": 0.5,
    }
    assert second == {**first, "shop": "retailer_B"}


@BOTH
def test_specialty_at_50_dollars_sells_four_kilograms_a_shop(rules: Rules) -> None:
    """M = 15 * (1 - 50/80) = 5.625, so 2.8 for each shop, rounded to 3, and 1 on top."""
    assert sold(shops(rules), ROASTED_SPECIALTY) == {"retailer_A": 4, "retailer_B": 4}


@BOTH
def test_in_the_festival_the_elastic_part_is_three_times_as_large(rules: Rules) -> None:
    """96 elastic and 10 floor kilograms."""
    town = shops(rules, festival_days=(0, 0))
    assert sold(town) == {"retailer_A": 48 + 5, "retailer_B": 48 + 5}


def test_the_festival_lasts_from_day_40_to_day_53() -> None:
    town = calm_town()
    sizes = []
    for day in (39, 40, 53, 54):
        town.clock(day * 1440)
        item = town.setup.catalogue.items[ROASTED]
        sizes.append(town.demand.market_size(item, {"retailer_A": 18.0, "retailer_B": 18.0})[0])
    assert sizes == pytest.approx([32, 96, 96, 32])


@BOTH
def test_consumers_prefer_the_cheaper_shop_in_proportion_to_its_distance_from_30(
    rules: Rules,
) -> None:
    """Appeals of 0.4 and 0.2 give shares of 2/3 and 1/3."""
    town = shops(rules)
    price(town, "retailer_B", 24.0)
    item = town.setup.catalogue.items[ROASTED]
    shares = town.demand.market_size(item, {"retailer_A": 18.0, "retailer_B": 24.0})[1]
    assert shares == pytest.approx({"retailer_A": 2 / 3, "retailer_B": 1 / 3})


def test_the_original_sizes_the_market_by_the_plain_mean_price() -> None:
    """Mean 21: M = 80 * 0.3 = 24, of which 16 and 8, and 5 on top for each."""
    town = shops(COFFEEBENCH)
    price(town, "retailer_B", 24.0)
    assert sold(town) == {"retailer_A": 16 + 5, "retailer_B": 8 + 5}


def test_ours_sizes_the_market_by_the_price_that_consumers_see() -> None:
    """Share-weighted mean 20: M = 80 / 3 = 26.7, of which 17.8 and 8.9, and 5 on top for each."""
    town = shops(HANSE)
    price(town, "retailer_B", 24.0)
    assert sold(town) == {"retailer_A": 18 + 5, "retailer_B": 9 + 5}


def test_loyalty_tilts_the_shares() -> None:
    """1.1 to 0.9: shares 0.55 and 0.45 of 32, that is 17.6 and 14.4."""
    town = shops()
    town.demand.luck.loyalty = {"retailer_A": 1.1, "retailer_B": 0.9}
    assert sold(town) == {"retailer_A": 18 + 5, "retailer_B": 14 + 5}


def test_loyalty_and_noise_are_drawn_as_the_note_says() -> None:
    for rules in (HANSE, COFFEEBENCH):
        luck = calm_town(rules, demand_sigma=0.5).demand.luck
        noise = [luck.demand_noise(ROASTED, day) for day in range(90)]
        assert -0.3 < sum(noise) / 90 < 0.3
        assert 0.35 < (sum(x * x for x in noise) / 90) ** 0.5 < 0.65
    for seed in range(20):
        for rules in (HANSE, COFFEEBENCH):
            drawn = Luck(calm_town(rules, seed=seed).setup).loyalty
            assert all(0.85 <= loyalty <= 1.15 for loyalty in drawn.values())


def test_noise_shifts_the_base_of_demand_not_its_slope() -> None:
    """80 + 10 at 18 dollars: M = 90 * 0.4 = 36."""
    town = shops()
    town.demand.luck.demand_noise = lambda item, day: 10.0  # type: ignore[method-assign]
    assert sold(town) == {"retailer_A": 18 + 5, "retailer_B": 18 + 5}


def test_demand_never_falls_below_the_floor() -> None:
    town = shops()
    town.demand.luck.demand_noise = lambda item, day: -1000.0  # type: ignore[method-assign]
    assert sold(town) == {"retailer_A": 5, "retailer_B": 5}


def test_the_market_takes_no_more_than_its_cap_in_proportion_to_the_item() -> None:
    """A cap of 20 kg for the commodity (base 80) is 3.75 kg for specialty (base 15)."""
    town = shops(market_cap=20.0)
    assert sold(town) == {"retailer_A": 10 + 5, "retailer_B": 10 + 5}
    town = shops(market_cap=20.0)
    assert sold(town, ROASTED_SPECIALTY) == {"retailer_A": 2 + 1, "retailer_B": 2 + 1}


def test_at_the_reservation_price_only_the_floor_is_sold_and_above_it_nothing() -> None:
    town = shops()
    price(town, "retailer_A", 30.0)
    price(town, "retailer_B", 30.01)
    assert sold(town) == {"retailer_A": 5}


def test_a_shop_without_a_price_or_without_stock_does_not_count() -> None:
    """The other shop alone gets all 32 and its 5."""
    town = shops()
    price(town, "retailer_B", 0.0)
    assert sold(town) == {"retailer_A": 32 + 5}
    town = shops(firms=firms(retailer_A=FULL, retailer_B={"stock": {}}))
    assert sold(town) == {"retailer_A": 32 + 5}


def test_a_bankrupt_shop_does_not_sell() -> None:
    town = shops(firms=firms(retailer_A=FULL, retailer_B={**FULL, "cash": 0.0, "opex": 50.0}))
    assert sold(town) == {"retailer_A": 32 + 5}


def test_only_retailers_sell_to_consumers_whoever_sets_a_price() -> None:
    town = shops()
    price(town, "roaster_A", 5.0)
    assert set(sold(town)) == {"retailer_A", "retailer_B"}


def test_nobody_sells_what_it_does_not_have_and_the_rest_is_not_bought_elsewhere() -> None:
    town = shops(firms=firms(retailer_A={**FULL, "stock": {ROASTED: 7}}, retailer_B=FULL))
    assert sold(town) == {"retailer_A": 7, "retailer_B": 21}


def test_without_any_shop_nothing_happens() -> None:
    town = shops(firms=firms(retailer_A={"stock": {}}, retailer_B={"stock": {}}))
    assert sold(town) == {}


def test_sales_are_paid_in_cash_and_leave_at_average_cost() -> None:
    town = shops()  # 21 kg at 18.00 held at 10.00, and 4 kg at 50.00 held at 18.30
    evening(town, 0)
    assert cash(town, "retailer_A") == 15_000 + 378 + 200
    assert balance(town, "retailer_A", "revenue") == -578
    assert balance(town, "retailer_A", "cogs") == pytest.approx(210 + 4 * 18.30)
    assert town.firms["retailer_A"].kg == {ROASTED: 49, ROASTED_SPECIALTY: 6}


def test_a_storefront_price_cannot_be_negative() -> None:
    for rules in (HANSE, COFFEEBENCH):
        code = refusal(
            shops(rules), "retailer_A", SetRetailPrice(item_id=ROASTED, price_per_unit=-0.01)
        )
        assert code == "invalid_price"
    command = SetRetailPrice(item_id="tea", price_per_unit=1.0)
    assert refusal(shops(), "retailer_A", command) == "unknown_item"


@BOTH
def test_a_passive_shop_earns_nothing_but_its_starter_stock(rules: Rules) -> None:
    """25 kg held at 10.00 and sold at 18.00, and 90 days of 50.00: −4,300."""
    town = calm_town(rules)
    evening(town, 89)
    assert town.statement("retailer_A").net_income == 25 * 8 - 90 * 50
