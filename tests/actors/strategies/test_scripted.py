"""The reference firms; that their books are the reference's is shown by the parity tests."""

from __future__ import annotations

from typing import Any

import pytest

from actors.strategies import make_strategy
from actors.strategies.scripted import Scripted
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.commands import (
    AcceptOffer,
    Command,
    MakeOffer,
    PostListing,
    ProduceItem,
    SendMessage,
    SetRetailPrice,
    ViewListings,
    ViewOffers,
    ViewTrialBalance,
    WaitForNextDay,
)
from services.economy.results import (
    DealsView,
    InvoicesView,
    Listing,
    ListingsView,
    Offer,
    OffersView,
    Result,
    TrialBalance,
)
from services.messages import Payload
from tests.actors.strategies.turns import Turns, refused


def scripted(name: str, **options: Any) -> Turns:
    role = name.split("_")[0]
    strategy = make_strategy("scripted", name, role, options)
    assert isinstance(strategy, Scripted)
    return Turns(strategy)


def saw(command: str, data: Payload) -> Result:
    return Result(command=command, ok=True, data=data)


def books(cash: float = 10_000.0, **stock: int) -> Result:
    seen = TrialBalance(
        cash=cash,
        accounts_receivable=0,
        accounts_payable=0,
        inventory_value=0,
        stock=stock,
        unit_costs={},
        incoming={},
        income={},
        net_income=0,
    )
    return saw("view_trial_balance", seen)


def bid(number: int, item: str, price: float) -> Offer:
    return Offer(f"O{number}", "L1", "farmer_A", "roaster_A", item, price, 5, 30, "", 0, 540)


def offers(*rows: Offer) -> Result:
    return saw("view_offers", OffersView(rows=rows))


def listings(*rows: tuple[float, int, int]) -> Result:
    """(asking price, kilograms, day posted) of listings of roasted coffee, oldest first."""
    found = tuple(
        Listing(f"L{n}", "roaster_A", ROASTED, kg, ask, 30, day, 540)
        for n, (ask, kg, day) in enumerate(rows, 1)
    )
    return saw("view_listings", ListingsView(rows=found))


def test_a_farmer_grows_up_to_its_ceiling_lists_what_it_holds_and_takes_good_bids() -> None:
    turns = scripted("farmer_A")
    assert turns.next("morning") == ViewTrialBalance()
    held = books(green_coffee_kg=70, green_specialty_kg=24)
    assert turns.next(None, held) == ProduceItem(item_id=GREEN, quantity=20)  # 90 less 70
    assert turns.next() == PostListing(item_id=GREEN, qty=70, asking_price=4.0)
    assert turns.next() == PostListing(item_id=GREEN_SPECIALTY, qty=24, asking_price=16.0)
    assert turns.next() == ViewOffers(direction="incoming")
    # It takes 95 % of its ask: 3.80 of 4.00 and 15.20 of 16.00.
    pending = offers(bid(1, GREEN, 3.79), bid(2, GREEN, 3.80), bid(3, GREEN_SPECIALTY, 15.2))
    assert turns.next(None, pending) == AcceptOffer(offer_id="O2")
    accepted = Result(command="accept_offer", ok=True, new_id="D1")
    assert turns.next(None, accepted) == AcceptOffer(offer_id="O3")
    assert turns.next(None, accepted) == WaitForNextDay()


def test_an_acceptance_that_failed_is_not_tried_again_that_day() -> None:
    turns = scripted("farmer_A")
    turns.next("morning")
    turns.next(None, books())  # grows commodity,
    turns.next()  # grows specialty,
    assert turns.next() == ViewOffers(direction="incoming")
    pending = offers(bid(1, GREEN, 4.0))
    assert turns.next(None, pending) == AcceptOffer(offer_id="O1")
    assert turns.next(None, refused("accept_offer", "seller_short_stock")) == WaitForNextDay()
    assert turns.next("offer received") == ViewOffers(direction="incoming")
    assert turns.next(None, pending) == WaitForNextDay()


