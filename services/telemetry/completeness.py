"""Whether every span that there must be is there: what the log says against what was written."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from services.runs import Run
from services.telemetry.identity import parse_traceparent
from services.telemetry.logged import LoggedEvent, TraceDay, parsed
from services.telemetry.notes import is_spanned
from services.telemetry.places import first_arrivals
from services.telemetry.reader import TraceReader
from services.telemetry.recorded import is_overlay, recorded_span

_PER_MESSAGE = 3
"""send, receive and process."""


class Completeness(NamedTuple):
    """The spans of a day or of a run."""

    expected: int
    """Spans that follow from the log; a row that is lost counts for as many as it had at least."""
    found: int
    """Those of which all is known that belongs to them."""
    missing: Counter[str]
    """Why the others are not found: spans by reason."""
    doubtful: Counter[str]
    """What was found but is odd, such as a malformed ``traceparent``: how often."""

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.expected == self.found

    def __str__(self) -> str:
        return f"{self.found:,} of {self.expected:,}"


def count(reader: TraceReader, day: int) -> Completeness:
    """Counts the spans of a day.

    Raises:
        HanseError: The run has no such day, or it is damaged.
    """
    logged = reader.day(day)
    missing, doubtful = Counter[str](), Counter[str]()
    expected = len(first_arrivals(logged))
    expected += _messages(logged, missing, doubtful)
    expected += _events(logged, missing, doubtful)
    recorded = [row for row in logged.recorded if not is_overlay(row)]
    expected += len(recorded)
    broken = sum(recorded_span(row) is None for row in recorded)
    missing["recorded span without ids"] += broken
    missing["message row lost"] += (lost := _lost_messages(logged)) * _PER_MESSAGE
    missing["event row lost"] += (gone := max(0, logged.written.events - len(logged.events)))
    expected += lost * _PER_MESSAGE + gone
    doubtful["timings record unreadable"] += logged.unreadable
    found = expected - missing.total()
    return Completeness(expected, found, +missing, +doubtful)


def completeness(run: Run | TraceReader) -> Completeness:
    """Counts the spans of all whole days of a run."""
    reader = run if isinstance(run, TraceReader) else TraceReader(run)
    expected = found = 0
    missing, doubtful = Counter[str](), Counter[str]()
    for day in reader.days:
        counted = count(reader, day)
        expected += counted.expected
        found += counted.found
        missing += counted.missing
        doubtful += counted.doubtful
    return Completeness(expected, found, missing, doubtful)


def _lost_messages(logged: TraceDay) -> int:
    return max(0, logged.written.messages - len(logged.messages))


def _messages(logged: TraceDay, missing: Counter[str], doubtful: Counter[str]) -> int:
    timings, sources = logged.timings, logged.sources
    unhandled = logged.refused | logged.undeliverable
    # One id twice would be one span twice: the second row is in nobody's way.
    doubtful["message id twice"] += len(logged.messages) - len(logged.by_id)
    expected = untimed = 0
    for id, m in logged.by_id.items():
        expected += 1
        source = m.cause or m.in_reply_to
        if source is not None and id not in sources:
            doubtful["cause not of this day"] += 1
        if m.trace is not None and parse_traceparent(m.trace) is None:
            doubtful["malformed traceparent"] += 1
        if id in unhandled:
            continue
        spans = 3 if m.type == "turn" else 2
        expected += spans
        if id not in timings:
            untimed += spans
        if m.type == "purchase_orders":
            expected += 1
            untimed += sources.get(id) not in timings
    missing["no timing"] += untimed
    return expected


def _events(logged: TraceDay, missing: Counter[str], doubtful: Counter[str]) -> int:
    expected = 0
    for event in logged.events:
        facts = parsed(event.body)
        if not facts and event.body != "{}":
            doubtful["event body unreadable"] += 1
        if is_spanned(event):
            expected += 1 + _follows(event, facts)
            missing["event body unreadable"] += not facts
    return expected


def _follows(event: LoggedEvent, facts: dict[str, object]) -> bool:
    """Whether a command has a span of the market below its own."""
    if event.kind != "action" or facts.get("status") != "success":
        return False
    if facts.get("tool") == "make_offer":
        return isinstance(facts.get("new_id"), str)
    return facts.get("tool") in ("produce_item", "roast")
