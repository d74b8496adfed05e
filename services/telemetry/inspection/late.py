"""Invoices that were paid after their due day, or are not paid though it is past."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from services.messages import MINUTES_PER_DAY
from services.runs import Run
from services.telemetry.inspection import words
from services.telemetry.inspection.orders import event_of
from services.telemetry.logged import LoggedEvent
from services.telemetry.reader import TraceReader

_Key = tuple[str, str]
"""Exchange and invoice."""


class Late(NamedTuple):
    """An invoice that was not settled in time."""

    invoice: str
    payer: str
    due: int
    """The last day on which it would have been in time."""
    until: int
    """The day on which it was settled; else the last day of the run, or of its payer's business."""
    open: float
    """Dollars of it that are not paid, fees included; 0 if it was settled."""
    events: list[LoggedEvent]
    """The payments that came late; the invoice itself if it was never settled."""
    bankrupt: bool
    """Whether its payer went bankrupt before it paid."""

    @property
    def days(self) -> int:
        """How late it was, or is."""
        return self.until - self.due

    def note(self, event: LoggedEvent) -> str:
        """What is late about one of its events, to be put behind it."""
        if event.kind == "payment":
            return f"{words.count(event.day - self.due, 'day')} late, it was due on day {self.due}"
        end = f"{self.payer} went bankrupt on day {self.until}" if self.bankrupt else "not paid"
        past = words.count(self.days, "day")
        return f"{end}, {words.money(self.open)} open, {past} past the due day"


class LateSum(NamedTuple):
    """The late invoices of a run added up."""

    paid: int
    """Invoices that were settled late."""
    mean_days: float
    most_days: int
    longest: str
    """The invoice that took longest; empty if there is none."""
    open: int
    """Invoices past their due day that are not settled."""
    open_dollars: float
    payers: dict[str, int]
    """Late invoices by who should have paid, the most first."""

    def document(self) -> dict[str, Any]:
        """The sum for ``--json``."""
        return self._asdict()


def late_invoices(run: Run) -> list[Late]:
    """Every invoice that was settled late, or is open past its due day, in the order of issue."""
    days = TraceReader(run).days
    if not days:
        return []
    last = days[-1]
    invoices: dict[_Key, LoggedEvent] = {}
    settled: dict[_Key, list[LoggedEvent]] = defaultdict(list)
    bankrupt: dict[str, int] = {}
    query = "kind IN ('invoice', 'payment', 'return', 'bankruptcy')"
    for event in map(event_of, run.rows("events", query, days=days)):
        if event.kind == "bankruptcy":
            bankrupt[event.subject] = event.day
            continue
        key = event.agent, str(event.facts.get("invoice"))
        if event.kind == "invoice":
            invoices[key] = event
        else:
            settled[key].append(event)
    fees = _fees(run, days)
    found = (
        _late(key[1], event, settled[key], fees.get(key, []), bankrupt, last)
        for key, event in invoices.items()
    )
    return [late for late in found if late is not None]


def _late(
    id: str,
    invoice: LoggedEvent,
    settled: list[LoggedEvent],
    fees: list[tuple[int, int]],
    bankrupt: dict[str, int],
    last: int,
) -> Late | None:
    facts = invoice.facts
    due, payer, amount = facts.get("due_day"), str(facts.get("payer")), _micros(facts, "amount")
    if type(due) is not int:
        return None
    left = amount
    for event in settled:
        charged = sum(fee for day, fee in fees if day < event.day)
        left -= _settles(event)
        if left + charged <= 0:
            if event.day <= due:
                return None
            late = [e for e in settled if e.kind == "payment" and e.day > due]
            return Late(id, payer, due, event.day, 0.0, late, False) if late else None
    until = min(last, bankrupt.get(payer, last))
    if until <= due:
        return None
    late = [e for e in settled if e.kind == "payment" and e.day > due]
    rest = max(0, left + sum(fee for _, fee in fees)) / 1e6
    return Late(id, payer, due, until, rest, [invoice, *late], payer in bankrupt)


def _settles(event: LoggedEvent) -> int:
    """Micro-dollars by which a payment or a return lessens what is open."""
    facts = event.facts
    if event.kind == "payment":
        return _micros(facts, "amount")
    return _micros(facts, "credit") - _micros(facts, "refund")


def _micros(facts: dict[str, Any], name: str) -> int:
    value = facts.get(name)
    return round(value * 1e6) if isinstance(value, int | float) else 0


def _fees(run: Run, days: range) -> dict[_Key, list[tuple[int, int]]]:
    """Late fees by invoice: day and micro-dollars."""
    fees: dict[_Key, list[tuple[int, int]]] = defaultdict(list)
    rows = run.rows("ledger", "debit = 'interest_expense'", days=days)
    for minute, _, agent, _, _, _, _, micros, reference in rows:
        if type(micros) is int and type(minute) is int:
            fees[str(agent), str(reference)].append((minute // MINUTES_PER_DAY, micros))
    return fees


def add_up(late: list[Late]) -> LateSum:
    """The sums over late invoices."""
    paid = [entry for entry in late if not entry.open]
    unpaid = [entry for entry in late if entry.open]
    longest = max(paid, key=lambda entry: entry.days, default=None)
    return LateSum(
        len(paid),
        sum(entry.days for entry in paid) / len(paid) if paid else 0.0,
        0 if longest is None else longest.days,
        "" if longest is None else longest.invoice,
        len(unpaid),
        sum(entry.open for entry in unpaid),
        dict(Counter(entry.payer for entry in late).most_common()),
    )
