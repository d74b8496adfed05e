"""The spans of a run, derived day by day from its log and from when things were handled.

One message is three spans: ``send`` (its sender), ``receive`` (it waits for its recipient) and
``process`` (the recipient handles it). What the recipient sends and does meanwhile hangs under
``process``; what nobody's message brought about hangs under a ``wake``, the root of a trace. Where
nobody knows when, by the clock on the wall, something was, the attribute ``hanse.timing`` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from services.telemetry import conventions as c
from services.telemetry.identity import TraceParent, parse_traceparent
from services.telemetry.logged import SentMessage, TraceDay
from services.telemetry.market import Market
from services.telemetry.notes import Error, Notes
from services.telemetry.places import Places
from services.telemetry.reader import TraceReader
from services.telemetry.recorded import own_spans
from services.telemetry.span import (
    CONSUMER,
    INTERNAL,
    PRODUCER,
    Place,
    Span,
    SpanEvent,
    Value,
)
from services.telemetry.timings import Timing

__all__ = ["Span", "SpanEvent", "derive"]

_SEND: Final[dict[str, Value]] = c.operation("send")
_RECEIVE: Final[dict[str, Value]] = c.operation("receive")
_PROCESS: Final[dict[str, Value]] = c.operation("process")
_LONGEST_NAME: Final = 200
_DEEPEST: Final = 64
"""Spans of a user's own that lie in each other are followed so far."""
_UNDELIVERABLE: Final = Error("undeliverable", "there is no such agent")
_REFUSED: Final = Error("mail_refused", "the recipient's mailbox was full")


def derive(reader: TraceReader, day: int) -> Iterator[Span]:
    """The spans of one day, in an order that does not change.

    First the wake-ups, by minute and agent, then the messages and the events in the order of the
    log, last what was recorded as spans. So a parent comes before its children, unless it is a
    span of a user's own in which a message was sent.

    Raises:
        HanseError: The run has no such day, or it is damaged.
    """
    logged = reader.day(day)
    places = Places(reader.identity, logged)
    recorded, overlays = own_spans(logged.recorded, places)
    notes = Notes(places, overlays)
    yield from _wakes(places, notes)
    yield from _Messages(reader, places, notes, recorded).spans()
    yield from Market(places, reader).spans()
    yield from recorded


def _wakes(places: Places, notes: Notes) -> Iterator[Span]:
    day = places.day.day
    for wake, (host, start, end, measured) in places.moments.items():
        agent, minute = wake
        trace_id, span_id, _ = places.wakes[wake]
        attributes: dict[str, Value] = {
            c.AGENT: c.clipped(agent),
            c.DAY: day,
            c.MINUTE: minute,
        }
        if host is not None:
            attributes[c.HOST] = host
        if not measured:
            attributes[c.TIMING] = c.INFERRED if start else c.MISSING
        events, error = notes.on_wake(wake, span_id, attributes)
        yield Span(
            trace_id,
            span_id,
            None,
            c.clipped(f"wake {agent}", 256),
            INTERNAL,
            start,
            end,
            minute,
            c.clipped(agent),
            attributes,
            (),
            error,
            events,
        )


