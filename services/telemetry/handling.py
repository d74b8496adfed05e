"""Spans that users' own code makes with the ordinary OpenTelemetry API inside its handlers.

A host runs a handler of foreign code (:meth:`OwnSpans.around`) with the span of the message that it
handles as the current one, so that what the code makes nests where it belongs::

    tracer = trace.get_tracer(__name__)

    class Patient(DailyPlan):
        def day(self) -> Plan:
            with tracer.start_as_current_span("plan") as span:
                span.set_attribute("mood", "patient")

The spans end up in the run's store as rows of its table ``spans``. Code that is not foreign, or
never imports ``opentelemetry``, pays nothing. Ids are hashes (:mod:`services.telemetry.identity`),
so a rerun gives the same ones.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from random import getrandbits
from typing import TYPE_CHECKING, Any, Final

from services.messages import MINUTES_PER_DAY
from services.telemetry.identity import Identity, wake_root
from services.telemetry.own_rows import MOST_ITEMS, SpanRow, overlay_row, span_row

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

SPANS_A_DAY: Final = 10_000
"""What one agent may make in a day; more are dropped and counted."""

_log = logging.getLogger(__name__)

_place: ContextVar[Place | None] = ContextVar("hanse_place", default=None)


class Place:
    """One call of a handler: where spans are that begin in it. One is made for every call."""

    __slots__ = ("_name", "_notes", "agent", "made", "minute", "owner", "said", "status")

    def __init__(self, owner: OwnSpans, agent: str, minute: int, message: str, root: str) -> None:
        self.owner = owner
        self.agent = agent
        self.minute = minute
        self.made = 0
        self.said: list[dict[str, Any]] | None = None
        """The events of the call's own span."""
        self.status = "UNSET"
        self._name = message, root
        self._notes: dict[str, Any] | None = None

    @property
    def what(self) -> str:
        """What the span of the call stands for, see :mod:`services.telemetry.identity`."""
        message, _ = self._name
        return f"process {message}" if message else wake_root(self.agent, self.minute)

    @property
    def span_id(self) -> int:
        """The id of the span of the call."""
        return self.owner.identity.span(self.what)

    @property
    def trace_id(self) -> int:
        """The id of the trace that the call belongs to."""
        message, root = self._name
        return self.owner.identity.trace(f"wake {root}" if message and root else self._wake)

    @property
    def notes(self) -> dict[str, Any]:
        """What the code has said about the span of the call itself."""
        return self._notes or {}

    @property
    def _wake(self) -> str:
        return wake_root(self.agent, self.minute)

    def note(self, key: str, value: Any) -> None:
        """Keeps an attribute of the call's own span."""
        notes = self._notes
        if notes is None:
            notes = self._notes = {}
        if key in notes or len(notes) < MOST_ITEMS:
            notes[key] = value

    def say(self, name: str, time: int, attributes: dict[str, Any]) -> None:
        """Keeps an event of the call's own span."""
        said = self.said
        if said is None:
            said = self.said = []
        if len(said) < MOST_ITEMS:
            said.append({"name": name, "time": time, "attributes": attributes})

    def next_id(self) -> int:
        """The id of the next span that begins in this call."""
        self.made += 1
        return self.owner.identity.span(f"own {self.made} of {self.what}")


class OwnSpans:
    """Gathers the spans that foreign code makes on one host.

    Args:
        key: The digest of the run's configuration, from which ids are made.
    """

    def __init__(self, key: str) -> None:
        self.identity = Identity(key)
        self.dropped = 0
        """Spans that were one too many, or ended after their day."""
        self._rows: list[SpanRow] = []
        self._made: dict[str, int] = {}
        self._day = -1
        self._enter: Callable[[Place], None] | None = None
        self._off = False

    def around(
        self,
        handler: Callable[..., Any],
        agent: str,
        minute: int,
        message: str,
        root: str,
    ) -> Callable[..., None]:
        """The handler, to be called with a place for spans around it; in whatever thread.

        Args:
            handler: What is called.
            agent: Whose handler it is.
            minute: Virtual minutes since the start of the run.
            message: The id of the message that it handles; empty for a wake-up.
            root: The wake-up (``agent@minute``) with which the chain of causes began.
        """
        if self._off or "opentelemetry.trace" not in sys.modules:
            return handler
        place = Place(self, agent, minute, message, root)
        if self._enter is None:
            try:
                prepare_process()
                from services.telemetry.own_spans import enter
            except ValueError as error:  # the SDK's, for a limit in the environment that is none
                _log.warning("spans that strategies make are not kept: %s", error)
                self._off = True
                return handler
            self._enter = enter
        return lambda *arguments: copy_context().run(self._in_place, place, handler, arguments)

    def _in_place(
        self, place: Place, handler: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> None:
        """Calls a handler with its place; in a context of its own.

        So what an earlier call has left open (a ``with`` around a ``yield``) cannot come back into
        this one when it is closed.
        """
        _place.set(place)
        assert self._enter is not None
        self._enter(place)
        try:
            handler(*arguments)
        finally:
            if place.said or place.notes or place.status != "UNSET":
                self._keep(overlay_row, place)

    def take(self, day: int) -> list[SpanRow]:
        """Hands over, and forgets, the spans of a day; those that are still open end with it."""
        if self._enter is not None:
            from services.telemetry.own_spans import end_open

            end_open(self)
        rows, self._rows = self._rows, []
        self._day, self._made = day, {}
        kept = {row[:3]: row for row in rows if row[0] == day}
        self.dropped += len(rows) - len(kept)
        return list(kept.values())

    def add(self, place: Place, span: ReadableSpan) -> None:
        """Takes a span that has ended."""
        made = self._made[place.agent] = self._made.get(place.agent, 0) + 1
        if made > SPANS_A_DAY or place.minute // MINUTES_PER_DAY <= self._day:
            self.dropped += 1
        else:
            self._keep(span_row, place, span)

    def _keep(self, make: Callable[..., SpanRow], *about: Any) -> None:
        """Keeps a row, if one can be made; users' spans hold whatever they like."""
        try:
            self._rows.append(make(*about))
        except Exception:  # nothing that is traced may cost an agent its turn
            self.dropped += 1


def prepare_process() -> None:
    """Makes this process record spans that are made inside handlers. May be repeated.

    Where nobody has set a tracer provider, one is set; to one that has been set, only a span
    processor is added.

    Raises:
        ValueError: the environment holds a limit of OpenTelemetry's that is none.
    """
    global _prepared
    if _prepared:
        return
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    from services.telemetry.own_spans import Collector, PlaceIds

    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):
        # The store keeps all; what is exported is for the exporters' sampler to say.
        provider = TracerProvider(id_generator=PlaceIds(), sampler=ALWAYS_ON)
        trace.set_tracer_provider(provider)
    with suppress(AttributeError):  # a provider of somebody's own may take no processors
        provider.add_span_processor(Collector())  # type: ignore[attr-defined]
    _prepared = True


_prepared = False


def current_place() -> Place | None:
    """The call of a handler that is going on in this thread."""
    return _place.get()


def random_id(bits: int) -> int:
    """An id for a span that is made outside all handlers."""
    return getrandbits(bits) or 1
