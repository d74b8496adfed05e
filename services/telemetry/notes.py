"""What is said on a span rather than by one: troubles, and facts that agents record themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from services.telemetry import conventions as c
from services.telemetry.logged import LoggedEvent, TraceDay, parsed
from services.telemetry.places import Places, Wake
from services.telemetry.span import Span, SpanEvent, Value

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
_ALERT = "alert"
"""What a monitor records when it raises one; its span is exported whatever is sampled."""
_MOST = 128
"""Events that one span may carry; OpenTelemetry's own limit."""


def is_spanned(event: LoggedEvent) -> bool:
    """Whether an event is a span of its own: an exchange's, or an alert.

    Other agents may record what they like.
    """
    return event.kind == _ALERT or (event.kind in _SPANNED and is_exchange(event.agent))


def is_exchange(agent: str) -> bool:
    """Whether an agent holds a town's economy; no other may have such a name."""
    return agent == "exchange" or agent.startswith("exchange_")


class Error(NamedTuple):
    """Why a span went wrong."""

    type: str
    line: str


Said = tuple[tuple[SpanEvent, ...], str | None]
"""The events of a span, and what went wrong in it."""


class Notes:
    """The events and errors on the spans of one day's messages and wake-ups.

    Args:
        places: Where these are.
        overlays: What users' code has said itself of the spans of its calls, by span id.
    """

    def __init__(self, places: Places, overlays: Mapping[int, Span]) -> None:
        self._overlays = overlays
        self.errors: dict[str, Error] = {}
        """Of handling, by message."""
        self.wake_errors: dict[Wake, Error] = {}
        self._of_messages: dict[str, list[SpanEvent]] = defaultdict(list)
        self._of_wakes: dict[Wake, list[SpanEvent]] = defaultdict(list)
        for event in places.day.events:
            if not (is_spanned(event) or event.cause in places.day.undeliverable):
                self._note(event, places)
        self._note_missed_turns(places.day)

    def on_message(self, id: str, span_id: int, attributes: dict[str, Value]) -> Said:
        """What there is to say of the handling of a message.

        Args:
            id: The message.
            span_id: Of its handling.
            attributes: Of that span; more may come in.

        Returns:
            The span's events, as far as there is room, and what went wrong.
        """
        notes, error = self._of_messages.get(id), self.errors.get(id)
        if notes is None and error is None and span_id not in self._overlays:
            return (), None
        return self._said(notes or [], error, span_id, attributes)

    def on_wake(self, wake: Wake, span_id: int, attributes: dict[str, Value]) -> Said:
        """As :meth:`on_message`, of a wake-up."""
        notes, error = self._of_wakes.get(wake), self.wake_errors.get(wake)
        return self._said(notes or [], error, span_id, attributes)

    def _said(
        self,
        notes: list[SpanEvent],
        error: Error | None,
        span_id: int,
        attributes: dict[str, Value],
    ) -> Said:
        line = None
        if error is not None:
            attributes[c.ERROR_TYPE], line = error
        own = self._overlays.get(span_id)
        if own is not None:
            for name, value in own.attributes.items():
                attributes.setdefault(name, value)
            notes = [*notes, *own.events]
            line = line or own.error
        if len(notes) > _MOST:
            attributes[c.EVENTS_DROPPED] = len(notes) - _MOST
        return tuple(notes[:_MOST]), line

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
