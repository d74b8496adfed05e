"""What is said on a span rather than by one: troubles, and facts that agents record themselves."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from services.telemetry import conventions as c
from services.telemetry.logged import LoggedEvent, TraceDay, parsed
from services.telemetry.places import Places, Wake
from services.telemetry.span import SpanEvent, Value

_SPANNED = frozenset(
    (
        "action",
        "deal",
        "delivery",
        "invoice",
        "payment",
        "return",
        "trade",
        "consumer_sale",
        "spoilage",
        "bankruptcy",
    )
)
_MOST = 128
"""Events that one span may carry; OpenTelemetry's own limit."""


def is_spanned(event: LoggedEvent) -> bool:
    """Whether an event is a span of its own; other agents may record what they like."""
    return event.kind in _SPANNED and is_exchange(event.agent)


def is_exchange(agent: str) -> bool:
    """Whether an agent holds a town's economy; no other may have such a name."""
    return agent == "exchange" or agent.startswith("exchange_")


class Error(NamedTuple):
    """Why a span went wrong."""

    type: str
    line: str


class Notes:
    """The events and errors on the spans of one day's messages and wake-ups."""

    def __init__(self, places: Places) -> None:
        self.errors: dict[str, Error] = {}
        """Of handling, by message."""
        self.wake_errors: dict[Wake, Error] = {}
        self._of_messages: dict[str, list[SpanEvent]] = defaultdict(list)
        self._of_wakes: dict[Wake, list[SpanEvent]] = defaultdict(list)
        for event in places.day.events:
            if not (is_spanned(event) or event.cause in places.day.undeliverable):
                self._note(event, places)
        self._note_missed_turns(places.day)

    def on_message(self, id: str, attributes: dict[str, Value]) -> tuple[SpanEvent, ...]:
        """What happened while a message was handled; what is too much is counted instead."""
        return _capped(self._of_messages.get(id), attributes)

    def on_wake(self, wake: Wake, attributes: dict[str, Value]) -> tuple[SpanEvent, ...]:
        """What happened in a wake-up; what is too much is counted instead."""
        return _capped(self._of_wakes.get(wake), attributes)

    def _note(self, event: LoggedEvent, places: Places) -> None:
        facts = event.facts
        at = places.under(event).end
        cause, wake = event.cause, (event.agent, event.minute)
        handled = cause is not None and cause in places.process
        if event.kind == "agent_error":
            error = Error(
                c.clipped(str(facts.get("error", "unknown"))),
                c.clipped(str(facts.get("detail") or event.body)),
            )
            attributes: dict[str, Value] = {
                c.EXCEPTION_TYPE: error.type,
                c.EXCEPTION_MESSAGE: error.line,
            }
            if "where" in facts:
                attributes[f"{c.FACT}where"] = c.clipped(str(facts["where"]))
            note = SpanEvent("exception", at, attributes)
            if cause is not None and handled:
                self.errors[cause] = error
            else:
                self.wake_errors[wake] = error
        else:
            about: dict[str, Value] = {c.BODY: c.clipped(event.body), c.EVENT: event.id}
            if event.subject:
                about[c.FIRM] = c.clipped(event.subject)
            note = SpanEvent(c.clipped(event.kind, 256), at, about)
        if cause is not None and handled:
            self._of_messages[cause].append(note)
        else:
            self._of_wakes[wake].append(note)

    def _note_missed_turns(self, day: TraceDay) -> None:
        """A turn that was missed went wrong where the firm was asked, not where that was told."""
        for id, m in day.by_id.items():
            asked = day.sources.get(id) if m.type == "turn_missed" else None
            if asked is not None and asked not in self.errors:
                facts = parsed(m.body)
                reason = str(facts.get("reason", "unknown"))
                line = str(facts.get("detail") or f"the turn was missed: {reason}")
                self.errors[asked] = Error(c.clipped(reason), c.clipped(line))


def _capped(notes: list[SpanEvent] | None, attributes: dict[str, Value]) -> tuple[SpanEvent, ...]:
    if notes is None:
        return ()
    if len(notes) > _MOST:
        attributes[c.EVENTS_DROPPED] = len(notes) - _MOST
    return tuple(notes[:_MOST])
