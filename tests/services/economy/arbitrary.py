"""Arbitrary worlds and commands for hypothesis: small, harsh, and full of nonsense."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from services.economy import commands as c
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.setup import FirmSetup, TownSetup, firm_setup

ITEMS = (GREEN, ROASTED, GREEN_SPECIALTY, ROASTED_SPECIALTY)

items = st.sampled_from((*ITEMS, "tea", ""))
firms = st.sampled_from(
    ("farmer_A", "farmer_B", "roaster_A", "roaster_B", "retailer_A", "retailer_B", "nobody")
)
whole = st.one_of(st.integers(-2, 60), st.sampled_from((-c.LIMIT, c.LIMIT)))
terms = st.one_of(st.integers(-1, 40), st.sampled_from((-c.LIMIT, c.LIMIT)))
dollars = st.one_of(
    st.floats(-1, 70, allow_nan=False),
    st.floats(0, 20, allow_nan=False).map(lambda x: round(x, 2)),
    st.sampled_from((-c.LIMIT, c.LIMIT, 5e-324, 1e-9)),
)


def ids(kind: str) -> st.SearchStrategy[str]:
    """Identifiers of which some exist, some did and some never will."""
    real = st.integers(0, 25).map(lambda n: f"{kind}{n}")
    return st.one_of(real, real, real, st.sampled_from(("", kind, f"{kind}²", f"{kind}-1", "x")))


_FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "produce_item": {"item_id": items, "quantity": whole},
    "roast": {"green_item_id": items, "qty_kg": whole},
    "post_listing": {
        "item_id": items,
        "qty": whole,
        "asking_price": dollars,
        "payment_terms_days": terms,
    },
    "cancel_listing": {"listing_id": ids("L")},
    "make_offer": {
        "listing_id": ids("L"),
        "offered_price": dollars,
        "qty": whole,
        "payment_terms_days": terms,
        "message": st.text(max_size=3),
    },
    "withdraw_offer": {"offer_id": ids("O")},
    "reject_offer": {"offer_id": ids("O"), "reason": st.text(max_size=3)},
    "accept_offer": {"offer_id": ids("O")},
    "pay_invoice": {"invoice_id": ids("I"), "amount": st.none() | dollars},
    "return_shipment": {"invoice_id": ids("I"), "quantity_kg": whole, "reason": st.text()},
    "set_retail_price": {"item_id": items, "price_per_unit": dollars},
    "send_message": {"recipient": firms, "title": st.text(max_size=90), "body": st.text()},
    "order_abroad": {"item_id": items, "qty": whole, "max_price": dollars},
    "wait_for_next_day": {},
    "view_listings": {"item_id": st.none() | items, "only_others": st.booleans()},
    "view_offers": {
        "direction": st.sampled_from(("incoming", "outgoing", "all")),
        "status": st.sampled_from(("pending", "all")),
    },
    "view_deals": {"status": st.sampled_from(("pending", "all"))},
    "view_payables": {"only_overdue": st.booleans(), "limit": st.integers(1, 3)},
    "view_receivables": {"only_overdue": st.booleans(), "counterparty": st.none() | firms},
    "view_trial_balance": {"period": st.sampled_from(("current", "FY"))},
    "view_market_aggregate": {"days_back": st.integers(1, 366)},
    "view_consumer_sales": {"since_day": st.none() | st.integers(-1, 9)},
    "view_messages": {"counterparty": st.none() | firms | st.just("self")},
    "read_message": {"message_id": ids("M")},
}
assert _FIELDS.keys() == c.COMMANDS.keys(), "every command is made, also those added later"


def commands() -> st.SearchStrategy[c.Command]:
    """Any command, mostly nonsense."""
    return st.one_of([st.builds(c.COMMANDS[name], **_FIELDS[name]) for name in _FIELDS])


def surprises() -> st.SearchStrategy[list[c.Command | None]]:
    """Commands that take the place of some of a play's decisions."""
    return st.lists(st.one_of(st.none(), st.none(), commands()), max_size=60)


@st.composite
def worlds(draw: st.DrawFn, rules: Rules | None = None, name: str = "town") -> TownSetup:
    """A small town in which shipments get lost, stock rots and money runs out."""
    tail = "" if name == "town" else f"_{name}"
    cash = draw(st.sampled_from((0.0, 60.0, 250.0, 1_000.0, 15_000.0)))
    book = draw(st.sampled_from((HANSE, COFFEEBENCH))) if rules is None else rules
    if book.name == "hanse":
        book = replace(
            book,
            listing_days=draw(st.sampled_from((1, 3, 7))),
            credit_limit=draw(st.sampled_from((100.0, 15_000.0))),
            calls_per_day=draw(st.sampled_from((None, 5, 20))),
        )
    people: list[FirmSetup] = []
    for role in ("farmer", "roaster", "retailer"):
        for letter in "AB"[: draw(st.integers(1, 2))]:
            stock = {i: draw(st.sampled_from((0, 7, 40))) for i in ITEMS}
            people.append(
                firm_setup(
                    f"{role}_{letter}{tail}",
                    role,  # type: ignore[arg-type]
                    cash=cash,
                    opex=draw(st.sampled_from((0.0, 25.0))),
                    stock_cap=draw(st.sampled_from((90, 161))),
                    stock=stock,
                )
            )
    return TownSetup(
        name=name,
        seed=draw(st.integers(0, 10**6)),
        days=draw(st.integers(2, 6)),
        rules=book,
        firms=tuple(people),
        loss_probability=draw(st.sampled_from((0.0, 0.2))),
        delay_probability=draw(st.sampled_from((0.0, 0.4))),
        spoilage_per_day=draw(st.sampled_from((0.0, 0.005, 0.2, 1.0))),
        late_fee_per_day=draw(st.sampled_from((0.001, 0.3))),
        return_window_days=draw(st.sampled_from((0, 1, 14))),
        roast_cap_kg=draw(st.sampled_from((5, 50))),
        festival_days=draw(st.sampled_from(((40, 53), (1, 2)))),
        stop_when_bankrupt=draw(st.sampled_from((None, f"roaster_A{tail}"))),
        foreign_trade=name != "town",
        memory_days=draw(st.sampled_from((1, 15))),
        offer_memory_days=draw(st.sampled_from((0, 3))),
    )
