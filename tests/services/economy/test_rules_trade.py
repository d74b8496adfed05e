"""Rules `coffeebench` and `hanse`: credit, listings, bids and payment.

The first part of W14 of `services/economy/RULES.md`, and the rounding of returns. In each test the
original comes first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import (
    AcceptOffer,
    CancelListing,
    MakeOffer,
    PayInvoice,
    PostListing,
    RejectOffer,
    ReturnShipment,
    ViewListings,
)
from services.economy.results import Listing, ListingsView
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.town import Town
from tests.services.economy.books import check_town
from tests.services.economy.by_hand import (
    balance,
    bid,
    calm_town,
    cash,
    do,
    evening,
    firms,
    made,
    morning,
    notices,
    refusal,
    trade,
)


def opened(rules: Rules, **values: Any) -> Town:
    town = calm_town(rules, **values)
    morning(town, 0)
    return town


def listed(town: Town, firm: str = "roaster_A") -> list[Listing]:
    """What a firm sees on offer."""
    view = do(town, firm, ViewListings()).data
    assert isinstance(view, ListingsView)
    return list(view.rows)


def post(item: str = GREEN, qty: int = 10, price: float = 4.0, **more: Any) -> PostListing:
    return PostListing(item_id=item, qty=qty, asking_price=price, **more)


# ---- W14: credit ---------------------------------------------------------------------------------


def test_w14_in_the_original_a_buyer_owes_without_limit() -> None:
    town = opened(COFFEEBENCH)
    trade(town, "farmer_A", "roaster_A", GREEN, 60, 1_000.0)
    morning(town, 1)
    assert balance(town, "roaster_A", "accounts_payable") == -60_000


def test_w14_under_hanse_debts_and_purchases_under_way_stay_within_the_limit() -> None:
    town = opened(replace(HANSE, credit_limit=300.0))
    trade(town, "farmer_A", "roaster_A", GREEN, 25, 4.0)
    morning(town, 1)  # 100 are owed
    trade(town, "farmer_A", "roaster_A", GREEN, 25, 4.0)  # and 100 are under way
    offer = bid(town, "farmer_B", "roaster_A", GREEN, 26, 4.0)
    assert refusal(town, "farmer_B", AcceptOffer(offer_id=offer)) == "credit_limit"
    trade(town, "farmer_B", "roaster_A", GREEN, 25, 4.0)  # exactly 300
    do(town, "roaster_A", PayInvoice(invoice_id="I1"))
    trade(town, "farmer_B", "roaster_A", GREEN, 10, 4.0)


# ---- W14: stock that is not there, expiry, cancelling, rejecting ---------------------------------


def test_w14_in_the_original_one_kilogram_is_on_offer_as_often_as_it_is_listed() -> None:
    town = opened(COFFEEBENCH)
    for _ in range(3):
        do(town, "farmer_A", post(qty=60))
    assert [row.qty for row in listed(town)] == [60, 60, 60]


def test_w14_under_hanse_a_new_listing_replaces_the_old_one_and_takes_over_its_bids() -> None:
    town = opened(HANSE)
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    do(town, "farmer_A", post(qty=50, price=4.5))
    assert [(row.id, row.qty) for row in listed(town)] == [("L2", 50)]
    assert town.state.closed_listings["L1"].status == "superseded"
    assert town.state.offers[offer].listing == "L2"
    do(town, "farmer_A", AcceptOffer(offer_id=offer))  # at the price that was bid
    assert town.state.deals["D1"].unit_price == 4.0
    assert [row.qty for row in listed(town)] == [30]


def test_w14_under_hanse_other_items_and_other_sellers_keep_their_listings() -> None:
    town = opened(HANSE, firms=firms(farmer_A={"stock": {GREEN: 60, ROASTED: 5}}))
    do(town, "farmer_A", post())
    do(town, "farmer_A", post(item=ROASTED, qty=5))
    do(town, "farmer_B", post())
    assert len(listed(town)) == 3


def test_w14_under_hanse_no_listing_offers_more_than_its_seller_holds() -> None:
    for rules, shown in ((COFFEEBENCH, [60]), (HANSE, [5])):
        town = opened(rules, spoilage_per_day=55 / 60)
        do(town, "farmer_A", post(qty=60))
        evening(town, 0)
        morning(town, 1)
        assert [row.qty for row in listed(town)] == shown
        command = MakeOffer(listing_id="L1", offered_price=4.0, qty=6)
        if rules is HANSE:
            assert refusal(town, "roaster_A", command) == "offer_qty_out_of_range"
        else:
            do(town, "roaster_A", command)


def test_w14_under_hanse_a_listing_without_any_stock_left_is_not_shown() -> None:
    for rules, number in ((COFFEEBENCH, 1), (HANSE, 0)):
        town = opened(rules, spoilage_per_day=1.0)
        do(town, "farmer_A", post(qty=60))
        evening(town, 0)
        assert len(listed(town)) == number


def test_w14_in_the_original_listings_and_bids_never_expire() -> None:
    town = opened(COFFEEBENCH)
    bid(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
    evening(town, 88)
    assert (len(town.state.listings), len(town.state.offers)) == (1, 1)


def test_w14_under_hanse_listings_and_bids_expire_after_a_week_and_the_bidder_is_told() -> None:
    town = opened(HANSE)
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
    evening(town, 6)
    assert (len(town.state.listings), len(town.state.offers)) == (1, 1)
    evening(town, 7)
    assert (len(town.state.listings), len(town.state.offers)) == (0, 0)
    assert f"offer {offer} has lapsed: listing L1 has expired" in notices(town, "roaster_A")


def test_w14_under_hanse_a_bid_expires_also_where_its_listing_was_renewed() -> None:
    town = opened(HANSE, offer_memory_days=9)
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
    morning(town, 5)
    do(town, "farmer_A", post(qty=20))
    evening(town, 7)
    assert list(town.state.listings) == ["L2"]
    assert town.state.resolved_offers[offer].status == "expired"
    assert f"offer {offer} has expired" in notices(town, "roaster_A")


def test_w14_the_original_cannot_cancel_reject_or_pay_in_part() -> None:
    town = opened(COFFEEBENCH)
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
    assert refusal(town, "farmer_A", CancelListing(listing_id="L1")) == "unknown_command"
    assert refusal(town, "farmer_A", RejectOffer(offer_id=offer)) == "unknown_command"
    do(town, "farmer_A", AcceptOffer(offer_id=offer))
    morning(town, 1)
    command = PayInvoice(invoice_id="I1", amount=10.0)
    assert refusal(town, "roaster_A", command) == "part_payment"


def test_w14_under_hanse_a_listing_can_be_cancelled_and_its_bidders_are_told() -> None:
    town = opened(HANSE)
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
    do(town, "farmer_A", CancelListing(listing_id="L1"))
    assert listed(town) == []
    assert notices(town, "roaster_A") == [f"offer {offer} has lapsed: listing cancelled"]
    assert refusal(town, "farmer_A", CancelListing(listing_id="L1")) == "listing_closed"


def test_w14_under_hanse_a_bid_can_be_rejected_with_a_reason() -> None:
    town = opened(HANSE)
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
    do(town, "farmer_A", RejectOffer(offer_id=offer, reason="too little"))
    assert notices(town, "roaster_A") == [f"farmer_A rejected {offer}: too little"]
    assert town.state.reasons["roaster_A"] == "offer rejected"


def test_w14_under_hanse_the_losers_of_a_sold_listing_are_told() -> None:
    for rules, lines in ((COFFEEBENCH, []), (HANSE, ["offer O2 has lapsed: sold out"])):
        town = opened(rules)
        offer = bid(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
        do(town, "roaster_B", MakeOffer(listing_id="L1", offered_price=3.9, qty=5))
        do(town, "farmer_A", AcceptOffer(offer_id=offer))
        assert notices(town, "roaster_B") == lines


def test_w14_under_hanse_an_invoice_can_be_paid_in_parts() -> None:
    town = opened(HANSE)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 1)
    paid = do(town, "roaster_A", PayInvoice(invoice_id="I1", amount=50.0))
    assert (paid.value("paid_amount"), paid.value("outstanding")) == (50.0, 30.0)
    assert balance(town, "farmer_A", "accounts_receivable") == 30
    for amount in (0.0, -1.0, 30.01, 0.0000001):
        command = PayInvoice(invoice_id="I1", amount=amount)
        assert refusal(town, "roaster_A", command) == "amount_out_of_range"
    do(town, "roaster_A", PayInvoice(invoice_id="I1"))
    assert town.state.past_invoices["I1"].paid
    assert cash(town, "roaster_A") == 15_000 - 60 - 80


def test_w14_under_hanse_goods_of_a_partly_paid_invoice_settle_it_first_and_then_refund() -> None:
    town = opened(replace(HANSE, restocking_fee=0.0))
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 1)
    do(town, "roaster_A", PayInvoice(invoice_id="I1", amount=50.0))
    done = do(town, "roaster_A", ReturnShipment(invoice_id="I1", quantity_kg=10))
    assert (done.value("credit"), done.value("refund")) == (40.0, 10.0)  # 30 were open
    assert town.state.past_invoices["I1"].returned
    assert balance(town, "farmer_A", "accounts_receivable") == 0


def test_w14_made_listing_ids_are_never_given_twice() -> None:
    town = opened(HANSE)
    assert [made(town, "farmer_A", post()) for _ in range(3)] == ["L1", "L2", "L3"]


# ---- the rounding of returns ---------------------------------------------------------------------


def credits(rules: Rules, price: float, parts: list[int]) -> list[float]:
    """What is credited for 18 kg, bought at this price, that go back in parts."""
    town = opened(rules, spoilage_per_day=0.0)
    trade(town, "farmer_A", "roaster_A", GREEN, 18, price)
    morning(town, 1)
    commands = [ReturnShipment(invoice_id="I1", quantity_kg=part) for part in parts]
    given = [do(town, "roaster_A", command).value("credit") for command in commands]
    check_town(town)
    return [amount for amount in given if isinstance(amount, float)]


def test_rounding_in_the_original_small_returns_give_more_than_was_paid() -> None:
    assert credits(COFFEEBENCH, 0.0167, [18]) == [0.3]
    assert credits(COFFEEBENCH, 0.0167, [1] * 18) == [0.02] * 18
    one_by_one = replace(HANSE, credit_of_whole_deal=False)
    assert sum(credits(one_by_one, 0.0167, [1] * 18)) > 0.3, "in spite of the restocking fee"


def test_rounding_under_hanse_the_parts_of_a_return_sum_to_the_whole() -> None:
    assert credits(HANSE, 0.0167, [18]) == [0.27]
    assert credits(HANSE, 0.0167, [1, 2, 1]) == [0.02, 0.03, 0.01]  # 0.015, 0.045 and 0.060 in all
    for price in (0.01, 0.0167, 0.05, 3.335, 4.117):
        [whole] = credits(HANSE, price, [18])
        for parts in ([1] * 18, [9, 9], [5, 1, 12]):
            assert round(sum(credits(HANSE, price, parts)), 2) == whole
