"""What the page cannot say by itself: sentences that come with a day, as the command line has them.

The page has words of its own for trade (``view_words.js``). What monitors, containment and policies
do, and what firms say to each other, is told here; some of it stands in other days of the run.
"""

from __future__ import annotations

from services.telemetry.inspection import (
    lever_words,
    purchasing_words,
    routing_words,
    talk_words,
    words,
)
from services.telemetry.inspection.prose import Prose
from services.telemetry.logged import LoggedEvent, SentMessage, TraceDay

_EVENTS = {
    *talk_words.EVENTS,
    *lever_words.EVENTS,
    *purchasing_words.EVENTS,
    *routing_words.EVENTS,
}


def sentences(prose: Prose, day: TraceDay) -> dict[str, dict[str, str]]:
    """The sentences of a day's ``messages`` and ``events``, by their places in the day."""
    messages = ((str(place), _of_message(prose, m)) for place, m in enumerate(day.messages))
    events = ((str(place), _of_event(prose, e)) for place, e in enumerate(day.events))
    return {
        "messages": {place: told for place, told in messages if told is not None},
        "events": {place: told for place, told in events if told is not None},
    }


def _of_message(prose: Prose, message: SentMessage) -> str | None:
    told = prose.message(message)
    if told is None and message.type in talk_words.MESSAGES:
        told = words.message(message.type, message.sender, message.recipient, message.facts)
    return told


def _of_event(prose: Prose, event: LoggedEvent) -> str | None:
    told = prose.event(event)
    if told is None and event.kind in _EVENTS:
        told = words.event(event.kind, event.subject, event.facts)
    return told
