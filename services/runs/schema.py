"""The tables of ``run.db``: their columns, their order, and how rows enter them."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from services.messages import MINUTES_PER_DAY

FORMAT = 1
"""Raised whenever a run folder written from now on could not be read by an older Hanse."""

Row = tuple[Any, ...]

_ROWS_PER_STATEMENT = 64
"""Rows that one INSERT carries: with one row for each, writing took a third longer. 64 rows of ten
columns stay below the 999 parameters that every build of SQLite allows."""


@dataclass(frozen=True)
class Table:
    """A table of rows, kept in the order of its key.

    The key is the order of the event log, and rows arrive in it, so that the tables are written
    from left to right and read in order without sorting. ``WITHOUT ROWID`` makes the key the
    table itself: no second index has to be kept.
    """

    name: str
    columns: dict[str, str]
    key: tuple[str, ...]

    @property
    def column_list(self) -> str:
        """The columns as SQL names them."""
        return ", ".join(self.columns)

    @property
    def order(self) -> str:
        """The key as SQL orders by it."""
        return ", ".join(self.key)

    @property
    def definition(self) -> str:
        """The statement that makes the table."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        return f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({self.order})) WITHOUT ROWID"

    def insert(self, connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
        """Writes rows in the order given."""
        optional = [place for place, kind in enumerate(self.columns.values()) if kind == _OPTIONAL]
        values = ", ".join(
            "nullif(?, '')" if kind == _OPTIONAL else "?" for kind in self.columns.values()
        )
        statement = f"INSERT INTO {self.name} VALUES ({values})"
        size = _ROWS_PER_STATEMENT
        whole = len(rows) - len(rows) % size
        blocks = (rows[start : start + size] for start in range(0, whole, size))
        if whole:
            connection.executemany(
                statement + f", ({values})" * (size - 1),
                (self._flat(block, optional) for block in blocks),
            )
        connection.executemany(statement, (self._flat([row], optional) for row in rows[whole:]))

    def _flat(self, rows: Sequence[Row], optional: Sequence[int]) -> list[Any]:
        """The values of all rows in one list, None as "".

        Binding None takes Python's sqlite3 about 0.3 microseconds longer than binding text.
        """
        values = list(chain.from_iterable(rows))
        for place in optional:
            column = slice(place, None, len(self.columns))
            values[column] = [value or "" for value in values[column]]
        return values


_INTEGER = "INTEGER NOT NULL"
_TEXT = "TEXT NOT NULL"
_OPTIONAL = "TEXT"

MESSAGES = Table(
    name="messages",
    columns={
        "minute": _INTEGER,
        "round": _INTEGER,
        "sender": _TEXT,
        "number": _INTEGER,
        "recipient": _TEXT,
        "channel": _TEXT,
        "type": _TEXT,
        "in_reply_to": _OPTIONAL,
        "trace": _OPTIONAL,
        "body": _TEXT,
    },
    key=("minute", "round", "sender", "number"),
)
EVENTS = Table(
    name="events",
    columns={
        "minute": _INTEGER,
        "round": _INTEGER,
        "agent": _TEXT,
        "ordinal": _INTEGER,
        "kind": _TEXT,
        "subject": _TEXT,
        "body": _TEXT,
    },
    key=("minute", "round", "agent", "ordinal"),
)
LEDGER = Table(
    name="ledger",
    columns={
        "minute": _INTEGER,
        "round": _INTEGER,
        "agent": _TEXT,
        "ordinal": _INTEGER,
        "firm": _TEXT,
        "debit": _TEXT,
        "credit": _TEXT,
        "micros": _INTEGER,
        "reference": _TEXT,
    },
    key=("minute", "round", "agent", "ordinal"),
)
METRICS = Table(
    name="metrics",
    columns={"day": _INTEGER, "agent": _TEXT, "body": _TEXT},
    key=("day", "agent"),
)

LOGGED = (MESSAGES, EVENTS, LEDGER)
"""The tables that make up the event log."""

TABLES = {table.name: table for table in (*LOGGED, METRICS)}
"""Every table that a run's rows go to."""

_OTHER_TABLES = (
    # The state comes last: SQLite would have to walk over it to reach a column behind it.
    "CREATE TABLE checkpoints (day INTEGER PRIMARY KEY, log_sha256 TEXT NOT NULL,"
    " ledger_sha256 TEXT NOT NULL, messages INTEGER NOT NULL, state BLOB NOT NULL)",
    # In the order of arrival: one agent may answer twice in a round.
    "CREATE TABLE journal (minute INTEGER NOT NULL, round INTEGER NOT NULL, agent TEXT NOT NULL,"
    " kind TEXT NOT NULL, body TEXT NOT NULL)",
    "CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
)


def create_tables(connection: sqlite3.Connection) -> None:
    """Makes all the tables of a run in an empty database."""
    for table in TABLES.values():
        connection.execute(table.definition)
    for statement in _OTHER_TABLES:
        connection.execute(statement)


def first_minute(day: int) -> int:
    """The minute at which a day begins."""
    return day * MINUTES_PER_DAY
