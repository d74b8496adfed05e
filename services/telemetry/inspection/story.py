"""What an agent saw, said and did, in order and in words, with where it stood every evening."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from services.errors import HanseError
from services.telemetry.inspection import goods, lever_words, orders, steps, words
from services.telemetry.inspection.fate import refusal_notes
from services.telemetry.inspection.goods import Evening
from services.telemetry.inspection.own import OwnSpan, own_spans
from services.telemetry.inspection.shortages import (
    LOOKED_BACK,
    ROASTS,
    Bid,
    Shortage,
    shortages,
    standing,
)
from services.telemetry.inspection.targets import unknown_agent
from services.telemetry.logged import LoggedEvent, SentMessage, TraceDay
from services.telemetry.reader import TraceReader

_PARTIES: Final = ("seller", "buyer", "payer", "issuer", "shop", "firm", "agent")
_LISTED_BEFORE: Final = 30
"""Days that a listing may have been on offer when somebody bids on it."""
_SAID_OTHERWISE: Final = frozenset(
    ("morning", "offer received", "offer accepted", "invoice paid", "message", "delivery")
)
"""Reasons of turns that the story tells by the event or the letter itself."""


_Listings = set[tuple[str, str]]
_Try = tuple[LoggedEvent, dict[str, Any], dict[str, Any]]


_TOLD: Final = ("words", "own", "refused", "failed", "ids", "notes")


class Line(NamedTuple):
    """Something in a day of an agent."""

    minute: int
    words: str
    """Without the agent's name where it is the agent's own doing."""
    own: bool
    refused: bool
    ids: list[str]
    """The messages or the event."""
    notes: list[str]
    """What else is known about a refusal."""
    failed: bool = False
    """Whether it is an own span with status ERROR."""

    def document(self) -> dict[str, Any]:
        """The line for ``--json``."""
        return {
            "minute": self.minute,
            "time": words.time_of_day(self.minute),
            **{name: getattr(self, name) for name in _TOLD},
        }


class Day(NamedTuple):
    """One day of a story."""

    day: int
    lines: list[Line]
    evening: Evening | None
    """None if the agent is no firm."""

    def document(self) -> dict[str, Any]:
        """The day for ``--json``."""
        return {
            "day": self.day,
            "lines": [line.document() for line in self.lines],
            "evening": None if self.evening is None else self.evening.document(),
        }


class Story(NamedTuple):
    """What `hanse trace RUN story` has to say."""

    agent: str
    role: str
    """Empty if the agent is no firm."""
    days: list[Day]
    shortages: list[Shortage]
    """When the firm ran out of what, and how."""

    def document(self) -> dict[str, Any]:
        """All of it for ``--json``."""
        return {
            "agent": self.agent,
            "role": self.role,
            "shortages": [shortage.document() for shortage in self.shortages],
            "days": [day.document() for day in self.days],
        }


def story(reader: TraceReader, agent: str, days: range) -> Story:
    """Tells some days of an agent.

    Args:
        reader: The run.
        agent: A firm, an exchange, a router or any other agent.
        days: Days that follow each other; those that the run does not have are left out.

    Raises:
        HanseError: There is no such agent, or none of these days.
    """
    there = reader.days
    chosen = range(max(days.start, there.start), min(days.stop, there.stop))
    if not chosen:
        has = f"it has days {there[0]} to {there[-1]}" if there else "no day is complete yet"
        raise HanseError(f"{reader.run.folder}: none of these days is in the run; {has}")
    known = goods.figures(reader.run, agent)
    own_listings = _own_listings(reader, agent) if known else set()
    told: list[Day] = []
    evenings: dict[int, Evening] = {}
    tried: list[_Try] = []
    back = range(max(there.start, chosen.start - LOOKED_BACK + 1), chosen.stop)
    for day in back if known else chosen:
        logged = reader.day(day)
        if known:
            tried += _tries(logged, agent)
            evening = goods.evening(agent, day, known, logged.events)
            if evening is not None:
                evenings[day] = evening
        if day in chosen:
            lines = list(_lines(reader, logged, agent, own_listings))
            told.append(Day(day, lines, evenings.get(day)))
    if not known and not any(day.lines for day in told):
        unknown_agent(reader, agent)
    role = str(next(iter(known.values())).get("role", "")) if known else ""
    bids = _bids(reader, tried, back)
    short = []
    for item in _sells(role, known, chosen.start) if evenings else ():
        since = goods.out_since(reader.run, agent, item, known, chosen.start)
        out = standing(agent, item, since, evenings, bids, chosen)
        short += [] if out is None else [out]
    return Story(agent, role, told, [*short, *shortages(evenings, bids, chosen)])


def _sells(role: str, known: dict[int, dict[str, Any]], before: int) -> list[str]:
    """What a firm had in its store before a day and did not buy only to roast it."""
    had = {item for day in known if day < before for item, kg in known[day]["stock"].items() if kg}
    if role == "roaster":
        return [item for item in ROASTS if item in had] or list(ROASTS[:1])
    return sorted(had)


def _own_listings(reader: TraceReader, agent: str) -> _Listings:
    """A seller's listings: exchange and id."""
    rows = reader.run.rows(
        "events", "kind = 'action' AND subject = ? AND instr(body, '\"post_listing\"')", (agent,)
    )
    events = (orders.event_of(row) for row in rows)
    return {(event.agent, str(event.facts.get("new_id"))) for event in events}


