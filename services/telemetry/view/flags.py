"""What went wrong on a day: the one definition by which the page counts, colours and filters."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from services.runs.bodies import body_of
from services.telemetry.logged import RecordedSpan
from services.telemetry.recorded import is_overlay


class Flag(IntEnum):
    """What an event or a span says of how it went; only the last is an error."""

    NONE = 0
    REFUSED = 1
    """A command that an exchange refused."""
    LOST = 2
    """A delivery that never arrives."""
    LATE = 3
    """A delivery that takes a day longer."""
    STRAY = 4
    """A message that its recipient did not expect."""
    BANKRUPT = 5
    """A firm that is out of business."""
    ERROR = 6
    """An agent's error, a turn that was missed, mail that was refused or could not be delivered,
    a span of a user's own that failed."""


ERRORS: Final = frozenset({"agent_error", "turn_missed", "mail_refused", "undeliverable"})
"""The kinds of events that are errors."""

_KINDS: Final = {
    **dict.fromkeys(ERRORS, Flag.ERROR),
    **dict.fromkeys(("stray_command", "stray_trade", "unhandled"), Flag.STRAY),
    "bankruptcy": Flag.BANKRUPT,
}
_OUTCOMES: Final = {"lost": Flag.LOST, "delayed": Flag.LATE}


def flag_of_event(kind: str, text: str) -> Flag:
    """What an event says of how it went.

    Args:
        kind: The event's kind.
        text: Its body as it is stored.
    """
    if kind == "action":
        # Most commands are carried out; their bodies need not be read.
        if '"error"' not in text:
            return Flag.NONE
        return Flag.REFUSED if (body_of(text) or {}).get("status") == "error" else Flag.NONE
    if kind == "delivery":
        outcome = (body_of(text) or {}).get("outcome")
        return _OUTCOMES.get(outcome, Flag.NONE) if isinstance(outcome, str) else Flag.NONE
    return _KINDS.get(kind, Flag.NONE)


def flag_of_span(span: RecordedSpan) -> Flag:
    """Whether a span is a user's own and failed."""
    failed = span.status == "ERROR" and span.agent and not is_overlay(span)
    return Flag.ERROR if failed else Flag.NONE
