"""What a host notes for tracing while its agents work; see ``services.telemetry``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from services.messages import NOBODY, Message
from services.telemetry import timings
from services.telemetry.handling import OwnSpans
from services.telemetry.own_rows import SpanRow
from services.telemetry.timings import clock


class DayNotes(NamedTuple):
    """The notes of a day."""

    handled: int
    """Messages that the host's agents have handled, each with its timing."""
    unhandled: int
    """Messages that nobody will handle, as an event tells."""
    timings: bytes | None
    """When the agents handled what they did; see ``services.telemetry.timings``."""
    spans: list[SpanRow]
    """What users' code has traced itself; see ``services.telemetry.handling``."""


class Notes:
    """Keeps the notes of one host.

    Args:
        host: Its name.
        trace_key: The digest of the run's configuration; ``None``: nothing is traced.
    """

    def __init__(self, host: str, trace_key: str | None) -> None:
        self.own = None if trace_key is None else OwnSpans(trace_key)
        self.arrived = 0
        """When the mail of the round was there, by :data:`services.telemetry.timings.clock`."""
        self.unhandled = 0
        self.handled: list[timings.Handled] = []
        self._woken: list[timings.Woken] = []
        self._host = host
        self._anchor = timings.anchor()

    def begin(self) -> None:
        """Forgets everything: the host begins anew."""
        self.arrived = self.unhandled = 0
        self.handled, self._woken = [], []

    def mail_is_there(self) -> None:
        """A round's mail can be handled from now on."""
        self.arrived = clock()

    def woken(self, agent: str, minute: int, began: int) -> None:
        """An agent was woken (or started) at ``minute``; by the clock, from ``began`` to now."""
        self._woken.append((agent, minute, began, clock() - began))

    def heard(self, message: Message, began: int) -> None:
        """A message was handled, from ``began`` to now."""
        self.handled.append((message.sender, message.number, began, began, clock() - began))

    def placed(
        self, handler: Callable[..., Any], agent: str, minute: int, message: Message | None
    ) -> Callable[..., Any]:
        """The handler with a place for the spans that it makes, if they are traced."""
        if self.own is None:
            return handler
        origin = NOBODY if message is None else message.origin
        return self.own.around(handler, agent, minute, *origin)

    def trace_of(self, message: Message) -> str | None:
        """The trace of a message, as 32 hexadecimal digits, if it is traced."""
        if self.own is None:
            return None
        return f"{self.own.identity.trace(f'wake {message.root}'):032x}"

    def take(self, day: int, counters: dict[str, int]) -> DayNotes:
        """Hands over, and forgets, the notes of a day; counts what was dropped."""
        unhandled, self.unhandled = self.unhandled, 0
        handled, self.handled = self.handled, []
        woken, self._woken = self._woken, []
        if self.own is None:
            return DayNotes(len(handled), unhandled, None, [])
        spans = self.own.take(day)
        if self.own.dropped:
            counters["spans_dropped"], self.own.dropped = self.own.dropped, 0
        record = timings.pack(self._host, self._anchor, handled, woken)
        return DayNotes(len(handled), unhandled, record, spans)
