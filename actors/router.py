"""Routers: agents that pass work to the agent that should do it."""

from __future__ import annotations

from math import inf
from typing import Any, Literal

from actors.agent import Agent, handles
from actors.context import Context
from services.economy.abroad import TownQuote, TradeFill, TradeOrder, TradeRefused
from services.messages import Message

RouterRule = Literal["direct", "cheapest", "least_loaded"]


class Router(Agent):
    """Passes orders between towns to the exchange that should fill them, and the answers back.

    Rules, all over the latest :class:`TownQuote` of every town but the buyer's:

    * ``direct``: the first town that a ``partners`` table names for the buyer's town, or else the
      first other town by name; quotes are not looked at.
    * ``cheapest``: the lowest asking price within the order's limit.
    * ``least_loaded``: the fewest orders passed to it today among towns that can fill some of it.
    """

    essential = True

    def __init__(
        self,
        name: str,
        rule: RouterRule = "cheapest",
        partners: dict[str, str] | None = None,
        exchanges: dict[str, str] | None = None,
    ) -> None:
        super().__init__(name)
        self.rule = rule
        self.partners = partners or {}
        self.exchanges = exchanges or {}
        """The exchange of every town; the router deals with nobody else."""
        self._quotes: dict[str, TownQuote] = {}
        self._open: dict[str, tuple[str, str]] = {}
        """Orders passed on, by message: (who asked, who is to answer)."""
        self._load: dict[str, int] = {}
        self.routed = 0
        self.refused = 0

    @handles(TownQuote)
    def on_quote(self, message: Message, context: Context) -> None:
        """Remembers what a town has to sell today."""
        quote = message.payload
        assert isinstance(quote, TownQuote)
        if not self._from(quote.town, message, context) or quote.exchange != message.sender:
            return
        self._quotes[quote.town] = quote
        self._load[quote.town] = 0
        self.quoted(quote)

    @handles(TradeOrder)
    def on_order(self, message: Message, context: Context) -> None:
        """Passes an order on, or refuses it when no town can fill it."""
        order = message.payload
        assert isinstance(order, TradeOrder)
        if not self._from(order.town, message, context) or order.reply_to != message.sender:
            return
        town = self.decide(order, context)
        if town is None:
            self.refused += 1
            refusal = TradeRefused(order=order.order, reason="no town sells it at that price")
            context.send(order.reply_to, refusal, in_reply_to=message.id)
            return
        self.routed += 1
        self._load[town] = self._load.get(town, 0) + 1
        exchange = self.exchanges[town]
        passed = context.send(exchange, order, in_reply_to=message.id)
        self._open[passed.id] = order.reply_to, exchange
        self.passed_on(order, town, passed)

    @handles(TradeFill, TradeRefused)
    def on_answer(self, message: Message, context: Context) -> None:
        """Hands the seller's answer to the exchange that asked."""
        asker, answerer = self._open.get(message.in_reply_to or "", ("", ""))
        if answerer != message.sender:
            context.record("stray_trade", message.sender, {"message": message.id})
            return
        del self._open[message.in_reply_to or ""]
        context.send(asker, message.payload, in_reply_to=message.id)
        self.answered(message)

    def _from(self, town: str, message: Message, context: Context) -> bool:
        """Whether a message comes from the exchange of the town that it speaks for."""
        if self.exchanges.get(town) == message.sender:
            return True
        context.record("stray_trade", message.sender, {"message": message.id})
        return False

    def decide(self, order: TradeOrder, context: Context) -> str | None:
        """The town that is asked for an order; ``None`` if none can fill it."""
        return self.choose(order)

    def quoted(self, quote: TownQuote) -> None:
        """Called for each quote, once it counts."""

    def answered(self, message: Message) -> None:
        """Called for each answer to an order, once it is handed on."""

    def passed_on(self, order: TradeOrder, town: str, passed: Message) -> None:
        """Called for each order that was passed to a town, by the message ``passed``."""

    def able(self, order: TradeOrder) -> list[str]:
        """The other towns that may fill some of an order, by their latest quotes."""
        return [
            town
            for town in sorted(self._quotes)
            if town != order.town
            and self._quotes[town].kg.get(order.item, 0) > 0
            and self._quotes[town].asks.get(order.item, inf) <= order.max_price
        ]

    def choose(self, order: TradeOrder) -> str | None:
        """The town that should fill an order, by the router's rule; ``None`` if none can."""
        others = sorted(town for town in self._quotes if town != order.town)
        if self.rule == "direct":
            partner = self.partners.get(order.town)
            return partner if partner in others else (others[0] if others else None)
        able = self.able(order)
        if not able:
            return None
        if self.rule == "cheapest":
            return min(able, key=lambda town: (self._quotes[town].asks[order.item], town))
        return min(able, key=lambda town: (self._load.get(town, 0), town))

    def save(self) -> dict[str, Any]:
        """Quotes, loads and orders under way."""
        return {
            "quotes": {t: q.model_dump() for t, q in self._quotes.items()},
            "open": self._open,
            "load": self._load,
            "routed": self.routed,
            "refused": self.refused,
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`."""
        self._quotes = {t: TownQuote.model_validate(q) for t, q in saved["quotes"].items()}
        self._open = {message: (asker, to) for message, (asker, to) in saved["open"].items()}
        self._load = dict(saved["load"])
        self.routed, self.refused = saved["routed"], saved["refused"]

    def summary(self) -> dict[str, Any]:
        """Orders passed on and refused."""
        return {"routed": self.routed, "refused": self.refused}
