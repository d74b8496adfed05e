"""Trade between towns: an order leaves one town by message and a shipment comes back.

The buyer's town sets the most that the order can cost aside (``escrow``), the seller's town fills
it from its open listings at their asking prices, and the two settle through ``clearing``, whose
sum over all towns is zero whenever no message is under way.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from services.economy.commands import OrderAbroad
from services.economy.market import Market
from services.economy.money import CENT, cents, dollars, micros
from services.economy.results import Refusal, Values
from services.economy.state import FirmState, ForeignOrder, Import
from services.economy.world import World
from services.messages import Channel, Payload


class TradeOrder(Payload):
    """A wish to buy in another town."""

    internal: ClassVar[bool] = True
    type: Literal["trade_order"] = "trade_order"
    channel: ClassVar[Channel] = "exec"
    order: str
    town: str
    """The buyer's town."""
    reply_to: str
    """The agent that settles the order: the exchange of the buyer's town."""
    item: str
    qty: int
    max_price: float


class TradeFill(Payload):
    """What another town has sold on an order."""

    internal: ClassVar[bool] = True
    type: Literal["trade_fill"] = "trade_fill"
    channel: ClassVar[Channel] = "exec"
    order: str
    town: str
    """The seller's town."""
    item: str
    qty: int
    total_micros: int


class TradeRefused(Payload):
    """Nothing could be bought on an order."""

    internal: ClassVar[bool] = True
    type: Literal["trade_refused"] = "trade_refused"
    channel: ClassVar[Channel] = "exec"
    order: str
    reason: str


class TownQuote(Payload):
    """What a town has to sell, as it tells the routers every morning."""

    internal: ClassVar[bool] = True
    silent: ClassVar[bool] = True
    type: Literal["town_quote"] = "town_quote"
    channel: ClassVar[Channel] = "comm"
    town: str
    exchange: str
    day: int
    asks: dict[str, float]
    """The lowest asking price, by item."""
    kg: dict[str, int]
    """Kilograms on offer, by item."""
    load: int
    """Foreign orders filled or refused the day before."""


