"""What happens in a run, in words: commands, events and messages as parts of sentences.

A subject is never part of a sentence about a command: ``bids 3.88 $/kg for 12 kg on L91`` stands
behind the name of whoever does it. Nothing here fails over a body of an unexpected shape: a run
may hold payloads and events that only their author knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from services.economy.refusals import REFUSALS
from services.telemetry.inspection import lever_words, purchasing_words, routing_words, talk_words
from services.telemetry.inspection.phrases import count as count
from services.telemetry.inspection.phrases import goods as goods
from services.telemetry.inspection.phrases import money as money
from services.telemetry.inspection.phrases import price as price
from services.telemetry.inspection.phrases import short as short
from services.telemetry.inspection.phrases import time_of_day as time_of_day
from services.telemetry.inspection.phrases import when as when

Facts = Mapping[str, Any]

FAILED: Final = ": ERROR"
"""Behind a span that failed."""


def event_id(agent: str, ordinal: int) -> str:
    """``exchange:59``: an event's id as it is shown; shells read more into the ``!`` of the log."""
    return f"{agent}:{ordinal}"


def refusal(code: object) -> str:
    """Why a command was refused, in words and with its code."""
    meaning = REFUSALS.get(str(code))
    return f"{meaning} ({code})" if meaning else str(code)


def span(name: str, milliseconds: float | None, status: str | None, error: object = "") -> str:
    """``span think 3.7 ms``, with ``: ERROR, no idea`` if it failed."""
    text = f"span {short(name)}"
    if milliseconds is not None:
        text += f" {milliseconds:,.1f} ms" if milliseconds >= 1 else f" {milliseconds:.3f} ms"
    if status == "OK":
        text += ", OK"
    if status == "ERROR":
        text += f"{FAILED}, {short(error)}" if error else FAILED
    return text


def command(tool: str, args: Facts, new_id: object = None) -> str:
    """A command without its subject: ``lists 62 kg of green coffee at 4.00 $/kg (L227)``."""
    tell = _COMMANDS.get(tool)
    text = _safely(tell, args) if tell is not None else None
    if text is None:
        text = f"{tool} {_details(args)}".rstrip()
    return f"{text} ({new_id})" if new_id else text


def action(facts: Facts, rows: int | None = None) -> str:
    """What a firm has done, and what came of it, without its subject.

    Args:
        facts: The body of an ``action`` event.
        rows: How many rows a view has shown, where that is known.
    """
    args = facts.get("args")
    text = command(
        str(facts.get("tool")), args if isinstance(args, dict) else {}, facts.get("new_id")
    )
    if facts.get("status") == "error":
        return f"{text}: refused, {refusal(facts.get('error_code'))}"
    return text if rows is None else f"{text}: {rows or 'none'}"


def consequence(kind: str, facts: Facts) -> str:
    """What a command's own event adds to it, to be put behind: ``: 116.40 $ to farmer_A``."""
    tell = _CONSEQUENCES.get(kind)
    return (_safely(tell, facts) or "") if tell is not None else ""


def reason(code: object) -> str:
    """Why it is a firm's turn, behind its name."""
    return _REASONS.get(str(code), f"has a turn because of: {code}")


def event(kind: str, subject: str, facts: Facts) -> str:
    """An event as a whole sentence."""
    if kind == "action":
        return f"{subject} {action(facts)}"
    tell = _EVENTS.get(kind)
    text = _safely(lambda body: tell(subject, body), facts) if tell is not None else None
    if text is not None:
        return text
    return f"{subject}: {kind} {_details(facts)}".removeprefix(": ").rstrip()


def message(kind: str, sender: str, recipient: str, facts: Facts) -> str:
    """A message as a whole sentence."""
    tell = _MESSAGES.get(kind)
    text = _safely(lambda body: tell(sender, recipient, body), facts) if tell is not None else None
    if text is None and kind in _COMMANDS:
        text = f"{sender} {command(kind, facts)}"
    return text or f"{sender} sends {recipient} {kind} {_details(facts)}".rstrip()


