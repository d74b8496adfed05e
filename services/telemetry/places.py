"""Where everything of a day stands: the trace and the span of each message and wake-up."""

from __future__ import annotations

from typing import NamedTuple

from services.telemetry.identity import Identity, wake_root
from services.telemetry.logged import LoggedEvent, TraceDay

Wake = tuple[str, int]
"""(agent, virtual minute)."""


class Spot(NamedTuple):
    """A span under which something else hangs."""

    trace_id: int
    span_id: int
    end: int
    """When it is over, in nanoseconds since 1970; 0 where nobody knows."""


class Moment(NamedTuple):
    """When a wake-up was, in nanoseconds since 1970."""

    host: str | None
    start: int
    end: int
    measured: bool
    """Otherwise it is inferred from what came of it, or 0."""


def first_arrivals(day: TraceDay) -> dict[Wake, int]:
    """For every wake-up of a day when the first message sent in it had arrived; 0 if unknown.

    What nobody's message brought about counts as of a wake-up, even if its agent did it unprompted
    while it handled something else.
    """
    unhandled = day.refused | day.undeliverable
    first: dict[Wake, int] = {}
    for id, m in day.by_id.items():
        source = day.sources.get(id)
        # Whoever names a message that was never handled cannot have sent because of it.
        if source is None or source in unhandled:
            wake, timing = (m.sender, m.minute), day.timings.get(id)
            known = first.get(wake, 0)
            if timing is not None:
                known = min(known or timing.arrived, timing.arrived)
            first[wake] = known
    for event in day.events:
        cause = event.cause
        if cause is None or cause in unhandled or cause not in day.by_id:
            first.setdefault((event.agent, event.minute), 0)
    for wake in day.wakes:
        first.setdefault(wake, 0)
    return first


class Places:
    """The places of one day.

    Args:
        identity: The ids of the run.
        day: The day.
    """

    def __init__(self, identity: Identity, day: TraceDay) -> None:
        self.day = day
        self.identity = identity
        self.unhandled = day.refused | day.undeliverable
        """The messages that nobody ever handled."""
        self.process: dict[str, Spot] = {}
        """For every message that was handled: the span of its handling."""
        self.send: dict[str, Spot] = {}
        """For every message: the span of its sending, which begins and ends at its end."""
        self.above: dict[str, Spot] = {}
        """For every message: the span under which it was sent."""
        self.wakes: dict[Wake, Spot] = {}
        self.moments: dict[Wake, Moment] = {}
        """When those wake-ups were; by minute and agent in order."""
        self._set_wakes()
        self._set_messages()

    def under(self, event: LoggedEvent) -> Spot:
        """The span under which an event happened: a message's handling, or a wake-up."""
        found = self.process.get(event.cause) if event.cause is not None else None
        return self.wakes[event.agent, event.minute] if found is None else found

    def _set_wakes(self) -> None:
        day, first = self.day, first_arrivals(self.day)
        span, trace = self.identity.span, self.identity.trace
        ends = self._last_ends({wake for wake, at in first.items() if not at})
        for wake in sorted(first, key=lambda w: (w[1], w[0])):
            timing = day.wakes.get(wake)
            if timing is not None:
                moment = Moment(timing.host, timing.began, timing.began + timing.took, True)
            else:
                # No wake-up: its agent did this unprompted, while it handled something else.
                at = first[wake] or ends.get(wake, 0)
                moment = Moment(None, at, at, False)
            root = wake_root(*wake)
            self.moments[wake] = moment
            self.wakes[wake] = Spot(trace(root), span(root), moment.end)

    def _last_ends(self, wakes: set[Wake]) -> dict[Wake, int]:
        """When agents had last handled something in a minute."""
        ends: dict[Wake, int] = {}
        if wakes - self.day.wakes.keys():
            for id, m in self.day.by_id.items():
                timing = self.day.timings.get(id)
                wake = m.recipient, m.minute
                if timing is not None and wake in wakes:
                    ends[wake] = max(ends.get(wake, 0), timing.began + timing.took)
        return ends

    def _set_messages(self) -> None:
        day, unhandled, wakes, process = self.day, self.unhandled, self.wakes, self.process
        span, sources, timings = self.identity.span, day.sources, day.timings
        for id, m in day.by_id.items():
            source = sources.get(id)
            above = process.get(source) if source is not None else None
            if above is None:
                above = wakes[m.sender, m.minute]
            trace, _, sent = above
            timing = timings.get(id)
            if not sent and timing is not None:
                sent = timing.arrived
            self.above[id] = above
            self.send[id] = Spot(trace, span(f"send {id}"), sent)
            if id not in unhandled:
                done = sent if timing is None else timing.began + timing.took
                process[id] = Spot(trace, span(f"process {id}"), done)
