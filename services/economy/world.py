"""What all rules of a town share: its set-up, its state, the journal and the means to wake a firm.

Rules (production, market, shipping, ...) are classes over one :class:`World`. They change the state
through it, so that every movement of money is a double entry and every fact reaches the event log.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from services.economy.money import micros, share
from services.economy.results import Listing, Offer, Refusal
from services.economy.setup import TownSetup
from services.economy.state import (
    ACCOUNTS,
    INCOME,
    Deal,
    FirmState,
    Invoice,
    TownState,
)

LedgerEntry = tuple[str, str, str, int, str]
"""(firm, debited account, credited account, micro-dollars, reference)."""
Event = tuple[str, str, dict[str, Any] | str]
"""(kind, firm concerned or "", body as a dictionary or as JSON)."""

MAX_NOTICES: Final = 50
"""Lines kept for a firm that does not observe."""

_INCOME = frozenset(INCOME)
_Record = TypeVar("_Record", Deal, Invoice)


class World:
    """A town's set-up and state, with the indices that follow from the state."""

    def __init__(self, setup: TownSetup, state: TownState | None = None) -> None:
        self.setup = setup
        self.rules = setup.rules
        self.catalogue = setup.catalogue
        self.ledger: list[LedgerEntry] = []
        self.events: list[Event] = []
        self.on_wake: Callable[[str, str], None] = lambda firm, reason: None
        self.state = self._found() if state is None else state
        self.offers_to: dict[str, dict[str, Offer]] = {}
        self.offers_by: dict[str, dict[str, Offer]] = {}
        self.listings_of: dict[str, dict[str, Listing]] = {}
        """Each firm's open listings, oldest first."""
        self.owed_by: dict[str, list[Invoice]] = {}
        """Each firm's open invoices to pay, oldest first."""
        self.owed_to: dict[str, list[Invoice]] = {}
        """The open invoices that each firm has issued, oldest first."""
        self.deals_of: dict[str, list[Deal]] = {}
        """The deals under way of which each firm is one side, oldest first."""
        self._index()

    def _found(self) -> TownState:
        state = TownState(firms={})
        self.state = state
        for kind in ("L", "O", "D", "I", "M", "F"):
            state.counters[kind] = 0
        items = self.catalogue.items
        for item in items:
            state.goods[item] = {}
        for setup in self.setup.firms:
            firm = FirmState(
                name=setup.name,
                role=setup.role,
                opex=micros(setup.opex),
                stock_cap=setup.stock_cap,
                balances=dict.fromkeys(ACCOUNTS, 0),
                kg={},
                cost={},
                carry={},
                retail_prices=dict(setup.retail_prices),
                incoming=dict.fromkeys(items, 0),
            )
            state.firms[setup.name] = firm
            self.post(firm, "cash", "capital", micros(setup.cash), "start")
            for item, held in setup.stock.items():
                cost = micros(held.kg * held.unit_cost)
                self.receive(firm, item, held.kg, cost)
                self.post(firm, "inventory", "capital", cost, "start")
                self.count(item, "start", held.kg)
            firm.initial_equity = firm.equity()
        return state

    def _index(self) -> None:
        firms = self.state.firms
        self.offers_to = {name: {} for name in firms}
        self.offers_by = {name: {} for name in firms}
        self.listings_of = {name: {} for name in firms}
        for offer in self.state.offers.values():
            self.offers_to[offer.seller][offer.id] = offer
            self.offers_by[offer.buyer][offer.id] = offer
        for listing in self.state.listings.values():
            self.listings_of[listing.seller][listing.id] = listing
        self.owed_by = {name: [] for name in firms}
        self.owed_to = {name: [] for name in firms}
        self.deals_of = {name: [] for name in firms}
        for invoice in self.state.invoices.values():
            self.owed_by[invoice.payer].append(invoice)
            self.owed_to[invoice.issuer].append(invoice)
        for deal in self.state.deals.values():
            self.deals_of[deal.seller].append(deal)
            self.deals_of[deal.buyer].append(deal)

    def new_id(self, kind: str) -> str:
        """The next identifier of a kind: L, O, D, I, M or F with the ordinal of its creation."""
        self.state.counters[kind] = number = self.state.counters[kind] + 1
        return f"{kind}{number}"

    def post(self, firm: FirmState, debit: str, credit: str, amount: int, reference: str) -> None:
        """Books ``amount`` micro-dollars from one account of a firm to another.

        A negative amount is booked the other way round, so that entries are always positive.
        """
        if amount == 0:
            return
        if amount < 0:
            debit, credit, amount = credit, debit, -amount
        if firm.frozen_income is not None:
            debit = "estate" if debit in _INCOME else debit
            credit = "estate" if credit in _INCOME else credit
        balances = firm.balances
        balances[debit] += amount
        balances[credit] -= amount
        self.ledger.append((firm.name, debit, credit, amount, reference))

    def event(self, kind: str, subject: str, body: dict[str, Any]) -> None:
        """Notes a fact for the event log."""
        self.events.append((kind, subject, body))

    def wake(self, firm: str, reason: str) -> None:
        """Calls a firm back to work because something has happened to it."""
        self.on_wake(firm, reason)

    def notify(self, firm: FirmState, text: str) -> None:
        """Leaves a line for the firm's next observation; of many, the latest."""
        if firm.live:
            firm.notices.append(text)
            if len(firm.notices) > MAX_NOTICES:
                del firm.notices[0]

    def count(self, item: str, what: str, kg: int) -> None:
        """Counts kilograms that enter or leave the town's stock, for the goods balance."""
        row = self.state.goods[item]
        row[what] = row.get(what, 0) + kg

    def take(self, firm: FirmState, item: str, kg: int) -> int:
        """Takes goods off a firm's shelf; returns their average cost in micro-dollars."""
        held = firm.kg[item]
        cost = share(firm.cost[item], kg, held)
        firm.kg[item] = held - kg
        firm.cost[item] -= cost
        firm.on_hand -= kg
        firm.committed -= kg
        return cost

    def receive(self, firm: FirmState, item: str, kg: int, cost: int) -> None:
        """Puts goods on a firm's shelf."""
        firm.kg[item] = firm.kg.get(item, 0) + kg
        firm.cost[item] = firm.cost.get(item, 0) + cost
        firm.on_hand += kg
        firm.committed += kg

    def expect(self, firm: FirmState, item: str, kg: int) -> None:
        """Books goods that will come (or, with negative ``kg``, that have come or never will)."""
        firm.incoming[item] += kg
        firm.committed += kg

    def add_listing(self, listing: Listing) -> None:
        """Files an open listing."""
        self.state.listings[listing.id] = listing
        self.listings_of[listing.seller][listing.id] = listing

    def replace_listing(self, listing: Listing) -> None:
        """Puts a changed listing in its place, or away if it is no longer open."""
        if listing.status == "open":
            self.add_listing(listing)
            return
        del self.state.listings[listing.id]
        del self.listings_of[listing.seller][listing.id]
        self.state.closed_listings[listing.id] = listing

    def add_offer(self, offer: Offer) -> None:
        """Files a pending offer."""
        self.state.offers[offer.id] = offer
        self.offers_to[offer.seller][offer.id] = offer
        self.offers_by[offer.buyer][offer.id] = offer

    def resolve_offer(self, offer: Offer, status: str) -> None:
        """Ends a pending offer."""
        del self.state.offers[offer.id]
        del self.offers_to[offer.seller][offer.id]
        del self.offers_by[offer.buyer][offer.id]
        self.state.resolved_offers[offer.id] = offer.ended(status)

    def add_deal(self, deal: Deal) -> None:
        """Files a deal whose goods are on their way."""
        self.state.deals[deal.id] = deal
        self.deals_of[deal.seller].append(deal)
        self.deals_of[deal.buyer].append(deal)

    def end_deal(self, deal: Deal) -> None:
        """Files a deal whose goods are no longer on their way."""
        del self.state.deals[deal.id]
        _drop(self.deals_of[deal.seller], deal)
        _drop(self.deals_of[deal.buyer], deal)
        self.state.past_deals[deal.id] = deal

    def add_invoice(self, invoice: Invoice) -> None:
        """Files an open invoice."""
        self.state.invoices[invoice.id] = invoice
        self.owed_by[invoice.payer].append(invoice)
        self.owed_to[invoice.issuer].append(invoice)

    def end_invoice(self, invoice: Invoice) -> None:
        """Files an invoice on which nothing can be paid any more."""
        del self.state.invoices[invoice.id]
        _drop(self.owed_by[invoice.payer], invoice)
        _drop(self.owed_to[invoice.issuer], invoice)
        self.state.past_invoices[invoice.id] = invoice

    def checked_price(self, price: float) -> float:
        """The price, if the rules admit it.

        Raises:
            Refusal: ``invalid_price`` under rules that check numbers.
        """
        rules = self.rules
        if rules.numbers_checked and not rules.min_price <= price <= rules.max_price:
            raise Refusal(
                "invalid_price",
                f"a price must be {rules.min_price:g} to {rules.max_price:g}; got {price:g}",
            )
        return price

    def checked_terms(self, days: int) -> int:
        """The payment terms, if the rules admit them.

        Raises:
            Refusal: ``invalid_terms`` under rules that check numbers.
        """
        if self.rules.numbers_checked and not 0 <= days <= self.rules.max_terms_days:
            raise Refusal(
                "invalid_terms",
                f"payment terms must be 0 to {self.rules.max_terms_days} days; got {days}",
            )
        return days

    def known_item(self, item: str) -> str:
        """The item, if it is in the catalogue.

        Raises:
            Refusal: ``unknown_item``.
        """
        if item not in self.catalogue.items:
            raise Refusal(
                "unknown_item",
                f"there is no item {item!r}; items: {', '.join(self.catalogue.items)}",
            )
        return item


def _drop(records: list[_Record], record: _Record) -> None:
    """Takes one record out of a list; ``list.remove`` would compare all fields on its way."""
    for nth, other in enumerate(records):
        if other is record:
            del records[nth]
            return
