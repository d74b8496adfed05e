"""Reading a run, finished or not, also while it is written."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from services.errors import HanseError
from services.runs import checkpoint as checkpoints
from services.runs import claim, database, digest
from services.runs.checkpoint import Checkpoint, Mark
from services.runs.log import day_lines
from services.runs.manifest import Manifest
from services.runs.result import RunResult
from services.runs.schema import LOGGED, TABLES, Row, Table

if TYPE_CHECKING:
    import sqlite3

    import pandas

State = Literal["running", "finished", "resumable"]


class Run:
    """A run folder, opened for reading.

    It holds no handle between calls and never holds the writer up. Every call sees whole days::

        run = Run("runs/coffee")
        print(run.state, run.day, run.result)
        ledger = run.ledger()  # a pandas frame

    Args:
        folder: The run folder.

    Raises:
        HanseError: There is no such folder, it is not a run folder, it is damaged, or it was
            written by a newer Hanse, or an older one.
    """

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        self.manifest = Manifest.read(self.folder)
        self.database = self.folder / database.FILE
        with database.reading(self.database) as connection:
            database.check_belongs(self.database, self.manifest, database.facts(connection))

    @property
    def state(self) -> State:
        """Whether it is being written, is finished, or waits to be resumed."""
        with database.reading(self.database) as connection:
            if claim.is_held(connection):
                return "running"
            finished = database.fact(connection, "state") == "finished"
            return "finished" if finished else "resumable"

    @property
    def day(self) -> int | None:
        """The last whole day, or None before the first is done."""
        with database.reading(self.database) as connection:
            day = checkpoints.last(connection).mark.day
        return None if day < 0 else day

    @property
    def result(self) -> RunResult | None:
        """The result, once the run is finished; its ``run`` is the folder as it is called now."""
        with database.reading(self.database) as connection:
            found = database.fact(connection, "result")
        if found is None:
            return None
        try:
            return RunResult.model_validate({**found, "run": str(self.folder)})
        except ValidationError as error:
            raise HanseError(
                database.damaged(self.database, f"its result: {error.errors()[0]['msg']}")
            ) from error

    @property
    def log_sha256(self) -> str:
        """The digest of the event log up to the last whole day."""
        return self._last_mark().log_sha256

    @property
    def ledger_sha256(self) -> str:
        """The digest of the ledger up to the last whole day."""
        return self._last_mark().ledger_sha256

    def marks(self) -> list[Mark]:
        """The digests of all whole days, in order."""
        with database.reading(self.database) as connection:
            return checkpoints.marks(connection)

    def checkpoint(self, day: int | None = None) -> Checkpoint | None:
        """The checkpoint of a day, or the last one; None if there is none."""
        with database.reading(self.database) as connection:
            return checkpoints.read(connection, self.folder, day)

    def rows(
        self,
        table: str,
        where: str = "",
        parameters: Sequence[Any] = (),
        *,
        days: range | None = None,
    ) -> Iterator[Row]:
        """The rows of a table in the order of its key, one after the other.

        Args:
            table: messages, events, ledger or metrics.
            where: A condition in SQL over the table's columns, such as ``"firm = ?"``.
            parameters: The values for its question marks.
            days: Only the rows of these days, such as ``range(30, 60)``. The others are not even
                looked at, as they are for a condition on ``minute``.
        """
        with database.reading(self.database) as connection:
            condition = _condition(connection, TABLES[table], where, days)
            yield from connection.execute(_selection(TABLES[table], condition), parameters)

    def count(
        self,
        table: str,
        where: str = "",
        parameters: Sequence[Any] = (),
        *,
        days: range | None = None,
    ) -> int:
        """How many rows a table has, or how many of them meet a condition (see `rows`)."""
        with database.reading(self.database) as connection:
            condition = _condition(connection, TABLES[table], where, days)
            query = f"SELECT count(*) FROM {TABLES[table].name} {condition}"
            return int(connection.execute(query, parameters).fetchone()[0])

    def log_lines(self) -> Iterator[str]:
        """The event log as text, line for line (see `services.runs.log`)."""
        with database.reading(self.database) as connection:
            for mark in checkpoints.marks(connection):
                yield from day_lines(*_day_rows(connection, mark.day))

    def verify(self) -> bool:
        """Whether the rows are those that were written: computes all digests again.

        Raises:
            HanseError: The database is so damaged that it cannot be read.
        """
        log = ledger = digest.START
        seen = [0] * len(LOGGED)
        with database.reading(self.database) as connection:
            for mark in checkpoints.marks(connection):
                rows = _day_rows(connection, mark.day)
                packed = [digest.packed(those) for those in rows]
                log = digest.extend(log, *packed)
                ledger = digest.extend(ledger, packed[-1])
                seen = [before + len(those) for before, those in zip(seen, rows, strict=True)]
                if mark != Mark(mark.day, log, ledger, seen[0]):
                    return False
            there = [
                connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0]
                for table in LOGGED
            ]
        return there == seen

    def messages(self) -> "pandas.DataFrame":
        """The messages, with the day of each."""
        from services.runs import frames

        return frames.table(self, "messages")

    def ledger(self) -> "pandas.DataFrame":
        """The ledger, with the day of each row and its amount in dollars."""
        from services.runs import frames

        return frames.ledger(self)

    def events(self, kind: str | None = None) -> "pandas.DataFrame":
        """The events, with the day of each.

        Args:
            kind: Only these, such as ``"delivery"``, the parts of their bodies as columns; all of
                them if None, their bodies as JSON.
        """
        from services.runs import frames

        return frames.table(self, "events") if kind is None else frames.events(self, kind)

    def actions(self) -> "pandas.DataFrame":
        """What firms did: a row for each command that an exchange applied or refused."""
        from services.runs import frames

        return frames.events(self, "action")

    def deals(self) -> "pandas.DataFrame":
        """The deals that were made."""
        from services.runs import frames

        return frames.events(self, "deal")

    def metrics(self) -> "pandas.DataFrame":
        """Where every firm stood at the end of every day.

        What is kept for each item is a column for each, such as ``stock.green_A``.
        """
        from services.runs import frames

        return frames.metrics(self)

    def _last_mark(self) -> Mark:
        with database.reading(self.database) as connection:
            return checkpoints.last(connection).mark


def _condition(
    connection: "sqlite3.Connection", table: Table, where: str, days: range | None
) -> str:
    if days is None:
        return f"WHERE {where}" if where else ""
    chosen = checkpoints.condition(connection, table, days)
    return f"WHERE {chosen} AND ({where})" if where else f"WHERE {chosen}"


def _selection(table: Table, condition: str) -> str:
    return f"SELECT {table.column_list} FROM {table.name} {condition} ORDER BY {table.order}"


def _day_rows(connection: "sqlite3.Connection", day: int) -> list[list[Row]]:
    """The messages, the events and the ledger of a day."""
    days = range(day, day + 1)
    return [
        connection.execute(_selection(table, _condition(connection, table, "", days))).fetchall()
        for table in LOGGED
    ]
