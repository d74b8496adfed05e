"""A run at a glance: its spans, its slowest handlers, its troubles, who talks with whom."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from services.runs.troubles import refusals, troubles
from services.telemetry.completeness import count
from services.telemetry.inspection.late import LateSum, add_up, late_invoices
from services.telemetry.inspection.own import own_spans
from services.telemetry.inspection.targets import exchanges
from services.telemetry.logged import TraceDay
from services.telemetry.reader import TraceReader
from services.telemetry.recorded import is_overlay
from services.telemetry.span import CONSUMER, PRODUCER
from services.telemetry.spans import derive

_PAIRS: Final = 10
_SENT: Final = frozenset((PRODUCER, CONSUMER))
"""What the spans of messages are, and no others but agents' own."""
_SHARES: Final = (0.5, 0.95, 0.99)


class Handler(NamedTuple):
    """How long an agent, or agents of a type, take to handle messages of a type; milliseconds."""

    agents: str
    """An agent's name; what they are where there are many agents."""
    message: str
    times: int
    total: float
    p50: float
    p95: float
    p99: float
    longest: float
    slowest: str
    """The message that took longest."""


class Pair(NamedTuple):
    """Messages between two agents, both ways."""

    one: str
    two: str
    messages: int


class Summary(NamedTuple):
    """What `hanse trace RUN` has to say."""

    folder: str
    """The name of the run's folder."""
    run: str
    """The run's id."""
    days: int
    messages: int
    events: int
    traces: int
    kinds: dict[str, int]
    """Spans by kind: the first word of their names; agents' own by their whole names."""
    of_messages: int
    """Those of messages: send, receive and process."""
    handlers: list[Handler]
    """The slowest first, by the 99th percentile; empty if the run has no timings."""
    by_agent: bool
    """Whether handlers are told agent by agent, or else by what agents are."""
    troubles: list[str]
    errors: list[str]
    """Own spans that failed, the most frequent first."""
    late: LateSum
    """Invoices that were paid late, or are not paid."""
    refused: dict[str, tuple[int, int, str]]
    """Firms' commands, how many were refused, and the most frequent code."""
    pairs: list[Pair]
    virtual_minutes: int
    wall_seconds: float | None
    """From the first message to the end of the last; None if the run has no timings."""
    busy_seconds: float | None
    """Spent in agents' handlers."""
    found: int
    expected: int
    missing: dict[str, int]
    doubtful: dict[str, int]

    def document(self) -> dict[str, Any]:
        """All of it for ``--json``."""
        named = self._asdict()
        named["handlers"] = [handler._asdict() for handler in self.handlers]
        named["pairs"] = [pair._asdict() for pair in self.pairs]
        named["late"] = self.late.document()
        named["refused"] = {
            firm: {"commands": commands, "refused": refused, "most_frequent": code}
            for firm, (commands, refused, code) in self.refused.items()
        }
        return named


