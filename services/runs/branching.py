"""Starting a new run from a day of another one."""

import sqlite3
from contextlib import closing
from pathlib import Path

from services.errors import HanseError
from services.runs import database
from services.runs.folder import check_free, new_folder
from services.runs.run import Run
from services.runs.schema import LOGGED, first_minute
from services.runs.store import create_database


def branch(folder: Path, day: int, target: Path) -> Path:
    """Copies a run up to the end of a day into a new run folder, to be resumed from there.

    The two share nothing afterwards. The original may be running meanwhile.

    Args:
        folder: The run to leave.
        day: Its last day that the branch is to have.
        target: The folder to make.

    Returns:
        The new run folder.

    Raises:
        HanseError: The run has no checkpoint of that day, or the target cannot be made.
    """
    target = Path(target)
    run = Run(folder)
    manifest = run.manifest.branched(day)
    check_free(target)
    _check_day(run, day)
    with new_folder(target) as building, database.explained(target / database.FILE):
        path = building / database.FILE
        create_database(path, manifest)
        with closing(database.connect_to_write(path)) as connection:
            connection.execute("ATTACH ? AS original", (database.reading_address(run.database),))
            _copy(connection, day)
        manifest.write(building)
    return target


def _check_day(run: Run, day: int) -> None:
    if run.checkpoint(day) is not None:
        return
    days = [mark.day for mark in run.marks()]
    has = f"it has those of days {days[0]} to {days[-1]}" if days else "no day is complete yet"
    raise HanseError(f"{run.folder}: there is no checkpoint of day {day}; {has}")


def _copy(connection: sqlite3.Connection, day: int) -> None:
    end = first_minute(day + 1)
    connection.execute("BEGIN")  # IMMEDIATE would lock the original, too
    for table in LOGGED:
        connection.execute(
            f"INSERT INTO main.{table.name} SELECT {table.column_list}"
            f" FROM original.{table.name} WHERE minute < ? ORDER BY {table.order}",
            (end,),
        )
    connection.execute(
        "INSERT INTO main.metrics SELECT day, agent, body FROM original.metrics WHERE day <= ?"
        " ORDER BY day, agent",
        (day,),
    )
    connection.execute(
        "INSERT INTO main.checkpoints SELECT * FROM original.checkpoints WHERE day <= ?", (day,)
    )
    connection.execute(
        "INSERT INTO main.journal SELECT * FROM original.journal WHERE minute < ? ORDER BY rowid",
        (end,),
    )
    database.set_facts(connection, day=day)
    connection.execute("COMMIT")