def _tries(day: TraceDay, agent: str) -> list[_Try]:
    """The commands by which a firm tried to buy."""
    tried = []
    for event in day.events:
        if event.subject == agent and event.kind == "action":
            facts = event.facts
            args = facts.get("args")
            if facts.get("tool") in ("make_offer", "order_abroad") and isinstance(args, dict):
                tried.append((event, facts, args))
    return tried


def _bids(reader: TraceReader, tried: list[_Try], days: range) -> list[Bid]:
    """The same, with what the firm wanted to buy."""
    items = _items(reader, {(e.agent, str(args.get("listing_id"))) for e, _, args in tried}, days)
    return [
        Bid(
            event.day,
            str(args.get("item_id") or items.get((event.agent, str(args.get("listing_id"))), "")),
            str(facts.get("error_code")) if facts.get("status") == "error" else None,
        )
        for event, facts, args in tried
    ]


def _items(reader: TraceReader, listings: _Listings, days: range) -> dict[tuple[str, str], str]:
    """What is on offer by some listings."""
    items: dict[tuple[str, str], str] = {}
    for exchange in {exchange for exchange, _ in listings}:
        rows = reader.run.rows(
            "events",
            "kind = 'action' AND agent = ? AND instr(body, '\"post_listing\"')",
            (exchange,),
            days=range(max(0, days.start - _LISTED_BEFORE), days.stop),
        )
        for facts in (orders.event_of(row).facts for row in rows):
            key, args = (exchange, str(facts.get("new_id"))), facts.get("args")
            if key in listings and isinstance(args, dict):
                items[key] = str(args.get("item_id"))
    return items


# ---- a day ---------------------------------------------------------------------------------------


def _lines(
    reader: TraceReader, day: TraceDay, agent: str, own_listings: _Listings
) -> Iterator[Line]:
    """The lines of a day in order; views that follow each other share one."""
    found: list[tuple[int, int, int, Line]] = []
    heard = set()
    spans = own_spans(reader.identity, day)
    for (woken, minute), several in spans.of_wakes.items():
        if woken == agent:
            found += [(minute, -1, 0, _thought(span)) for span in several]
    for place, message in enumerate(day.messages):
        line = None
        if message.sender == agent:
            line = _said(reader, day, message)
        elif message.recipient == agent:
            line = _received(reader, day, message)
        if line is not None:
            found.append((message.minute, message.round, place, line))
            heard.update(line.ids)
        if message.recipient == agent:
            for span in spans.of_messages.get(message.id, ()):
                found.append((message.minute, message.round, place, _thought(span)))
    after = len(day.messages)
    for place, event in enumerate(day.events, after):
        line = _happened(day, event, agent, own_listings)
        if line is not None:
            found.append((event.minute, event.round, place, line))
    found.sort(key=lambda entry: entry[:3])
    yield from _joined([line for *_, line in found])


