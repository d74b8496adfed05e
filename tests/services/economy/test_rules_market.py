"""Rules `coffeebench` and `hanse`: numbers, griefing, and the value of goods.

W12, W13 and the end of W14 of `services/economy/RULES.md`. In each test the original comes first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import (
    LIMIT,
    Command,
    MakeOffer,
    OrderAbroad,
    PayInvoice,
    PostListing,
    ReturnShipment,
    SetRetailPrice,
)
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


def opened(rules: Rules, **values: Any) -> Town:
    town = calm_town(rules, **values)
    morning(town, 0)
    return town


def post(item: str = GREEN, qty: int = 10, price: float = 4.0, **more: Any) -> PostListing:
    return PostListing(item_id=item, qty=qty, asking_price=price, **more)


# ---- W12: numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("nonsense", [float("nan"), float("inf"), float("-inf"), 1e10, -1e10])
def test_w12_numbers_that_no_book_can_hold_are_no_commands_under_any_rules(
    nonsense: float,
) -> None:
    for make in (
        lambda x: post(price=x),
        lambda x: MakeOffer(listing_id="L1", offered_price=x, qty=1),
        lambda x: SetRetailPrice(item_id=ROASTED, price_per_unit=x),
        lambda x: PayInvoice(invoice_id="I1", amount=x),
    ):
        with pytest.raises(ValidationError):
            make(nonsense)


def test_w12_in_the_original_a_deal_at_minus_five_dollars_on_minus_hundred_days_goes_through() -> (
    None
):
    town = opened(COFFEEBENCH)
    trade(town, "farmer_A", "roaster_A", GREEN, 10, -5.0, -100)
    morning(town, 1)
    invoice = town.state.invoices["I1"]
    assert (invoice.amount, invoice.due_day) == (-50_000_000, -99)
    assert balance(town, "farmer_A", "revenue") == 50, "the seller pays for selling"


def with_listing(rules: Rules) -> Town:
    town = opened(rules, foreign_trade=True)
    do(town, "farmer_A", post())
    return town


def priced(price: float) -> list[tuple[str, Command]]:
    """Every command with a price, and who gives it."""
    return [
        ("farmer_A", post(price=price)),
        ("roaster_A", MakeOffer(listing_id="L1", offered_price=price, qty=1)),
        ("retailer_A", SetRetailPrice(item_id=ROASTED, price_per_unit=price)),
        ("roaster_A", OrderAbroad(item_id=GREEN, qty=1, max_price=price)),
    ]


@pytest.mark.parametrize("price", [-5.0, -0.01, 0.009, 10_000.01])
def test_w12_under_hanse_prices_are_a_cent_to_ten_thousand_dollars(price: float) -> None:
    for firm, command in priced(price):
        assert refusal(with_listing(HANSE), firm, command) == "invalid_price"


@pytest.mark.parametrize("price", [0.01, 9_000.0])
def test_w12_under_hanse_prices_at_the_limits_are_admitted(price: float) -> None:
    for firm, command in priced(price):
        do(with_listing(HANSE), firm, command)


def test_w12_a_price_of_nothing_is_none_but_takes_an_item_off_the_shelf() -> None:
    for firm, command in priced(0.0):
        if firm == "retailer_A":
            do(with_listing(HANSE), firm, command)
        else:
            assert refusal(with_listing(HANSE), firm, command) == "invalid_price"


@pytest.mark.parametrize("days", [-100, -1, 61, LIMIT])
def test_w12_under_hanse_terms_are_none_to_sixty_days(days: int) -> None:
    for firm, command in (
        ("farmer_A", post(payment_terms_days=days)),
        (
            "roaster_A",
            MakeOffer(listing_id="L1", offered_price=4.0, qty=1, payment_terms_days=days),
        ),
    ):
        assert refusal(with_listing(HANSE), firm, command) == "invalid_terms"
        do(with_listing(COFFEEBENCH), firm, command)
    for admitted in (0, 60):
        do(with_listing(HANSE), "farmer_A", post(payment_terms_days=admitted))


def test_w12_the_limits_can_be_set() -> None:
    town = opened(replace(HANSE, max_price=5.0, max_terms_days=7))
    assert refusal(town, "farmer_A", post(price=5.01)) == "invalid_price"
    assert refusal(town, "farmer_A", post(payment_terms_days=8)) == "invalid_terms"


# ---- W13: pricing a rival to death ---------------------------------------------------------------


def sold_beside_a_griefer(rules: Rules, price: float) -> dict[str, int]:
    """What two full shops sell at 18.00 and at a price that nobody should pay."""
    full = {"stock": {ROASTED: 70}}
    town = opened(rules, firms=firms(retailer_A=full, retailer_B=full))
    do(town, "retailer_B", SetRetailPrice(item_id=ROASTED, price_per_unit=price))
    town.drain()
    evening(town, 0)
    return {e["shop"]: e["qty"] for e in events(town, "consumer_sale")}


def test_w13_in_the_original_a_shop_at_42_dollars_kills_the_demand_of_one_at_18() -> None:
    assert sold_beside_a_griefer(COFFEEBENCH, 42.0) == {"retailer_A": 5}  # the floor alone


def test_w13_under_hanse_the_honest_shop_then_has_the_market_to_itself() -> None:
    assert sold_beside_a_griefer(HANSE, 42.0) == {"retailer_A": 32 + 5}


@pytest.mark.parametrize("price", [18.01, 20.0, 25.0, 29.0, 29.99, 30.0, 31.0, 9_999.0])
def test_w13_under_hanse_no_price_of_a_rival_above_ones_own_costs_a_kilogram(price: float) -> None:
    assert sold_beside_a_griefer(HANSE, price)["retailer_A"] >= 21


# ---- W14: free returns ---------------------------------------------------------------------------


def test_w14_in_the_original_a_buyer_can_hold_goods_for_two_weeks_for_nothing() -> None:
    town = opened(COFFEEBENCH, spoilage_per_day=0.0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 15)
    do(town, "roaster_A", ReturnShipment(invoice_id="I1", quantity_kg=20))
    assert income(town, "roaster_A") == -16 * 30
    assert income(town, "farmer_A") == -16 * 25


def test_w14_under_hanse_who_sends_goods_back_pays_a_tenth_for_restocking() -> None:
    town = opened(HANSE, spoilage_per_day=0.0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 15)
    done = do(town, "roaster_A", ReturnShipment(invoice_id="I1", quantity_kg=20))
    assert done.value("credit") == 72.0
    assert income(town, "roaster_A") == -16 * 30 - 8
    assert income(town, "farmer_A") == -16 * 25 + 8
    assert town.state.invoices["I1"].outstanding() == 8_000_000, "the fee is still to be paid"
    do(town, "roaster_A", PayInvoice(invoice_id="I1"))


# ---- W14: overvalued stock -----------------------------------------------------------------------


def pair_income(town: Town) -> float:
    return income(town, "roaster_A") + income(town, "retailer_A")


def round_trip(town: Town, price: float, days: tuple[int, int]) -> None:
    """A roaster sells 20 kg to a retailer, who sells them back the next day, both at this price."""
    morning(town, days[0])
    trade(town, "roaster_A", "retailer_A", ROASTED, 20, price, 60)
    morning(town, days[1])
    trade(town, "retailer_A", "roaster_A", ROASTED, 20, price, 60)


def colluders(rules: Rules, **values: Any) -> Town:
    """Roaster A holds 20 kg at 5.88; retailer B alone sells to consumers, at 18.00."""
    return calm_town(
        rules,
        spoilage_per_day=0.0,
        firms=firms(
            roaster_A={"stock": {ROASTED: 20}, "opex": 0.0},
            retailer_A={"stock": {}, "opex": 0.0},
            retailer_B={"stock": {ROASTED: 75}},
        ),
        **values,
    )


def closed_shop(town: Town) -> None:
    morning(town, 0)
    do(town, "retailer_A", SetRetailPrice(item_id=ROASTED, price_per_unit=0.0))


def test_w14_in_the_original_a_round_trip_at_100_dollars_earns_a_pair_94_dollars_a_kilogram() -> (
    None
):
    town = colluders(COFFEEBENCH)
    closed_shop(town)
    round_trip(town, 100.0, (0, 1))
    evening(town, 3)
    assert pair_income(town) == pytest.approx(20 * (100 - 5.88), abs=0.01)
    assert cash(town, "roaster_A") + cash(town, "retailer_A") == 30_000, "without any cash"


@pytest.mark.parametrize("price", [18.0, 29.0, 100.0, 300.0])
def test_w14_under_hanse_goods_are_worth_no_more_than_consumers_pay(price: float) -> None:
    town = colluders(HANSE)
    closed_shop(town)
    round_trip(town, price, (0, 1))
    evening(town, 3)
    assert pair_income(town) == pytest.approx(20 * (18 - 5.88), abs=0.01), "an honest sale"
    assert town.firms["roaster_A"].cost[ROASTED] == 20 * 18_000_000
    round_trip(town, price, (4, 5))
    evening(town, 7)
    assert pair_income(town) == pytest.approx(20 * (18 - 5.88), abs=0.01), "and never again"
    assert town.statement("roaster_A").net_income == town.statement("roaster_A").equity_change


def test_w14_under_hanse_goods_that_arrive_after_the_last_evening_are_written_down_too() -> None:
    town = colluders(HANSE, days=3)
    closed_shop(town)
    morning(town, 2)
    trade(town, "roaster_A", "retailer_A", ROASTED, 20, 500.0, 60)
    evening(town, 2)
    assert town.closed
    assert balance(town, "retailer_A", "writedown") == 20 * (500 - 18)
    assert pair_income(town) == pytest.approx(20 * (18 - 5.88), abs=0.01)


def test_w14_under_hanse_green_coffee_is_worth_what_is_left_after_roasting() -> None:
    """18.00 * 0.85 - 3.00 = 12.30 a kilogram."""
    town = opened(HANSE)
    trade(town, "farmer_A", "roaster_A", GREEN, 10, 20.0)
    evening(town, 1)
    assert town.firms["roaster_A"].cost[GREEN] == 10 * 12_300_000
    assert balance(town, "roaster_A", "writedown") == 77


def test_w14_under_hanse_dumping_on_one_evening_does_not_devalue_the_stock_of_others() -> None:
    town = opened(HANSE, firms=firms(retailer_B={"stock": {ROASTED: 80}}))
    evening(town, 0)
    morning(town, 1)
    do(town, "retailer_B", SetRetailPrice(item_id=ROASTED, price_per_unit=0.01))
    evening(town, 1)
    assert balance(town, "roaster_A", "writedown") == 0


def test_w14_under_hanse_a_dear_shop_that_sells_little_does_not_lift_the_value_much() -> None:
    """21 kg at 18.00 and 5 at 30.00 make 20.31, the plain mean of the two prices 24.00."""
    full = {"stock": {ROASTED: 70}}
    town = opened(HANSE, firms=firms(retailer_A=full, retailer_B=full), festival_days=(-2, -1))
    do(town, "retailer_B", SetRetailPrice(item_id=ROASTED, price_per_unit=30.0))
    trade(town, "retailer_A", "roaster_A", ROASTED, 1, 100.0)
    evening(town, 0)
    evening(town, 1)
    unit = town.firms["roaster_A"].cost[ROASTED] / town.firms["roaster_A"].kg[ROASTED]
    assert unit < 20_000_000
    assert max(row.revenue / row.qty for row in town.state.market) < 20


def test_w14_under_hanse_without_any_sale_stock_is_worth_at_most_what_nobody_would_pay() -> None:
    nobody = firms(retailer_A={"stock": {}}, retailer_B={"stock": {}})
    town = opened(HANSE, firms=nobody)
    trade(town, "roaster_A", "roaster_B", ROASTED, 30, 500.0)
    evening(town, 1)
    assert town.firms["roaster_B"].cost[ROASTED] == 60 * 30_000_000
