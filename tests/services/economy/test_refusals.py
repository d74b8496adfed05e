"""Every code with which a town refuses a command, at least once; nothing changes by a refusal.

`refusal` compares the town's whole state before and after, so each row shows both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import services.economy
from services.economy import commands as c
from services.economy.catalogue import GREEN, ROASTED
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.town import Town
from tests.services.economy.by_hand import (
    bid,
    calm_town,
    do,
    evening,
    firms,
    invoice_of,
    made,
    morning,
    refusal,
    trade,
)

Case = Callable[[Rules], tuple[Town, str, c.Command]]
"""Makes a town, a firm and its command."""


def opened(rules: Rules, **values: Any) -> Town:
    town = calm_town(rules, **values)
    morning(town, 0)
    return town


def plain(firm: str, command: c.Command, **values: Any) -> Case:
    """A command that is refused on the first morning."""
    return lambda rules: (opened(rules, **values), firm, command)


def with_bid(command: Callable[[str], c.Command], firm: str = "farmer_A", **values: Any) -> Case:
    """A command about roaster A's bid for 20 kg of farmer A's green coffee, the only one."""

    def case(rules: Rules) -> tuple[Town, str, c.Command]:
        town = opened(rules, **values)
        offer = bid(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
        return town, firm, command(offer)

    return case


def after(first: Callable[[Town, str], object], **values: Any) -> Case:
    """Accepting roaster A's bid for 20 kg after something else has happened."""

    def case(rules: Rules) -> tuple[Town, str, c.Command]:
        town = opened(rules, **values)
        offer = bid(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
        first(town, offer)
        return town, "farmer_A", c.AcceptOffer(offer_id=offer)

    return case


def on_the_sold_listing(rules: Rules) -> tuple[Town, str, c.Command]:
    """Roaster B's bid on a listing that roaster A has emptied."""
    town = opened(rules)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    return town, "roaster_B", c.MakeOffer(listing_id="L1", offered_price=4.0, qty=1)


def with_invoice(
    command: Callable[[str], c.Command],
    firm: str = "roaster_A",
    first: Callable[[Town, str], object] = lambda town, invoice: None,
    **values: Any,
) -> Case:
    """A command about the invoice of 20 kg that farmer A delivered to roaster A on day 1."""

    def case(rules: Rules) -> tuple[Town, str, c.Command]:
        town = opened(rules, **values)
        deal = trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
        morning(town, 1)
        invoice = invoice_of(town, deal)
        first(town, invoice)
        return town, firm, command(invoice)

    return case


def pay(invoice: str) -> c.Command:
    return c.PayInvoice(invoice_id=invoice)


def give_back(qty: int) -> Callable[[str], c.Command]:
    return lambda invoice: c.ReturnShipment(invoice_id=invoice, quantity_kg=qty)


def write(recipient: str = "roaster_A", title: str = "hello", body: str = "text") -> c.Command:
    return c.SendMessage(recipient=recipient, title=title, body=body)


def sell_elsewhere(town: Town, offer: str) -> None:
    """Farmer A sells 50 of its 60 kg to roaster B, by another listing."""
    listing = c.PostListing(item_id=GREEN, qty=50, asking_price=4.0)
    other = c.MakeOffer(listing_id=made(town, "farmer_A", listing), offered_price=4.0, qty=50)
    do(town, "farmer_A", c.AcceptOffer(offer_id=made(town, "roaster_B", other)))


def sell_from_the_same_listing(town: Town, offer: str) -> None:
    other = c.MakeOffer(listing_id="L1", offered_price=4.0, qty=5)
    do(town, "farmer_A", c.AcceptOffer(offer_id=made(town, "roaster_B", other)))


def withdraw_and_forget(town: Town, offer: str) -> None:
    do(town, "roaster_A", c.WithdrawOffer(offer_id=offer))
    evening(town, 4)


def fill_store(town: Town, offer: str) -> None:
    """Roaster A (30 kg of at most 120) buys 75 kg of another farmer's and a retailer's coffee."""
    trade(town, "farmer_B", "roaster_A", GREEN, 60, 4.0)
    trade(town, "retailer_A", "roaster_A", ROASTED, 15, 9.0)


LISTING = c.PostListing(item_id=GREEN, qty=10, asking_price=4.0)
BOTH = (HANSE, COFFEEBENCH)
OURS, THEIRS = (HANSE,), (COFFEEBENCH,)

CASES: list[tuple[str, tuple[Rules, ...], Case]] = [
    ("wrong_role", BOTH, plain("roaster_A", c.ProduceItem(item_id=GREEN, quantity=1))),
    ("wrong_role", BOTH, plain("farmer_A", c.Roast(green_item_id=GREEN, qty_kg=1))),
    ("wrong_role", BOTH, plain("farmer_A", c.ViewConsumerSales())),
    ("unknown_item", BOTH, plain("farmer_A", c.ProduceItem(item_id="tea", quantity=1))),
    ("unknown_item", BOTH, plain("roaster_A", c.Roast(green_item_id=ROASTED, qty_kg=1))),
    ("quantity_out_of_range", BOTH, plain("farmer_A", c.ProduceItem(item_id=GREEN, quantity=0))),
    ("daily_cap", BOTH, plain("farmer_A", c.ProduceItem(item_id=GREEN, quantity=31))),
    (
        "inventory_cap",
        BOTH,
        plain(
            "farmer_A",
            c.ProduceItem(item_id=GREEN, quantity=30),
            firms=firms(farmer_A={"stock_cap": 89}),
        ),
    ),
    (
        "insufficient_cash",
        BOTH,
        plain(
            "farmer_A",
            c.ProduceItem(item_id=GREEN, quantity=1),
            firms=firms(farmer_A={"cash": 26.0}),
        ),
    ),
    ("exceeds_stock", BOTH, plain("farmer_A", LISTING.model_copy(update={"qty": 61}))),
    ("invalid_price", OURS, plain("farmer_A", LISTING.model_copy(update={"asking_price": 0.0}))),
    (
        "invalid_terms",
        OURS,
        plain("farmer_A", LISTING.model_copy(update={"payment_terms_days": -1})),
    ),
    ("unknown_command", THEIRS, plain("farmer_A", c.CancelListing(listing_id="L1"))),
    ("unknown_command", THEIRS, with_bid(lambda offer: c.RejectOffer(offer_id=offer))),
    (
        "unknown_listing",
        BOTH,
        plain("roaster_A", c.MakeOffer(listing_id="L1", offered_price=1, qty=1)),
    ),
    ("listing_closed", BOTH, on_the_sold_listing),
    ("own_listing", BOTH, with_bid(lambda _: c.MakeOffer(listing_id="L1", offered_price=1, qty=1))),
    (
        "offer_qty_out_of_range",
        BOTH,
        with_bid(lambda _: c.MakeOffer(listing_id="L1", offered_price=1, qty=21), "roaster_B"),
    ),
    ("not_owner", BOTH, with_bid(lambda offer: c.AcceptOffer(offer_id=offer), "farmer_B")),
    ("not_owner", BOTH, with_bid(lambda offer: c.WithdrawOffer(offer_id=offer), "roaster_B")),
    ("not_owner", OURS, with_bid(lambda _: c.CancelListing(listing_id="L1"), "farmer_B")),
    ("not_owner", OURS, with_bid(lambda offer: c.RejectOffer(offer_id=offer), "roaster_A")),
    ("unknown_offer", BOTH, with_bid(lambda _: c.AcceptOffer(offer_id="O2"))),
    (
        "offer_accepted",
        BOTH,
        after(lambda town, offer: do(town, "farmer_A", c.AcceptOffer(offer_id=offer))),
    ),
    (
        "offer_withdrawn",
        BOTH,
        after(lambda town, offer: do(town, "roaster_A", c.WithdrawOffer(offer_id=offer))),
    ),
    (
        "offer_rejected",
        OURS,
        after(lambda town, offer: do(town, "farmer_A", c.RejectOffer(offer_id=offer))),
    ),
    ("offer_expired", OURS, after(lambda town, offer: evening(town, 7), offer_memory_days=9)),
    ("offer_closed", BOTH, after(withdraw_and_forget)),
    ("offer_exceeds_listing", BOTH, after(sell_from_the_same_listing)),
    ("seller_short_stock", THEIRS, after(sell_elsewhere)),
    ("buyer_inventory_cap", BOTH, after(fill_store)),
    (
        "credit_limit",
        OURS,
        lambda rules: with_bid(lambda offer: c.AcceptOffer(offer_id=offer))(
            Rules(credit_limit=79.99)
        ),
    ),
    ("unknown_invoice", BOTH, plain("roaster_A", pay("I1"))),
    ("not_owner", BOTH, with_invoice(pay, "farmer_A")),
    (
        "invoice_closed",
        BOTH,
        with_invoice(pay, first=lambda town, i: do(town, "roaster_A", pay(i))),
    ),
    (
        "part_payment",
        THEIRS,
        with_invoice(lambda invoice: c.PayInvoice(invoice_id=invoice, amount=1.0)),
    ),
    (
        "amount_out_of_range",
        OURS,
        with_invoice(lambda invoice: c.PayInvoice(invoice_id=invoice, amount=80.01)),
    ),
    (
        "insufficient_cash",
        BOTH,
        with_invoice(pay, firms=firms(roaster_A={"cash": 139.0})),
    ),
    ("return_window_closed", BOTH, with_invoice(give_back(1), first=lambda t, _: morning(t, 16))),
    ("return_exceeds_deal", BOTH, with_invoice(give_back(21))),
    (
        "return_exceeds_stock",
        BOTH,
        with_invoice(
            give_back(20),
            first=lambda town, _: trade(town, "roaster_A", "roaster_B", GREEN, 1, 5.0),
        ),
    ),
    (
        "seller_bankrupt",
        OURS,
        with_invoice(
            give_back(1),
            first=lambda town, _: morning(town, 2),
            firms=firms(farmer_A={"cash": 74.0}),
        ),
    ),
    ("empty_message", BOTH, plain("farmer_A", write(title=""))),
    ("title_too_long", BOTH, plain("farmer_A", write(title="x" * 81))),
    ("own_message", BOTH, plain("farmer_A", write("farmer_A"))),
    ("unknown_firm", BOTH, plain("farmer_A", write("nobody"))),
    ("unknown_message", BOTH, plain("farmer_A", c.ReadMessage(message_id="M1"))),
    (
        "no_foreign_trade",
        BOTH,
        plain("roaster_A", c.OrderAbroad(item_id=GREEN, qty=1, max_price=4.0)),
    ),
    (
        "insufficient_cash",
        BOTH,
        plain(
            "roaster_A",
            c.OrderAbroad(item_id=GREEN, qty=10, max_price=4.0),
            foreign_trade=True,
            firms=firms(roaster_A={"cash": 72.0}),
        ),
    ),
]


@pytest.mark.parametrize(
    ("code", "rules", "case"),
    [
        pytest.param(code, rules, case, id=f"{code}-{rules.name}-{number}")
        for number, (code, books, case) in enumerate(CASES)
        for rules in books
    ],
)
def test_a_refused_command_names_its_code_and_changes_nothing(
    code: str, rules: Rules, case: Case
) -> None:
    town, firm, command = case(rules)
    assert refusal(town, firm, command) == code


def test_there_is_a_case_for_every_code_in_the_rules() -> None:
    folder = Path(services.economy.__file__).parent
    source = "".join(path.read_text() for path in folder.glob("*.py"))
    codes = set(re.findall(r'Refusal\(\s*"([a-z_]+)"', source))
    codes |= {f"offer_{status}" for status in ("accepted", "withdrawn", "rejected", "expired")}
    assert {code for code, _, _ in CASES} == codes
