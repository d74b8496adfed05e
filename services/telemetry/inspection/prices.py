"""How a seller's price came to be what it was."""

from __future__ import annotations

from itertools import pairwise

from services.telemetry.inspection import orders, steps, words
from services.telemetry.inspection.orders import Asked
from services.telemetry.inspection.steps import Step
from services.telemetry.logged import LoggedEvent
from services.telemetry.reader import TraceReader


def last_change(history: list[Asked]) -> tuple[Asked, Asked] | None:
    """The last listing at another price than now, and the first at this one."""
    for after, before in zip(history[::-1], history[-2::-1], strict=False):
        if after.price != before.price:
            return before, after
    return None


def price_notes(
    history: list[Asked], place: int, seller: str, item: str, events: list[LoggedEvent]
) -> list[str]:
    """A listing's price before and after, its bids and deals, in sentences.

    Args:
        history: Every listing of the item by the seller.
        place: Which of them it is.
        seller: Who sells.
        item: What.
        events: Bids on the listing and deals from it.
    """
    told = history[: place + 1]
    if not told:
        return []
    changes = [told[0]] + [after for before, after in pairwise(told) if after.price != before.price]
    goods = words.goods(item)
    if len(changes) == 1:
        only = changes[0]
        notes = [
            f"the price never changed: {seller} has asked {words.price(only.price)} for {goods}"
            f" since day {only.event.day} ({only.listing})"
        ]
    else:
        line = ", ".join(
            f"{words.price(entry.price)} from day {entry.event.day} ({entry.listing})"
            for entry in changes[-6:]
        )
        notes = [f"what {seller} asked for {goods}: {line}"]
    if place + 1 < len(history):
        after = history[place + 1]
        notes.append(
            f"{after.listing} followed on day {after.event.day} at {words.price(after.price)}"
        )
    bids = [e for e in events if orders.is_done(e, "make_offer")]
    refused = [e for e in events if _is_refused_bid(e)]
    deals = [e for e in events if e.kind == "deal"]
    if bids:
        firms = ", ".join(dict.fromkeys(e.subject for e in bids))
        prices = [price for e in bids if (price := orders.number(e, "offered_price")) is not None]
        line = f"{words.count(len(bids), 'bid')} by {firms}"
        if prices and min(prices) < max(prices):
            line += f", {words.price(min(prices))} to {words.price(max(prices))}"
        elif prices:
            line += f" at {words.price(prices[0])}"
        notes.append(line)
    if deals:
        kg = sum(orders.number(e, "qty") or 0 for e in deals)
        total = sum(orders.number(e, "total_price") or 0 for e in deals)
        line = f"{words.count(len(deals), 'deal')}: {kg:,.0f} kg for {words.money(total)}"
        notes.append(line + (f", {words.price(total / kg)} on average" if kg else ""))
    if refused:
        notes.append(_refusals(refused, "no bid was taken" if not bids else ""))
    if not bids and not deals and not refused:
        notes.append("nobody bid on it")
    return notes


def _is_refused_bid(event: LoggedEvent) -> bool:
    if event.kind != "action":
        return False
    facts = event.facts
    return facts.get("tool") == "make_offer" and facts.get("status") == "error"


def _refusals(refused: list[LoggedEvent], before: str) -> str:
    """``2 bids by bob and cid were refused, the listing is closed (listing_closed)``."""
    firms = ", ".join(dict.fromkeys(e.subject for e in refused))
    codes = dict.fromkeys(words.refusal(e.facts.get("error_code")) for e in refused)
    line = f"{words.count(len(refused), 'bid')} by {firms} refused: {'; '.join(codes)}"
    return f"{before}: {line}" if before else line


def background(
    reader: TraceReader, seller: str, item: str, before: Asked, after: Asked
) -> list[Step]:
    """What a seller met with between two listings of an item, the second at another price.

    Bids on its goods, its sales and purchases, what spoiled, and what others asked for the same.

    Args:
        reader: The run.
        seller: Whose listings they are.
        item: What is sold.
        before: The last listing at the old price.
        after: The first at the new one.
    """
    exchange = after.event.agent
    days = range(before.event.day, after.event.day + 1)
    rivals: dict[str, LoggedEvent] = {}
    met: list[LoggedEvent] = []
    own = {entry.listing for entry in orders.asked(reader, exchange, seller, item)}
    for event in reader.find_events(recorder=exchange, days=days):
        if event.ordinal >= after.event.ordinal:
            break
        if _is_rivals(event, seller, item):
            rivals[event.subject] = event
        elif event.ordinal > before.event.ordinal and _concerns(event, seller, item, own):
            met.append(event)
    found = sorted([*rivals.values(), *met], key=lambda event: event.ordinal)
    return [steps.of_event(event) for event in found]


def _is_rivals(event: LoggedEvent, seller: str, item: str) -> bool:
    if event.subject == seller or f'"{item}"' not in event.body:
        return False
    return orders.is_done(event, "post_listing") and event.facts["args"].get("item_id") == item


def _concerns(event: LoggedEvent, seller: str, item: str, own: set[str]) -> bool:
    if event.kind == "action":
        if event.subject == seller or not orders.is_done(event, "make_offer"):
            return False
        args = event.facts.get("args")
        return isinstance(args, dict) and args.get("listing_id") in own
    facts = event.facts
    if event.kind == "deal":
        return facts.get("buyer") == seller or (
            facts.get("seller") == seller and facts.get("item") == item
        )
    return event.kind == "spoilage" and facts.get("firm") == seller and facts.get("item") == item
