"""Listings, bids and deals (note, S5)."""

from __future__ import annotations

from typing import Any

import pytest

from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED
from services.economy.commands import (
    AcceptOffer,
    MakeOffer,
    PostListing,
    ProduceItem,
    ViewListings,
    ViewOffers,
    WithdrawOffer,
)
from services.economy.results import Listing, ListingsView, Offer, OffersView
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.town import Town
from tests.services.economy.by_hand import (
    balance,
    bid,
    calm_town,
    cash,
    do,
    evening,
    events,
    firms,
    made,
    morning,
    refusal,
    trade,
)

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)


def opened(rules: Rules = HANSE, **values: Any) -> Town:
    """A calm town at 09:00 of day 0."""
    town = calm_town(rules, **values)
    morning(town, 0)
    return town


def offer_on(listing: str, qty: int = 1, price: float = 4.0) -> MakeOffer:
    return MakeOffer(listing_id=listing, offered_price=price, qty=qty)


def post(town: Town, qty: int = 60, price: float = 4.0) -> str:
    """Farmer A's listing of green coffee."""
    return made(town, "farmer_A", PostListing(item_id=GREEN, qty=qty, asking_price=price))


@BOTH
def test_identifiers_are_counters_of_their_kind(rules: Rules) -> None:
    town = opened(rules)
    assert bid(town, "farmer_A", "roaster_A", GREEN, 5, 4.0) == "O1"
    assert bid(town, "farmer_B", "roaster_A", GREEN, 5, 4.0) == "O2"
    assert list(town.state.listings) == ["L1", "L2"]
    assert made(town, "farmer_A", AcceptOffer(offer_id="O1")) == "D1"


def test_anyone_may_list_anything_that_it_holds_and_no_more() -> None:
    town = opened()
    do(town, "retailer_A", PostListing(item_id=ROASTED, qty=25, asking_price=12.0))
    for firm, item, qty in (
        ("retailer_A", ROASTED, 26),
        ("farmer_A", GREEN, 61),
        ("farmer_A", ROASTED, 1),
    ):
        command = PostListing(item_id=item, qty=qty, asking_price=4.0)
        assert refusal(town, firm, command) == "exceeds_stock"
    for qty in (0, -3):
        command = PostListing(item_id=GREEN, qty=qty, asking_price=4.0)
        assert refusal(town, "farmer_A", command) == "quantity_out_of_range"
    command = PostListing(item_id="tea", qty=1, asking_price=4.0)
    assert refusal(town, "farmer_A", command) == "unknown_item"


def test_a_listing_has_thirty_days_terms_unless_it_says_otherwise() -> None:
    town = opened()
    assert town.state.listings[post(town)].payment_terms_days == 30


@BOTH
def test_a_bid_may_differ_in_price_and_terms_but_not_exceed_the_listing(rules: Rules) -> None:
    town = opened(rules)
    listing = post(town, qty=10)
    for qty in (0, -1, 11):
        assert refusal(town, "roaster_A", offer_on(listing, qty)) == "offer_qty_out_of_range"
    command = MakeOffer(
        listing_id=listing, offered_price=3.5, qty=10, payment_terms_days=7, message="cheaper?"
    )
    result = do(town, "roaster_A", command)
    assert result.value("seller") == "farmer_A"
    offer = town.state.offers[result.new_id or ""]
    assert (offer.price, offer.qty, offer.payment_terms_days) == (3.5, 10, 7)


def test_a_bid_needs_neither_cash_nor_room() -> None:
    town = opened(firms=firms(roaster_A={"cash": 30.0, "stock": {ROASTED: 120}}))
    do(town, "roaster_A", offer_on(post(town), 60))


@BOTH
def test_nobody_bids_on_its_own_listing_or_on_one_that_is_not_open(rules: Rules) -> None:
    town = opened(rules)
    listing = post(town, qty=5)
    assert refusal(town, "farmer_A", offer_on(listing)) == "own_listing"
    offer = made(town, "roaster_A", offer_on(listing, 5))
    do(town, "farmer_A", AcceptOffer(offer_id=offer))
    assert refusal(town, "roaster_B", offer_on(listing)) == "listing_closed"
    for unknown in ("L2", "L0", "L01", "", "D1", "L²", "x"):
        assert refusal(town, "roaster_B", offer_on(unknown)) == "unknown_listing"


