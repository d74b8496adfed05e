"""Why something happened, and what came of it: a message, or one of a town's papers."""

from __future__ import annotations

from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.telemetry.inspection import bids, orders, prices, steps, words
from services.telemetry.inspection.explanation import Cause, Explanation, began, titled
from services.telemetry.inspection.fate import refusal_notes
from services.telemetry.inspection.orders import Order
from services.telemetry.inspection.own import OwnSpan, is_span_id, locate_span
from services.telemetry.inspection.payments import last_payment, payment_notes
from services.telemetry.inspection.steps import Limits, Step
from services.telemetry.inspection.targets import Paper, event_named, exchanges, locate
from services.telemetry.logged import LoggedEvent, SentMessage
from services.telemetry.reader import TraceReader


def why(
    reader: TraceReader, id: str, *, town: str | None = None, limits: Limits | None = None
) -> Explanation:
    """Explains a message or a paper by what it came from and what it led to.

    Args:
        reader: The run.
        id: ``farmer_A#12``, ``L5``, ``O33``, ``D12``, ``I7``, ``D12@exchange_Visby``; or an
            event's, ``exchange:118``, which stands for the command or the order that it is of; or
            an own span's, 16 hexadecimal digits, which stands for the message it lies under.
        town: Whose paper it is, where several towns have one of that number.
        limits: How much is told.

    Raises:
        HanseError: There is no such thing, or several.
    """
    limits = limits or Limits()
    if is_span_id(id):
        return _span(reader, locate_span(reader, id), limits)
    event = event_named(reader, id)
    if event is not None:
        return _event(reader, event, limits)
    found = locate(reader, id, town)
    if isinstance(found, SentMessage):
        return _message(reader, found, limits)
    if found.kind in ("letter", "order abroad"):
        made = next(reader.find_events("action", recorder=found.exchange, new_id=found.id), None)
        message = orders.cause_of(reader, made)
        if message is None:
            raise HanseError(f"{id}: the log does not say which message it came from")
        return _message(reader, message, limits)
    if found.kind == "listing":
        return _listing(reader, found, limits)
    return _paper(reader, found, limits)


def _event(reader: TraceReader, event: LoggedEvent, limits: Limits) -> Explanation:
    """By its order if it belongs to one, or else by the message that brought it about."""
    papers = [] if event.kind == "action" else orders.papers_of(event.facts)
    if papers and event.agent in exchanges(reader.run):
        return _paper(reader, Paper(event.agent, papers[0]), limits)
    message = orders.cause_of(reader, event)
    if message is None:
        raise HanseError(f"{titled(event)}: it came with the time of day, not by anybody's message")
    return _message(reader, message, limits)


