"""The tables of ``run.db``: their columns, their order, and how rows enter them."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any

from services.messages import MINUTES_PER_DAY

FORMAT = 2
"""Raised whenever a run folder written from now on could not be read by an older Hanse."""

Row = tuple[Any, ...]

_ROWS_PER_STATEMENT = 32
"""Rows that one INSERT carries: with one row for each, writing took a third longer, and with more
than 64 it takes longer again. 32 rows of eleven columns stay far below the 999 parameters that
every build of SQLite allows."""


@dataclass(frozen=True)
class Table:
    """A table of rows, kept in the order of its key.

    The key is the order of the event log, and rows are written in it. So the tables of the log
    need no index: they are only ever appended to, the order of their rowids is that of their keys,
    and the days of which rowids they have stands in the checkpoints. That is a fifth cheaper to
    write than a table sorted by its key. (``VACUUM`` numbers rowids anew, but from 1 and without
    gaps, as they are.)
    """

    name: str
    columns: dict[str, str]
    key: tuple[str, ...]
    identity: tuple[str, ...]
    """The columns by which no two rows of a day are alike."""
    appended: bool = True
    """Whether it is in the order of its rowids; otherwise SQLite keeps it sorted by its key."""

    @property
    def column_list(self) -> str:
        """The columns as SQL names them."""
        return ", ".join(self.columns)

    @property
    def order(self) -> str:
        """What SQL has to order by for the rows to be in the order of the key."""
        return "rowid" if self.appended else ", ".join(self.key)

    @property
    def definition(self) -> str:
        """The statement that makes the table."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        if self.appended:
            return f"CREATE TABLE {self.name} ({columns})"
        return f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({self.order})) WITHOUT ROWID"

    def sort(self, rows: list[Row]) -> None:
        """Puts rows into the order of the key, and makes sure that they can be written.

        Raises:
            ValueError: Two have one identity, or one has not as many values as there are columns.
        """
        width, names = len(self.columns), list(self.columns)
        if any(size != width for size in set(map(len, rows))):
            stray = next(row for row in rows if len(row) != width)
            raise ValueError(f"a row of {self.name} has {len(stray)} values, not {width}: {stray}")
        try:
            # Whole rows compare faster than keys taken out of them, and keys decide anyway.
            rows.sort()
        except TypeError:  # two have one key (None and text were compared), or one is a list
            rows.sort(key=itemgetter(*map(names.index, self.key)))
        identity = itemgetter(*map(names.index, self.identity))
        if len(set(map(identity, rows))) < len(rows):
            [(twice, _)] = Counter(map(identity, rows)).most_common(1)
            about = ", ".join(f"{n} {value}" for n, value in zip(self.identity, twice, strict=True))
            raise ValueError(f"there are two rows of {self.name} with {about}")

    def insert(self, connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
        """Writes rows in the order given.

        Raises:
            ValueError: A value that may be missing is an empty text.
        """
        values, width = self._flat(rows), len(self.columns)
        done, size = 0, _ROWS_PER_STATEMENT
        while done < len(values):
            while done + size * width > len(values):
                size //= 2
            connection.execute(self._statements[size], values[done : done + size * width])
            done += size * width

    @cached_property
    def _statements(self) -> dict[int, str]:
        """The INSERT for 1, 2, 4, ... rows."""
        marks = ", ".join("nullif(?, '')" if n in self._optional else "?" for n in self.columns)
        statements, size = {}, 1
        while size <= _ROWS_PER_STATEMENT:
            rows = ", ".join([f"({marks})"] * size)
            statements[size] = f"INSERT INTO {self.name} VALUES {rows}"
            size *= 2
        return statements

    @cached_property
    def _optional(self) -> dict[str, int]:
        """The places of the columns in which a value may be missing."""
        kinds = enumerate(self.columns.items())
        return {name: place for place, (name, kind) in kinds if kind == _OPTIONAL}

    def _flat(self, rows: Sequence[Row]) -> list[Any]:
        """The values of all rows in one list, None as "".

        Binding None takes Python's sqlite3 about 0.3 microseconds longer than binding text.
        """
        values = list(chain.from_iterable(rows))
        for name, place in self._optional.items():
            column = values[place :: len(self.columns)]
            if "" in column:  # it would come back as None, and the digest would be another
                raise ValueError(
                    f"{self.name}: {name} is an empty text; None says that it has none"
                )
            values[place :: len(self.columns)] = [value or "" for value in column]
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
        "cause": _OPTIONAL,
        "trace": _OPTIONAL,
        "body": _TEXT,
    },
    key=("minute", "round", "sender", "number"),
    identity=("sender", "number"),
)
"""``cause`` is the id of the message whose handling sent this one: NULL if that is the one in
``in_reply_to``, and if no message did but a wake-up."""
EVENTS = Table(
    name="events",
    columns={
        "minute": _INTEGER,
        "round": _INTEGER,
        "agent": _TEXT,
        "ordinal": _INTEGER,
        "cause": _OPTIONAL,
        "kind": _TEXT,
        "subject": _TEXT,
        "body": _TEXT,
    },
    key=("minute", "round", "agent", "ordinal"),
    identity=("minute", "round", "agent", "ordinal"),
)
"""``cause`` is the id of the message that brought the event about; NULL if none did."""
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
    identity=("minute", "round", "agent", "ordinal"),
)
METRICS = Table(
    name="metrics",
    columns={"day": _INTEGER, "agent": _TEXT, "body": _TEXT},
    key=("day", "agent"),
    identity=("day", "agent"),
    appended=False,
)

TIMINGS = Table(
    name="timings",
    columns={"day": _INTEGER, "host": _TEXT, "body": "BLOB NOT NULL"},
    key=("day", "host"),
    identity=("day", "host"),
    appended=False,
)
"""When, by the clock on the wall, a host's agents handled the messages of a day."""
SPANS = Table(
    name="spans",
    columns={
        "day": _INTEGER,
        "agent": _TEXT,
        "span_id": _TEXT,
        "trace_id": _TEXT,
        "parent_id": _OPTIONAL,
        "name": _TEXT,
        "kind": _TEXT,
        "began": _INTEGER,
        "ended": _INTEGER,
        "minute": _INTEGER,
        "status": _TEXT,
        "body": _TEXT,
    },
    key=("day", "agent", "span_id"),
    identity=("day", "agent", "span_id"),
    appended=False,
)
"""Spans that do not follow from messages and events: days, checkpoints, users' own."""

LOGGED = (MESSAGES, EVENTS, LEDGER)
"""The tables that make up the event log."""

BY_DAY = (METRICS, TIMINGS, SPANS)
"""The tables beside it, which have no part in its digest."""

EXPORTED = {table.name: table for table in (*LOGGED, METRICS, SPANS)}
"""What other programs can read; timings are packed."""

TABLES = {table.name: table for table in (*LOGGED, *BY_DAY)}
"""Every table that a run's rows go to."""

_OTHER_TABLES = (
    # Messages, events and ledger: how many rows there are up to the end of the day; as rowids count
    # from 1, also the rowid of the last one. The state comes last: SQLite would have to walk over
    # it to reach a column behind it.
    "CREATE TABLE checkpoints (day INTEGER PRIMARY KEY, log_sha256 TEXT NOT NULL,"
    " ledger_sha256 TEXT NOT NULL, messages INTEGER NOT NULL, events INTEGER NOT NULL,"
    " ledger INTEGER NOT NULL, state BLOB NOT NULL)",
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