@BOTH
def test_only_the_bidder_withdraws_and_only_while_the_bid_is_pending(rules: Rules) -> None:
    town = opened(rules)
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 5, 4.0)
    for other in ("farmer_A", "roaster_B"):
        assert refusal(town, other, WithdrawOffer(offer_id=offer)) == "not_owner"
    do(town, "roaster_A", WithdrawOffer(offer_id=offer))
    assert refusal(town, "roaster_A", WithdrawOffer(offer_id=offer)) == "offer_withdrawn"
    assert refusal(town, "farmer_A", AcceptOffer(offer_id=offer)) == "offer_withdrawn"
    assert refusal(town, "roaster_A", WithdrawOffer(offer_id="O9")) == "unknown_offer"


@BOTH
def test_an_accepted_bid_takes_the_goods_and_their_cost_from_the_seller_now(rules: Rules) -> None:
    town = opened(rules)
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 20, 3.88)
    town.drain()
    accepted = do(town, "farmer_A", AcceptOffer(offer_id=offer))
    assert accepted.value("total") == 77.6
    assert accepted.value("delivery_day") == 1
    assert town.firms["farmer_A"].kg[GREEN] == 40
    assert balance(town, "farmer_A", "inventory") == 80
    assert balance(town, "farmer_A", "goods_in_transit") == 40
    assert balance(town, "farmer_A", "revenue") == 0  # that comes with the delivery
    assert cash(town, "roaster_A") == 15_000 - 30
    assert town.firms["roaster_A"].incoming[GREEN] == 20
    assert events(town, "deal") == [
        {
            "deal": "D1",
            "listing": "L1",
            "offer": "O1",
            "seller": "farmer_A",
            "buyer": "roaster_A",
            "item": GREEN,
            "qty": 20,
            "unit_price": 3.88,
            "total_price": 77.6,
            "terms_days": 30,
            "day": 0,
            "delivery_day": 1,
        }
    ]


def test_a_deals_total_is_rounded_to_cents() -> None:
    town = opened()
    trade(town, "farmer_A", "roaster_A", GREEN, 3, 3.335)
    assert town.state.deals["D1"].total == 10_000_000  # round(10.004999..., 2)


@BOTH
def test_a_partly_sold_listing_goes_on_with_its_rest_and_a_sold_one_rejects_what_is_pending(
    rules: Rules,
) -> None:
    town = opened(rules)
    listing = post(town, qty=20)
    first = made(town, "roaster_A", offer_on(listing, 15))
    second = made(town, "roaster_B", offer_on(listing, 5))
    third = made(town, "roaster_B", offer_on(listing, 5))
    do(town, "farmer_A", AcceptOffer(offer_id=first))
    assert town.state.listings[listing].qty == 5
    do(town, "farmer_A", AcceptOffer(offer_id=second))
    assert town.state.closed_listings[listing].status == "closed"
    assert refusal(town, "farmer_A", AcceptOffer(offer_id=third)) == "offer_rejected"
    assert refusal(town, "farmer_A", AcceptOffer(offer_id=second)) == "offer_accepted"


def test_an_offer_is_checked_in_the_originals_order() -> None:
    """Each obstacle is taken away in turn, and the next one is named."""
    town = opened(
        COFFEEBENCH,
        firms=firms(
            farmer_A={"stock": {GREEN: 40}}, roaster_A={"stock": {ROASTED: 90}, "stock_cap": 120}
        ),
    )
    listing = post(town, qty=40)
    big = made(town, "roaster_A", offer_on(listing, 31))
    small = made(town, "roaster_B", offer_on(listing, 10))
    accept = AcceptOffer(offer_id=big)
    assert refusal(town, "farmer_A", AcceptOffer(offer_id="O7")) == "unknown_offer"
    assert refusal(town, "farmer_B", accept) == "not_owner"
    do(town, "farmer_A", AcceptOffer(offer_id=small))
    # too large for the rest of its listing, for the stock and for the buyer's store
    assert refusal(town, "farmer_A", accept) == "offer_exceeds_listing"
    listing = post(town, qty=30)
    other = made(town, "roaster_B", offer_on(listing, 1))
    wanted = AcceptOffer(offer_id=made(town, "roaster_A", offer_on(listing, 30)))
    elsewhere = post(town, qty=30)
    do(town, "farmer_A", AcceptOffer(offer_id=made(town, "roaster_B", offer_on(elsewhere, 1))))
    assert refusal(town, "farmer_A", wanted) == "seller_short_stock"
    morning(town, 1)
    do(town, "farmer_A", ProduceItem(item_id=GREEN, quantity=30))
    morning(town, 3)
    do(town, "farmer_A", wanted)  # 90 + 30 kg just fit into the store
    assert refusal(town, "farmer_A", AcceptOffer(offer_id=other)) == "offer_rejected"


