"""Writing a run: one writer, one transaction for each day."""

import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from services.errors import HanseError
from services.runs import checkpoint as checkpoints
from services.runs import database, digest, epochs
from services.runs.bodies import sound_body
from services.runs.checkpoint import Checkpoint, DayMark, Extent, Mark, Standing
from services.runs.claim import Claim
from services.runs.epochs import RunEpoch
from services.runs.folder import new_folder
from services.runs.manifest import Manifest
from services.runs.result import RunResult
from services.runs.schema import (
    BY_DAY,
    EVENTS,
    FORMAT,
    LEDGER,
    LOGGED,
    MESSAGES,
    METRICS,
    SPANS,
    TIMINGS,
    Row,
    create_tables,
    first_minute,
)


class RunStore:
    """The writer of a run folder.

    Rows gather in memory during a day; `end_day` writes them, the day's digests and the state of
    the league in one transaction, and forgets them. So the folder always holds whole days, and a
    run continues from the last of them whatever has happened::

        store = RunStore.create(folder, manifest)
        for day in range(90):
            store.append(messages=[...], events=[...], ledger=[...], metrics=[...])
            store.end_day(day, state)
        store.finish(result)
        store.close()

    After an error in `end_day` nothing of the day is in the folder, and its rows are still
    gathered: it may be called again once the cause is gone.
    """

    def __init__(self, folder: Path, manifest: Manifest, connection: sqlite3.Connection):
        self.folder = folder
        self.manifest = manifest
        self._path = folder / database.FILE
        self._connection = connection
        self._claim = Claim(folder, uuid.uuid4().hex)
        self._last: Standing | None = None  # of the last whole day; None where only SQLite knows
        self._says_running = False
        self._messages: list[Row] = []
        self._events: list[Row] = []
        self._ledger: list[Row] = []
        self._metrics: list[Row] = []
        self._timings: list[Row] = []
        self._spans: list[Row] = []

    @classmethod
    def create(cls, folder: Path, manifest: Manifest) -> "RunStore":
        """Makes a run folder and opens it.

        Raises:
            HanseError: The folder exists and is not empty, or it cannot be written.
        """
        folder = Path(folder)
        with new_folder(folder) as building, database.explained(folder / database.FILE):
            create_database(building / database.FILE, manifest)
            manifest.write(building)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path, *, config_sha256: str | None = None) -> "RunStore":
        """Opens a run folder to continue it after its last whole day.

        Args:
            folder: The run folder.
            config_sha256: The digest of the configuration that the caller is about to continue
                with (`services.runs.config_sha256`); None if it takes the manifest's.

        Raises:
            HanseError: The folder is damaged or not a run folder, another process is writing it,
                or its checkpoints belong to another configuration.
        """
        folder = Path(folder)
        manifest = Manifest.read(folder)
        if config_sha256 not in (None, manifest.config_sha256):
            raise HanseError(
                f"{folder}: its checkpoints belong to another configuration; resume without one, or"
                " start a new run in another folder"
            )
        path = folder / database.FILE
        with database.reading(path) as connection:
            database.check_belongs(path, manifest, database.facts(connection))
            fault = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if fault != "ok":
            raise HanseError(database.damaged(path, fault))
        with database.explained(path):
            store = cls(folder, manifest, database.connect_to_write(path))
            try:
                store._take_over()
            except BaseException:
                store._connection.close()
                raise
        return store

    @property
    def day(self) -> int | None:
        """The last whole day, or None before the first is done."""
        with self._explained():
            day = checkpoints.last(self._connection).mark.day
        return None if day < 0 else day

    def append(
        self,
        messages: Iterable[Row] = (),
        events: Iterable[Row] = (),
        ledger: Iterable[Row] = (),
        metrics: Iterable[Row] = (),
        timings: Iterable[Row] = (),
        spans: Iterable[Row] = (),
    ) -> None:
        """Gathers rows of the current day, in any order.

        Args:
            messages: (minute, round, sender, number, recipient, channel, type, in_reply_to, cause,
                trace, body) each; in_reply_to, cause and trace may be None.
            events: (minute, round, agent, ordinal, cause, kind, subject, body) each; cause may be
                None.
            ledger: (minute, round, agent, ordinal, firm, debit, credit, micros, reference) each.
            metrics: (day, agent, body) each.
            timings: (day, host, body) each, see :mod:`services.telemetry.timings`.
            spans: (day, agent, span_id, trace_id, parent_id, name, kind, began, ended, minute,
                status, body) each; parent_id may be None.
        """
        self._messages.extend(messages)
        self._events.extend(events)
        self._ledger.extend(ledger)
        self._metrics.extend(metrics)
        self._timings.extend(timings)
        self._spans.extend(spans)

    def discard_day(self) -> None:
        """Forgets what was gathered, because the day is played again."""
        self._messages.clear()
        self._events.clear()
        self._ledger.clear()
        self._metrics.clear()
        self._timings.clear()
        self._spans.clear()

    def end_day(self, day: int, state: bytes) -> DayMark:
        """Writes the day, whole or not at all.

        Args:
            day: The day that ends; later than the last one.
            state: The state of the league from which the next day can be played.

        Returns:
            The digests and the numbers of rows.

        Raises:
            HanseError: The disk is full, the database is locked or damaged, or another process has
                taken the run over.
            ValueError: The rows are not of that day, or two have one key.
        """
        tables = (
            (MESSAGES, self._messages),
            (EVENTS, self._events),
            (LEDGER, self._ledger),
            (METRICS, self._metrics),
            (TIMINGS, self._timings),
            (SPANS, self._spans),
        )
        for table, rows in tables:
            table.sort(rows)
        self._check_days(day)
        packed = [digest.packed(rows) for rows in (self._messages, self._events, self._ledger)]
        try:
            with self._transaction():
                # Should this fail, or be interrupted, what the database then holds is what counts.
                last, self._last = self._last or checkpoints.last(self._connection), None
                standing = self._next(last, day, packed)
                for table, rows in tables:
                    table.insert(self._connection, rows)
                checkpoints.write(self._connection, standing, state)
                if not self._says_running:
                    database.set_facts(self._connection, state="running")
            self._last, self._says_running = standing, True
        except sqlite3.IntegrityError as error:
            raise ValueError(f"the rows of day {day} cannot be written: {error}") from error
        except BaseException:
            # An interrupt may arrive when the day is written already, but not yet forgotten.
            with suppress(HanseError, sqlite3.Error):
                if self.day == day:
                    self.discard_day()
            raise
        counts = map(len, (self._messages, self._events, self._ledger, self._metrics))
        written = DayMark(*standing.mark, *counts)
        self.discard_day()
        return written

    def journal(self, rows: Iterable[Row]) -> None:
        """Writes answers that cannot be computed again, such as a human's; at once, in order.

        Args:
            rows: (minute, round, agent, kind, body) each.
        """
        if rows := list(rows):
            with self._transaction():
                self._connection.executemany("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", rows)

    def journal_since(self, minute: int) -> list[Row]:
        """The journal from a minute on, in the order in which it was written."""
        with self._explained():
            rows = self._connection.execute(
                "SELECT minute, round, agent, kind, body FROM journal WHERE minute >= ?"
                " ORDER BY rowid",
                (minute,),
            ).fetchall()
        for *_, body in rows:
            sound_body(body, self._path, "journal")
        return rows

    @property
    def epoch(self) -> RunEpoch:
        """The beginning of the play that was last."""
        with self._explained():
            return epochs.current(self._connection, self._path)

    def next_epoch(self) -> RunEpoch:
        """The play begins again; the new :attr:`epoch`."""
        with self._transaction():
            return epochs.begin(self._connection, self._path)

    def checkpoint(self, day: int | None = None) -> Checkpoint | None:
        """The checkpoint of a day, or the last one; None if there is none."""
        with self._explained():
            return checkpoints.read(self._connection, self.folder, day)

    def finish(self, result: RunResult | Mapping[str, Any], spans: Sequence[Row] = ()) -> None:
        """Declares the run finished, with its result.

        Args:
            result: What came of it.
            spans: Spans of the last day that were not known before.
        """
        summary = RunResult.model_validate(result)
        self._says_running = False
        with self._transaction():
            SPANS.insert(self._connection, spans)
            database.set_facts(
                self._connection, state="finished", result=summary.model_dump(mode="json")
            )

    def interrupt(self) -> None:
        """Declares the run stopped after its last whole day, to be resumed."""
        self.discard_day()
        self._says_running = False
        with self._transaction():
            database.set_facts(self._connection, state="interrupted")

    def close(self) -> None:
        """Lets the run go; what was gathered since the last whole day is lost. May be repeated."""
        # Whatever fails here, nothing is lost: an abandoned claim counts as none.
        with suppress(HanseError, sqlite3.Error), self._transaction():
            database.set_facts(self._connection, pid=None)
        self.discard_day()
        self._connection.close()
        self._claim.drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _next(self, last: Standing, day: int, packed: list[bytes]) -> Standing:
        mark, before = last
        if day <= mark.day:
            raise ValueError(f"day {day} cannot end after day {mark.day}")
        extent = Extent(
            before.messages + len(self._messages),
            before.events + len(self._events),
            before.ledger + len(self._ledger),
        )
        log_sha256 = digest.extend(mark.log_sha256, *packed)
        ledger_sha256 = digest.extend(mark.ledger_sha256, packed[-1])
        return Standing(Mark(day, log_sha256, ledger_sha256, extent.messages), extent)

    def _check_days(self, day: int) -> None:
        start, end = first_minute(day), first_minute(day + 1)
        for rows in (self._messages, self._events, self._ledger):
            if rows and not (start <= rows[0][0] and rows[-1][0] < end):
                stray = rows[0] if rows[0][0] < start else rows[-1]
                raise ValueError(
                    f"a row of minute {stray[0]} is not of day {day}"
                    f" (minutes {start} to {end - 1}): {stray!r}"
                )
        for table, rows in zip(BY_DAY, (self._metrics, self._timings, self._spans), strict=True):
            if rows and not rows[0][0] == rows[-1][0] == day:
                raise ValueError(f"a row of {table.name} is not of day {day}")

    def _explained(self) -> AbstractContextManager[None]:
        return database.explained(self._path, f"continue with: hanse resume {self.folder}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """One transaction of this writer: all of it happens, or nothing."""
        with self._explained():
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                self._claim.check(self._connection)
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _take_over(self) -> None:
        """Makes this store the run's writer, unless another one lives."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._claim.take(self._connection)
            if running := database.fact(self._connection, "state") != "finished":
                database.set_facts(self._connection, state="running")
            last = checkpoints.last(self._connection)
            self._drop_after(last)
            self._connection.execute("COMMIT")
            self._last, self._says_running = last, running
        except BaseException:
            self._roll_back()
            self._claim.drop()
            raise

    def _drop_after(self, last: Standing) -> None:
        """Drops rows of days after the last whole one, should another program have left some."""
        for table, rowid in zip(LOGGED, last.extent, strict=True):
            self._connection.execute(f"DELETE FROM {table.name} WHERE rowid > ?", (rowid,))
        for table in BY_DAY:
            self._connection.execute(f"DELETE FROM {table.name} WHERE day > ?", (last.mark.day,))


def create_database(path: Path, manifest: Manifest) -> None:
    """Makes the database of a run that has not begun."""
    with closing(database.connect_to_write(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        create_tables(connection)
        database.set_facts(
            connection,
            format=FORMAT,
            config_sha256=manifest.config_sha256,
            state="interrupted",
            pid=None,
            result=None,
        )
        epochs.first(connection, path)
        connection.execute("COMMIT")
