"""What became of a bid, and how much a listing had left when somebody wanted some of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.telemetry.inspection import orders, words
from services.telemetry.logged import LoggedEvent
from services.telemetry.reader import TraceReader

SHORT: Final = ("offer_exceeds_listing", "offer_qty_out_of_range")
"""Codes of refusals for want of goods on a listing."""


class Stand(NamedTuple):
    """A listing at some moment."""

    listing: str
    listed: int
    """Kilograms when it was made."""
    taken: list[LoggedEvent]
    """The deals and the sales abroad from it, in order."""

    @property
    def left(self) -> int:
        """Kilograms that nobody had bought."""
        return max(0, self.listed - sum(_kg(event) for event in self.taken))

    def said(self, wanted: int) -> str:
        """``wanted 45 kg, 30 kg of L41 left after D15``."""
        by = _names(self.taken)
        after = f" after {by}" if by else ""
        return f"wanted {wanted:,} kg, {self.left:,} kg of {self.listing} left{after}"


def stands(reader: TraceReader, exchange: str, listing: str, until: int, last: int) -> list[Stand]:
    """A listing and those that replaced it and took over its bids, up to an event.

    Args:
        reader: The run.
        exchange: The town's.
        listing: The first of them.
        until: The ordinal of the event.
        last: Its day.
    """
    made = orders.posted(reader, exchange, listing)
    args = {} if made is None else made.facts.get("args")
    if made is None or not isinstance(args, dict):
        return []
    item, seller = str(args.get("item_id")), made.subject
    posted = [
        entry
        for entry in orders.asked(reader, exchange, seller, item)
        if made.ordinal <= entry.event.ordinal < until
    ]
    if not _rules(reader).honest_listings:
        posted = posted[:1]
    found = [Stand(e.listing, int(orders.number(e.event, "qty") or 0), []) for e in posted]
    days = range(made.day, last + 1)
    deals = reader.find_events("deal", recorder=exchange, days=days, seller=seller, item=item)
    abroad = reader.find_events(
        "trade", recorder=exchange, days=days, direction="export", item=item
    )
    taken = [*deals, *(event for event in abroad if event.subject == seller)]
    for event in sorted(taken, key=lambda event: event.ordinal):
        if not made.ordinal < event.ordinal < until:
            continue
        of = event.facts.get("listing")
        before = [n for n, entry in enumerate(posted) if entry.event.ordinal < event.ordinal]
        for stand in found:
            if stand.listing == of or (of is None and before and stand is found[before[-1]]):
                stand.taken.append(event)
    return found


def shortfall(reader: TraceReader, action: LoggedEvent) -> str | None:
    """What a refused bid or acceptance wanted and what there was; None if that is not known."""
    args = action.facts.get("args")
    named = args if isinstance(args, dict) else {}
    listing, wanted = named.get("listing_id"), named.get("qty")
    if isinstance(offer := named.get("offer_id"), str):
        listing, wanted, _ = _bid(reader, action.agent, offer)
    if not isinstance(listing, str) or not isinstance(wanted, int):
        return None
    found = stands(reader, action.agent, listing, action.ordinal, action.day)
    if not found:
        return None
    # Who names a listing wants that one; a bid goes on to what replaces its listing.
    return found[-1 if offer else 0].said(wanted)


def sold_before(
    reader: TraceReader, exchange: str, offer: str, until: int, last: int
) -> str | None:
    """Which deals had taken the goods before a bid was answered; None if none had taken them all.

    ``D21 had taken all the goods: retailer_B bought 29 kg of 29 kg of L54 on day 10 14:00; the bid
    was for 29 kg``.
    """
    listing, wanted, bid = _bid(reader, exchange, offer)
    if not isinstance(listing, str) or not isinstance(wanted, int) or bid is None:
        return None
    for stand in stands(reader, exchange, listing, until, last):
        end = stand.taken[-1] if stand.taken and not stand.left else None
        if end is None or end.ordinal < bid.ordinal:
            continue
        buyer = end.facts.get("buyer") or end.facts.get("town")
        others = stand.taken[:-1]
        before = f", after {_names(others)} ({sum(map(_kg, others)):,} kg)" if others else ""
        return (
            f"{_names([end])} had taken all the goods: {buyer} bought"
            f" {_kg(end):,} kg of the {stand.listed:,} kg of {stand.listing} on"
            f" {words.when(end.minute)}{before}; {offer} was for {wanted:,} kg"
        )
    return None


def fate(reader: TraceReader, order: orders.Order) -> list[str]:
    """What became of a bid from which no deal came, in sentences."""
    if (end := order.action("withdraw_offer")) is not None:
        return [f"the bid was taken back on {words.when(end.minute)}", *_tries(reader, order)]
    if (end := order.action("reject_offer")) is not None:
        return [f"{end.subject} rejected the bid on {words.when(end.minute)}"]
    tries = _tries(reader, order)
    bid = order.action("make_offer")
    if bid is not None and order.offer is not None:
        refused = _refused(order)
        rejected = [e for e in refused if e.facts.get("error_code") == "offer_rejected"]
        rules = _rules(reader)
        # Evenings let old bids lapse: what was sold later has not kept this one from a deal.
        days = range(bid.day, bid.day + rules.listing_days + 1)
        until = rejected[-1].ordinal if rejected else _first_after(reader, order.exchange, days)
        sold = sold_before(reader, order.exchange, order.offer, until, days[-1])
        if sold is not None:
            return [f"no deal came of it: {sold}", *tries]
    if tries:
        return ["no deal came of it", *tries]
    return ["no deal came of it, and nobody answered it by a command: it lapsed or is still open"]


def _refused(order: orders.Order) -> list[LoggedEvent]:
    return [e for e in order.events if e.kind == "action" and e.facts.get("status") == "error"]


def _tries(reader: TraceReader, order: orders.Order) -> list[str]:
    """Refused commands about the bid, with the figures where there was too little."""
    notes = []
    for event in _refused(order):
        code = event.facts.get("error_code")
        note = f"on {words.when(event.minute)} {event.subject} tried: {words.refusal(code)}"
        if code in SHORT and (numbers := shortfall(reader, event)) is not None:
            note += f": {numbers}"
        notes.append(note)
    return notes


def _bid(
    reader: TraceReader, exchange: str, offer: str
) -> tuple[object, object, LoggedEvent | None]:
    """The listing and the kilograms of a bid, and the command by which it was made."""
    bid = orders.posted(reader, exchange, offer)
    args = None if bid is None else bid.facts.get("args")
    named = args if isinstance(args, dict) else {}
    return named.get("listing_id"), named.get("qty"), bid


def _first_after(reader: TraceReader, exchange: str, days: range) -> int:
    """The ordinal of the first event after some days."""
    rows = reader.run.rows("events", "agent = ?", (exchange,), days=range(days.stop, days.stop + 1))
    return next((int(row[3]) for row in rows), 2**62)


def _rules(reader: TraceReader) -> Rules:
    config = reader.run.manifest.config
    rules = COFFEEBENCH if config.get("rules") == "coffeebench" else HANSE
    economy = config.get("economy")
    days = economy.get("listing_days") if isinstance(economy, dict) else None
    return rules if not isinstance(days, int) else replace(rules, listing_days=days)


def _kg(event: LoggedEvent) -> int:
    return int(orders.number(event, "qty") or 0)


def _names(taken: list[LoggedEvent]) -> str:
    names = [str(e.facts.get("deal") or e.facts.get("order")) for e in taken]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