def amount(facts: Facts) -> float | None:
    """The dollars that an event is about; None where it is about none."""
    for key in ("total_price", "amount", "revenue", "credit", "value"):
        if isinstance(facts.get(key), int | float):
            return float(facts[key])
    args = facts.get("args")
    if facts.get("tool") == "make_offer" and isinstance(args, dict):
        try:
            return round(float(args["offered_price"]) * int(args["qty"]), 6)
        except (KeyError, TypeError, ValueError):
            return None
    return None


def _safely(tell: Callable[[Facts], str], facts: Facts) -> str | None:
    try:
        return tell(facts)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _details(facts: Facts) -> str:
    return short(
        ", ".join(
            f"{key} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            for key, value in facts.items()
        )
    )


def _terms(args: Facts) -> str:
    days = args.get("payment_terms_days", 30)
    return "" if days == 30 else f", to be paid within {count(days, 'day')}"


def _kilograms(facts: Facts, key: str = "qty") -> str:
    return f"{facts[key]:,} kg of {goods(facts['item'])}"


def _looks_at_offers(args: Facts) -> str:
    direction = {"incoming": "the bids on its goods", "outgoing": "its own bids"}
    which = direction.get(str(args.get("direction")), "bids on both sides")
    return f"looks at {which}" + (", also the settled ones" if args.get("status") == "all" else "")


def _looks_at_listings(args: Facts) -> str:
    item = args.get("item_id")
    return "looks at what is on offer" + (f" of {goods(item)}" if item else "")


def _looks(what: str) -> Callable[[Facts], str]:
    return lambda args: f"looks at {what}"


def _pays(args: Facts) -> str:
    part = args.get("amount")
    return f"pays {args['invoice_id']}" + ("" if part is None else f" in part: {money(part)}")


_COMMANDS: Final[dict[str, Callable[[Facts], str]]] = {
    "produce_item": lambda a: f"orders {a['quantity']:,} kg of {goods(a['item_id'])} to be grown",
    "roast": lambda a: f"roasts {a['qty_kg']:,} kg of {goods(a['green_item_id'])}",
    "post_listing": lambda a: (
        f"lists {a['qty']:,} kg of {goods(a['item_id'])} at {price(a['asking_price'])}{_terms(a)}"
    ),
    "cancel_listing": lambda a: f"takes {a['listing_id']} off the market",
    "make_offer": lambda a: (
        f"bids {price(a['offered_price'])} for {a['qty']:,} kg on {a['listing_id']}{_terms(a)}"
        + (f", saying “{short(a['message'])}”" if a.get("message") else "")
    ),
    "withdraw_offer": lambda a: f"takes its bid {a['offer_id']} back",
    "reject_offer": lambda a: (
        f"rejects {a['offer_id']}" + (f": “{short(a['reason'])}”" if a.get("reason") else "")
    ),
    "accept_offer": lambda a: f"accepts {a['offer_id']}",
    "pay_invoice": _pays,
    "return_shipment": lambda a: (
        f"sends {a['quantity_kg']:,} kg of {a['invoice_id']} back"
        + (f": “{short(a['reason'])}”" if a.get("reason") else "")
    ),
    "set_retail_price": lambda a: (
        f"sets the shop price of {goods(a['item_id'])} to {price(a['price_per_unit'])}"
        if a["price_per_unit"]
        else f"takes {goods(a['item_id'])} off the shelf"
    ),
    "send_message": lambda a: (
        f"writes to {a['recipient']}: “{short(a['title'])}: {short(a['body'])}”"
    ),
    "order_abroad": lambda a: (
        f"orders {a['qty']:,} kg of {goods(a['item_id'])} abroad"
        f" for at most {price(a['max_price'])}"
    ),
    "wait_for_next_day": lambda a: "waits for the next day",
    "view_listings": _looks_at_listings,
    "view_offers": _looks_at_offers,
    "view_deals": _looks("its deals"),
    "view_payables": _looks("its bills"),
    "view_receivables": _looks("what it is owed"),
    "view_trial_balance": _looks("its books"),
    "view_market_aggregate": _looks("what consumers bought"),
    "view_consumer_sales": _looks("its sales to consumers"),
    "view_messages": _looks("its letters"),
    "read_message": lambda a: f"reads {a['message_id']}",
}

