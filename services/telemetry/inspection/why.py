"""Why something happened, and what came of it: a message, or one of a town's papers."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, NamedTuple

from services.messages import MINUTES_PER_DAY
from services.telemetry.inspection import orders, steps, words
from services.telemetry.inspection.fate import refusal_notes
from services.telemetry.inspection.orders import Asked, Order
from services.telemetry.inspection.steps import Chain, Limits, Node, Step
from services.telemetry.inspection.targets import Paper, exchanges, locate
from services.telemetry.logged import LoggedEvent, SentMessage
from services.telemetry.reader import TraceReader

_BEFORE_DUE = 5
"""Days before an invoice is due from which its payer's doings are looked at."""


class Cause(NamedTuple):
    """A chain of causes, and the question that it answers."""

    question: str
    chain: Chain


class Explanation(NamedTuple):
    """What `hanse trace RUN why` has to say."""

    id: str
    kind: str
    title: str
    notes: list[str]
    order: list[Step]
    """The order that it belongs to, from the listing to the last payment."""
    causes: list[Cause]
    effects: Node | None
    began: int | None
    """Nanoseconds since 1970 at which the run's first message was handled."""

    def document(self) -> dict[str, Any]:
        """All of it for ``--json``."""
        return {
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "notes": self.notes,
            "order": [step.document(self.began) for step in self.order],
            "causes": [
                {
                    "question": cause.question,
                    "steps": [step.document(self.began) for step in cause.chain.steps],
                    "steps_left_out": cause.chain.left_out,
                }
                for cause in self.causes
            ],
            "effects": None if self.effects is None else self.effects.document(self.began),
        }


def why(
    reader: TraceReader, id: str, *, town: str | None = None, limits: Limits | None = None
) -> Explanation:
    """Explains a message or a paper by what it came from and what it led to.

    Args:
        reader: The run.
        id: ``farmer_A#12``, ``L5``, ``O33``, ``D12``, ``I7``, ``D12@exchange_Visby``.
        town: Whose paper it is, where several towns have one of that number.
        limits: How much is told.

    Raises:
        HanseError: There is no such thing, or several.
    """
    limits = limits or Limits()
    found = locate(reader, id, town)
    if isinstance(found, SentMessage):
        return _message(reader, found, limits)
    if found.kind == "listing":
        return _listing(reader, found, limits)
    return _paper(reader, found, limits)


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
        [Cause("How it came about", chain)],
        steps.effects(reader, message, limits),
        _began(reader),
    )


def _paper(reader: TraceReader, paper: Paper, limits: Limits) -> Explanation:
    order = orders.order_of(reader, paper)
    bid, accepted = order.action("make_offer"), order.action("accept_offer")
    paid = _last_payment(order)
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
        told |= {step.id for step in chain.steps}
        causes.insert(0, Cause(f"Why {event.subject} {verb}", chain))
    origin = orders.cause_of(reader, decisive)
    own = order.event(paper.kind) if paper.kind != "offer" else bid
    title = paper.id if own is None else _titled(own)
    return Explanation(
        paper.id,
        paper.kind,
        title,
        _notes(reader, order, paper),
        _timeline(reader, order),
        causes,
        None if origin is None else steps.effects(reader, origin, limits),
        _began(reader),
    )


def _titled(event: LoggedEvent) -> str:
    return f"{words.when(event.minute)}: {words.event(event.kind, event.subject, event.facts)}"


def _timeline(reader: TraceReader, order: Order) -> list[Step]:
    """The order's events; commands that brought an event about are told by it."""
    told = {e.cause for e in order.events if e.kind in ("deal", "payment", "return")}
    return [
        steps.of_event(event, reader.day(event.day))
        for event in order.events
        if not (event.kind == "action" and event.cause in told)
    ]


def _last_payment(order: Order) -> LoggedEvent | None:
    payments = [event for event in order.events if event.kind == "payment"]
    return payments[-1] if payments else None


# ---- notes: what the log says beyond one event after another -------------------------------------


def _notes(reader: TraceReader, order: Order, paper: Paper) -> list[str]:
    notes = []
    if paper.kind == "offer" and order.deal is None:
        notes.append(_fate(order))
    if order.invoice is not None and paper.kind in ("invoice", "deal"):
        notes += _payment_notes(reader, order)
    elif order.deal is not None and order.invoice is None:
        notes.append("no invoice was written: the goods have not been delivered")
    return notes


def _fate(order: Order) -> str:
    refused = [e for e in order.events if e.kind == "action" and e.facts.get("status") == "error"]
    for tool, told in (("withdraw_offer", "was taken back"), ("reject_offer", "was rejected")):
        end = order.action(tool)
        if end is not None:
            return f"the bid {told} on {words.when(end.minute)}"
    if refused:
        last = refused[-1]
        code = words.refusal(last.facts.get("error_code"))
        return f"no deal came of it; on {words.when(last.minute)} {last.subject} tried: {code}"
    return "no deal came of it, and nobody answered it by a command: it lapsed or is still open"


def _payment_notes(reader: TraceReader, order: Order) -> list[str]:
    invoice = order.event("invoice")
    if invoice is None:
        return []
    facts = invoice.facts
    due, payer, amount = facts.get("due_day"), str(facts.get("payer")), facts.get("amount")
    if not isinstance(due, int) or not isinstance(amount, int | float):
        return []
    last = reader.days[-1]
    payment = _last_payment(order)
    until = last if payment is None else payment.day
    late = until - due
    notes = []
    if payment is not None and late > 0:
        notes.append(
            f"{payer} paid {order.invoice} {words.count(late, 'day')} late:"
            f" on day {until}, due on day {due}"
        )
    elif payment is not None:
        early = words.count(-late, "day") + " before it was" if late else "on the day it was"
        notes.append(f"{payer} paid {order.invoice} {early} due (day {due})")
    elif late > 0:
        notes.append(f"{order.invoice} is not paid; it was due on day {due}")
    else:
        return [f"{order.invoice} is not paid yet; it is due on day {due}"]
    if late > 0:
        notes += _why_late(reader, order, payer, due, until, float(amount))
    return notes