class _Messages:
    """The spans of a day's messages."""

    def __init__(
        self, reader: TraceReader, places: Places, notes: Notes, recorded: list[Span]
    ) -> None:
        self._day: TraceDay = places.day
        self._places = places
        self._notes = notes
        self._span = reader.identity.span
        self._names = _Names()
        self._recorded = {(span.trace_id, span.span_id): span.parent_id for span in recorded}
        config = reader.run.manifest.config.get("controllers")
        self._rules = {
            str(item.get("name")): "policy"
            if item.get("policy")
            else str(item.get("rule", "base_stock"))
            for item in (config if isinstance(config, list) else ())
            if isinstance(item, dict)
        }

    def spans(self) -> Iterator[Span]:
        timings, unhandled = self._day.timings, self._places.unhandled
        for id, m in self._day.by_id.items():
            base = self._base(id, m)
            yield self._send(id, m, base)
            if id in unhandled:
                continue
            timing = timings.get(id)
            yield self._receive(id, m, timing, base)
            yield self._process(id, m, timing, base)
            if m.type == "turn":
                yield self._invoke(id, m, timing)
            elif m.type == "purchase_orders":
                yield self._decide(id, m)

    def _send(self, id: str, m: SentMessage, base: dict[str, Value]) -> Span:
        places = self._places
        trace_id, span_id, at = places.send[id]
        above = places.above[id]
        parent_id = above.span_id
        attributes = {**base, **_SEND, c.AGENT: self._names[m.sender]}
        error = None
        if id in places.unhandled:
            error = _REFUSED if id in self._day.refused else _UNDELIVERABLE
            attributes[c.ERROR_TYPE] = error.type
        links: tuple[Place, ...] = ()
        if m.trace is not None and (context := parse_traceparent(m.trace)) is not None:
            parent_id, links = self._outside(context, trace_id, parent_id)
        source = m.cause or m.in_reply_to
        if source is not None:
            attributes[c.CAUSE] = c.clipped(source)
        cause = self._day.timings.get(self._day.sources.get(id, ""))
        if cause is not None:
            attributes[c.HOST] = cause.host
        return Span(
            trace_id,
            span_id,
            parent_id,
            f"send {base[c.MESSAGING_DESTINATION]}",
            PRODUCER,
            at,
            at,
            m.minute,
            self._names[m.sender],
            attributes,
            links,
            error and error.line,
        )

    def _outside(
        self, context: TraceParent, trace_id: int, above: int
    ) -> tuple[int, tuple[Place, ...]]:
        """Parent and links of a message that names the span in which it was sent.

        A span of the user's own that hangs where the message does is its parent; any other place
        is linked to.
        """
        span: int | None = context.span_id
        if context.trace_id == trace_id:
            for _ in range(_DEEPEST):
                if span == above:
                    return context.span_id, ()
                span = None if span is None else self._recorded.get((trace_id, span))
        return above, ((context.trace_id, context.span_id),)

    def _receive(
        self, id: str, m: SentMessage, timing: Timing | None, base: dict[str, Value]
    ) -> Span:
        trace_id, send, at = self._places.send[id]
        name = base[c.MESSAGING_DESTINATION]
        attributes = {**base, **_RECEIVE, c.AGENT: name}
        start = end = at
        if timing is None:
            attributes[c.TIMING] = c.MISSING
        else:
            attributes[c.HOST] = timing.host
            start, end = timing.arrived, timing.began
        return Span(
            trace_id,
            self._span(f"receive {id}"),
            send,
            f"receive {name}",
            CONSUMER,
            start,
            end,
            m.minute,
            self._names[m.recipient],
            attributes,
        )

    def _process(
        self, id: str, m: SentMessage, timing: Timing | None, base: dict[str, Value]
    ) -> Span:
        trace_id, send, at = self._places.send[id]
        name = base[c.MESSAGING_DESTINATION]
        attributes = {**base, **_PROCESS, c.AGENT: name}
        start = end = at
        if timing is None:
            attributes[c.TIMING] = c.MISSING
        else:
            attributes[c.HOST] = timing.host
            start, end = timing.began, timing.began + timing.took
        span_id = self._places.process[id].span_id
        events, error = self._notes.on_message(id, span_id, attributes)
        return Span(
            trace_id,
            span_id,
            send,
            f"process {name}",
            CONSUMER,
            start,
            end,
            m.minute,
            self._names[m.recipient],
            attributes,
            (),
            error,
            events,
        )

    def _invoke(self, id: str, m: SentMessage, timing: Timing | None) -> Span:
        """A firm is asked for a command: what the conventions call invoking an agent."""
        trace_id, process, end = self._places.process[id]
        attributes: dict[str, Value] = {
            c.GEN_AI_OPERATION: "invoke_agent",
            c.GEN_AI_AGENT_NAME: self._names[m.recipient],
            c.DAY: self._day.day,
            c.MINUTE: m.minute,
        }
        error = self._notes.errors.get(id)
        if error is not None:
            attributes[c.ERROR_TYPE] = error.type
        if timing is None:
            attributes[c.TIMING] = c.MISSING
        return Span(
            trace_id,
            self._span(f"invoke {id}"),
            process,
            f"invoke_agent {self._names[m.recipient]}",
            INTERNAL,
            end if timing is None else timing.began,
            end,
            m.minute,
            self._names[m.recipient],
            attributes,
            (),
            error and error.line,
        )

    def _decide(self, id: str, m: SentMessage) -> Span:
        """A controller has decided what to buy, while it handled the message before this one."""
        above = self._places.above[id]
        timing = self._day.timings.get(self._day.sources.get(id, ""))
        policy = self._rules.get(m.sender, "unknown")
        attributes: dict[str, Value] = {
            c.POLICY: policy,
            c.DECISION: c.clipped(m.body),
            c.AGENT: self._names[m.sender],
            c.DAY: self._day.day,
            c.MINUTE: m.minute,
        }
        if timing is None:
            attributes[c.TIMING] = c.MISSING
        for event in self._day.events_because_of(self._day.sources.get(id, "")):
            if event.kind == "purchasing_decision" and event.agent == m.sender:
                # What the controller believed, in the names of BECON's note (its section 9).
                attributes |= {
                    c.clipped(name): value
                    for name, value in event.facts.items()
                    if name.startswith("becon.") and isinstance(value, float)
                }
        return Span(
            above.trace_id,
            self._span(f"decide {id}"),
            above.span_id,
            c.clipped(f"decide {policy}", 256),
            INTERNAL,
            above.end if timing is None else timing.began,
            above.end,
            m.minute,
            self._names[m.sender],
            attributes,
        )

    def _base(self, id: str, m: SentMessage) -> dict[str, Value]:
        """The attributes that the spans of one message share."""
        body = m.body
        base: dict[str, Value] = {
            c.MESSAGING_SYSTEM: c.SYSTEM,
            c.MESSAGING_DESTINATION: self._names[m.recipient],
            c.MESSAGING_MESSAGE_ID: id,
            c.MESSAGING_BODY_SIZE: len(body if body.isascii() else body.encode()),
            c.DAY: m.day,
            c.MINUTE: m.minute,
            c.ROUND: m.round,
            c.CHANNEL: self._names[m.channel],
            c.MESSAGE_TYPE: self._names[m.type],
        }
        if m.in_reply_to is not None:
            base[c.MESSAGING_CONVERSATION] = c.clipped(m.in_reply_to)
        return base


class _Names(dict[str, str]):
    """Names as spans show them: a user's agent may write to a name of any length."""

    def __missing__(self, name: str) -> str:
        shown = self[name] = c.clipped(name, _LONGEST_NAME)
        return shown
