"""The spans of what happens on the market: commands, and all that comes of them.

What belongs to an order lives in a trace of its own, a chain from the offer over the deal, the
delivery and the invoice to the payment, however many days lie between; each span of it is linked
to the message that brought it about. All else is part of the trace of its cause.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, Protocol, TypeGuard

from services.telemetry import conventions as c
from services.telemetry.identity import Identity, order_root
from services.telemetry.logged import LoggedEvent
from services.telemetry.notes import is_spanned
from services.telemetry.places import Places, Spot
from services.telemetry.span import INTERNAL, Place, Span, Value

_MOST_FACTS: Final = 64
_PRODUCING: Final = ("produce_item", "roast")
_MONEY: Final = {
    "deal": "total_price",
    "invoice": "amount",
    "payment": "amount",
    "return": "credit",
    "trade": "amount",
    "consumer_sale": "revenue",
    "spoilage": "value",
    "bankruptcy": "equity",
}
_NAMED_BY: Final = {
    "deal": "deal",
    "delivery": "deal",
    "invoice": "invoice",
    "payment": "invoice",
    "return": "invoice",
    "trade": "order",
    "consumer_sale": "item",
    "spoilage": "item",
}
"""The fact by which a span is named besides its kind."""
_OF_ORDERS: Final = frozenset(("deal", "delivery", "invoice", "payment", "return"))
_PARENTS: Final = {"deal": "offer", "delivery": "deal", "payment": "invoice", "return": "invoice"}


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class Offers(Protocol):
    """Whoever knows from which offer a deal or an invoice came."""

    def offer_of(self, exchange: str, id: str, by: int | None = None) -> str | None:
        """The offer's id, if there was one by the end of a day."""
        ...


