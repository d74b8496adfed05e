"""The mirror says what the town would say, by the town's own rules."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.environments.mirror import Mirror
from policies.environments.observation_layout import ObservationLayout
from policies.environments.view import FirmView
from services.economy import commands as c
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.setup import TownSetup
from services.economy.town import Town
from tests.policies.environments.playing import FIRMS, at_day, mirror_at

ITEMS = (GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY, "tea")
_items = st.sampled_from(ITEMS)
_kg = st.integers(-2, 150)
_dollars = st.sampled_from([-1.0, 0.0, 0.01, 4.0, 18.0, 9_999.0, 20_000.0])
_nth = st.integers(0, 30)


@functools.cache
def _situation(role: str, day: int) -> tuple[Mirror, TownSetup, bytes]:
    episode = at_day(role, day)
    mirror = episode.conducts[FIRMS[role]].mirror
    assert mirror is not None
    return mirror, episode.setup, episode.town.dump()


def _verdict(setup: TownSetup, state: bytes, firm: str, command: c.Command) -> str | None:
    return Town.load(setup, state).apply(firm, command).code


@st.composite
def _commands(draw: st.DrawFn, mirror: Mirror) -> c.Command:
    """Anything that a firm might try with what it sees, or with what is not there."""
    item, kg, price = draw(_items), draw(_kg), draw(_dollars)
    nth, terms = draw(_nth), draw(st.integers(-1, 90))
    listings, bills = mirror.listings, mirror.view.payables
    bids = mirror.offers_in + mirror.offers_out
    listing = listings[nth % len(listings)].id if listings else "L999"
    bill = bills[nth % len(bills)].id if bills else "I999"
    bid = bids[nth % len(bids)].id if bids else "O0"
    return draw(
        st.sampled_from(
            [
                c.ProduceItem(item_id=item, quantity=kg),
                c.Roast(green_item_id=item, qty_kg=kg),
                c.PostListing(item_id=item, qty=kg, asking_price=price, payment_terms_days=terms),
                c.MakeOffer(
                    listing_id=listing, offered_price=price, qty=kg, payment_terms_days=terms
                ),
                c.SetRetailPrice(item_id=item, price_per_unit=price),
                c.PayInvoice(invoice_id=bill, amount=price or None),
                c.CancelListing(listing_id=listing),
                c.WithdrawOffer(offer_id=bid),
                c.RejectOffer(offer_id=bid),
                c.AcceptOffer(offer_id=bid),
            ]
        )
    )


@settings(max_examples=60, deadline=None)
@given(role=st.sampled_from(list(FIRMS)), day=st.sampled_from([0, 12]), data=st.data())
def test_what_a_firm_can_know_is_refused_with_the_town_s_own_code(
    role: str, day: int, data: st.DataObject
) -> None:
    mirror, setup, state = _situation(role, day)
    command = data.draw(_commands(mirror))
    told = mirror.refusal(command)
    expected = _verdict(setup, state, FIRMS[role], command)
    if isinstance(command, c.MakeOffer | c.CancelListing) and expected == "listing_closed":
        return  # by its seller, since the firm has looked
    if isinstance(command, c.AcceptOffer) and expected in ("buyer_inventory_cap", "credit_limit"):
        return  # it cannot be known
    assert told == expected


@settings(max_examples=60, deadline=None)
@given(role=st.sampled_from(list(FIRMS)), day=st.sampled_from([0, 12]), data=st.data())
def test_the_rules_carry_out_what_their_checks_admit_and_nothing_else(
    role: str, day: int, data: st.DataObject
) -> None:
    mirror = mirror_at(role, day)
    for _ in range(data.draw(st.integers(1, 12))):
        command = data.draw(_commands(mirror))
        admitted = mirror.refusal(command) is None
        image = repr(mirror.world.state)
        assert mirror.apply(command) is admitted
        assert admitted or repr(mirror.world.state) == image


@settings(max_examples=60, deadline=None)
@given(role=st.sampled_from(list(FIRMS)), data=st.data())
def test_the_view_after_any_commands_has_the_bills_that_are_open(
    role: str, data: st.DataObject
) -> None:
    mirror = mirror_at(role, 12)
    layout = ObservationLayout(mirror.view.role, mirror.setup)  # type: ignore[arg-type]
    for _ in range(data.draw(st.integers(1, 12))):
        mirror.apply(data.draw(_commands(mirror)))
        view, still_open = mirror.now(), mirror.world.state.invoices
        assert view.payables == tuple(b for b in mirror.view.payables if b.id in still_open)
        anew = ObservationLayout(layout.role, layout.setup)
        assert layout.encode(view).tobytes() == anew.encode(view).tobytes()


def test_asking_changes_nothing() -> None:
    mirror, _, _ = _situation("roaster", 12)
    before = mirror.world.state
    image = repr(before)
    for item in ITEMS:
        mirror.refusal(c.Roast(green_item_id=item, qty_kg=1))
        mirror.refusal(c.PostListing(item_id=item, qty=1, asking_price=9.0))
        mirror.refusal(c.SetRetailPrice(item_id=item, price_per_unit=9.0))
    for bid in mirror.offers_in:
        mirror.refusal(c.AcceptOffer(offer_id=bid.id))
    assert repr(mirror.world.state) == image


def test_what_was_done_counts_for_what_comes_after() -> None:
    mirror = mirror_at("roaster")
    green = mirror.stock(GREEN)
    assert green > 0
    assert mirror.apply(c.Roast(green_item_id=GREEN, qty_kg=green))
    assert mirror.stock(GREEN) == 0
    assert mirror.refusal(c.Roast(green_item_id=GREEN, qty_kg=1)) == "exceeds_stock"


def test_the_largest_admitted_quantity_is_found_by_the_rules_alone() -> None:
    mirror, setup, _ = _situation("farmer", 0)
    cap = setup.catalogue.items[GREEN].daily_cap
    check = mirror.production.check_produce
    assert mirror.most(lambda kg: mirror.admits(check, GREEN, kg), 500) == cap
    assert mirror.most(lambda kg: mirror.admits(check, ROASTED, kg), 500) == 0
    assert mirror.most(lambda kg: mirror.admits(check, GREEN, kg), 0) == 0


def test_a_firm_that_was_told_nothing_may_do_nothing() -> None:
    mirror = Mirror(TownSetup(), FirmView("roaster_A", "roaster", 3))
    assert mirror.refusal(c.Roast(green_item_id=GREEN, qty_kg=1)) == "exceeds_stock"
    assert mirror.refusal(c.PayInvoice(invoice_id="I1")) == "unknown_invoice"


def test_a_bid_that_the_town_has_refused_is_forgotten() -> None:
    mirror = mirror_at("roaster")
    row = next(r for r in mirror.listings if r.item == GREEN and r.seller != "roaster_A")
    bid = c.MakeOffer(listing_id=row.id, offered_price=4.0, qty=5)
    before = mirror.position(GREEN)
    assert mirror.apply(bid)
    assert mirror.position(GREEN) == before + 5
    mirror.forget_bid(bid)
    assert mirror.position(GREEN) == before
    assert not mirror.fresh


@pytest.mark.parametrize("role", FIRMS)
def test_the_view_as_it_has_become_is_the_view_if_nothing_was_done(role: str) -> None:
    mirror, _, _ = _situation(role, 12)
    now = mirror.now()
    assert now.books is not None and mirror.view.books is not None
    assert {i: kg for i, kg in now.books.stock.items() if kg} == {
        i: kg for i, kg in mirror.view.books.stock.items() if kg
    }
    assert now.books.cash == mirror.view.books.cash
    assert set(now.offers) == set(mirror.view.offers)
    assert now.listings == mirror.view.listings
    assert now.payables == mirror.view.payables
