"""What a town is made of: standard values, generated leagues, named streams of chance."""

from __future__ import annotations

from collections import Counter

import pytest

from services.economy.catalogue import (
    GREEN,
    GREEN_SPECIALTY,
    ROASTED,
    ROASTED_SPECIALTY,
    standard_catalogue,
)
from services.economy.generator import generate_firms, split
from services.economy.luck import stream, uniform
from services.economy.setup import firm_setup, standard_firms


def test_the_standard_catalogue_is_the_notes() -> None:
    """cost, daily cap, lag; reservation price, base of demand, floor."""
    items = standard_catalogue().items
    assert list(items) == [GREEN, ROASTED, GREEN_SPECIALTY, ROASTED_SPECIALTY]
    for name, cost, cap in ((GREEN, 2_000_000, 30), (GREEN_SPECIALTY, 10_000_000, 10)):
        item = items[name]
        assert (item.made_by, item.unit_cost, item.daily_cap, item.lag_days) == (
            "farmer",
            cost,
            cap,
            2,
        )
        assert item.reservation_price is None
    for name, price, base, floor in ((ROASTED, 30, 80, 5), (ROASTED_SPECIALTY, 80, 15, 1)):
        item = items[name]
        assert (item.reservation_price, item.demand_base, item.floor_kg) == (price, base, floor)
        assert item.made_by is None


def test_the_standard_recipes_are_the_notes() -> None:
    recipes = standard_catalogue().recipes
    assert {r.source: (r.output, r.labour, r.yield_, r.lag_days) for r in recipes.values()} == {
        GREEN: (ROASTED, 3.0, 0.85, 1),
        GREEN_SPECIALTY: (ROASTED_SPECIALTY, 5.0, 0.82, 1),
    }


def test_the_standard_firms_are_the_notes_in_its_order() -> None:
    firms = standard_firms()
    assert [firm.name for firm in firms] == [
        *("farmer_A", "farmer_B", "roaster_A", "roaster_B", "retailer_A", "retailer_B")
    ]
    rows = {f.role: (f.cash, f.opex, f.stock_cap, f.stock, f.retail_prices) for f in firms}
    farmer, roaster, retailer = rows["farmer"], rows["roaster"], rows["retailer"]
    assert (farmer[:3], farmer[3][GREEN].kg, farmer[3][GREEN].unit_cost) == (
        (15_000, 25, 120),
        60,
        2.0,
    )
    assert (roaster[:3], roaster[3][ROASTED].kg, roaster[3][ROASTED].unit_cost) == (
        (15_000, 30, 120),
        30,
        5.88,
    )
    assert (retailer[:3], retailer[3][ROASTED].kg, retailer[3][ROASTED].unit_cost) == (
        (15_000, 50, 80),
        25,
        10.0,
    )
    assert retailer[4] == {ROASTED: 18.0, ROASTED_SPECIALTY: 50.0}
    assert farmer[4] == roaster[4] == {}


def test_each_value_of_a_firm_can_be_set() -> None:
    firm = firm_setup("x", "roaster", cash=1.0, opex=2.0, stock_cap=3, stock={GREEN: 1, ROASTED: 2})
    assert (firm.cash, firm.opex, firm.stock_cap) == (1.0, 2.0, 3)
    assert {item: (held.kg, held.unit_cost) for item, held in firm.stock.items()} == {
        GREEN: (1, 2.0),
        ROASTED: (2, 5.88),
    }
    assert firm_setup("x", "roaster", cash=0.0, stock={}).cash == 0.0


def test_a_generated_league_has_every_role_in_every_town() -> None:
    for number, towns in ((3, 1), (7, 2), (100, 9), (1000, 4)):
        firms = generate_firms(0, number, towns)
        assert len(firms) == number
        assert len({firm.name for firm in firms}) == number
        roles = Counter((firm.town, firm.role) for firm in firms)
        assert len(roles) == 3 * towns
        sizes = Counter(firm.town for firm in firms).values()
        assert max(sizes) - min(sizes) <= 1


def test_a_generated_league_follows_from_its_seed() -> None:
    assert generate_firms(3, 30, 2) == generate_firms(3, 30, 2)
    assert generate_firms(3, 30, 2) != generate_firms(4, 30, 2)


def test_generated_firms_differ_in_cash_and_prices_within_bounds() -> None:
    firms = generate_firms(0, 300)
    assert all(10_000 <= firm.cash <= 20_000 for firm in firms)
    assert len({firm.cash for firm in firms}) > 50
    asks = [firm.asks[GREEN] for firm in firms if firm.role == "farmer"]
    assert 4.1 * 0.9 - 0.01 <= min(asks) < max(asks) <= 4.1 * 1.1 + 0.01


def test_too_few_firms_for_the_towns_are_an_error() -> None:
    with pytest.raises(ValueError, match="5 firms cannot fill 2 towns"):
        generate_firms(0, 5, 2)


@pytest.mark.parametrize(
    ("size", "shares", "parts"),
    [
        (6, (1, 1, 1), [2, 2, 2]),
        (7, (1, 1, 1), [3, 2, 2]),
        (3, (5, 1, 1), [1, 1, 1]),
        (13, (2, 1, 2), [5, 3, 5]),
        (103, (0, 0, 1), [1, 1, 101]),
    ],
)
def test_roles_are_shared_out_by_largest_remainder_with_one_at_least(
    size: int, shares: tuple[float, float, float], parts: list[int]
) -> None:
    assert split(size, shares) == parts


def test_a_named_stream_depends_on_its_name_alone() -> None:
    assert stream(0, "a", 1).random() == stream(0, "a", 1).random()
    assert stream(0, "a", 1).random() != stream(0, "a", 2).random()
    assert uniform(0, "a") == uniform(0, "a")
    drawn = [uniform(0, "a", number) for number in range(1000)]
    assert 0 <= min(drawn) < 0.01
    assert 0.99 < max(drawn) < 1
    assert 0.47 < sum(drawn) / 1000 < 0.53


def test_an_item_is_worth_what_can_be_had_for_what_becomes_of_it() -> None:
    """Roasted coffee what consumers pay; green coffee 0.85 of that less 3.00 for labour."""
    catalogue = standard_catalogue()
    prices = {ROASTED: 18.0, ROASTED_SPECIALTY: 50.0}
    worth = {item: catalogue.break_even_cost(item, prices) for item in catalogue.items}
    assert worth == {
        GREEN: 12_300_000,
        ROASTED: 18_000_000,
        GREEN_SPECIALTY: 36_000_000,
        ROASTED_SPECIALTY: 50_000_000,
    }
    assert catalogue.break_even_cost(GREEN, {ROASTED: 1.0}) == 0
    assert catalogue.break_even_cost(GREEN, {}) is None
