"""The reference firms: exactly what the reference ledgers were made with (reference README).

They are the yardstick for every other strategy and need no key, no model and no luck of their own.
Prices differ by the letter at the end of the firm's name (``_A``, ``_B``, further ones alternate)
and can be set by options.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from operator import attrgetter
from typing import Any, ClassVar

from actors.strategies.strategy import DailyPlan, Plan
from services.economy import commands as c
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.results import (
    DealsView,
    InvoicesView,
    Listing,
    ListingsView,
    OffersView,
    Result,
    TrialBalance,
)

BID_SHARE = 0.97
ACCEPT_SHARE = 0.95
FESTIVAL = (40, 53)

_asking_price = attrgetter("asking_price")
# Commands cannot be changed, so one of a kind will do.
_BOOKS = c.ViewTrialBalance()
_BIDS_RECEIVED = c.ViewOffers(direction="incoming")
_BIDS_MADE = c.ViewOffers(direction="outgoing")
_LISTINGS = c.ViewListings()
_DEALS = c.ViewDeals()
_PAYABLES = c.ViewPayables()


def _variant(firm: str) -> int:
    """0 for firms of kind A, 1 for those of kind B."""
    tail = firm.rsplit("_", 1)[-1]
    if tail.isdigit():
        return int(tail) % 2
    return (ord(tail[-1].upper()) - ord("A")) % 2


class Scripted(DailyPlan):
    """What all reference firms share."""

    observes: ClassVar[bool] = False

    def __init__(
        self,
        firm: str,
        role: str,
        asks: dict[str, float] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(firm, role, **options)
        self.asks: dict[str, float] = {**self.standard_asks(_variant(firm)), **(asks or {})}
        self._failed: set[str] = set()
        self.live: dict[str, int] = {}
        self.inbound: dict[str, int] = {}

    @staticmethod
    def standard_asks(variant: int) -> dict[str, float]:
        """Asking prices, dollars a kilogram."""
        return {}

    def take_offers(self) -> Plan:
        """Accepts every pending bid of at least 95 % of the own ask; failures only once a day."""
        seen = (yield _BIDS_RECEIVED).data
        assert isinstance(seen, OffersView)
        for offer in seen.rows:
            ask = self.asks.get(offer.item)
            if ask is None or offer.price < ACCEPT_SHARE * ask - 1e-9 or offer.id in self._failed:
                continue
            outcome = yield c.AcceptOffer(offer_id=offer.id)
            if not outcome.ok:
                self._failed.add(offer.id)

    def sell(self, stock: dict[str, int], items: tuple[str, ...]) -> Plan:
        """Lists all that was on hand this morning, on top of older listings."""
        for item in items:
            if stock.get(item, 0) > 0:
                yield c.PostListing(item_id=item, qty=stock[item], asking_price=self.asks[item])

    def clean_bids(self) -> Plan:
        """Withdraws own bids of the day before yesterday and older; counts the others."""
        seen = (yield _BIDS_MADE).data
        assert isinstance(seen, OffersView)
        self.live = {}
        for offer in seen.rows:
            if offer.posted_day <= self.today - 2:
                yield c.WithdrawOffer(offer_id=offer.id)
            else:
                self.live[offer.item] = self.live.get(offer.item, 0) + offer.qty

    def count_inbound(self, deals: DealsView) -> None:
        """Counts what this firm has bought and not received yet."""
        self.inbound = {}
        for deal in deals.rows:
            if deal.buyer == self.firm and deal.delivery_day > self.today:
                self.inbound[deal.item] = self.inbound.get(deal.item, 0) + deal.qty

    def survey(self) -> Generator[c.Command, Result, tuple[Listing, ...]]:
        """Looks at what others have on offer, and counts what is on the road to this firm."""
        listings = (yield _LISTINGS).data
        assert isinstance(listings, ListingsView)
        deals = (yield _DEALS).data
        assert isinstance(deals, DealsView)
        self.count_inbound(deals)
        return listings.rows

    def buy(self, listings: tuple[Listing, ...], item: str, want: int) -> Plan:
        """Bids on the two cheapest fresh listings of others, a little below their ask."""
        fresh: list[Listing] = []
        yesterday = self.today - 1
        for listing in reversed(listings):
            if listing.posted_day < yesterday:
                break
            if listing.item == item and listing.qty > 0:
                fresh.append(listing)
        fresh.reverse()
        fresh.sort(key=_asking_price)
        for listing in fresh[:2]:
            if want <= 0:
                break
            qty = min(want, listing.qty)
            outcome = yield c.MakeOffer(
                listing_id=listing.id,
                offered_price=self.bid_for(listing),
                qty=qty,
            )
            if outcome.ok:
                want -= qty

    def bid_for(self, listing: Listing) -> float:
        """What it bids for goods on offer, dollars a kilogram."""
        return round(BID_SHARE * listing.asking_price, 2)

    def pay(self, cash: float, days_ahead: int) -> Plan:
        """Pays what is due within ``days_ahead`` days (negative: that many days late)."""
        seen = (yield _PAYABLES).data
        assert isinstance(seen, InvoicesView)
        for row in seen.rows:
            if row.days_to_due <= days_ahead and row.outstanding <= cash:
                outcome = yield c.PayInvoice(invoice_id=row.id)
                if outcome.ok:
                    cash = outcome.value("remaining_cash")

    def books(self) -> c.ViewTrialBalance:
        """The first call of the day; also forgets yesterday's failed acceptances."""
        self._failed.clear()
        return _BOOKS