class Market:
    """The spans of a day's events.

    Args:
        places: Where the day's messages and wake-ups stand.
        offers: Asked for events that do not say themselves to which offer they belong.
    """

    def __init__(self, places: Places, offers: Offers) -> None:
        self._places = places
        self._offers = offers
        self._identity: Identity = places.identity
        self._day = places.day.day

    def spans(self) -> Iterator[Span]:
        """All of them, in the order of the log."""
        for event in self._places.day.events:
            if not is_spanned(event):
                continue
            if event.kind == "action":
                yield from self._action(event)
            else:
                yield self._fact(event)

    def _action(self, event: LoggedEvent) -> Iterator[Span]:
        facts = event.facts
        under = self._places.under(event)
        tool = facts.get("tool")
        tool = c.clipped(tool, 200) if isinstance(tool, str) else "unknown"
        done = facts.get("status") == "success"
        id, new_id = event.id, facts.get("new_id")
        result = {key: facts[key] for key in ("status", "error_code", "new_id") if key in facts}
        attributes: dict[str, Value] = {
            c.GEN_AI_OPERATION: "execute_tool",
            c.GEN_AI_TOOL_NAME: tool,
            c.GEN_AI_AGENT_NAME: c.clipped(event.subject),
            c.GEN_AI_TOOL_ARGUMENTS: c.clipped(_json(facts.get("args", {}))),
            c.GEN_AI_TOOL_RESULT: c.clipped(_json(result)),
            **self._about(event),
        }
        if event.cause is not None:
            attributes[c.GEN_AI_TOOL_CALL_ID] = c.clipped(event.cause)
        error = None
        if not done:
            error = c.clipped(str(facts.get("error_code", "unknown")))
            attributes[c.ERROR_TYPE] = error
        span = self._identity.span(f"tool {id}")
        yield Span(
            under.trace_id,
            span,
            under.span_id,
            f"execute_tool {tool}",
            INTERNAL,
            under.end,
            under.end,
            event.minute,
            event.agent,
            attributes,
            (),
            error,
        )
        if not done:
            return
        above = Spot(under.trace_id, span, under.end)
        if tool == "make_offer" and isinstance(new_id, str):
            yield self._offer(event, new_id, _mapping(facts.get("args")), above)
        elif tool in _PRODUCING:
            args = _mapping(facts.get("args"))
            yield Span(
                under.trace_id,
                self._identity.span(f"event {id}"),
                span,
                c.clipped(f"{tool} {args.get('item_id', args.get('green_item_id', ''))}", 256),
                INTERNAL,
                under.end,
                under.end,
                event.minute,
                event.agent,
                {**self._about(event), **_plain(args)},
            )

    def _offer(self, event: LoggedEvent, offer: str, args: Mapping[str, Any], tool: Spot) -> Span:
        """The first span of the trace of an order."""
        attributes = {**self._about(event), **_plain({"offer": offer, **args})}
        price, qty = args.get("offered_price"), args.get("qty")
        if isinstance(price, float | int) and isinstance(qty, int):
            attributes[c.MONEY] = round(price * qty, 2)
        return Span(
            self._identity.trace(order_root(event.agent, offer)),
            self._identity.span(f"offer {event.agent}/{offer}"),
            None,
            c.clipped(f"offer {offer}", 256),
            INTERNAL,
            tool.end,
            tool.end,
            event.minute,
            event.agent,
            attributes,
            self._links(event, tool),
        )

    def _fact(self, event: LoggedEvent) -> Span:
        kind, facts = event.kind, event.facts
        under = self._places.under(event)
        span = self._identity.span
        named = facts.get(_NAMED_BY.get(kind, ""), event.subject)
        attributes = {**self._about(event), **_plain(facts)}
        money = facts.get(_MONEY.get(kind, ""))
        if isinstance(money, int | float):
            attributes[c.MONEY] = money
        trace_id, parent_id = under.trace_id, under.span_id
        what = f"event {event.id}"
        links: tuple[Place, ...] = ()
        offer = self._offer_of(event, facts)
        if offer is not None:
            trace_id = self._identity.trace(order_root(event.agent, offer))
            parent_id = span(self._parent(event, facts, offer))
            what = self._what(event, facts)
            links = self._links(event, under)
        return Span(
            trace_id,
            span(what),
            parent_id,
            c.clipped(f"{kind} {named}", 256),
            INTERNAL,
            under.end,
            under.end,
            event.minute,
            event.agent,
            attributes,
            links,
        )

    def _offer_of(self, event: LoggedEvent, facts: Mapping[str, Any]) -> str | None:
        """The offer to whose order an event belongs."""
        if event.kind not in _OF_ORDERS:
            return None
        known = facts.get("offer")
        if isinstance(known, str) and known:
            return known
        for key in ("deal", "invoice"):
            id = facts.get(key)
            if isinstance(id, str) and event.kind != key:
                offer = self._offers.offer_of(event.agent, id, event.day)
                if offer is not None:
                    return offer
        return None

    @staticmethod
    def _what(event: LoggedEvent, facts: Mapping[str, Any]) -> str:
        """What the span of an order's event stands for, so that later ones can name it.

        A shipment that is late has several deliveries; the invoice comes with the last.
        """
        kind = event.kind
        lasting = kind in ("deal", "invoice") or facts.get("outcome") == "delivered"
        id = facts.get(_NAMED_BY[kind])
        return f"{kind} {event.agent}/{id}" if lasting else f"event {event.id}"

    @staticmethod
    def _parent(event: LoggedEvent, facts: Mapping[str, Any], offer: str) -> str:
        """What the span above stands for."""
        if event.kind == "invoice" and isinstance(facts.get("deal"), str):
            return f"delivery {event.agent}/{facts['deal']}"
        key = _PARENTS.get(event.kind, "offer")
        return f"{key} {event.agent}/{offer if key == 'offer' else facts.get(key)}"

    def _links(self, event: LoggedEvent, under: Spot) -> tuple[Place, ...]:
        """The way back from an order to the message that brought an event about."""
        cause = self._places.under(event)
        return ((cause.trace_id, cause.span_id),)

    def _about(self, event: LoggedEvent) -> dict[str, Value]:
        about: dict[str, Value] = {
            c.DAY: self._day,
            c.MINUTE: event.minute,
            c.ROUND: event.round,
            c.AGENT: event.agent,
            c.EVENT: event.id,
        }
        if event.subject:
            about[c.FIRM] = c.clipped(event.subject)
        if event.cause is not None:
            about[c.CAUSE] = c.clipped(event.cause)
        return about


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _plain(facts: Mapping[str, Any]) -> dict[str, Value]:
    """Facts as attributes: what is no plain value becomes JSON, and nothing becomes nothing."""
    return {
        f"{c.FACT}{c.clipped(name, 256)}": (
            value if isinstance(value, float) or _fits(value) else c.clipped(_json(value))
        )
        for name, value in islice(facts.items(), _MOST_FACTS)
        if value is not None
    }


def _fits(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and -(2**63) <= value < 2**63


def _json(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return _encode(value)
    except RecursionError:
        return "[nested too deep]"
