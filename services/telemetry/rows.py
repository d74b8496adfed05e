"""The rows of a run's database as tracing reads them, and what to do with damaged ones."""

from __future__ import annotations

import sqlite3

from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs import database
from services.runs.schema import Row
from services.telemetry.logged import LoggedEvent, RecordedSpan, SentMessage
from services.telemetry.timings import Timing, Timings

# A value of another type than its column's is damage; text is what can be made of it.
MESSAGE_COLUMNS = (
    f"minute / {MINUTES_PER_DAY}, minute, round, CAST(sender AS TEXT), number,"
    " CAST(recipient AS TEXT), CAST(channel AS TEXT), CAST(type AS TEXT),"
    " CAST(in_reply_to AS TEXT), CAST(cause AS TEXT), CAST(trace AS TEXT), CAST(body AS TEXT)"
)
EVENT_COLUMNS = (
    f"minute / {MINUTES_PER_DAY}, minute, round, CAST(agent AS TEXT), ordinal,"
    " CAST(cause AS TEXT), CAST(kind AS TEXT), CAST(subject AS TEXT), CAST(body AS TEXT)"
)
_SPAN = (
    "CAST(trace_id AS TEXT), CAST(span_id AS TEXT), CAST(parent_id AS TEXT), CAST(name AS TEXT),"
    " CAST(kind AS TEXT), began, ended, minute, CAST(agent AS TEXT), CAST(status AS TEXT),"
    " CAST(body AS TEXT)"
)


def lenient_text(raw: bytes) -> str:
    """Text for SQLite's ``text_factory``, with a mark in place of what is no UTF-8."""
    return raw.decode("utf-8", "replace")


def log_rows(
    connection: sqlite3.Connection, table: str, columns: str, between: tuple[int, int]
) -> list[Row]:
    """The rows of a table of the log, in order.

    Args:
        connection: The run's database.
        table: messages or events.
        columns: What to select.
        between: The rowid before the first one wanted, and that of the last.
    """
    query = f"SELECT {columns} FROM {table} WHERE rowid > ? AND rowid <= ? ORDER BY rowid"
    lenient = connection.text_factory
    connection.text_factory = str  # several times as fast, but it knows no damage
    try:
        return connection.execute(query, between).fetchall()
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
    finally:
        connection.text_factory = lenient
    return connection.execute(query, between).fetchall()


def check_numbers(messages: list[SentMessage], events: list[LoggedEvent]) -> None:
    """A column of numbers with something else in it would fail somewhere far from here."""
    sound = all(
        type(m.minute) is int and type(m.round) is int and type(m.number) is int for m in messages
    ) and all(
        type(e.minute) is int and type(e.round) is int and type(e.ordinal) is int for e in events
    )
    if not sound:
        raise database.Damage("a row's minute, round or number is none")


def read_timings(
    connection: sqlite3.Connection, day: int
) -> tuple[dict[str, Timing], dict[tuple[str, int], Timing], int]:
    """When the day's messages were handled and its agents woken; how many records are damaged."""
    messages: dict[str, Timing] = {}
    wakes: dict[tuple[str, int], Timing] = {}
    unreadable = 0
    if _has_table(connection, "timings"):
        for (record,) in connection.execute(
            "SELECT CAST(body AS BLOB) FROM timings WHERE day = ? ORDER BY host", (day,)
        ):
            try:
                timings = Timings.unpack(record)
            except HanseError:
                unreadable += 1
                continue
            messages.update(timings.messages)
            wakes.update(timings.wakes)
    return messages, wakes, unreadable


def read_recorded(connection: sqlite3.Connection, day: int) -> list[RecordedSpan]:
    """What was recorded as spans on a day."""
    if not _has_table(connection, "spans"):
        return []
    rows = connection.execute(
        f"SELECT {_SPAN} FROM spans WHERE day = ? ORDER BY minute, agent, span_id", (day,)
    )
    return list(map(RecordedSpan._make, rows))


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether the run was written by a Hanse that has the table."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None