class ScriptedFarmer(Scripted):
    """Grows up to a ceiling, lists everything, takes good bids."""

    @staticmethod
    def standard_asks(variant: int) -> dict[str, float]:
        """Asking prices, dollars a kilogram."""
        return {GREEN: (4.00, 4.20)[variant], GREEN_SPECIALTY: (16.00, 15.50)[variant]}

    def day(self) -> Plan:
        """Produce, list, sell."""
        seen = yield self.books()
        assert isinstance(seen.data, TrialBalance)
        stock = seen.data.stock
        for item, daily, ceiling in self.ceilings():
            qty = min(daily, ceiling - stock.get(item, 0))
            if qty > 0:
                yield c.ProduceItem(item_id=item, quantity=qty)
        yield from self.sell(stock, (GREEN, GREEN_SPECIALTY))
        yield from self.take_offers()

    def ceilings(self) -> tuple[tuple[str, int, int], ...]:
        """For each item the kilograms that it grows in a day at most, and up to which stock."""
        return ((GREEN, 30, 90), (GREEN_SPECIALTY, 10, 24))

    def news(self) -> Plan:
        """A bid may have come: look."""
        yield from self.take_offers()


class ScriptedRoaster(Scripted):
    """Roasts all it can, lists it, buys green coffee up to a target, pays five days early."""

    @staticmethod
    def standard_asks(variant: int) -> dict[str, float]:
        """Asking prices, dollars a kilogram."""
        return {ROASTED: (9.80, 10.00)[variant], ROASTED_SPECIALTY: (35.00, 34.00)[variant]}

    def day(self) -> Plan:
        """Roast, list, buy, sell, pay."""
        seen = yield self.books()
        assert isinstance(seen.data, TrialBalance)
        stock, cash = seen.data.stock, seen.data.cash
        specialty = min(stock.get(GREEN_SPECIALTY, 0), 20)
        if specialty > 0:
            yield c.Roast(green_item_id=GREEN_SPECIALTY, qty_kg=specialty)
        commodity = min(stock.get(GREEN, 0), 50 - specialty)
        if commodity > 0:
            yield c.Roast(green_item_id=GREEN, qty_kg=commodity)
        yield from self.sell(stock, (ROASTED, ROASTED_SPECIALTY))
        yield from self.clean_bids()
        listings = yield from self.survey()
        for item, want in self.wanted(stock, commodity, specialty):
            yield from self.buy(listings, item, want)
        yield from self.take_offers()
        yield from self.pay(cash, 5)

    def wanted(
        self, stock: dict[str, int], commodity: int, specialty: int
    ) -> list[tuple[str, int]]:
        """Kilograms of each green coffee to bid for, after roasting so much of each."""
        want_commodity = (
            75
            - (stock.get(GREEN, 0) - commodity)
            - stock.get(ROASTED, 0)
            - int(0.85 * commodity)
            - self.inbound.get(GREEN, 0)
            - self.live.get(GREEN, 0)
        )
        want_specialty = (
            20
            - (stock.get(GREEN_SPECIALTY, 0) - specialty)
            - stock.get(ROASTED_SPECIALTY, 0)
            - int(0.82 * specialty)
            - self.inbound.get(GREEN_SPECIALTY, 0)
            - self.live.get(GREEN_SPECIALTY, 0)
        )
        return [(GREEN, min(want_commodity, 30)), (GREEN_SPECIALTY, min(want_specialty, 8))]

    def news(self) -> Plan:
        """A bid may have come: look."""
        yield from self.take_offers()


