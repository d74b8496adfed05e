"""A day of a run as the log holds it: messages, events, and who brought about what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from services.runs.bodies import body_of
from services.telemetry.identity import wake_root
from services.telemetry.timings import Timing


class SentMessage(NamedTuple):
    """A row of the log's messages."""

    day: int
    minute: int
    """Virtual minutes since the start of the run."""
    round: int
    sender: str
    number: int
    recipient: str
    channel: str
    type: str
    in_reply_to: str | None
    cause: str | None
    trace: str | None
    """W3C ``traceparent``, if the message came from outside or from a user's own span."""
    body: str
    """JSON, without fields at their default."""

    @property
    def id(self) -> str:
        """``sender#number``."""
        return f"{self.sender}#{self.number}"

    @property
    def source(self) -> str | None:
        """The id of the message from which this one came; ``None``: of a wake-up, or the start."""
        return self.cause or self.in_reply_to

    @property
    def facts(self) -> dict[str, Any]:
        """The parsed body; empty if it is no JSON object."""
        return parsed(self.body)


class LoggedEvent(NamedTuple):
    """A row of the log's events."""

    day: int
    minute: int
    """Virtual minutes since the start of the run."""
    round: int
    agent: str
    """Who recorded it: mostly an exchange."""
    ordinal: int
    """The agent's own count of its records."""
    cause: str | None
    """The id of the message that brought it about; ``None``: the time of day did."""
    kind: str
    subject: str
    """The firm that it is about, or empty."""
    body: str
    """JSON."""

    @property
    def id(self) -> str:
        """``agent!ordinal``."""
        return f"{self.agent}!{self.ordinal}"

    @property
    def facts(self) -> dict[str, Any]:
        """The parsed body; empty if it is no JSON object."""
        return parsed(self.body)


class RecordedSpan(NamedTuple):
    """A row of the table ``spans``: what was recorded as a span while the run went on."""

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: str
    start: int
    """Nanoseconds since 1970."""
    end: int
    minute: int
    agent: str
    """Empty for the league itself."""
    status: str
    body: str
    """JSON: attributes, events and links."""


class Written(NamedTuple):
    """How many rows a day's checkpoint says that there are."""

    messages: int
    events: int


def parsed(body: str) -> dict[str, Any]:
    """A body's facts; empty if it is no JSON object."""
    return body_of(body) or {}


class TraceDay:
    """One whole day of a run.

    Args:
        day: Which.
        messages: In the order of the log.
        events: Likewise.
        timings: By message id.
        wakes: By agent and virtual minute.
        recorded: The spans that were recorded as such.
        written: How many rows there should be.
        unreadable: Records of timings that could not be read.
    """

    def __init__(
        self,
        day: int,
        messages: list[SentMessage],
        events: list[LoggedEvent],
        timings: Mapping[str, Timing],
        wakes: Mapping[tuple[str, int], Timing],
        recorded: list[RecordedSpan],
        written: Written,
        unreadable: int = 0,
    ) -> None:
        self.day = day
        self.messages = messages
        self.events = events
        self.timings = timings
        self.wakes = wakes
        self.recorded = recorded
        self.written = written
        self.unreadable = unreadable

    @cached_property
    def by_id(self) -> dict[str, SentMessage]:
        """The day's messages by their ids, in the order of the log."""
        return {f"{m.sender}#{m.number}": m for m in self.messages}

    def message(self, id: str) -> SentMessage | None:
        """The message of that id, if it was sent on this day."""
        return self.by_id.get(id)

    def sent_because_of(self, id: str) -> list[SentMessage]:
        """What was sent on this day while that message was handled, in order."""
        return self._sent.get(id, [])

    def events_because_of(self, id: str) -> list[LoggedEvent]:
        """What that message brought about on this day, in order."""
        return self._brought_about.get(id, [])

    def timing(self, id: str) -> Timing | None:
        """When that message was handled; ``None`` if nobody knows."""
        return self.timings.get(id)

    def root(self, id: str) -> str:
        """What names the trace of a message of this day.

        Raises:
            KeyError: it is none.
        """
        return self.roots[id]

    @cached_property
    def sources(self) -> dict[str, str]:
        """For every message that came from another of this day: which.

        Only what was sent before counts. A user's agent may name anything as what it replies to: a
        message of the past, of nobody, or one that came later; such a message begins a trace.
        """
        sources: dict[str, str] = {}
        known: set[str] = set()
        for id, message in self.by_id.items():
            source = message.cause or message.in_reply_to
            if source is not None and source in known:
                sources[id] = source
            known.add(id)
        return sources

    @cached_property
    def roots(self) -> dict[str, str]:
        """For every message of the day what names its trace."""
        roots: dict[str, str] = {}
        sources = self.sources
        for id, message in self.by_id.items():
            source = sources.get(id)
            roots[id] = (
                wake_root(message.sender, message.minute) if source is None else roots[source]
            )
        return roots

    @cached_property
    def refused(self) -> set[str]:
        """The messages that a full mailbox has refused.

        The log counts them by recipient and minute; which they were follows from the order of
        delivery and the limit.
        """
        limits = {
            (event.agent, event.minute): limit
            for event in self.events
            if event.kind == "mail_refused" and event.cause is None
            # A sender that is held back has said it of itself, and its mail is not in the log.
            if type(limit := event.facts.get("limit")) is int
        }
        if not limits:
            return set()
        taken: Counter[tuple[str, str, int]] = Counter()
        refused = set()
        for id, m in self.by_id.items():
            limit = limits.get((m.recipient, m.minute))
            if limit is not None:
                taken[m.recipient, m.sender, m.minute] += 1
                if taken[m.recipient, m.sender, m.minute] > limit:
                    refused.add(id)
        return refused

    @cached_property
    def undeliverable(self) -> set[str]:
        """The messages to nobody."""
        told = {
            e.cause: e.agent
            for e in self.events
            if e.kind == "undeliverable" and e.cause is not None
        }
        return {
            id
            for id, agent in told.items()
            # An agent may record what it likes, but its host says this of what it has sent.
            if (sent := self.by_id.get(id)) is not None and sent.sender == agent != sent.recipient
        }

    @cached_property
    def _sent(self) -> dict[str, list[SentMessage]]:
        sent = defaultdict(list)
        for id, message in self.by_id.items():
            if (source := self.sources.get(id)) is not None:
                sent[source].append(message)
        return dict(sent)

    @cached_property
    def _brought_about(self) -> dict[str, list[LoggedEvent]]:
        events = defaultdict(list)
        for event in self.events:
            if event.cause is not None:
                events[event.cause].append(event)
        return dict(events)