_REASONS: Final = {
    "morning": "begins its day",
    "offer received": "is told that a bid has come",
    "offer accepted": "is told that its bid was accepted",
    "offer rejected": "is told that its bid was rejected",
    "invoice paid": "is told that an invoice was paid",
    "message": "is told that a letter has come",
    "delivery": "is told that goods have arrived",
    "goods came back": "is told that goods came back",
    "shipment news": "is told of a shipment that is late or lost",
    "shipment came back": "is told that a shipment came back",
    "production ready": "is told that its harvest is in",
    "roast ready": "is told that its roast is ready",
    "sold abroad": "is told that goods were sold abroad",
    "bought abroad": "is told that its order abroad was filled",
    "order abroad refused": "is told that its order abroad was refused",
}


_CONSEQUENCES: Final[dict[str, Callable[[Facts], str]]] = {
    "deal": lambda b: (
        f": {_kilograms(b)} for {b['buyer']} at {price(b['unit_price'])}"
        f" = {money(b['total_price'])}"
    ),
    "payment": lambda b: f": {money(b['amount'])} to {b['issuer']}",
    "return": lambda b: f": {_kilograms(b)} for {money(b['credit'])}",
}


def _shipment(subject: str, body: Facts) -> str:
    what = f"{_kilograms(body)} ({body['deal']})"
    way = f"from {body['seller']} to {body['buyer']}"
    outcome = body["outcome"]
    if outcome == "delivered":
        return f"{what} arrive at {body['buyer']} from {body['seller']}"
    if outcome == "delayed":
        return f"{what} {way} are a day late"
    return f"{what} {way}: {outcome}"


def _sale(subject: str, body: Facts) -> str:
    sold = f"{body['shop']} sells consumers {_kilograms(body)} at {price(body['unit_price'])}"
    wanted = body.get("elastic_qty")
    short_of = isinstance(wanted, int) and wanted > body["qty"]
    return f"{sold}: {money(body['revenue'])}" + (f"; they wanted {wanted} kg" if short_of else "")


def _abroad(subject: str, body: Facts) -> str:
    if body["direction"] == "refused":
        why = f": {short(body['reason'])}" if body.get("reason") else ""
        return f"{subject} gets {money(body['amount'])} back for {body['order']}, unfilled{why}"
    verb, way = ("sells", "to") if body["direction"] == "export" else ("buys", "from")
    return (
        f"{subject} {verb} {_kilograms(body)} {way} {body['town']}"
        f" for {money(body['amount'])} ({body['order']})"
    )


