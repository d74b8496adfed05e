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

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from math import isfinite
from random import getrandbits
from typing import TYPE_CHECKING, Any, Final

from services.telemetry.attributes import plain
from services.telemetry.identity import Identity, wake_root

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

SPANS_A_DAY: Final = 10_000
"""What one agent may make in a day; more are dropped and counted."""
LONGEST_TEXT: Final = 4_096
MOST_ITEMS: Final = 128

SpanRow = tuple[int, str, str, str, str | None, str, str, int, int, int, str, str]
"""(day, agent, span_id, trace_id, parent_id, name, kind, began, ended, minute, status, body)."""

_Entrance = tuple[Callable[[Any], Any], Callable[[Any], None], Callable[..., Any]]

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
            about = _small(attributes)
            said.append({"name": _cut(name), "time": time, "attributes": about})

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
        self._entered: _Entrance | None = None

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
        if "opentelemetry.trace" not in sys.modules:
            return handler
        enter, leave, call_span = self._entrance()
        place = Place(self, agent, minute, message, root)

        def placed(*arguments: Any) -> None:
            here = _place.set(place)
            token = enter(call_span(place))
            try:
                handler(*arguments)
            finally:
                leave(token)
                _place.reset(here)
                if place.said or place.notes or place.status != "UNSET":
                    self._close(place)

        return placed

    def _entrance(self) -> _Entrance:
        """Makes a span the current one; goes back to the one before; the span of a call."""
        if self._entered is None:
            prepare_process()
            from services.telemetry import own_spans

            self._entered = own_spans.enter, own_spans.leave, own_spans.CallSpan
        return self._entered

    def take(self, day: int) -> list[SpanRow]:
        """Hands over, and forgets, the spans of a day; what ends later is dropped and counted."""
        rows, self._rows = self._rows, []
        self._day, self._made = day, {}
        kept = {row[:3]: row for row in rows if row[0] == day}
        self.dropped += len(rows) - len(kept)
        return list(kept.values())

    def add(self, place: Place, span: ReadableSpan) -> None:
        """Takes a span that has ended."""
        made = self._made[place.agent] = self._made.get(place.agent, 0) + 1
        day = place.minute // 1440
        if made > SPANS_A_DAY or day <= self._day:
            self.dropped += 1
            return
        about = span.get_span_context()
        assert about is not None
        parent = span.parent
        body: dict[str, Any] = {"attributes": _small(span.attributes or {})}
        if span.events:
            body["events"] = [
                {"name": e.name, "time": e.timestamp, "attributes": _small(e.attributes or {})}
                for e in span.events[:MOST_ITEMS]
            ]
        if span.links:
            body["links"] = [
                {"trace_id": f"{to.trace_id:032x}", "span_id": f"{to.span_id:016x}"}
                for to in (link.context for link in span.links[:MOST_ITEMS])
            ]
        if span.instrumentation_scope is not None:
            body["attributes"].setdefault("otel.scope.name", span.instrumentation_scope.name)
        if span.status.status_code.name == "ERROR":
            body["error"] = _cut(span.status.description or "error")
            raised = [e.attributes or {} for e in span.events if e.name == "exception"]
            kind = raised[-1].get("exception.type") if raised else None
            body["attributes"].setdefault("error.type", _cut(str(kind or "_OTHER")))
        self._rows.append(
            (
                day,
                place.agent,
                f"{about.span_id:016x}",
                f"{about.trace_id:032x}",
                None if parent is None else f"{parent.span_id:016x}",
                _cut(span.name),
                span.kind.name,
                span.start_time or 0,
                span.end_time or span.start_time or 0,
                place.minute,
                span.status.status_code.name,
                json.dumps(body),
            )
        )

    def _close(self, place: Place) -> None:
        """Notes what the code has said about the span of its own call; it is laid over it later."""
        body = {"attributes": _small(place.notes), "events": place.said or []}
        self._rows.append(
            (
                place.minute // 1440,
                place.agent,
                f"{place.span_id:016x}",
                f"{place.trace_id:032x}",
                None,
                "process",
                "CONSUMER",
                0,
                0,
                place.minute,
                place.status,
                json.dumps(body),
            )
        )


def prepare_process() -> None:
    """Makes this process record spans that are made inside handlers. May be repeated.

    Where nobody has set a tracer provider, one is set; to one that has been set, only a span
    processor is added.
    """
    global _prepared
    if _prepared:
        return
    _prepared = True
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


_prepared = False


def current_place() -> Place | None:
    """The call of a handler that is going on in this thread."""
    return _place.get()


def random_id(bits: int) -> int:
    """An id for a span that is made outside all handlers."""
    return getrandbits(bits) or 1


def _small(attributes: Any) -> dict[str, Any]:
    kept = list(attributes.items())[:MOST_ITEMS]
    return {_cut(str(key)): _limited(value) for key, value in plain(dict(kept)).items()}


def _limited(value: Any) -> Any:
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Sequence):
        return [_limited(item) for item in value[:MOST_ITEMS]]
    return value


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "[cut]"
