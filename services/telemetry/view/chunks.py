"""A day of a run as the page reads it: columns with a table of names, as compressed JSON."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from services.telemetry.inspection.own import own_spans
from services.telemetry.inspection.prose import Prose
from services.telemetry.logged import TraceDay
from services.telemetry.reader import RecordedSpan, TraceReader
from services.telemetry.recorded import is_overlay
from services.telemetry.timings import Timing
from services.telemetry.view.flags import flag_of_event, flag_of_span
from services.telemetry.view.sentences import sentences

TICK: Final = 100
"""Nanoseconds in the unit of a day's wall times; a handler takes some dozens of them or more."""


class _Names:
    """Numbers texts that occur often."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def __call__(self, texts: Iterable[str]) -> list[int]:
        return [self.places.setdefault(text, len(self.places)) for text in texts]


def day_chunk(reader: TraceReader, day: int) -> dict[str, Any]:
    """Everything the page shows of a day, as plain data.

    ``names`` numbers senders, recipients, types and the like. A ``cause`` is the place within the
    day of the message that it names, or its id if that was not sent before on this day, or None.
    Wall times are ticks of 100 ns since ``base`` (milliseconds since 1970), None where they are not
    known. A span's ``within`` is the place of the message while which was handled it was begun;
    rows that only say more of a derived span have no times and are no spans here. ``told`` are the
    sentences that the page does not make itself.
    """
    found = reader.day(day)
    recorded = [span for span in found.recorded if not is_overlay(span)]
    within = _within(reader, found, places := {id: at for at, id in enumerate(found.by_id)})
    names = _Names()
    messages, events = found.messages, found.events

    def source(cause: str | None, before: int) -> int | str | None:
        place = None if cause is None else places.get(cause)
        return cause if place is None or place >= before else place

    timings = [found.timing(message.id) for message in messages]
    base = min((timing.arrived for timing in timings if timing is not None), default=None)
    if base is None:
        base = min((span.start for span in recorded), default=None)
    return {
        "day": day,
        "messages": {
            "minute": [m.minute for m in messages],
            "round": [m.round for m in messages],
            "sender": names(m.sender for m in messages),
            "number": [m.number for m in messages],
            "recipient": names(m.recipient for m in messages),
            "channel": names(m.channel for m in messages),
            "type": names(m.type for m in messages),
            "cause": [source(m.source, place) for place, m in enumerate(messages)],
            "body": [m.body for m in messages],
        },
        "unhandled": [
            places[id] for id in sorted(found.undeliverable | found.refused) if id in places
        ],
        "timings": _timed(timings, base, names),
        "events": {
            "minute": [e.minute for e in events],
            "round": [e.round for e in events],
            "agent": names(e.agent for e in events),
            "ordinal": [e.ordinal for e in events],
            "cause": [source(e.cause, len(messages)) for e in events],
            "kind": names(e.kind for e in events),
            "subject": names(e.subject for e in events),
            "body": [e.body for e in events],
            "flag": [flag_of_event(e.kind, e.body) for e in events],
        },
        "wakes": [
            [agent, minute, timing.host, _ticks(timing.began, base), _ticks(timing.took, 0)]
            for (agent, minute), timing in found.wakes.items()
        ],
        "spans": [
            {
                **_recorded(span, base),
                "within": within.get(span.span_id),
                "flag": flag_of_span(span),
            }
            for span in recorded
        ],
        "told": sentences(Prose(reader), found),
        "base": None if base is None else base / 1e6,
        "names": list(names.places),
    }


def _timed(
    timings: Sequence[Timing | None], base: int | None, names: _Names
) -> dict[str, list[Any]] | None:
    if not any(timings):
        return None
    return {
        "host": [None if t is None else names([t.host])[0] for t in timings],
        "arrived": [None if t is None else _ticks(t.arrived, base) for t in timings],
        "began": [None if t is None else _ticks(t.began, base) for t in timings],
        "took": [None if t is None else _ticks(t.took, 0) for t in timings],
    }


def _ticks(nanoseconds: int, base: int | None) -> int:
    return round((nanoseconds - (base or 0)) / TICK)


def _recorded(span: RecordedSpan, base: int | None) -> dict[str, Any]:
    return {
        **span._asdict(),
        "start": _ticks(span.start, base),
        "end": _ticks(span.end, base),
    }


def _within(reader: TraceReader, found: TraceDay, places: dict[str, int]) -> dict[str, int]:
    return {
        span.id: places[message]
        for message, spans in own_spans(reader.identity, found).of_messages.items()
        for span in spans
    }


def packed(chunk: Any, level: int = 6) -> bytes:
    """A chunk as gzipped JSON; the same chunk gives the same bytes."""
    text = json.dumps(chunk, separators=(",", ":"), ensure_ascii=True)
    return gzip.compress(text.encode(), level, mtime=0)
