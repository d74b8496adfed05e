"""Reading a run for tracing: days, a message by its id, an order from offer to payment."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple

from services.errors import HanseError
from services.runs import Run, database
from services.telemetry.identity import Identity
from services.telemetry.logged import (
    LoggedEvent,
    RecordedSpan,
    SentMessage,
    TraceDay,
    Written,
)
from services.telemetry.rows import (
    EVENT_COLUMNS,
    MESSAGE_COLUMNS,
    check_numbers,
    lenient_text,
    log_rows,
    read_recorded,
    read_timings,
)

__all__ = ["LoggedEvent", "RecordedSpan", "SentMessage", "TraceDay", "TraceReader"]

_DAYS_KEPT = 4
"""A day of 7,000 messages takes 12 MB, its indices included."""


class _Rows(NamedTuple):
    """The last rowid of a day in the tables of the log."""

    messages: int
    events: int


class TraceReader:
    """A run, as tracing sees it; whole days only, also while the run is written.

    It may be used by several threads::

        reader = TraceReader(Run("runs/coffee"))
        for message in reader.day(12).messages:
            print(message.id, reader.day(12).timing(message.id))

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.identity = Identity(run.manifest.config_sha256)
        """The ids of the run's traces and spans."""
        self._kept: OrderedDict[int, TraceDay] = OrderedDict()
        self._lock = Lock()
        self._extents: dict[int, _Rows] = {}
        self._offers: dict[tuple[str, str], str] = {}
        self._offers_day = -1
        self._offers_row = 0

    # ---- days ------------------------------------------------------------------------------------

    @property
    def days(self) -> range:
        """The whole days that there are now."""
        with self._connected() as connection:
            first, last = connection.execute(
                "SELECT min(day), max(day) FROM checkpoints"
            ).fetchone()
        return range(0) if first is None else range(int(first), int(last) + 1)

    def day(self, day: int) -> TraceDay:
        """One whole day; the last few that were asked for are kept.

        Raises:
            HanseError: The run has no such day, or it is damaged.
        """
        with self._lock:
            kept = self._kept.get(day)
            if kept is not None:
                self._kept.move_to_end(day)
                return kept
        read = self._read(day)
        with self._lock:
            self._kept[day] = read
            while len(self._kept) > _DAYS_KEPT:
                self._kept.popitem(last=False)
        return read

    def _read(self, day: int) -> TraceDay:
        with self._connected() as connection:
            before, after = self._extent(connection, day)
            messages = log_rows(
                connection, "messages", MESSAGE_COLUMNS, (before.messages, after.messages)
            )
            events = log_rows(connection, "events", EVENT_COLUMNS, (before.events, after.events))
            sent = list(map(SentMessage._make, messages))
            logged = list(map(LoggedEvent._make, events))
            check_numbers(sent, logged)
            timings, wakes, unreadable = read_timings(connection, day)
            recorded = read_recorded(connection, day)
        written = Written(after.messages - before.messages, after.events - before.events)
        return TraceDay(day, sent, logged, timings, wakes, recorded, written, unreadable)

    def _extent(self, connection: sqlite3.Connection, day: int) -> tuple[_Rows, _Rows]:
        """The last rows before a day, and its own last ones."""
        known = self._extents
        if day not in known:
            known = {
                found: _Rows(messages, events)
                for found, messages, events in connection.execute(
                    "SELECT day, messages, events FROM checkpoints ORDER BY day"
                )
            }
            if not all(type(n) is int for rows in known.values() for n in rows):
                raise database.Damage("a checkpoint's numbers of rows are none")
            self._extents = known
        if day not in known:
            there = f"days {min(known)} to {max(known)}" if known else "no whole day yet"
            raise HanseError(f"{self.run.folder}: no day {day}; the run has {there}")
        return known.get(day - 1, _Rows(0, 0)), known[day]

    # ---- messages --------------------------------------------------------------------------------

    def find_message(self, id: str) -> SentMessage | None:
        """A message by its id, wherever in the run it is; ``None`` if there is none.

        A sender's numbers grow with the rows, so a few look-ups find it.
        """
        sender, hash_, digits = id.rpartition("#")
        if not (hash_ and digits.isascii() and digits.isdigit() and len(digits) < 19):
            return None
        number = int(digits)
        with self._connected() as connection:
            low, high = 0, self._last_row(connection, "messages")
            while low < high:
                middle = (low + high) // 2
                found = connection.execute(
                    "SELECT rowid, number FROM messages"
                    " WHERE rowid > ? AND rowid <= ? AND sender = ? ORDER BY rowid LIMIT 1",
                    (middle, high, sender),
                ).fetchone()
                if found is None or not isinstance(found[1], int) or found[1] > number:
                    high = middle
                elif found[1] < number:
                    low = found[0]
                else:
                    row = connection.execute(
                        f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE rowid = ?", (found[0],)
                    ).fetchone()
                    return SentMessage._make(row)
        return None

    def find_message_day(self, id: str) -> int | None:
        """The day on which a message was sent; ``None`` if there is none."""
        found = self.find_message(id)
        return None if found is None else found.day

    # ---- events ----------------------------------------------------------------------------------

    def find_events(
        self,
        kind: str | None = None,
        *,
        recorder: str | None = None,
        days: range | None = None,
        **facts: object,
    ) -> Iterator[LoggedEvent]:
        """The events of a kind in whose bodies some facts stand, in the order of the log.

        Args:
            kind: ``None`` for all.
            recorder: The agent that recorded them.
            days: Days that follow each other; those of them that the run has are looked at.
            **facts: What the body says at its top level, such as ``deal="D12"``.
        """
        wanted, parameters = ["rowid > ?", "rowid <= ?"], []
        for column, value in (("kind", kind), ("agent", recorder)):
            if value is not None:
                wanted.append(f"{column} = ?")
                parameters.append(value)
        for fact in facts.values():
            if isinstance(fact, str) and _stands_as_it_is(fact):
                wanted.append("instr(body, ?)")
                parameters.append(f'"{fact}"')
        with self._connected() as connection:
            first, last = 0, self._last_row(connection, "events")
            if days is not None:
                there = self._last_days(connection)
                first = max((n for day, n in there if day < days.start), default=0)
                last = max((n for day, n in there if day < days.stop), default=0)
            query = (
                f"SELECT {EVENT_COLUMNS} FROM events WHERE {' AND '.join(wanted)} ORDER BY rowid"
            )
            rows = connection.execute(query, (first, last, *parameters))
            for event in map(LoggedEvent._make, rows):
                body = event.facts if facts else {}
                if all(name in body and body[name] == value for name, value in facts.items()):
                    yield event

    def business(self, exchange: str, offer: str) -> list[LoggedEvent]:
        """All that is logged of an order, from the offer to the last payment, in order.

        Args:
            exchange: The town's exchange.
            offer: The offer's id, such as ``"O12"``.

        Returns:
            The actions of the two firms (make_offer, accept_offer, pay_invoice, ...), refused ones
            too, and what came of them (deal, delivery, invoice, payment, return).
        """
        found: dict[int, LoggedEvent] = {}
        ids, leads = {offer}, [offer]
        while leads:
            new = self._follow(exchange, leads.pop(), found)
            leads += [id for id in new if id not in ids]
            ids.update(new)
        chosen = (event for event in found.values() if _belongs(event, offer, ids))
        return sorted(chosen, key=lambda event: (event.minute, event.round, event.ordinal))

    def _follow(self, exchange: str, id: str, found: dict[int, LoggedEvent]) -> list[str]:
        """Gathers the events that name an id; returns those that it leads to."""
        with self._connected() as connection:
            rows = connection.execute(
                f"SELECT {EVENT_COLUMNS} FROM events"
                " WHERE rowid <= ? AND agent = ? AND instr(body, ?) ORDER BY rowid",
                (self._last_row(connection, "events"), exchange, f'"{id}"'),
            )
            events = list(map(LoggedEvent._make, rows))
        leads = []
        for event in events:
            found[event.ordinal] = event
            facts = event.facts
            if event.kind == "deal" and facts.get("offer") == id:
                leads.append(facts.get("deal"))
            elif event.kind == "invoice" and id in (facts.get("deal"), facts.get("offer")):
                leads.append(facts.get("invoice"))
        return [lead for lead in leads if isinstance(lead, str)]

    def offer_of(self, exchange: str, id: str, by: int | None = None) -> str | None:
        """The offer from which a deal or an invoice came; ``None`` if from none that is known.

        Args:
            exchange: The town's exchange.
            id: The deal's or the invoice's id.
            by: The day on which it was there already; by default the last one.
        """
        offer = self._offers.get((exchange, id))
        if offer is None and (by is None or by > self._offers_day):
            self._learn_offers()
            offer = self._offers.get((exchange, id))
        return offer

    def _learn_offers(self) -> None:
        """Reads of the deals and invoices that are new."""
        with self._connected() as connection, self._lock:
            last_day = self._last_days(connection)[-1:]
            for day, last in last_day:
                rows = connection.execute(
                    f"SELECT {EVENT_COLUMNS} FROM events WHERE rowid > ? AND rowid <= ?"
                    " AND kind IN ('deal', 'invoice') ORDER BY rowid",
                    (self._offers_row, last),
                )
                for event in map(LoggedEvent._make, rows):
                    facts = event.facts
                    deal = self._offers.get((event.agent, str(facts.get("deal"))))
                    origin = facts.get("offer") or deal
                    if isinstance(origin, str):
                        self._offers[event.agent, str(facts.get(event.kind))] = origin
                self._offers_day, self._offers_row = day, last

    # ---- the database ----------------------------------------------------------------------------

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with database.reading(self.run.database) as connection:
            connection.text_factory = lenient_text
            yield connection

    def _last_row(self, connection: sqlite3.Connection, table: str) -> int:
        """The rowid of the last row of the last whole day."""
        found = connection.execute(
            f"SELECT {table} FROM checkpoints ORDER BY day DESC LIMIT 1"
        ).fetchone()
        return found[0] if found and isinstance(found[0], int) else 0

    def _last_days(self, connection: sqlite3.Connection) -> list[tuple[int, int]]:
        rows = connection.execute("SELECT day, events FROM checkpoints ORDER BY day")
        return [(day, events) for day, events in rows if isinstance(events, int)]


def _stands_as_it_is(value: str) -> bool:
    """Whether JSON writes a text without escapes, however it was written."""
    return value.isascii() and value.isprintable() and not set(value) & set('"\\/')


def _belongs(event: LoggedEvent, offer: str, ids: set[str]) -> bool:
    """Whether an event in whose body one of the ids stands is indeed about it."""
    facts = event.facts
    if event.kind == "action":
        args = facts.get("args")
        named = args if isinstance(args, dict) else {}
        made = facts.get("tool") == "make_offer" and facts.get("new_id") == offer
        return made or any(
            isinstance(named.get(key), str) and named[key] in ids
            for key in ("offer_id", "deal_id", "invoice_id")
        )
    return any(
        isinstance(facts.get(key), str) and facts[key] in ids
        for key in ("offer", "deal", "invoice")
    )
