"""What had become of a listing or a bid when a command about it was refused."""

from __future__ import annotations

from services.telemetry.inspection import bids, orders, words
from services.telemetry.logged import LoggedEvent
from services.telemetry.reader import TraceReader


def refusal_notes(reader: TraceReader, action: LoggedEvent) -> list[str]:
    """Why a command was refused, beyond its code: who had closed the listing, and how.

    Args:
        reader: The run.
        action: An ``action`` event; if it was not refused there is nothing to say.
    """
    facts = action.facts
    args = facts.get("args")
    if facts.get("status") != "error" or not isinstance(args, dict):
        return []
    code = facts.get("error_code")
    listing = args.get("listing_id")
    if code == "listing_closed" and isinstance(listing, str):
        return _closed(reader, action, listing)
    numbers = bids.shortfall(reader, action) if code in bids.SHORT else None
    figures = [] if numbers is None else [numbers]
    if code in bids.SHORT and isinstance(listing, str):
        return _sold(reader, action, listing) + figures
    offer = args.get("offer_id")
    if isinstance(offer, str):
        if code == "offer_rejected":
            sold = bids.sold_before(reader, action.agent, offer, action.ordinal, action.day)
            figures += [] if sold is None else [sold]
        return _about_bid(reader, action, offer) + figures
    return []


def _before(event: LoggedEvent, action: LoggedEvent) -> bool:
    return event.ordinal < action.ordinal


def _deals(reader: TraceReader, action: LoggedEvent, listing: str) -> list[LoggedEvent]:
    found = reader.find_events(
        "deal", recorder=action.agent, days=range(action.day + 1), listing=listing
    )
    return [event for event in found if _before(event, action)]


def _sold(reader: TraceReader, action: LoggedEvent, listing: str) -> list[str]:
    """The deals by which a listing had got smaller."""
    return [
        f"{words.when(event.minute)}: {words.event(event.kind, event.subject, event.facts)}"
        for event in _deals(reader, action, listing)
    ]


def _closed(reader: TraceReader, action: LoggedEvent, listing: str) -> list[str]:
    made = orders.posted(reader, action.agent, listing)
    if made is None:
        return []
    args = made.facts.get("args")
    if not isinstance(args, dict):
        return []
    notes = [f"{words.when(made.minute)}: {made.subject} {words.action(made.facts)}"]
    notes += _sold(reader, action, listing)
    history = orders.asked(reader, action.agent, made.subject, str(args.get("item_id")))
    later = [e for e in history if e.event.ordinal > made.ordinal and _before(e.event, action)]
    sold = sum(orders.number(deal, "qty") or 0 for deal in _deals(reader, action, listing))
    if sold and sold >= (orders.number(made, "qty") or 0):
        notes.append(f"with that {listing} was sold out")
    elif later:
        after = later[0]
        notes.append(
            f"{words.when(after.event.minute)}: {made.subject} replaced {listing} by"
            f" {after.listing} at {words.price(after.price)}"
        )
    else:
        notes.append(f"no command closed {listing}: it expired, or its seller went bankrupt")
    return notes


def _about_bid(reader: TraceReader, action: LoggedEvent, offer: str) -> list[str]:
    rows = reader.run.rows(
        "events",
        "agent = ? AND kind = 'action' AND instr(body, ?)",
        (action.agent, f'"{offer}"'),
        days=range(action.day + 1),
    )
    notes = []
    for event in map(orders.event_of, rows):
        facts = event.facts
        args = facts.get("args")
        named = args.get("offer_id") if isinstance(args, dict) else None
        made = facts.get("tool") == "make_offer" and facts.get("new_id") == offer
        if _before(event, action) and (made or named == offer):
            notes.append(f"{words.when(event.minute)}: {event.subject} {words.action(facts)}")
    return notes