class ScriptedRetailer(Scripted):
    """Keeps shelves filled, raises prices in the festival; kind A also writes and sends back."""

    def __init__(
        self,
        firm: str,
        role: str,
        correspondents: Sequence[str] = ("roaster_A", "roaster_B"),
        **options: Any,
    ) -> None:
        super().__init__(firm, role, **options)
        self.variant = _variant(firm)
        self.correspondents = tuple(correspondents)
        self._prices: dict[str, float] = {ROASTED: 18.0, ROASTED_SPECIALTY: 50.0}

    def save(self) -> dict[str, float]:
        """The storefront prices set last."""
        return self._prices

    def load(self, saved: dict[str, float]) -> None:
        """Goes on from :meth:`save`."""
        self._prices = dict(saved)

    def day(self) -> Plan:
        """Price, clean up, buy, pay."""
        festival = FESTIVAL[0] <= self.today <= FESTIVAL[1]
        self._failed.clear()
        for item, price in zip(
            (ROASTED, ROASTED_SPECIALTY), self.shelf_prices(festival), strict=True
        ):
            if price != self._prices[item]:
                yield c.SetRetailPrice(item_id=item, price_per_unit=price)
                self._prices[item] = price
        seen = yield self.books()
        assert isinstance(seen.data, TrialBalance)
        stock, cash = seen.data.stock, seen.data.cash
        yield from self.clean_bids()
        listings = yield from self.survey()
        targets = ((ROASTED, 62 if festival else 45), (ROASTED_SPECIALTY, 14 if festival else 10))
        for item, target in targets:
            want = target - stock.get(item, 0) - self.inbound.get(item, 0) - self.live.get(item, 0)
            yield from self.buy(listings, item, want)
        yield from self.pay(cash, -3 if self.variant else 5)
        if self.variant == 0:
            yield from self._habits()

    def shelf_prices(self, festival: bool) -> tuple[float, float]:
        """What it asks of consumers for roasted coffee and for specialty, dollars a kilogram."""
        normal, special = (((18.0, 50.0), (21.0, 58.0)), ((17.5, 52.0), (20.0, 60.0)))[self.variant]
        return special if festival else normal

    def _habits(self) -> Plan:
        if self.today in (30, 60):
            row = yield from self._last_payable()
            if row is not None:
                yield c.ReturnShipment(invoice_id=row, quantity_kg=2, reason="reference return")
        if self.today == 45:
            row = yield from self._last_payable()
            if row is not None:
                yield c.PayInvoice(invoice_id=row)
                yield c.ReturnShipment(invoice_id=row, quantity_kg=1, reason="refund test")
        if self.today % 7 == 0:
            for roaster in self.correspondents:
                yield c.SendMessage(
                    recipient=roaster,
                    title=f"week {self.today // 7} plan",
                    body="steady weekly restock",
                )

    def _last_payable(self) -> Generator[c.Command, Result, str | None]:
        seen = yield _PAYABLES
        assert isinstance(seen.data, InvoicesView)
        return seen.data.rows[-1].id if seen.data.rows else None


KINDS: dict[str, type[Scripted]] = {
    "farmer": ScriptedFarmer,
    "roaster": ScriptedRoaster,
    "retailer": ScriptedRetailer,
}
"""The reference firm of each role."""


def scripted(firm: str, role: str, **options: Any) -> Scripted:
    """The reference firm of a role."""
    return KINDS[role](firm, role, **options)