@pytest.mark.parametrize(
    ("firm", "asks"),
    [
        ("farmer_A", {GREEN: 4.0, GREEN_SPECIALTY: 16.0}),
        ("farmer_B", {GREEN: 4.2, GREEN_SPECIALTY: 15.5}),
        ("roaster_A", {ROASTED: 9.8, ROASTED_SPECIALTY: 35.0}),
        ("roaster_B", {ROASTED: 10.0, ROASTED_SPECIALTY: 34.0}),
    ],
)
def test_firms_of_kind_a_and_b_differ_in_their_asks(firm: str, asks: dict[str, float]) -> None:
    strategy = scripted(firm).strategy
    assert isinstance(strategy, Scripted) and strategy.asks == asks


def test_asks_can_be_set() -> None:
    strategy = scripted("farmer_A", asks={GREEN: 5.5}).strategy
    assert isinstance(strategy, Scripted)
    assert strategy.asks == {GREEN: 5.5, GREEN_SPECIALTY: 16.0}


def shopping(turns: Turns, market: Result, held: Result) -> list[Command]:
    """What a retailer bids when it sees this market on day 1 (not a day for letters)."""
    assert turns.next("morning", day=1) == ViewTrialBalance()
    turns.next(None, held)  # own bids
    assert turns.next(None, offers()) == ViewListings()
    turns.next(None, market)  # deals
    bids = [turns.next(None, saw("view_deals", DealsView(rows=())))]
    while isinstance(bids[-1], MakeOffer):
        bids.append(turns.next(None, Result(command="make_offer", ok=True)))
    return bids[:-1]


def test_a_retailer_bids_a_little_less_on_the_two_cheapest_fresh_listings() -> None:
    market = listings((8.0, 50, -1), (10.0, 10, 0), (9.8, 20, 1), (9.9, 5, 1))
    turns = scripted("retailer_A")
    turns.strategy.load({ROASTED: 18.0, ROASTED_SPECIALTY: 50.0})
    # The shelf should hold 45 and holds 15; 0.97 x 9.80 = 9.51 and 0.97 x 9.90 = 9.60.
    assert shopping(turns, market, books(roasted_coffee_kg=15)) == [
        MakeOffer(listing_id="L3", offered_price=9.51, qty=20),
        MakeOffer(listing_id="L4", offered_price=9.6, qty=5),
    ]


def test_a_retailer_with_a_full_shelf_bids_nothing() -> None:
    turns = scripted("retailer_A")
    assert shopping(turns, listings((9.8, 20, 1)), books(roasted_coffee_kg=45)) == []


def test_a_retailer_raises_its_prices_for_the_festival_and_remembers_them() -> None:
    turns = scripted("retailer_A")
    assert turns.next("morning", day=40) == SetRetailPrice(item_id=ROASTED, price_per_unit=21.0)
    specialty = SetRetailPrice(item_id=ROASTED_SPECIALTY, price_per_unit=58.0)
    assert turns.next() == specialty
    turns.next()
    again = scripted("retailer_A")
    again.strategy.load(turns.strategy.save())
    assert again.next("morning", day=41) == ViewTrialBalance()


def test_a_retailer_of_kind_a_writes_to_its_roasters_every_week() -> None:
    turns = scripted("retailer_A", correspondents=["roaster_7"])
    said = [turns.next("morning", day=7)]
    while said[-1] != WaitForNextDay():
        said.append(turns.next(None, _nothing(said[-1])))
    letters = [c for c in said if isinstance(c, SendMessage)]
    assert letters == [
        SendMessage(recipient="roaster_7", title="week 1 plan", body="steady weekly restock")
    ]


def _nothing(command: Command) -> Result:
    """An empty answer to a view."""
    empty = {
        "view_trial_balance": books(roasted_coffee_kg=60, roasted_specialty_kg=20),
        "view_offers": offers(),
        "view_listings": listings(),
        "view_deals": saw("view_deals", DealsView(rows=())),
        "view_payables": saw(
            "view_payables",
            InvoicesView(rows=(), open_count=0, overdue_count=0, total_outstanding=0),
        ),
    }
    name = command.type  # type: ignore[attr-defined]
    return empty.get(name, Result(command=name, ok=True))