def summary(
    reader: TraceReader,
    on_day: Callable[[int, int], object] = lambda day, days: None,
    agents_apart: int = 30,
) -> Summary:
    """Adds a run up; it takes about a second for 20,000 messages.

    Args:
        reader: The run.
        on_day: Is called after each day with its number and that of all days.
        agents_apart: Up to so many agents are told one by one; more by what they are.
    """
    days, types = reader.days, _types(reader)
    kinds, pairs = Counter[str](), Counter[tuple[str, str]]()
    took: _Took = defaultdict(list)
    missing, doubtful = Counter[str](), Counter[str]()
    messages = events = expected = found = of_messages = 0
    traces: set[int] = set()
    errors = Counter[str]()
    walls: list[tuple[int, int]] = []
    for day in days:
        logged = reader.day(day)
        messages += len(logged.messages)
        events += len(logged.events)
        pairs.update(tuple(sorted((m.sender, m.recipient))) for m in logged.messages)  # type: ignore[misc]
        for message in logged.messages:
            timing = logged.timing(message.id)
            if timing is not None:
                key = message.recipient, message.type
                took[key].append((timing.took, message.id))
        walls += _wall(logged)
        own = {row.span_id for row in logged.recorded if row.agent and not is_overlay(row)}
        for span in derive(reader, day):
            whole = bool(own) and f"{span.span_id:016x}" in own
            kinds[span.name if whole else span.name.partition(" ")[0]] += 1
            of_messages += span.kind in _SENT and not whole
            traces.add(span.trace_id)
        errors.update(_errors(reader, logged))
        counted = count(reader, day)
        expected, found = expected + counted.expected, found + counted.found
        missing += counted.missing
        doubtful += counted.doubtful
        on_day(day, len(days))
    by_agent = len({agent for agent, _ in took}) <= agents_apart
    if not by_agent:
        took = _by_type(took, types)
    handlers = [_handler(*key, times) for key, times in took.items()]
    busy = sum(nanos for times in took.values() for nanos, _ in times)
    return Summary(
        folder=reader.run.folder.resolve().name,
        run=reader.run.manifest.id,
        days=len(days),
        messages=messages,
        events=events,
        traces=len(traces),
        kinds=dict(kinds.most_common()),
        of_messages=of_messages,
        handlers=sorted(handlers, key=lambda handler: -handler.p99),
        by_agent=by_agent,
        troubles=[f"{trouble.agent}: {trouble}" for trouble in troubles(reader.run)],
        errors=[
            f"{error} ({times:,} times)" if times > 1 else error
            for error, times in errors.most_common()
        ],
        late=add_up(late_invoices(reader.run)),
        refused={
            firm: (of.commands, of.refused, of.code)
            for firm, of in sorted(refusals(reader.run).items())
            if of.refused
        },
        pairs=[Pair(*pair, number) for pair, number in pairs.most_common(_PAIRS)],
        virtual_minutes=len(days) * 1440,
        wall_seconds=(max(end for _, end in walls) - min(begin for begin, _ in walls)) / 1e9
        if walls
        else None,
        busy_seconds=busy / 1e9 if walls else None,
        found=found,
        expected=expected,
        missing=dict(missing),
        doubtful=dict(doubtful),
    )


def _errors(reader: TraceReader, logged: TraceDay) -> list[str]:
    """The own spans of a day that failed, each in a line."""
    spans = own_spans(reader.identity, logged)
    return [
        f"{span.agent}: span {span.name}" + (f": {span.error}" if span.error else "")
        for several in (*spans.of_messages.values(), *spans.of_wakes.values())
        for span in several
        if span.failed
    ]


def _wall(logged: TraceDay) -> list[tuple[int, int]]:
    if not logged.timings:
        return []
    begin = min(timing.arrived for timing in logged.timings.values())
    end = max(timing.began + timing.took for timing in logged.timings.values())
    return [(begin, end)]


def _types(reader: TraceReader) -> dict[str, str]:
    """What every agent is: a firm by its role, an exchange, a router, a controller."""
    config = reader.run.manifest.config
    types = dict.fromkeys(exchanges(reader.run), "exchange")
    for plural, one in (("routers", "router"), ("controllers", "controller")):
        types |= {str(entry.get("name")): one for entry in _entries(config, plural)}
    for firm in _entries(config, "firms"):
        types[str(firm.get("name"))] = str(firm.get("role"))
    return types


def _entries(config: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = config.get(key)
    return [e for e in found if isinstance(e, Mapping)] if isinstance(found, list) else []


def _type(types: dict[str, str], agent: str) -> str:
    """An agent's type; made-up firms bear their role in their name, as in ``roaster_17``."""
    known = types.get(agent)
    if known is None:
        role = agent.partition("_")[0]
        known = types[agent] = role if role in ("farmer", "roaster", "retailer") else "agent"
    return known


_Took = dict[tuple[str, str], list[tuple[int, str]]]


def _by_type(took: _Took, types: dict[str, str]) -> _Took:
    """What agents took, by what they are."""
    found: _Took = defaultdict(list)
    for (agent, message), times in took.items():
        found[_type(types, agent), message] += times
    return found


def _handler(agents: str, message: str, times: list[tuple[int, str]]) -> Handler:
    times.sort()
    p50, p95, p99 = (times[min(len(times) - 1, int(share * len(times)))][0] for share in _SHARES)
    longest, slowest = times[-1]
    return Handler(
        agents,
        message,
        len(times),
        sum(nanos for nanos, _ in times) / 1e6,
        p50 / 1e6,
        p95 / 1e6,
        p99 / 1e6,
        longest / 1e6,
        slowest,
    )