class Abroad:
    """A town's trade with other towns."""

    def __init__(self, world: World, market: Market) -> None:
        self.world = world
        self.market = market
        self.outbox: list[ForeignOrder] = []
        """Orders written since the exchange last handed them to a router."""

    def order(self, firm: FirmState, command: OrderAbroad) -> tuple[str, Values]:
        """Sets money and room aside and queues the order for the router.

        Raises:
            Refusal: no foreign trade here, item, quantity, price, room or cash.
        """
        world = self.world
        if not world.setup.foreign_trade:
            raise Refusal("no_foreign_trade", "no router joins this town to another")
        item = world.known_item(command.item_id)
        qty = command.qty
        if qty < 1:
            raise Refusal("quantity_out_of_range", "the quantity must be at least 1 kg")
        price = world.checked_price(command.max_price)
        if firm.committed + qty > firm.stock_cap:
            raise Refusal("inventory_cap", f"{qty} more kg do not fit")
        escrow = cents(qty * price) + cents(qty * world.setup.freight_per_kg)
        if firm.cash < escrow:
            raise Refusal("insufficient_cash", f"{dollars(escrow):.2f} must be set aside")
        order = ForeignOrder(
            world.new_id("F"), firm.name, item, qty, price, escrow, world.state.day
        )
        world.state.foreign_orders[order.id] = order
        world.post(firm, "escrow", "cash", escrow, order.id)
        world.expect(firm, item, qty)
        self.outbox.append(order)
        return order.id, Values(values={"set_aside": dollars(escrow)})

    def fill(self, order: TradeOrder) -> TradeFill | TradeRefused:
        """Sells to another town from open listings, cheapest first, at their asking prices."""
        world = self.world
        state = world.state
        if state.closed_on is not None:
            return TradeRefused(order=order.order, reason="the town has closed")
        wanted, total = order.qty, 0
        offers = [
            listing
            for listing in state.listings.values()
            if listing.item == order.item and 0 <= listing.asking_price <= order.max_price
        ]
        for listing in sorted(offers, key=lambda x: x.asking_price):
            seller = state.firms[listing.seller]
            qty = min(wanted, listing.qty, seller.kg.get(listing.item, 0))
            if qty < 1 or not seller.live:
                continue
            price = _piece_price(qty, listing.asking_price)
            cost = world.take(seller, listing.item, qty)
            reference = f"export {order.order}"
            world.post(seller, "cogs", "inventory", cost, reference)
            world.post(seller, "cash", "revenue", price, reference)
            world.count(listing.item, "exported", qty)
            if qty < listing.qty:
                world.replace_listing(listing._replace(qty=listing.qty - qty))
            else:
                self.market.close_listing(listing._replace(qty=0), "closed", None)
            seller.deals += 1
            self._event("export", seller.name, order.order, order.town, listing.item, qty, price)
            world.wake(seller.name, "sold abroad")
            wanted -= qty
            total += price
            if wanted == 0:
                break
        if wanted == order.qty:
            return TradeRefused(order=order.order, reason="nothing on offer at that price")
        state.clearing -= total
        return TradeFill(
            order=order.order,
            town=world.setup.name,
            item=order.item,
            qty=order.qty - wanted,
            total_micros=total,
        )

    def settle(self, fill: TradeFill) -> None:
        """Pays for what another town has sold; the rest of the money comes back.

        An answer that does not fit the order is none: all of the money comes back.
        """
        world = self.world
        order = world.state.foreign_orders.get(fill.order)
        if order is None:
            return
        if (misfit := _misfit(order, fill)) is not None:
            self.give_back(TradeRefused(order=order.id, reason=misfit))
            return
        del world.state.foreign_orders[order.id]
        firm = world.state.firms[order.buyer]
        freight = cents(fill.qty * world.setup.freight_per_kg)
        paid = fill.total_micros + freight
        world.post(firm, "goods_in_transit", "escrow", paid, order.id)
        world.post(firm, "cash", "escrow", order.escrow - paid, order.id)
        world.state.clearing += fill.total_micros
        world.expect(firm, order.item, fill.qty - order.qty)
        due = world.state.day + world.setup.freight_days
        world.state.imports.append(Import(order.id, firm.name, order.item, fill.qty, paid, due))
        firm.deals += 1
        self._event("import", firm.name, order.id, fill.town, order.item, fill.qty, paid)
        world.notify(firm, f"{order.id}: {fill.qty} kg {order.item} come from {fill.town}")
        world.wake(firm.name, "bought abroad")

    def give_back(self, refused: TradeRefused) -> None:
        """Returns the money of an order that nobody could fill."""
        world = self.world
        order = world.state.foreign_orders.pop(refused.order, None)
        if order is None:
            return
        firm = world.state.firms[order.buyer]
        world.post(firm, "cash", "escrow", order.escrow, order.id)
        world.expect(firm, order.item, -order.qty)
        back = (order.id, "", order.item, order.qty, order.escrow)
        self._event("refused", firm.name, *back, reason=refused.reason)
        world.notify(firm, f"{order.id} could not be filled: {refused.reason}")
        world.wake(firm.name, "order abroad refused")

    def quote(self, exchange: str, load: int) -> TownQuote:
        """What the town has on offer now."""
        asks: dict[str, float] = {}
        kg: dict[str, int] = {}
        for listing in self.world.state.listings.values():
            available = self.market.available(listing)
            if available > 0:
                item = listing.item
                asks[item] = min(asks.get(item, listing.asking_price), listing.asking_price)
                kg[item] = kg.get(item, 0) + available
        return TownQuote(
            town=self.world.setup.name,
            exchange=exchange,
            day=self.world.state.day,
            asks=asks,
            kg=kg,
            load=load,
        )

    def _event(
        self,
        direction: str,
        firm: str,
        order: str,
        town: str,
        item: str,
        qty: int,
        amount: int,
        **more: str,
    ) -> None:
        body = {
            "direction": direction,
            "order": order,
            "town": town,
            "item": item,
            "qty": qty,
            "amount": dollars(amount),
            "day": self.world.state.day,
            **more,
        }
        self.world.event("trade", firm, body)


def _piece_price(qty: int, price: float) -> int:
    """What a part of an order costs, rounded down to the cent.

    So the parts, each rounded by itself, never cost more than the whole that was set aside, and
    the price of a part hangs on nothing but that part.
    """
    return micros(qty * price) // CENT * CENT


def _misfit(order: ForeignOrder, fill: TradeFill) -> str | None:
    """What is wrong with an answer to an order, if anything."""
    if fill.item != order.item:
        return "the answer was for another item"
    if not 0 < fill.qty <= order.qty:
        return "the answer was for a quantity that was not ordered"
    if not 0 <= fill.total_micros <= cents(fill.qty * order.max_price):
        return "the answer was at a price that was not ordered"
    return None
