"""CoffeeBench's own heuristic roaster, weaknesses included (note, S11 and W21).

It believes that its coffee costs what the starter stock cost, lists the same stock again every
day, looks at offers once in the morning and loses the outcome of a call whenever news arrives
with it. It is kept as it is because published floors were measured with it; the repaired version
is ``repaired``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from actors.context import Context
from actors.exchange import Turn
from actors.strategies.strategy import DailyPlan, Plan
from services.economy import commands as c
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.commands import Command
from services.economy.results import InvoicesView, ListingsView, OffersView, Result, TrialBalance

ASSUMED_COSTS = {GREEN: 2.00, GREEN_SPECIALTY: 10.00, ROASTED: 5.88, ROASTED_SPECIALTY: 18.30}


class Heuristic(DailyPlan):
    """Accept, pay, roast, list, bid once, wait."""

    observes: ClassVar[bool] = False

    def __init__(
        self, firm: str, role: str, markup: float = 1.5, floor: float = 1.2, **options: Any
    ) -> None:
        super().__init__(firm, role, **options)
        self.markup = markup
        self.floor = floor
        self._listings: dict[str, str] = {}

    def save(self) -> dict[str, str]:
        """The listings whose posting it has heard of, with their items."""
        return self._listings

    def load(self, saved: dict[str, str]) -> None:
        """Goes on from :meth:`save`."""
        self._listings = dict(saved)

    def decide(self, turn: Turn, context: Context) -> Command:
        """As a daily plan, but an outcome that comes together with news is lost (W21)."""
        if turn.reason is not None and turn.result is not None:
            turn = turn.model_copy(update={"result": LOST})
        return super().decide(turn, context)

    def day(self) -> Plan:
        """The state machine of the original, top to bottom."""
        books = yield c.ViewTrialBalance()
        listings = yield c.ViewListings()
        offers = yield c.ViewOffers()
        payables = yield c.ViewPayables()
        stock: dict[str, int] = {}
        cash = 0.0
        if isinstance(books.data, TrialBalance):
            stock, cash = books.data.stock, books.data.cash
        if isinstance(offers.data, OffersView):
            for offer in offers.data.rows:
                item = self._listings.get(offer.listing)
                if item is not None and offer.price >= self.floor * ASSUMED_COSTS[item]:
                    yield c.AcceptOffer(offer_id=offer.id)
        if isinstance(payables.data, InvoicesView):
            for row in payables.data.rows:
                if row.outstanding > 0:
                    yield c.PayInvoice(invoice_id=row.id)
        specialty = stock.get(GREEN_SPECIALTY, 0)
        if specialty > 0:
            yield c.Roast(green_item_id=GREEN_SPECIALTY, qty_kg=specialty)
        commodity = min(stock.get(GREEN, 0), 50)
        if commodity > 0:
            yield c.Roast(green_item_id=GREEN, qty_kg=commodity)
        for item in (ROASTED_SPECIALTY, ROASTED):
            if stock.get(item, 0) > 0:
                price = round(ASSUMED_COSTS[item] * self.markup, 2)
                posted = yield c.PostListing(item_id=item, qty=stock[item], asking_price=price)
                if posted.new_id is not None:
                    self._listings[posted.new_id] = item
        if isinstance(listings.data, ListingsView):
            green = sorted(
                (x for x in listings.data.rows if x.item == GREEN), key=lambda x: x.asking_price
            )
            if green:
                best = green[0]
                qty = min(best.qty, 30)
                if qty > 0 and qty * best.asking_price <= cash:
                    yield c.MakeOffer(listing_id=best.id, offered_price=best.asking_price, qty=qty)


LOST = Result(command="lost", ok=True)
"""Stands for an outcome that the original's heuristic never sees."""