_EVENTS: Final[dict[str, Callable[[str, Facts], str]]] = {
    **talk_words.EVENTS,
    **lever_words.EVENTS,
    **purchasing_words.EVENTS,
    **routing_words.EVENTS,
    "deal": lambda s, b: (
        f"{b['deal']}: {b['seller']} sells {b['buyer']} {_kilograms(b)} at"
        f" {price(b['unit_price'])} = {money(b['total_price'])}"
    ),
    "delivery": _shipment,
    "invoice": lambda s, b: (
        f"{b['issuer']} bills {b['payer']} {money(b['amount'])} ({b['invoice']}),"
        f" due on day {b['due_day']}"
    ),
    "payment": lambda s, b: (
        f"{b['payer']} pays {b['issuer']} {money(b['amount'])} ({b['invoice']})"
    ),
    "return": lambda s, b: (
        f"{s} sends back {_kilograms(b)} of {b['deal']} for {money(b['credit'])}"
        + (f": “{short(b['reason'])}”" if b.get("reason") else "")
    ),
    "consumer_sale": _sale,
    "spoilage": lambda s, b: f"{_kilograms(b)} worth {money(b['value'])} spoil at {b['firm']}",
    "trade": _abroad,
    "bankruptcy": lambda s, b: f"{b['firm']} is bankrupt; its equity is {money(b['equity'])}",
    "day_end": lambda s, b: f"day {b['day']} ends",
    "agent_error": lambda s, b: (
        f"{b.get('agent') or s} fails: {short(b.get('detail') or b.get('error'))}"
    ),
    "turn_missed": lambda s, b: (
        f"{b.get('agent') or s} misses its turn: {short(b.get('detail') or b['reason'])}"
    ),
    "mail_refused": lambda s, b: f"the mailbox of {s} is full: {b['count']:,} messages refused",
    "stray_command": lambda s, b: f"{s} sends a command out of turn ({b['message']})",
    "stray_trade": lambda s, b: f"{s} sends a trade that is not its to send ({b['message']})",
}


def _turn(sender: str, recipient: str, body: Facts) -> str:
    if "reason" in body:
        return f"{recipient} {reason(body['reason'])}"
    return f"it is {recipient}'s turn again"


def _orders(sender: str, recipient: str, body: Facts) -> str:
    kg = ", ".join(f"{qty:,} kg of {goods(item)}" for item, qty in body.get("kg", {}).items())
    return f"{sender} tells {recipient} to buy {kg or 'nothing'}"


def _stock(sender: str, recipient: str, body: Facts) -> str:
    kg = ", ".join(f"{qty:,} kg of {goods(item)}" for item, qty in body["position"].items())
    return f"{sender} reports to {recipient}: {kg or 'no stock'}"


def _quote(sender: str, recipient: str, body: Facts) -> str:
    kg = ", ".join(
        f"{qty:,} kg of {goods(item)}"
        + (f" from {price(body['asks'][item])}" if item in body.get("asks", {}) else "")
        for item, qty in body.get("kg", {}).items()
        if qty
    )
    return f"{sender} tells {recipient} what {body['town']} has on offer: {kg or 'nothing'}"


_MESSAGES: Final[dict[str, Callable[[str, str, Facts], str]]] = {
    **talk_words.MESSAGES,
    "join": lambda s, r, b: f"{s} joins {r}",
    "turn": _turn,
    "turn_missed": lambda s, r, b: f"{s} gives no answer: {short(b.get('detail') or b['reason'])}",
    "letter": lambda s, r, b: (
        f"{r} gets a letter from {b['author']}: “{short(b['title'])}: {short(b['body'])}”"
        f" ({b['letter_id']})"
    ),
    "text": lambda s, r, b: f"{s} says to {r}: “{short(b['text'])}”",
    "stock_report": _stock,
    "purchase_orders": _orders,
    "town_quote": _quote,
    "trade_order": lambda s, r, b: (
        f"{s} asks {r} for {_kilograms(b)} for {b['town']}, at most {price(b['max_price'])}"
        f" ({b['order']})"
    ),
    "trade_fill": lambda s, r, b: (
        f"{s} tells {r} that {b['town']} has sold {_kilograms(b)}"
        f" for {money(b['total_micros'] / 1e6)} ({b['order']})"
    ),
    "trade_refused": lambda s, r, b: (
        f"{s} tells {r} that {b['order']} cannot be filled: {short(b['reason'])}"
    ),
}


COMMANDS: Final = frozenset(_COMMANDS)
EVENTS: Final = frozenset({"action", *_EVENTS})
MESSAGES: Final = frozenset(_MESSAGES)
"""Whatever there are words for; a run may hold others."""