def _span(reader: TraceReader, found: OwnSpan | SentMessage, limits: Limits) -> Explanation:
    """By the message or the wake-up under which it lies."""
    if isinstance(found, SentMessage):
        return _message(reader, found, limits)
    lines = []
    if found.message is None:
        below = steps.of_wake(reader, found, limits)
        lines.append(f"it lies under the wake-up of {found.agent} at {words.when(found.minute)}")
        order: list[Step] = []
        causes: list[Cause] = []
    else:
        day = reader.day(found.minute // MINUTES_PER_DAY)
        message = day.by_id[found.message]
        told = _message(reader, message, limits)
        order, causes = told.order, told.causes
        below = told.effects or steps.effects(reader, message, limits)
        lines.append(f"it lies under {message.id}: {steps.of_message(day, message).words}")
    return Explanation(
        found.id,
        "span",
        f"{words.when(found.minute)}: {steps.of_span(found).words}",
        lines,
        order,
        [],
        causes,
        below,
        began(reader),
    )


def _message(reader: TraceReader, message: SentMessage, limits: Limits) -> Explanation:
    day = reader.day(message.day)
    action = steps.outcome(day, message)
    order: list[Step] = []
    about = [action] if action is not None else []
    about += [event for event in day.events_because_of(message.id) if event is not action]
    for event in about:
        papers = orders.papers_of(event.facts)
        if papers and event.agent in exchanges(reader.run):
            order = _timeline(reader, orders.order_of(reader, Paper(event.agent, papers[0])))
            break
    chain = steps.causes(reader, message, limits.causes)
    return Explanation(
        message.id,
        message.type,
        f"{words.when(message.minute)}: {steps.of_message(day, message).words}",
        [] if action is None else refusal_notes(reader, action),
        order,
        [],
        [Cause("How it came about", chain)],
        steps.effects(reader, message, limits),
        began(reader),
    )


def _paper(reader: TraceReader, paper: Paper, limits: Limits) -> Explanation:
    order = orders.order_of(reader, paper)
    bid, accepted = order.action("make_offer"), order.action("accept_offer")
    paid = last_payment(order)
    decisive = {"offer": bid, "deal": accepted, "invoice": paid}[paper.kind]
    asked = {
        "offer": [(bid, "bid")],
        "deal": [(bid, "bid"), (accepted, "accepted")],
        "invoice": [(paid, "paid")],
    }[paper.kind]
    causes: list[Cause] = []
    told: set[str] = set()
    for event, verb in reversed(asked):
        message = orders.cause_of(reader, event)
        if event is None or message is None or message.id in told:
            continue
        chain = steps.causes(reader, message, limits.causes)
        told |= chain.through
        causes.insert(0, Cause(f"Why {event.subject} {verb}", chain))
    origin = orders.cause_of(reader, decisive)
    own = order.event(paper.kind) if paper.kind != "offer" else bid
    title = paper.id if own is None else titled(own)
    return Explanation(
        paper.id,
        paper.kind,
        title,
        _notes(reader, order, paper),
        _timeline(reader, order),
        [],
        causes,
        None if origin is None else steps.effects(reader, origin, limits),
        began(reader),
    )


def _timeline(reader: TraceReader, order: Order) -> list[Step]:
    """The order's events; commands that brought an event about are told by it."""
    told = {e.cause for e in order.events if e.kind in ("deal", "payment", "return")}
    return [
        steps.of_event(event, reader.day(event.day) if event.cause else None)
        for event in order.events
        if not (event.kind == "action" and event.cause in told)
    ]


# ---- notes: what the log says beyond one event after another -------------------------------------


def _notes(reader: TraceReader, order: Order, paper: Paper) -> list[str]:
    notes = []
    if paper.kind == "offer" and order.deal is None:
        notes += bids.fate(reader, order)
    if order.invoice is not None and paper.kind in ("invoice", "deal"):
        notes += payment_notes(reader, order)
    elif order.deal is not None and order.invoice is None:
        notes.append("no invoice was written: the goods have not been delivered")
    return notes


# ---- listings ------------------------------------------------------------------------------------


def _listing(reader: TraceReader, paper: Paper, limits: Limits) -> Explanation:
    made = orders.posted(reader, paper.exchange, paper.id)
    args = {} if made is None else made.facts.get("args")
    if made is None or not isinstance(args, dict) or "item_id" not in args:
        raise HanseError(f"{paper.id}: the log of {paper.exchange} does not say what it offers")
    item = str(args["item_id"])
    history = orders.asked(reader, paper.exchange, made.subject, item)
    place = next((n for n, entry in enumerate(history) if entry.listing == paper.id), -1)
    change = prices.last_change(history[: place + 1])
    causes = []
    told: set[str] = set()
    decisions = [(made, f"Why {made.subject} listed {paper.id}")]
    if change is not None and change[1].listing != paper.id:
        before, after = change
        question = (
            f"Why {made.subject} asked {words.price(after.price)} from {after.listing} on,"
            f" after {words.price(before.price)}"
        )
        decisions.insert(0, (after.event, question))
    for event, question in decisions:
        message = orders.cause_of(reader, event)
        if message is not None and message.id not in told:
            chain = steps.causes(reader, message, limits.causes)
            told |= chain.through
            causes.append(Cause(question, chain))
    origin = orders.cause_of(reader, made)
    events = [e for e in orders.bids_on(reader, paper.exchange, paper.id) if e.id != made.id]
    return Explanation(
        paper.id,
        "listing",
        titled(made),
        prices.price_notes(history, place, made.subject, item, events),
        [
            steps.of_event(event, reader.day(event.day) if event.cause else None)
            for event in (made, *events)
        ],
        [] if change is None else prices.background(reader, made.subject, item, *change),
        causes,
        None if origin is None else steps.effects(reader, origin, limits),
        began(reader),
    )
