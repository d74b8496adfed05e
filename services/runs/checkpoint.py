"""The state of a league at the end of a day, and the marks that tell days apart."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
import zstandard
from pydantic import BaseModel, ConfigDict, ValidationError

from services.errors import HanseError
from services.runs import digest
from services.runs.database import Damage
from services.runs.schema import LOGGED, Table

_LEVEL = 1  # the levels below it are no faster, and leave more to be written

_WINDOW = 2**23
"""The most that unpacking may look back: sixteen times as far as packing at that level does."""

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


class Extent(NamedTuple):
    """How many rows the tables of the log have up to the end of a day.

    As their rowids count from 1, each number is also the rowid of the last row.
    """

    messages: int
    events: int
    ledger: int


class Standing(NamedTuple):
    """Where the run is at the end of a day."""

    mark: Mark
    extent: Extent


BEGINNING = Standing(Mark(-1, digest.START, digest.START, 0), Extent(0, 0, 0))
"""Before the first day."""


class _Agent(BaseModel):
    """An agent as its host saves it; its own state is for itself to judge."""

    model_config = ConfigDict(strict=True, extra="forbid")

    state: bytes
    number: int
    entries: int
    wakes: list[int]
    restraints: bytes | None = None
    """The measures that stand against it."""


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


def write(connection: sqlite3.Connection, standing: Standing, state: bytes) -> None:
    """Adds the checkpoint of a day."""
    day, log_sha256, ledger_sha256, _ = standing.mark
    connection.execute(
        "INSERT INTO checkpoints (day, log_sha256, ledger_sha256, messages, events, ledger, state)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (day, log_sha256, ledger_sha256, *standing.extent, _compressed(state)),
    )


def replace_state(connection: sqlite3.Connection, day: int, state: bytes) -> None:
    """Puts another state into the checkpoint of a day; its marks stay."""
    connection.execute("UPDATE checkpoints SET state = ? WHERE day = ?", (_compressed(state), day))


def _compressed(state: bytes) -> bytes:
    # A packer is not for two threads at once, and a new one costs next to nothing.
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(state)


def _decompressed(packed: bytes) -> bytes:
    """What was packed.

    The size that stands at the head of a damaged state may be anything: nothing is allocated
    after it, but piece by piece as the bytes that follow yield something.

    Raises:
        Damage: It is cut off, or something else follows it.
        zstandard.ZstdError: It is no packed state, or its checksum is wrong.
    """
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
    state = unpacker.decompress(packed)
    if not unpacker.eof:
        raise Damage("its state is cut off")
    if unpacker.unused_data:
        raise Damage("something follows its state")
    return state


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
        return Checkpoint(number, _decompressed(state), *_sound(number, *digests))
    except (zstandard.ZstdError, TypeError, MemoryError, Damage) as error:
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
        return _League.model_validate(state).model_dump(exclude_unset=True)
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


def last(connection: sqlite3.Connection) -> Standing:
    """Where the run is after its last completed day; `BEGINNING` if there is none."""
    found = connection.execute(
        "SELECT day, log_sha256, ledger_sha256, messages, events, ledger FROM checkpoints"
        " ORDER BY day DESC LIMIT 1"
    ).fetchone()
    if found is None:
        return BEGINNING
    *mark, events, ledger = found
    sound = Mark(mark[0], *_sound(*mark))
    if not (isinstance(events, int) and isinstance(ledger, int)):
        raise Damage(f"the numbers of rows of day {sound.day} are none")
    return Standing(sound, Extent(sound.messages, events, ledger))


def condition(connection: sqlite3.Connection, table: Table, days: range) -> str:
    """The condition in SQL for the rows of some days, which finds them without reading others.

    Of the log's tables it names rowids, as far as the days are complete; rows of a day that is
    not, should there be any, are never among them.

    Args:
        connection: The run's database.
        table: The table.
        days: Days that follow each other.
    """
    if days.step != 1:
        raise ValueError(f"days that follow each other are wanted, not {days}")
    if table not in LOGGED:
        return f"day >= {days.start} AND day < {days.stop}"
    first, last = (
        connection.execute(
            f"SELECT {table.name} FROM checkpoints WHERE day < ? ORDER BY day DESC LIMIT 1",
            (min(max(day, -1), _ANY_DAY),),
        ).fetchone()
        for day in (days.start, days.stop)
    )
    return f"rowid > {_rowid(first)} AND rowid <= {_rowid(last)}"


def _rowid(found: tuple[object] | None) -> int:
    if found is None:
        return 0
    if not isinstance(found[0], int):
        raise Damage("a checkpoint's numbers of rows are none")
    return found[0]


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