def _thought(span: OwnSpan) -> Line:
    return Line(span.minute, span.words, True, False, [span.id], [], span.failed)


def _said(reader: TraceReader, day: TraceDay, message: SentMessage) -> Line | None:
    if message.type == "turn":  # an exchange's: what came of it says more
        return None
    step = steps.of_message(day, message)
    notes: list[str] = []
    action = steps.outcome(day, message)
    if step.refused and action is not None:
        notes = refusal_notes(reader, action)[-1:]
    told = step.words.removeprefix(f"{message.sender} ")
    return Line(message.minute, told, True, step.refused, [message.id], notes)


def _received(reader: TraceReader, day: TraceDay, message: SentMessage) -> Line | None:
    told = steps.of_message(day, message).words.removeprefix(f"{message.recipient} ")
    if message.type == "turn":
        reason = message.facts.get("reason")
        if reason is None or reason in _SAID_OTHERWISE:
            return None
        source = day.message(message.source) if message.source else None
        if source is not None and source.sender != message.recipient:
            told += f": {steps.of_message(day, source).words}"
    elif steps.outcome(day, message) is not None:  # a command: the exchange's events tell of it
        return None
    return Line(message.minute, told, told is not None, False, [message.id], [])


def _happened(
    day: TraceDay, event: LoggedEvent, agent: str, own_listings: _Listings
) -> Line | None:
    if event.kind == "action" and not (own_listings and '"make_offer"' in event.body):
        return None
    if event.kind != "action" and not _may_concern(event, agent):
        return None
    facts = event.facts
    if event.kind in ("action", "day_end"):
        args = facts.get("args")
        bid = (
            event.subject != agent
            and own_listings
            and orders.is_done(event, "make_offer")
            and isinstance(args, dict)
            and (event.agent, args.get("listing_id")) in own_listings
        )
        if not bid:
            return None
    elif event.agent != agent:
        concerns = event.subject == agent or any(facts.get(key) == agent for key in _PARTIES)
        own = event.cause is not None and event.cause.rpartition("#")[0] == agent
        if not concerns or (own and event.kind in steps.SAID_BY_COMMAND):
            return None
    told = words.event(event.kind, event.subject, facts)
    own = event.kind in lever_words.EVENTS and event.subject == agent
    id = words.event_id(event.agent, event.ordinal)
    return Line(event.minute, told.removeprefix(f"{agent} ") if own else told, own, False, [id], [])


def _may_concern(event: LoggedEvent, agent: str) -> bool:
    """Whether an event can have to do with an agent; a look at the text spares reading most."""
    if agent in (event.agent, event.subject):
        return True
    return json.dumps(agent, ensure_ascii=False) in event.body or json.dumps(agent) in event.body


def _joined(lines: list[Line]) -> Iterator[Line]:
    looks: list[Line] = []
    waits = [line for line in lines if line.own and line.words == _WAITS]
    for line in lines:
        if line.own and not line.refused and line.words.startswith(_LOOKS):
            looks.append(line)
            continue
        if line.own and line.words == _WAITS and line is not waits[-1]:
            continue
        if looks:
            yield _looking(looks)
            looks = []
        yield line
    if looks:
        yield _looking(looks)


_LOOKS: Final = "looks at "
_WAITS: Final = "waits for the next day"


def _looking(looks: list[Line]) -> Line:
    parts: dict[str, None] = {}
    for line in looks:
        what, colon, rows = line.words.removeprefix(_LOOKS).rpartition(": ")
        parts[f"{what} ({rows})" if colon else rows] = None
    ids = [id for line in looks for id in line.ids]
    return Line(looks[0].minute, f"{_LOOKS}{', '.join(parts)}", True, False, ids, [])
