"""One order from its listing to its last payment, as far as the log tells."""

from __future__ import annotations

from typing import NamedTuple

from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs.schema import Row
from services.telemetry.inspection.targets import Paper
from services.telemetry.logged import LoggedEvent, SentMessage
from services.telemetry.reader import TraceReader


class Order(NamedTuple):
    """What belongs together: a listing, a bid on it, the deal and what follows, days later."""

    exchange: str
    listing: str | None
    offer: str | None
    deal: str | None
    invoice: str | None
    events: list[LoggedEvent]
    """In order."""

    def event(self, kind: str) -> LoggedEvent | None:
        """The first event of a kind, if there is one."""
        return next((event for event in self.events if event.kind == kind), None)

    def action(self, tool: str) -> LoggedEvent | None:
        """The first command of a name that was carried out."""
        return next((event for event in self.events if is_done(event, tool)), None)


def is_done(event: LoggedEvent, tool: str) -> bool:
    """Whether an event is a command of that name that was carried out."""
    if event.kind != "action":
        return False
    facts = event.facts
    return facts.get("tool") == tool and facts.get("status") != "error"


def order_of(reader: TraceReader, paper: Paper) -> Order:
    """The order to which an offer, a deal or an invoice belongs.

    Raises:
        HanseError: The log does not say what the paper came from.
    """
    exchange = paper.exchange
    if paper.kind == "offer":
        return _gather(reader, exchange, paper.id)
    origin = paper.id
    if paper.kind == "invoice":
        invoice = next(reader.find_events("invoice", recorder=exchange, invoice=paper.id), None)
        facts = {} if invoice is None else invoice.facts
        if not facts.get("deal"):
            # A credit that could not be refunded at once becomes an invoice without a deal.
            events = list(reader.find_events(None, recorder=exchange, invoice=paper.id))
            return Order(exchange, None, None, None, paper.id, events)
        origin = str(facts["deal"])
    deal = next(reader.find_events("deal", recorder=exchange, deal=origin), None)
    if deal is None or not isinstance(offer := deal.facts.get("offer"), str):
        raise HanseError(f"{paper.id}: the log of {exchange} does not say from which offer it came")
    return _gather(reader, exchange, offer)


def _gather(reader: TraceReader, exchange: str, offer: str) -> Order:
    events = reader.business(exchange, offer)
    listing = deal = invoice = None
    for event in events:
        facts = event.facts
        if is_done(event, "make_offer"):
            args = facts.get("args") or {}
            listing = str(args.get("listing_id")) if "listing_id" in args else None
        elif event.kind == "deal":
            deal, listing = facts.get("deal"), facts.get("listing", listing)
        elif event.kind == "invoice":
            invoice = facts.get("invoice")
    if listing is not None:
        made = posted(reader, exchange, listing)
        events = [made, *events] if made is not None else events
    return Order(exchange, listing, offer, deal, invoice, events)


def number(event: LoggedEvent, name: str) -> float | None:
    """A figure of an event, or of the command that it is; None if there is none of that name."""
    facts = event.facts
    args = facts.get("args")
    found = facts.get(name, args.get(name) if isinstance(args, dict) else None)
    return float(found) if isinstance(found, int | float) else None


def posted(reader: TraceReader, exchange: str, listing: str) -> LoggedEvent | None:
    """The command by which a listing was made."""
    return next(reader.find_events("action", recorder=exchange, new_id=listing), None)


def papers_of(facts: dict[str, object]) -> list[str]:
    """The ids of papers that an event or a command names, what is closest to its end first."""
    args = facts.get("args")
    named = args if isinstance(args, dict) else {}
    found = [facts.get("invoice"), named.get("invoice_id"), facts.get("deal")]
    found += [facts.get("offer"), named.get("offer_id"), facts.get("new_id")]
    return [id for id in found if isinstance(id, str) and id[:1] in "IDO" and id[1:].isdigit()]


def bids_on(reader: TraceReader, exchange: str, listing: str) -> list[LoggedEvent]:
    """The bids on a listing, the deals from it and its end, in order."""
    found = {}
    for event in reader.find_events(None, recorder=exchange, listing=listing):
        found[event.ordinal] = event
    for event in _commands_about(reader, exchange, listing):
        found[event.ordinal] = event
    return [found[ordinal] for ordinal in sorted(found)]


def _commands_about(reader: TraceReader, exchange: str, listing: str) -> list[LoggedEvent]:
    rows = reader.run.rows(
        "events", "kind = 'action' AND agent = ? AND instr(body, ?)", (exchange, f'"{listing}"')
    )
    return [
        event
        for event in map(event_of, rows)
        if isinstance(args := event.facts.get("args"), dict) and args.get("listing_id") == listing
    ]


def event_of(row: Row) -> LoggedEvent:
    """A row of the table of events."""
    return LoggedEvent(row[0] // MINUTES_PER_DAY, *row)


class Asked(NamedTuple):
    """A price that a seller asked for an item."""

    event: LoggedEvent
    listing: str
    price: float


def asked(reader: TraceReader, exchange: str, seller: str, item: str) -> list[Asked]:
    """Every listing of an item by a seller, in order, with its price."""
    rows = reader.run.rows(
        "events",
        "kind = 'action' AND agent = ? AND subject = ? AND instr(body, '\"post_listing\"')"
        " AND instr(body, ?)",
        (exchange, seller, f'"{item}"'),
    )
    found = []
    for row in rows:
        event = event_of(row)
        facts = event.facts
        args = facts.get("args")
        if not is_done(event, "post_listing") or not isinstance(args, dict):
            continue
        price = args.get("asking_price")
        if args.get("item_id") == item and isinstance(price, int | float):
            found.append(Asked(event, str(facts.get("new_id")), float(price)))
    return found


def cause_of(reader: TraceReader, event: LoggedEvent | None) -> SentMessage | None:
    """The message that brought an event about."""
    if event is None or event.cause is None:
        return None
    return reader.day(event.day).message(event.cause) or reader.find_message(event.cause)
