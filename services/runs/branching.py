"""Starting a new run from a day of another one."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from services.errors import HanseError
from services.runs import checkpoint as checkpoints
from services.runs import database
from services.runs.checkpoint import Checkpoint
from services.runs.folder import check_free, new_folder
from services.runs.run import Run
from services.runs.schema import BY_DAY, LOGGED, first_minute
from services.runs.store import create_database


def branch(
    folder: Path,
    day: int,
    target: Path,
    *,
    config: Mapping[str, Any] | None = None,
    strategies: Mapping[str, str] | None = None,
    refit: Callable[[bytes], bytes] | None = None,
) -> Path:
    """Copies a run up to the end of a day into a new run folder, to be resumed from there.

    The two share nothing afterwards. The original may be running meanwhile. With another
    configuration the branch is a run of its own that has the original's first days: its
    checkpoints belong to its own configuration from then on.

    Args:
        folder: The run to leave.
        day: Its last day that the branch is to have.
        target: The folder to make.
        config: The whole resolved configuration with which the branch goes on; as before if None.
        strategies: The digests of the strategies' files; as before if None.
        refit: Turns the state at the end of the day into one that fits the configuration.

    Returns:
        The new run folder.

    Raises:
        HanseError: The run has no checkpoint of that day, or the target cannot be made.
    """
    target = Path(target)
    run = Run(folder)
    manifest = run.manifest.branched(day, config, strategies)
    check_free(target)
    checkpoint = _checkpoint(run, day)
    with new_folder(target) as building, database.explained(target / database.FILE):
        path = building / database.FILE
        create_database(path, manifest)
        with closing(database.connect_to_write(path)) as connection:
            connection.execute("ATTACH ? AS original", (database.reading_address(run.database),))
            _copy(connection, day)
            if refit is not None:
                checkpoints.replace_state(connection, day, _refitted(checkpoint, refit, run))
        manifest.write(building)
    return target


def _checkpoint(run: Run, day: int) -> Checkpoint:
    found = run.checkpoint(day)
    if found is not None:
        return found
    days = [mark.day for mark in run.marks()]
    has = f"it has those of days {days[0]} to {days[-1]}" if days else "no day is complete yet"
    raise HanseError(f"{run.folder}: there is no checkpoint of day {day}; {has}")


def _refitted(checkpoint: Checkpoint, refit: Callable[[bytes], bytes], run: Run) -> bytes:
    checkpoints.unpack_state(checkpoint, run.folder)
    with checkpoints.fitting(checkpoint, run.folder):
        return refit(checkpoint.state)


def _copy(connection: sqlite3.Connection, day: int) -> None:
    connection.execute("BEGIN")  # IMMEDIATE would lock the original, too
    for table in LOGGED:
        connection.execute(
            f"INSERT INTO main.{table.name} (rowid, {table.column_list})"
            f" SELECT rowid, {table.column_list} FROM original.{table.name} WHERE rowid <="
            f" (SELECT {table.name} FROM original.checkpoints WHERE day = ?) ORDER BY rowid",
            (day,),
        )
    for table in BY_DAY:
        connection.execute(
            f"INSERT INTO main.{table.name} SELECT {table.column_list}"
            f" FROM original.{table.name} WHERE day <= ? ORDER BY {table.order}",
            (day,),
        )
    connection.execute(
        "INSERT INTO main.checkpoints SELECT * FROM original.checkpoints WHERE day <= ?", (day,)
    )
    connection.execute(
        "INSERT INTO main.journal SELECT * FROM original.journal WHERE minute < ? ORDER BY rowid",
        (first_minute(day + 1),),
    )
    connection.execute("COMMIT")
