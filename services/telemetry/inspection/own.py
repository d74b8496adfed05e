"""Users' own spans: which message or wake-up each lies under, how long it took, how it went."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from services.errors import HanseError
from services.telemetry.identity import Identity, wake_root
from services.telemetry.inspection import words
from services.telemetry.logged import RecordedSpan, SentMessage, TraceDay, parsed
from services.telemetry.reader import TraceReader
from services.telemetry.recorded import is_overlay

_DEEPEST: Final = 64
"""Spans that lie in each other are followed so far."""
_ID: Final = re.compile(r"[0-9a-fA-F]{16}")


class OwnSpan(NamedTuple):
    """A span that an agent's own code has made."""

    id: str
    agent: str
    minute: int
    name: str
    milliseconds: float
    status: str
    """``UNSET``, ``OK`` or ``ERROR``."""
    error: str
    """What went wrong; empty if nothing did or nobody said what."""
    parent: str | None
    """The id of the span in which it lies."""
    message: str | None
    """The message while which was handled it was begun; None: its agent was woken."""

    @property
    def failed(self) -> bool:
        """Whether its status is ERROR."""
        return self.status == "ERROR"

    @property
    def words(self) -> str:
        """``thinks: span think 3.7 ms: ERROR, no idea``, to be put behind the agent's name."""
        return f"thinks: {words.span(self.name, self.milliseconds, self.status, self.error)}"


class OwnSpans(NamedTuple):
    """The own spans of a day, in the order in which they began."""

    of_messages: dict[str, list[OwnSpan]]
    """By the message while which was handled they were begun."""
    of_wakes: dict[tuple[str, int], list[OwnSpan]]
    """By agent and virtual minute."""


NONE: Final = OwnSpans({}, {})


def is_span_id(text: str) -> bool:
    """Whether a text looks like the id of a span: 16 hexadecimal digits."""
    return _ID.fullmatch(text.strip()) is not None


def own_spans(identity: Identity, day: TraceDay) -> OwnSpans:
    """Where the own spans of a day lie, and handlings of messages that an agent has failed."""
    rows = {
        row.span_id: row
        for row in day.recorded
        if row.agent and (row.status == "ERROR" or not is_overlay(row))
    }
    if not rows:
        return NONE
    handled = _handled(identity, day, {row.agent for row in rows.values()})
    found = OwnSpans(defaultdict(list), defaultdict(list))
    for row in sorted(rows.values(), key=lambda row: (row.start, row.span_id)):
        message = _above(row, rows, handled)
        span = _span(row, message)
        if is_overlay(row):  # it has no times of its own
            timing = None if message is None else day.timing(message)
            span = span._replace(milliseconds=0.0 if timing is None else timing.took / 1e6)
        if message is None:
            found.of_wakes[row.agent, row.minute].append(span)
        else:
            found.of_messages[message].append(span)
    return OwnSpans(dict(found.of_messages), dict(found.of_wakes))


def _handled(identity: Identity, day: TraceDay, agents: set[str]) -> dict[str, str]:
    """The messages that agents have got, by the span of their handling."""
    return {
        f"{identity.span(f'process {id}'):016x}": id
        for id, message in day.by_id.items()
        if message.recipient in agents
    }


def _above(row: RecordedSpan, rows: dict[str, RecordedSpan], handled: dict[str, str]) -> str | None:
    if row.span_id in handled:
        return handled[row.span_id]
    for _ in range(_DEEPEST):
        if row.parent_id in handled:
            return handled[row.parent_id]
        if row.parent_id is None or row.parent_id not in rows:
            return None
        row = rows[row.parent_id]
    return None


def _span(row: RecordedSpan, message: str | None) -> OwnSpan:
    return OwnSpan(
        row.span_id,
        row.agent,
        row.minute,
        str(row.name),
        milliseconds(row.start, row.end),
        str(row.status),
        error_of(parsed(row.body)) if row.status == "ERROR" else "",
        row.parent_id,
        message,
    )


def error_of(facts: dict[str, Any]) -> str:
    """What a span that failed says of it; empty if nothing."""
    attributes = facts.get("attributes")
    said = [facts.get("error"), attributes.get("error.type") if isinstance(attributes, dict) else 0]
    told = [words.short(text) for text in said if isinstance(text, str) and text not in _NOTHING]
    return told[0] if told else ""


_NOTHING: Final = ("", "error", "_OTHER")
"""What stands where nobody has said what went wrong."""


def milliseconds(start: object, end: object) -> float:
    """How long a span took; 0 where its times are none."""
    return (end - start) / 1e6 if isinstance(start, int) and isinstance(end, int) else 0.0


def locate_span(reader: TraceReader, text: str) -> OwnSpan | SentMessage:
    """The own span of an id, or the message of whose handling it is the span.

    Raises:
        HanseError: There is no such span, or it is the league's own.
    """
    id, run = text.strip().lower(), reader.run
    rows = list(run.rows("spans", "span_id = ?", (id,)))
    for row in rows:
        if row[1] == "":
            raise HanseError(
                f"{id}: the span {row[5]} is the league's own: it comes from no message;"
                " name a span of an agent, a message or a paper"
            )
    for number in {int(row[0]) for row in rows} & set(reader.days):
        day = reader.day(number)
        spans = own_spans(reader.identity, day)
        for span in _all(spans):
            if span.id == id:
                return span
        handled = _handled(reader.identity, day, {str(row[1]) for row in rows})
        if id in handled:
            return day.by_id[handled[id]]
    raise HanseError(
        f"{run.folder}: no agent has made a span {id}; see those that there are with"
        " find --kind span"
    )


def _all(spans: OwnSpans) -> Iterable[OwnSpan]:
    for several in (*spans.of_messages.values(), *spans.of_wakes.values()):
        yield from several


def wake_name(span: OwnSpan) -> str:
    """The wake-up that a span lies under, as its trace calls it."""
    return wake_root(span.agent, span.minute)
