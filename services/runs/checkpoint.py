"""The state of a league at the end of a day, and the marks that tell days apart."""

import sqlite3
import zlib
from pathlib import Path
from typing import NamedTuple

from services.errors import HanseError

_LEVEL = 1  # a state is written every day and read hardly ever: speed counts

_MEMORY = 9


class Mark(NamedTuple):
    """What identifies the run up to the end of a day."""

    day: int
    log_sha256: str
    ledger_sha256: str
    messages: int
    """Messages since the start of the run."""


class DayMark(NamedTuple):
    """A mark, and how many rows the day itself brought."""

    day: int
    log_sha256: str
    ledger_sha256: str
    messages: int
    """Messages since the start of the run."""
    message_rows: int
    event_rows: int
    ledger_rows: int
    metric_rows: int


class Checkpoint(NamedTuple):
    """A mark, and the state from which the next day can be played."""

    day: int
    state: bytes
    log_sha256: str
    ledger_sha256: str
    messages: int


def write(connection: sqlite3.Connection, mark: Mark, state: bytes) -> None:
    """Adds the checkpoint of a day."""
    connection.execute(
        "INSERT INTO checkpoints (day, log_sha256, ledger_sha256, messages, state)"
        " VALUES (?, ?, ?, ?, ?)",
        (*mark, _compressed(state)),
    )


def replace_state(connection: sqlite3.Connection, day: int, state: bytes) -> None:
    """Puts another state into the checkpoint of a day; its marks stay."""
    connection.execute("UPDATE checkpoints SET state = ? WHERE day = ?", (_compressed(state), day))


def _compressed(state: bytes) -> bytes:
    # With all the memory that zlib can use, the fastest level takes a quarter less time.
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS, _MEMORY)
    return packer.compress(state) + packer.flush()


def read(connection: sqlite3.Connection, folder: Path, day: int | None = None) -> Checkpoint | None:
    """The checkpoint of a day, or the last one; None if there is none.

    Args:
        connection: The run's database.
        folder: The run folder, to name in an error.
        day: The day; None for the last one.

    Raises:
        HanseError: Its state is damaged.
    """
    found = connection.execute(
        "SELECT day, state, log_sha256, ledger_sha256, messages FROM checkpoints"
        " WHERE :day IS NULL OR day = :day ORDER BY day DESC LIMIT 1",
        {"day": day},
    ).fetchone()
    if found is None:
        return None
    checkpoint = Checkpoint(*found)
    try:
        return checkpoint._replace(state=zlib.decompress(checkpoint.state))
    except zlib.error as error:
        raise HanseError(
            f"{folder}: the checkpoint of day {checkpoint.day} is damaged ({error}); go on from an"
            f" earlier day, for example with: hanse branch {folder} --day {checkpoint.day - 1}"
        ) from error


def last_mark(connection: sqlite3.Connection) -> Mark | None:
    """The mark of the last completed day."""
    found = connection.execute(
        "SELECT day, log_sha256, ledger_sha256, messages FROM checkpoints ORDER BY day DESC LIMIT 1"
    ).fetchone()
    return Mark(*found) if found else None


def marks(connection: sqlite3.Connection) -> list[Mark]:
    """The marks of all completed days, in order."""
    return [
        Mark(*row)
        for row in connection.execute(
            "SELECT day, log_sha256, ledger_sha256, messages FROM checkpoints ORDER BY day"
        )
    ]
