"""A scripted roaster that buys abroad what it cannot get at home."""

from __future__ import annotations

from typing import Any

from actors.strategies.scripted import ScriptedRoaster
from actors.strategies.strategy import Plan
from services.economy import commands as c
from services.economy.catalogue import GREEN
from services.economy.results import DealsView, ListingsView, TrialBalance


class Importing(ScriptedRoaster):
    """The reference roaster with one more step: an order abroad for the commodity it is short of.

    Options: ``max_price``, the most it pays a kilogram abroad (dollars, freight extra), and
    ``order_kg``, the most it orders in a day.
    """

    def __init__(
        self, firm: str, role: str, max_price: float = 5.0, order_kg: int = 30, **options: Any
    ) -> None:
        if role != "roaster":
            raise TypeError("only a roaster imports green coffee")
        super().__init__(firm, role, **options)
        self.max_price = max_price
        self.order_kg = order_kg

    def day(self) -> Plan:
        """The reference roaster's day, then an order abroad if it is still short."""
        yield from super().day()
        seen = yield c.ViewTrialBalance()
        assert isinstance(seen.data, TrialBalance)
        listings = yield c.ViewListings(item_id=GREEN)
        assert isinstance(listings.data, ListingsView)
        deals = yield c.ViewDeals()
        assert isinstance(deals.data, DealsView)
        at_home = sum(x.qty for x in listings.data.rows if x.asking_price <= self.max_price)
        short = 75 - seen.data.stock.get(GREEN, 0) - seen.data.incoming.get(GREEN, 0)
        qty = min(short - at_home, self.order_kg)
        if qty > 0:
            yield c.OrderAbroad(item_id=GREEN, qty=qty, max_price=self.max_price)
