"""The state of a league at the end of a day, and the marks that tell days apart."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
from pydantic import BaseModel, ConfigDict, ValidationError

from services.errors import HanseError
from services.runs.database import Damage

_LEVEL = 1  # a state is written every day and read hardly ever: speed counts

_MEMORY = 9

_ANY_DAY = 2**31
"""No run has days beyond; SQLite's numbers end as well, later."""


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


class _Agent(BaseModel):
    """An agent as its host saves it; its own state is for itself to judge."""

    model_config = ConfigDict(strict=True, extra="forbid")

    state: bytes
    number: int
    entries: int
    wakes: list[int]


class _League(BaseModel):
    """The state of a league."""

    model_config = ConfigDict(strict=True, extra="allow")

    agents: dict[str, _Agent]
    counters: dict[str, int]


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
    if day is not None and abs(day) > _ANY_DAY:
        return None
    found = connection.execute(
        "SELECT day, state, log_sha256, ledger_sha256, messages FROM checkpoints"
        " WHERE :day IS NULL OR day = :day ORDER BY day DESC LIMIT 1",
        {"day": day},
    ).fetchone()
    if found is None:
        return None
    number, state, *digests = found
    try:
        return Checkpoint(number, zlib.decompress(state), *_sound(number, *digests))
    except (zlib.error, TypeError, Damage) as error:
        raise damaged_checkpoint(folder, number, str(error)) from error


def unpack_state(checkpoint: Checkpoint, folder: Path) -> dict[str, Any]:
    """The state of a league as the league saved it: ``agents`` and ``counters`` are there.

    Args:
        checkpoint: What the store holds.
        folder: The run folder, to name in an error.

    Raises:
        HanseError: It is something else.
    """
    try:
        state = msgpack.unpackb(checkpoint.state, strict_map_key=False)
        return _League.model_validate(state).model_dump()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        reason = ".".join(map(str, (*first["loc"], first["msg"])))
        raise damaged_checkpoint(folder, checkpoint.day, reason) from error
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise damaged_checkpoint(folder, checkpoint.day, reason) from error


@contextmanager
def fitting(checkpoint: Checkpoint, folder: Path) -> Iterator[None]:
    """Around what agents do with a state that is theirs alone: junk in it shows only there.

    Raises:
        HanseError: An agent could not take its state back.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, AssertionError) as error:
        reason = f"an agent cannot load what it saved: {type(error).__name__}: {error}"
        raise damaged_checkpoint(folder, checkpoint.day, reason) from error


def damaged_checkpoint(folder: Path, day: int, reason: str) -> HanseError:
    """The error for a checkpoint from which no league can go on."""
    earlier = (
        f"go on from an earlier day, for example with: hanse branch {folder} --day {day - 1}"
        if day > 0
        else "run its configuration again: same seed, same run"
    )
    reason = " ".join(reason.split())
    return HanseError(f"{folder}: the checkpoint of day {day} is damaged ({reason}); {earlier}")


def last_mark(connection: sqlite3.Connection) -> Mark | None:
    """The mark of the last completed day."""
    found = connection.execute(
        "SELECT day, log_sha256, ledger_sha256, messages FROM checkpoints ORDER BY day DESC LIMIT 1"
    ).fetchone()
    return Mark(found[0], *_sound(*found)) if found else None


def marks(connection: sqlite3.Connection) -> list[Mark]:
    """The marks of all completed days, in order."""
    return [
        Mark(row[0], *_sound(*row))
        for row in connection.execute(
            "SELECT day, log_sha256, ledger_sha256, messages FROM checkpoints ORDER BY day"
        )
    ]


def _sound(
    day: int, log_sha256: object, ledger_sha256: object, messages: object
) -> tuple[Any, ...]:
    """Digests and number of messages of a checkpoint, if that is what they are."""
    if not (
        isinstance(log_sha256, str) and isinstance(ledger_sha256, str) and isinstance(messages, int)
    ):
        raise Damage(f"the digests of day {day} are none")
    return log_sha256, ledger_sha256, messages
