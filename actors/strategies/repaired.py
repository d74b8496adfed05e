"""The heuristic roaster with its faults mended (note, S16.4): the yardstick for learned roasters.

It knows what its coffee really cost, keeps one live listing of an item, buys both greens up to a
target, accepts bids the day they come, and pays shortly before the due day.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from actors.strategies.scripted import Scripted
from actors.strategies.strategy import Plan
from services.economy import commands as c
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.results import (
    OffersView,
    Result,
    TrialBalance,
)

STARTING_COSTS = {ROASTED: 5.88, ROASTED_SPECIALTY: 18.30}
"""What roasted coffee costs in dollars a kilogram as long as none of one's own has been made."""


class Repaired(Scripted):
    """A roaster that prices from its true average cost.

    Options: ``markup`` on the true cost when listing, ``floor`` on it when accepting, ``target``
    kilograms of commodity and ``specialty_target`` of specialty in hand and under way.
    """

    def __init__(
        self,
        firm: str,
        role: str,
        markup: float = 1.5,
        floor: float = 1.2,
        target: int = 75,
        specialty_target: int = 20,
        **options: Any,
    ) -> None:
        if role != "roaster":
            raise TypeError("the repaired heuristic is a roaster")
        super().__init__(firm, role, **options)
        self.markup = markup
        self.floor = floor
        self.targets = {GREEN: target, GREEN_SPECIALTY: specialty_target}
        self.costs = dict(STARTING_COSTS)

    def save(self) -> dict[str, float]:
        """The unit costs seen last."""
        return self.costs

    def load(self, saved: dict[str, float]) -> None:
        """Goes on from :meth:`save`."""
        self.costs = dict(saved)

    def day(self) -> Plan:
        """Look, sell, roast, list what is not listed yet, buy, pay."""
        seen = yield self.books()
        assert isinstance(seen.data, TrialBalance)
        books = seen.data
        for item in (ROASTED, ROASTED_SPECIALTY):
            if item in books.unit_costs:
                self.costs[item] = books.unit_costs[item]
            self.asks[item] = round(self.costs[item] * self.markup, 2)
        yield from self.take_offers()
        roasted = yield from self._roast(books.stock)
        yield from self._list()
        yield from self.clean_bids()
        listings = yield from self.survey()
        for item, output, share in (
            (GREEN, ROASTED, 0.85),
            (GREEN_SPECIALTY, ROASTED_SPECIALTY, 0.82),
        ):
            held = books.stock.get(item, 0) - roasted[item]
            made = books.stock.get(output, 0) + int(share * roasted[item])
            under_way = self.inbound.get(item, 0) + self.live.get(item, 0)
            want = self.targets[item] - held - made - under_way
            yield from self.buy(listings, item, min(want, 30))
        yield from self.take_offers()
        yield from self.pay(books.cash, 2)

    def news(self) -> Plan:
        """A bid may have come: look the same day."""
        yield from self.take_offers()

    def take_offers(self) -> Plan:
        """Accepts bids of at least ``floor`` times the true cost, best price first."""
        seen = yield c.ViewOffers(direction="incoming")
        assert isinstance(seen.data, OffersView)
        for offer in sorted(seen.data.rows, key=lambda o: -o.price):
            cost = self.costs.get(offer.item)
            if cost is None or offer.price < self.floor * cost or offer.id in self._failed:
                continue
            outcome = yield c.AcceptOffer(offer_id=offer.id)
            if not outcome.ok:
                self._failed.add(offer.id)

    def _roast(self, stock: dict[str, int]) -> Generator[c.Command, Result, dict[str, int]]:
        left = 50
        roasted = {}
        for item in (GREEN_SPECIALTY, GREEN):
            roasted[item] = min(stock.get(item, 0), 20 if item == GREEN_SPECIALTY else left)
            if roasted[item] > 0:
                yield c.Roast(green_item_id=item, qty_kg=roasted[item])
                left -= roasted[item]
        return roasted

    def _list(self) -> Plan:
        now = yield c.ViewTrialBalance()
        assert isinstance(now.data, TrialBalance)
        for item in (ROASTED, ROASTED_SPECIALTY):
            held = now.data.stock.get(item, 0)
            if held > 0:
                yield c.PostListing(item_id=item, qty=held, asking_price=self.asks[item])