def test_goods_under_way_and_in_production_take_room_in_the_buyers_store() -> None:
    town = opened(firms=firms(roaster_A={"stock": {ROASTED: 90}}))
    trade(town, "farmer_A", "roaster_A", GREEN, 25, 4.0)
    offer = bid(town, "farmer_B", "roaster_A", GREEN, 6, 4.0)
    assert refusal(town, "farmer_B", AcceptOffer(offer_id=offer)) == "buyer_inventory_cap"
    do(town, "farmer_B", AcceptOffer(offer_id=bid(town, "farmer_B", "roaster_A", GREEN, 5, 4.0)))


def test_what_a_seller_has_sold_no_longer_takes_room_in_its_store() -> None:
    town = opened()
    trade(town, "farmer_A", "roaster_A", GREEN, 60, 4.0)
    assert town.firms["farmer_A"].committed == 0


@BOTH
def test_views_show_open_listings_of_others_and_the_bids_of_either_side(rules: Rules) -> None:
    town = opened(rules)
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 5, 4.0)
    bid(town, "roaster_B", "retailer_A", ROASTED, 5, 10.0)

    def listed(firm: str, **arguments: Any) -> list[str]:
        view = do(town, firm, ViewListings(**arguments)).data
        assert isinstance(view, ListingsView)
        return [row.id for row in view.rows]

    def offered(firm: str, **arguments: Any) -> list[str]:
        view = do(town, firm, ViewOffers(**arguments)).data
        assert isinstance(view, OffersView)
        return [row.id for row in view.rows]

    assert listed("farmer_A") == ["L2"]
    assert listed("farmer_A", only_others=False) == ["L1", "L2"]
    assert listed("retailer_A", item_id=GREEN) == ["L1"]
    assert listed("retailer_A", item_id=GREEN_SPECIALTY) == []
    assert offered("farmer_A") == offered("farmer_A", direction="incoming") == [offer]
    assert offered("farmer_A", direction="outgoing") == []
    assert offered("roaster_A", direction="outgoing") == [offer]
    assert offered("farmer_B") == [], "nobody sees what others bid for"
    do(town, "roaster_A", WithdrawOffer(offer_id=offer))
    assert offered("roaster_A") == []
    assert offered("roaster_A", status="all") == [offer]


def test_resolved_bids_are_forgotten_after_some_days_and_refused_as_closed() -> None:
    town = opened()
    offer = bid(town, "farmer_A", "roaster_A", GREEN, 5, 4.0)
    do(town, "roaster_A", WithdrawOffer(offer_id=offer))
    evening(town, 2)
    assert refusal(town, "farmer_A", AcceptOffer(offer_id=offer)) == "offer_withdrawn"
    evening(town, 3)
    assert town.state.resolved_offers == {}
    assert refusal(town, "farmer_A", AcceptOffer(offer_id=offer)) == "offer_closed"


def test_a_paper_that_has_ended_differs_in_its_status_alone() -> None:
    listing = Listing("L1", "farmer_A", GREEN, 5, 4.0, 30, 2, 570)
    assert listing.ended("closed") == listing._replace(status="closed")
    offer = Offer("O1", "L1", "farmer_A", "roaster_A", GREEN, 4.0, 5, 30, "", 2, 570)
    assert offer.ended("rejected") == offer._replace(status="rejected")
