"""A scripted roaster that hands its purchasing to a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.controller import PurchaseOrders, StockReport
from actors.strategies.scripted import ScriptedRoaster
from actors.strategies.strategy import Plan
from services.economy import commands as c
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.results import DealsView, ListingsView, TrialBalance
from services.messages import Channel, Message

if TYPE_CHECKING:
    from actors.context import Context

_OUTPUT = {GREEN: (ROASTED, 0.85), GREEN_SPECIALTY: (ROASTED_SPECIALTY, 0.82)}


class Managed(ScriptedRoaster):
    """Roasts and sells as the reference roaster does; how much to buy, the controller says.

    After looking at its books and the road it sends a :class:`StockReport` with each green item's
    inventory position (on hand, under way and on bid, and what it has become in roasted coffee);
    the controller's answer is there before the next call.
    """

    def __init__(self, firm: str, role: str, controller: str = "", **options: Any) -> None:
        if role != "roaster":
            raise TypeError("only a roaster can hand its purchasing to a controller")
        if not controller:
            raise TypeError('name the controller: controller = "..." in the firm\'s table')
        super().__init__(firm, role, **options)
        self.controller = controller
        self._orders: dict[str, int] = {}

    def contacts(self) -> dict[str, tuple[Channel, ...]]:
        """Its controller."""
        return {self.controller: ("comm",)}

    def heard(self, message: Message, context: Context) -> None:
        """Takes the controller's orders, and nobody else's."""
        if isinstance(message.payload, PurchaseOrders) and message.sender == self.controller:
            self._orders = dict(message.payload.kg)

    def day(self) -> Plan:
        """Roast, list, ask the controller, buy, sell, pay."""
        seen = yield self.books()
        assert isinstance(seen.data, TrialBalance)
        stock, cash = seen.data.stock, seen.data.cash
        roasted: dict[str, int] = {}
        left = 50
        for item in (GREEN_SPECIALTY, GREEN):
            roasted[item] = min(stock.get(item, 0), 20 if item == GREEN_SPECIALTY else left)
            if roasted[item] > 0:
                yield c.Roast(green_item_id=item, qty_kg=roasted[item])
                left -= roasted[item]
        yield from self.sell(stock, (ROASTED, ROASTED_SPECIALTY))
        yield from self.clean_bids()
        deals = yield c.ViewDeals()
        assert isinstance(deals.data, DealsView)
        self.count_inbound(deals.data)
        self._orders = {}
        position = {
            item: stock.get(item, 0)
            - roasted[item]
            + stock.get(output, 0)
            + int(share * roasted[item])
            + self.inbound.get(item, 0)
            + self.live.get(item, 0)
            for item, (output, share) in _OUTPUT.items()
        }
        self.context.send(self.controller, StockReport(firm=self.firm, position=position))
        listings = yield c.ViewListings()
        assert isinstance(listings.data, ListingsView)
        for item in (GREEN, GREEN_SPECIALTY):
            yield from self.buy(listings.data.rows, item, self._orders.get(item, 0))
        yield from self.take_offers()
        yield from self.pay(cash, 5)
