"""Searching the log of a run: messages, commands, events and recorded spans as rows of one view."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs import Run, database
from services.runs.schema import first_minute
from services.telemetry.inspection import words
from services.telemetry.inspection.kinds import (
    CONDITIONS,
    LATE,
    SPANS,
    check_agent,
    check_kind,
)
from services.telemetry.inspection.late import late_invoices
from services.telemetry.inspection.own import error_of
from services.telemetry.logged import parsed

COLUMNS: Final = (
    "day",
    "minute",
    "time",
    "agent",
    "peer",
    "kind",
    "name",
    "id",
    "cause",
    "duration",
    "status",
    "body",
)
"""The columns of the view ``trace``:

``day`` and ``minute`` (of the run) and ``time`` (``09:30``); ``agent``, who sent or did it, and
``peer``, to whom; ``kind``: ``message``, ``action`` (a firm's command with its outcome), ``event``
or ``span``; ``name``: the message's type, the command, the event's kind or the span's name; ``id``
and ``cause``, the id of the message that it comes from; of spans ``duration``, in milliseconds, and
``status``: ``UNSET``, ``OK`` or ``ERROR``; ``body``, JSON text.
"""

SECONDS: Final = 10.0
"""A search that takes longer is broken off."""
_LONGEST_VALUE: Final = 2**24
_LONGEST_PATTERN: Final = 500
_STEPS: Final = 20_000
"""Instructions of SQLite between two looks at the clock: about a millisecond."""

_FUNCTIONS: Final = frozenset(
    (
        *("abs", "coalesce", "ifnull", "iif", "nullif", "max", "min", "round", "typeof", "sign"),
        *("length", "lower", "upper", "trim", "ltrim", "rtrim", "instr", "substr", "substring"),
        *("like", "glob", "unicode", "char", "count", "sum", "total", "avg"),
        *("json", "json_extract", "json_array_length", "json_type", "json_valid", "->", "->>"),
        "replace",
    )
)
"""What a condition may call. Others can make a value so large, or take so long at one instruction,
that no look at the clock comes between."""

# The town writes these bodies without spaces; so they can be read as text, which is faster than as
# JSON and cannot fail.
_TOOL = '"tool":"'
_REST = f"substr(body, instr(body, '{_TOOL}') + {len(_TOOL)})"
_NAME = f"substr({_REST}, 1, instr({_REST}, '\"') - 1)"
_ID = "sender || '#' || number"
_TIME = (
    f"substr('0' || (minute % {MINUTES_PER_DAY} / 60), -2) || ':'"
    " || substr('0' || (minute % 60), -2)"
)


_EVENT: Final = re.compile(r"'([\w.-]+)!([0-9]+)'")
"""An event's id as the log has it, as a text of its own in a condition."""


class Found(NamedTuple):
    """A row of the view."""

    day: int
    minute: int
    time: str
    agent: str
    peer: str
    kind: str
    name: str
    id: str
    cause: str | None
    duration: float | None
    """Milliseconds; None for anything but a span."""
    status: str | None
    """``UNSET``, ``OK`` or ``ERROR``; None for anything but a span."""
    body: str
    note: str = ""
    """What is late about it, where that was asked for."""

    @property
    def failed(self) -> bool:
        """Whether it is a span with status ERROR."""
        return self.status == "ERROR"

    def words(self) -> str:
        """The row as a sentence."""
        facts = parsed(self.body)
        if self.kind == "message":
            return words.message(self.name, self.agent, self.peer, facts)
        if self.kind == "span":
            told = words.span(self.name, self.duration, self.status, error_of(facts))
            return f"{self.agent or 'the league'}: {told}"
        told = words.event("action" if self.kind == "action" else self.name, self.agent, facts)
        return f"{told}: {self.note}" if self.note else told

    def document(self) -> dict[str, Any]:
        """The row for ``--json``, its body as what it is."""
        return {**self._asdict(), "body": parsed(self.body) or self.body}


def find(
    run: Run,
    *,
    agent: str | None = None,
    kind: str | None = None,
    days: range | None = None,
    text: str | None = None,
    where: str | None = None,
    limit: int = 50,
    seconds: float = SECONDS,
) -> list[Found]:
    """The rows of a run's log that meet all conditions, in order.

    Args:
        run: The run.
        agent: Who sent or received, did or met it.
        kind: A kind or a name: ``message``, ``deal``, ``make_offer``, ``letter``, ...; or
            ``refused`` (commands), ``late`` (payments and unpaid invoices) or ``trouble``
            (errors, own spans that failed, missed turns, lost mail).
        days: Only these.
        text: What the body has to contain, upper or lower case.
        where: A condition in SQL over the columns of the view (`COLUMNS`).
        limit: Not more rows than that.
        seconds: After so long the search is broken off.

    Raises:
        HanseError: The condition is no SQL, does what it may not, or takes too long; nothing is
            found and the run can hold no such kind, or has no such agent.
    """
    conditions, parameters = ["1"], []
    if agent is not None:
        conditions.append("(agent = ? OR peer = ? OR instr(body, ?))")
        parameters += [agent, agent, f'"{agent}"']
    if kind is not None:
        conditions.append(CONDITIONS.get(kind, "(kind = ? OR name = ? OR kind = ?)"))
        parameters += [] if kind in CONDITIONS else [kind, kind, SPANS.get(kind, kind)]
    if text is not None:
        conditions.append("instr(lower(body), lower(?))")
        parameters.append(text)
    if where is not None:
        where = _EVENT.sub(r"'\1:\2'", where)
    with database.reading(run.database) as connection:
        source = f"WITH trace AS ({_source(connection, days)})"
        with _guarded(connection, where, seconds):
            if where is not None:
                # Brackets hold only what stands by itself as a condition.
                connection.execute(f"{source} SELECT 1 FROM trace WHERE \n{where}\n LIMIT 0")
                conditions.append(f"(\n{where}\n)")
            query = (
                f"{source} SELECT {', '.join(COLUMNS)} FROM trace"
                f" WHERE {' AND '.join(conditions)} ORDER BY minute, round, place LIMIT ?"
            )
            try:
                every = kind == LATE  # which of them are late is not for SQL to say
                rows = connection.execute(query, [*parameters, -1 if every else limit])
                found = [Found(*row) for row in rows]
            except UnicodeError:
                raise HanseError(database.damaged(run.database, "a text is no UTF-8")) from None
    if kind == LATE:
        found = _late(run, found)[:limit]
    if not found:
        if kind is not None:
            check_kind(run, kind)
        if agent is not None:
            check_agent(run, agent)
    return found


def _late(run: Run, found: list[Found]) -> list[Found]:
    notes = {
        words.event_id(event.agent, event.ordinal): late.note(event)
        for late in late_invoices(run)
        for event in late.events
    }
    return [row._replace(note=notes[row.id]) for row in found if row.id in notes]


def _source(connection: sqlite3.Connection, days: range | None) -> str:
    """The view over the rows of whole days."""
    messages, events = (_rowids(connection, table, days) for table in ("messages", "events"))
    parts = [
        f"SELECT minute / {MINUTES_PER_DAY} AS day, minute, {_TIME} AS time, sender AS agent,"
        f" recipient AS peer, 'message' AS kind, type AS name, {_ID} AS id,"
        " coalesce(cause, in_reply_to) AS cause, NULL AS duration, NULL AS status, body,"
        " round, rowid AS place"
        f" FROM messages WHERE {messages}",
        f"SELECT minute / {MINUTES_PER_DAY}, minute, {_TIME},"
        " CASE subject WHEN '' THEN agent ELSE subject END,"
        " CASE subject WHEN '' THEN '' ELSE agent END,"
        " CASE kind WHEN 'action' THEN 'action' ELSE 'event' END,"
        f" CASE WHEN kind = 'action' AND instr(body, '{_TOOL}') THEN {_NAME} ELSE kind END,"
        f" agent || ':' || ordinal, cause, NULL, NULL, body, round, rowid FROM events"
        f" WHERE {events}",
    ]
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if "spans" in names:
        span = (
            f"SELECT minute / {MINUTES_PER_DAY}, minute, {_TIME}, agent, '', 'span', name,"
            " span_id, parent_id, CASE WHEN began THEN (ended - began) / 1e6 END, status, body, 0,"
            " began FROM spans"
        )
        if days is not None:  # by the minute: a checkpoint is recorded with the day after
            first, last = first_minute(days.start), first_minute(days.stop)
            span += f" WHERE minute >= {first} AND minute < {last}"
        parts.append(span)
    return " UNION ALL ".join(parts)


def _rowids(connection: sqlite3.Connection, table: str, days: range | None) -> str:
    bounds = []
    for day in (days.start, days.stop) if days is not None else (-1, 2**31):
        row = connection.execute(
            f"SELECT {table} FROM checkpoints WHERE day < ? ORDER BY day DESC LIMIT 1",
            (max(-1, min(day, 2**31)),),
        ).fetchone()
        bounds.append(int(row[0]) if row else 0)
    return f"rowid > {bounds[0]} AND rowid <= {bounds[1]}"


def _instr(text: Any, part: Any) -> int | None:
    """As SQLite's: where a part of a text begins, counted from 1; 0 if it is not there."""
    if text is None or part is None:
        return None
    if isinstance(text, bytes) and isinstance(part, bytes):
        return text.find(part) + 1
    return str(text).find(str(part)) + 1


@contextmanager
def _guarded(connection: sqlite3.Connection, where: str | None, seconds: float) -> Iterator[None]:
    """Around SQL that a user has written a part of."""
    end = time.monotonic() + seconds
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    if where is not None and "instr" in where.lower():
        # SQLite's own looks at every place for the whole of a long text, and cannot be stopped.
        connection.create_function("instr", 2, _instr, deterministic=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LONGEST_PATTERN)
    connection.set_authorizer(_allowed)
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        if "interrupted" in str(error):
            raise HanseError(
                f"the search was broken off after {seconds:g} s;"
                " ask for fewer days, or by a simpler condition"
            ) from None
        # Damage is not the user's doing: whoever has opened the database explains it.
        if where is None or _is_damage(error):
            raise
        told = str(error)
        if 'near "LIMIT"' in told and "limit" not in where.lower():
            told = (
                "the condition is not complete"  # the words of the query around it are not theirs
            )
        raise HanseError(
            f"--where: {told}; it is a condition in SQL over {', '.join(COLUMNS)}, such as"
            " \"name = 'deal' AND body LIKE '%roaster_B%'\""
        ) from None
    finally:
        connection.set_progress_handler(None, 0)
        connection.set_authorizer(None)


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)


_TABLES: Final = frozenset(("trace", "messages", "events", "spans"))


def _allowed(
    action: int, first: str | None, second: str | None, third: str | None, inner: str | None
) -> int:
    """Reading the view is allowed, and nothing else that SQL can do."""
    if action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ:
        return sqlite3.SQLITE_OK if first in _TABLES else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if str(second).lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_DENY
