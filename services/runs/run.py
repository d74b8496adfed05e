"""Reading a run, finished or not, also while it is written."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from services.errors import HanseError
from services.runs import checkpoint as checkpoints
from services.runs import claim, database, digest
from services.runs.checkpoint import Checkpoint, Mark
from services.runs.manifest import Manifest
from services.runs.result import RunResult
from services.runs.schema import EVENTS, LEDGER, LOGGED, MESSAGES, TABLES, Row, first_minute

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
            written by a newer Hanse.
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
            mark = checkpoints.last_mark(connection)
        return mark.day if mark else None

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

    def rows(self, table: str, where: str = "", parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a table in the order of its key, one after the other.

        Args:
            table: messages, events, ledger or metrics.
            where: A condition in SQL over the table's columns, such as ``"firm = ?"``.
            parameters: The values for its question marks.
        """
        columns, order = TABLES[table].column_list, TABLES[table].order
        query = f"SELECT {columns} FROM {table} {_condition(where)} ORDER BY {order}"
        with database.reading(self.database) as connection:
            yield from connection.execute(query, parameters)

    def count(self, table: str, where: str = "", parameters: Sequence[Any] = ()) -> int:
        """How many rows a table has, or how many of them meet a condition."""
        query = f"SELECT count(*) FROM {TABLES[table].name} {_condition(where)}"
        with database.reading(self.database) as connection:
            return int(connection.execute(query, parameters).fetchone()[0])

    def log_lines(self) -> Iterator[str]:
        """The event log as it is hashed, line for line (see `services.runs.digest`)."""
        with database.reading(self.database) as connection:
            for mark in checkpoints.marks(connection):
                yield from _day_lines(connection, mark.day)[0]

    def verify(self) -> bool:
        """Whether the rows are those that were written: computes all digests again.

        Raises:
            HanseError: The database is so damaged that it cannot be read.
        """
        log = ledger = digest.START
        messages = lines_seen = 0
        with database.reading(self.database) as connection:
            for mark in checkpoints.marks(connection):
                lines, ledger_lines, message_count = _day_lines(connection, mark.day)
                log = digest.extend(log, lines)
                ledger = digest.extend(ledger, ledger_lines)
                messages += message_count
                lines_seen += len(lines)
                if mark != Mark(mark.day, log, ledger, messages):
                    return False
            rows = sum(
                connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0]
                for table in LOGGED
            )
        return bool(rows == lines_seen)

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
            return checkpoints.last_mark(connection) or Mark(-1, digest.START, digest.START, 0)


def _condition(where: str) -> str:
    return f"WHERE {where}" if where else ""


def _day_lines(connection: "sqlite3.Connection", day: int) -> tuple[list[str], list[str], int]:
    """All the lines of a day, its ledger's, and how many messages are among them."""
    messages, events, ledger = (
        connection.execute(
            f"SELECT {table.column_list} FROM {table.name} WHERE minute >= ? AND minute < ?"
            f" ORDER BY {table.order}",
            (first_minute(day), first_minute(day + 1)),
        ).fetchall()
        for table in (MESSAGES, EVENTS, LEDGER)
    )
    lines, ledger_lines = digest.day_lines(messages, events, ledger)
    return lines, ledger_lines, len(messages)
