"""When an invoice was paid, and what had kept its payer from paying in time."""

from __future__ import annotations

from services.messages import MINUTES_PER_DAY
from services.telemetry.inspection import goods, words
from services.telemetry.inspection.orders import Order
from services.telemetry.logged import LoggedEvent, parsed
from services.telemetry.reader import TraceReader

_BEFORE_DUE = 5
"""Days before an invoice is due from which its payer's doings are looked at."""


def last_payment(order: Order) -> LoggedEvent | None:
    """The payment that settled an order's invoice, or the last part of it."""
    payments = [event for event in order.events if event.kind == "payment"]
    return payments[-1] if payments else None


def payment_notes(reader: TraceReader, order: Order) -> list[str]:
    """How an order's invoice was paid: in time or not, and if not, why, in sentences."""
    invoice = order.event("invoice")
    if invoice is None:
        return []
    facts = invoice.facts
    due, payer, amount = facts.get("due_day"), str(facts.get("payer")), facts.get("amount")
    if not isinstance(due, int) or not isinstance(amount, int | float):
        return []
    last = reader.days[-1]
    payment = last_payment(order)
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
    known = goods.figures(reader.run, payer)
    cash = {day: float(known[day]["cash"]) for day in range(due, until + 1) if day in known}
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
        facts = parsed(row[-1])
        day = row[0] // MINUTES_PER_DAY
        if facts.get("tool") == "view_payables":
            if day not in looked:
                looked.append(day)
        elif facts.get("status") == "error":
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
        row[7] if isinstance(row[7], int) else 0
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