def _why_late(
    reader: TraceReader, order: Order, payer: str, due: int, until: int, amount: float
) -> list[str]:
    notes = []
    cash = {
        day: float(body["cash"])
        for day, _, text in reader.run.rows(
            "metrics", "agent = ?", (payer,), days=range(due, until + 1)
        )
        if "cash" in (body := json.loads(text))
    }
    if due in cash:
        enough = "enough" if cash[due] >= amount else "too little"
        notes.append(
            f"{payer} had {words.money(cash[due])} in cash at the end of day {due},"
            f" {enough} for {words.money(amount)}"
        )
        short = [day for day, held in cash.items() if held < amount]
        if short and len(short) < len(cash):
            notes.append(f"its cash was too little on {words.count(len(short), 'day')} of these")
    looked: list[int] = []
    tried: list[str] = []
    for row in reader.run.rows(
        "events",
        "kind = 'action' AND subject = ? AND (instr(body, '\"view_payables\"') OR instr(body, ?))",
        (payer, f'"invoice_id":"{order.invoice}"'),
        days=range(due - _BEFORE_DUE, until + 1),
    ):
        facts = json.loads(row[-1])
        day = row[0] // MINUTES_PER_DAY
        if facts["tool"] == "view_payables":
            if day not in looked:
                looked.append(day)
        elif facts["status"] == "error":
            tried.append(f"day {day}: {words.refusal(facts.get('error_code'))}")
    if looked:
        notes.append(
            f"it looked at its bills on {_days(looked)}"
            + (f" and tried to pay on {'; '.join(tried)}" if tried else "")
            + (
                ""
                if tried or order.action("pay_invoice") is None
                else f", and first sent a payment for {order.invoice} on day {until}"
            )
        )
    else:
        notes.append(f"it did not look at its bills from day {max(0, due - _BEFORE_DUE)} on")
    fees = sum(
        row[7]
        for row in reader.run.rows(
            "ledger",
            "reference = ? AND agent = ? AND firm = ? AND debit = 'interest_expense'",
            (order.invoice, order.exchange, payer),
            days=range(due, until + 1),
        )
    )
    if fees:
        notes.append(f"late fees: {words.money(fees / 1e6)}")
    return notes


def _days(days: list[int]) -> str:
    """``days 29 to 32 and 35``."""
    spans: list[list[int]] = []
    for day in days:
        if spans and day == spans[-1][-1] + 1:
            spans[-1][1:] = [day]
        else:
            spans.append([day])
    parts = [" to ".join(map(str, span)) for span in spans]
    told = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"day {told}" if len(days) == 1 else f"days {told}"


# ---- listings ------------------------------------------------------------------------------------


def _listing(reader: TraceReader, paper: Paper, limits: Limits) -> Explanation:
    made = orders.posted(reader, paper.exchange, paper.id)
    assert made is not None  # `locate` has found it by this very event
    args = made.facts["args"]
    item = str(args["item_id"])
    history = orders.asked(reader, paper.exchange, made.subject, item)
    place = next(n for n, entry in enumerate(history) if entry.listing == paper.id)
    change = _last_change(history[: place + 1])
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
            told |= {step.id for step in chain.steps}
            causes.append(Cause(question, chain))
    origin = orders.cause_of(reader, made)
    events = [e for e in orders.bids_on(reader, paper.exchange, paper.id) if e.id != made.id]
    return Explanation(
        paper.id,
        "listing",
        _titled(made),
        _price_notes(history, place, made.subject, item, events),
        [steps.of_event(event, reader.day(event.day)) for event in (made, *events)],
        causes,
        None if origin is None else steps.effects(reader, origin, limits),
        _began(reader),
    )


def _last_change(history: list[Asked]) -> tuple[Asked, Asked] | None:
    for after, before in zip(history[::-1], history[-2::-1], strict=False):
        if after.price != before.price:
            return before, after
    return None


def _price_notes(
    history: list[Asked], place: int, seller: str, item: str, events: list[LoggedEvent]
) -> list[str]:
    told = history[: place + 1]
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
    bids = [e for e in events if is_bid(e)]
    deals = [e.facts for e in events if e.kind == "deal"]
    if bids:
        prices = [float(e.facts["args"]["offered_price"]) for e in bids]
        firms = ", ".join(dict.fromkeys(e.subject for e in bids))
        notes.append(
            f"{words.count(len(bids), 'bid')} by {firms},"
            f" {words.price(min(prices))} to {words.price(max(prices))}"
            if min(prices) < max(prices)
            else f"{words.count(len(bids), 'bid')} by {firms} at {words.price(prices[0])}"
        )
    if deals:
        kg = sum(int(deal["qty"]) for deal in deals)
        total = sum(float(deal["total_price"]) for deal in deals)
        notes.append(
            f"{words.count(len(deals), 'deal')}: {kg:,} kg for {words.money(total)},"
            f" {words.price(total / kg)} on average"
        )
    if not bids and not deals:
        notes.append("nobody bid on it")
    return notes


def is_bid(event: LoggedEvent) -> bool:
    """Whether an event is a bid that was admitted."""
    return orders.is_done(event, "make_offer")


def _began(reader: TraceReader) -> int | None:
    """When the first message of the run was handled, on the wall's clock."""
    days = reader.days
    if not days:
        return None
    timings = reader.day(days[0]).timings
    return min((timing.began for timing in timings.values()), default=None)
