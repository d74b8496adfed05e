"""Levers: their levels, which of them are legal, and what follows from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.environments.action_layout import ActionLayout
from policies.environments.deciding import LISTINGS, SOURCES, decide
from policies.environments.mirror import Mirror
from services.economy import commands as c
from services.economy.catalogue import (
    GREEN,
    GREEN_SPECIALTY,
    ROASTED,
    ROASTED_SPECIALTY,
    ROLES,
    Role,
    standard_catalogue,
)
from services.economy.results import Offer
from services.errors import HanseError
from tests.policies.environments.playing import mirror_at

CATALOGUE = standard_catalogue()


def _mask(role: Role, mirror: Mirror) -> dict[str, list[bool]]:
    layout = ActionLayout(role, CATALOGUE)
    parts = layout.split(layout.mask(mirror))
    return {x.name: [bool(v) for v in part] for x, part in zip(layout.levers, parts, strict=True)}


def _commands(mirror: Mirror, role: Role, **levers: float) -> list[c.Command]:
    layout = ActionLayout(role, CATALOGUE)
    named = {key.replace("__", "."): value for key, value in levers.items()}
    values = layout.values(layout.nearest(named))
    mirror.fresh = True
    return decide(mirror, values)


@pytest.mark.parametrize("role", ROLES)
def test_an_action_names_a_level_of_every_lever(role: Role) -> None:
    layout = ActionLayout(role, CATALOGUE)
    values = layout.values(layout.usual)
    assert list(values) == [lever.name for lever in layout.levers]
    assert layout.nearest(values).tolist() == layout.usual.tolist()


def test_levels_that_do_not_exist_are_refused() -> None:
    layout = ActionLayout("roaster", CATALOGUE)
    with pytest.raises(HanseError, match="levels for the 15 levers of a roaster"):
        layout.values([0, 1])
    with pytest.raises(HanseError, match=r"position\.green_coffee_kg: there is no level 99"):
        layout.values([99] + [0] * 14)
    with pytest.raises(HanseError, match="no lever 'mood' for a roaster; allowed: position"):
        layout.nearest({"mood": 1.0})


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("day", [0, 12])
def test_level_0_of_every_lever_is_always_legal(role: Role, day: int) -> None:
    assert all(head[0] for head in _mask(role, mirror_at(role, day)).values())


def test_a_roaster_without_green_coffee_cannot_roast() -> None:
    mask = _mask("roaster", mirror_at("roaster", 0))  # it begins with roasted coffee only
    assert mask[f"roast.{GREEN}"] == [True, False, False]
    assert mask[f"list.{ROASTED_SPECIALTY}"] == [True, False, False]
    assert all(mask[f"list.{ROASTED}"])


def test_a_farmer_grows_no_more_than_its_store_can_take() -> None:
    mirror = mirror_at("farmer", 0)
    mirror.firm.stock_cap = mirror.firm.committed + 16
    mask = _mask("farmer", mirror)
    assert mask[f"grow.{GREEN}"] == [True, True, True, False, False]  # 0, 8, 15, 22, 30 kg


def test_a_position_is_a_standing_order_that_needs_no_listing_yet() -> None:
    mirror = mirror_at("retailer")
    mirror.see(())
    mask = _mask("retailer", mirror)
    assert all(mask[f"position.{ROASTED}"]) and all(mask[f"bid.{ROASTED}"])


def test_a_firm_that_has_all_it_could_order_has_nothing_to_bid() -> None:
    mirror = mirror_at("retailer")
    mirror.firm.incoming[ROASTED] = 75
    mask = _mask("retailer", mirror)
    assert mask[f"bid.{ROASTED}"] == [True] + [False] * 3
    assert mask[f"limit.{ROASTED}"] == [True] + [False] * 7


@settings(max_examples=40, deadline=None)
@given(data=st.data(), role=st.sampled_from(ROLES))
def test_no_levers_make_a_command_that_the_rules_refuse(data: st.DataObject, role: Role) -> None:
    mirror, rehearsal = mirror_at(role), mirror_at(role)
    layout = ActionLayout(role, CATALOGUE)
    action = [data.draw(st.integers(0, int(n) - 1)) for n in layout.nvec]
    mirror.fresh = True
    for command in decide(mirror, layout.values(action)):
        assert rehearsal.apply(command), command


@settings(max_examples=20, deadline=None)
@given(data=st.data(), role=st.sampled_from(ROLES))
def test_deciding_one_by_one_comes_to_the_same_as_deciding_at_once(
    data: st.DataObject, role: Role
) -> None:
    layout = ActionLayout(role, CATALOGUE)
    action = [data.draw(st.integers(0, int(n) - 1)) for n in layout.nvec]
    levers = layout.values(action)
    at_once, one_by_one = mirror_at(role), mirror_at(role)
    at_once.fresh = one_by_one.fresh = True
    whole = decide(at_once, levers)
    parts: list[c.Command] = []
    while step := decide(one_by_one, levers, 1):
        assert len(step) == 1
        parts += step
        assert len(parts) < 100
    assert [(type(x), x.arguments()) for x in parts] == [(type(x), x.arguments()) for x in whole]


def test_it_looks_at_the_listings_again_before_it_bids() -> None:
    mirror = mirror_at("roaster")
    layout = ActionLayout("roaster", CATALOGUE)
    levers = layout.values(layout.nearest({f"position.{GREEN}": 90}))
    commands = decide(mirror, levers)
    assert commands[-1] is LISTINGS
    assert not any(isinstance(x, c.MakeOffer) for x in commands)
    mirror.see(tuple(mirror.view.listings))
    assert any(isinstance(x, c.MakeOffer) for x in decide(mirror, levers))


def test_it_bids_on_the_cheapest_within_the_limit_and_up_to_the_position() -> None:
    mirror = mirror_at("roaster")
    rows = [r for r in mirror.listings if r.item == GREEN]
    before = mirror.position(GREEN)
    commands = _commands(mirror, "roaster", position__green_coffee_kg=90)
    bids = [x for x in commands if isinstance(x, c.MakeOffer)]
    green = [b for b in bids if b.listing_id in {r.id for r in rows}]
    assert 1 <= len(green) <= SOURCES
    first = min(rows, key=lambda r: r.asking_price)
    assert green[0].listing_id == first.id
    assert green[0].offered_price == round(0.97 * first.asking_price, 2)
    assert sum(b.qty for b in green) <= 90 - before
    dear = _commands(
        mirror_at("roaster"), "roaster", position__green_coffee_kg=90, limit__green_coffee_kg=1.25
    )
    asked = {b.listing_id for b in dear if isinstance(b, c.MakeOffer)}
    assert not asked & {r.id for r in rows}  # 2.50 dollars is less than any farmer asks


def test_it_lists_the_share_of_the_stock_at_the_price_that_is_set() -> None:
    mirror = mirror_at("roaster", 0)
    held = mirror.stock(ROASTED)
    commands = _commands(mirror, "roaster", list__roasted_coffee_kg=0.5, ask__roasted_coffee_kg=0.5)
    posted = [x for x in commands if isinstance(x, c.PostListing)]
    assert [(p.item_id, p.qty, p.asking_price) for p in posted] == [(ROASTED, held // 2, 15.0)]


def test_a_retailer_sets_only_the_prices_that_change() -> None:
    mirror = mirror_at("retailer", 0)
    commands = _commands(
        mirror, "retailer", shelf__roasted_coffee_kg=0.6, shelf__roasted_specialty_kg=0.0
    )
    priced = {x.item_id: x.price_per_unit for x in commands if isinstance(x, c.SetRetailPrice)}
    assert priced == {ROASTED_SPECIALTY: 0.0}  # 0.6 of 30 dollars it asks already


def test_it_pays_what_is_due_within_the_days_that_are_set() -> None:
    mirror = mirror_at("roaster", 40)
    due = [b.id for b in mirror.view.payables if b.days_to_due <= 5]
    commands = _commands(mirror, "roaster", pay=5)
    paid = [x.invoice_id for x in commands if isinstance(x, c.PayInvoice)]
    assert paid == due[:4]
    assert not [x for x in _commands(mirror_at("roaster", 12), "roaster", pay=0)
                if isinstance(x, c.PayInvoice)]  # fmt: skip


def test_it_takes_a_bid_from_the_share_of_its_ask_that_is_set() -> None:
    def taken(accept: float) -> list[c.Command]:
        mirror = mirror_at("roaster", 0)
        mirror.apply(c.PostListing(item_id=ROASTED, qty=20, asking_price=9.75))
        listing = mirror.own_listings[0]
        bid = Offer("O5", listing.id, "roaster_A", "retailer_B", ROASTED, 9.0, 10, 30, "", 0, 600)
        mirror.hear((bid,))
        commands = _commands(mirror, "roaster", accept=accept, ask__roasted_coffee_kg=0.325)
        return [x for x in commands if isinstance(x, c.AcceptOffer)]

    assert [x.offer_id for x in taken(0.90)] == ["O5"]  # type: ignore[attr-defined]
    assert not taken(0.95)  # that would be 9.26


def test_credit_is_asked_for_and_given_as_far_as_the_rules_admit_it() -> None:
    mirror = mirror_at("roaster")
    mirror.world.rules = replace(mirror.world.rules, max_terms_days=10)
    commands = _commands(mirror, "roaster", position__green_coffee_kg=90, terms=60)
    terms = {type(x): x.payment_terms_days for x in commands
             if isinstance(x, c.MakeOffer | c.PostListing)}  # fmt: skip
    assert terms == {c.MakeOffer: 10, c.PostListing: 10}


def test_the_digest_tells_roles_apart() -> None:
    assert len({ActionLayout(role, CATALOGUE).sha256 for role in ROLES}) == 3


def test_the_dearer_coffee_is_roasted_first() -> None:
    mirror = mirror_at("roaster", 12)
    mirror.firm.kg[GREEN_SPECIALTY] = 45
    mirror.firm.cost[GREEN_SPECIALTY] = 0
    roasted = [x for x in _commands(mirror, "roaster") if isinstance(x, c.Roast)]
    assert roasted[0].green_item_id == GREEN_SPECIALTY
    assert sum(x.qty_kg for x in roasted) <= 50
    assert np.all([x.qty_kg > 0 for x in roasted])
