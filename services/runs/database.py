"""Opening ``run.db``, and saying in one line what is wrong with it."""

import json
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from services.errors import HanseError
from services.runs.manifest import Manifest, check_format

FILE = "run.db"

_MAGIC = b"SQLite format 3\0"
_BUSY_SECONDS = 10.0
_PAGE_BYTES = 8192  # a page of 4096 holds too few rows of a few hundred bytes: a fifth slower
_CACHE_KIB = 8192

_SHAPES: dict[str, Any] = {
    "format": int,
    "config_sha256": str,
    "state": str,
    "pid": dict | None,
    "result": dict | None,
    "epoch": int,
    "epoch_tokens": dict,
}
"""What the facts are, as far as anybody reads them."""

_RESTORE = "restore the folder from a copy, or run its configuration again: same seed, same run"


class Damage(Exception):
    """What is read makes no sense; `explained` adds in which file."""


def configure(connection: sqlite3.Connection, path: Path) -> None:
    """Sets a writer's connection up.

    A commit in WAL mode survives the death of the process at any instant without waiting for the
    disk (``synchronous=NORMAL``); a power cut may take the last days with it, never the file.
    """
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise HanseError(
            f"{path}: the file system offers no shared memory for SQLite (a network share?);"
            " put runs on a local disk"
        )
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")


_opened: Counter[tuple[int, int]] = Counter()
"""How many connections of this process each database has, by device and inode."""
_opening = threading.Lock()


class _Counted(sqlite3.Connection):
    """A connection that is known while it is open.

    POSIX lets go of all locks that a process has on a file as soon as it closes any descriptor of
    that file. So nobody here may open, and close, a database past SQLite while a connection to it
    is open: other processes would take it for abandoned, and clear its write-ahead log away.
    """

    file: tuple[int, int] | None = None

    def close(self) -> None:
        """Closes it; may be repeated."""
        super().close()
        file, self.file = self.file, None
        if file is not None:
            with _opening:
                _opened[file] -= 1


def _connect(path: Path, address: str) -> sqlite3.Connection:
    with _opening:
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            factory=_Counted,
        )
        connection.file = _identity(path)
        if connection.file is not None:
            _opened[connection.file] += 1
    return connection


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


def connect_to_write(path: Path) -> sqlite3.Connection:
    """A connection in which every transaction is begun by hand."""
    # An address, so that others may be attached by theirs.
    connection = _connect(path, path.resolve().as_uri())
    try:
        configure(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to read with, that sees one state of the run however long it is used.

    It never holds a writer up, and leaves neither handle nor file behind.

    Raises:
        HanseError: The database is missing, damaged or unreadable.
    """
    _check_whole(path)
    with explained(path), closing(_connect_to_read(path)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        yield connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    return _connect(path, reading_address(path))


def reading_address(path: Path) -> str:
    """The address under which SQLite opens a database that is only to be read.

    Even a reader needs SQLite's shared memory beside the file. The last to leave clears it away,
    if it may write; one that opened the file with ``mode=ro`` would leave it lying there.
    """
    address = path.resolve().as_uri()
    if not _write_ahead_log(path).exists() and not os.access(path.parent, os.W_OK):
        # The shared memory cannot be made; then nobody writes, and the file is the whole run.
        return f"{address}?mode=ro&immutable=1"
    return f"{address}?mode=rw"  # without write permission SQLite falls back to reading


def facts(connection: sqlite3.Connection) -> dict[str, Any]:
    """What the run says about itself."""
    return {
        key: _parsed(key, value)
        for key, value in connection.execute("SELECT key, value FROM facts")
    }


def fact(connection: sqlite3.Connection, key: str) -> Any:
    """One thing that the run says about itself; None if it says nothing."""
    found = fact_text(connection, key)
    return None if found is None else _parsed(key, found)


def fact_text(connection: sqlite3.Connection, key: str) -> str | None:
    """The JSON of one thing that the run says about itself, unread."""
    found = connection.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
    return found[0] if found else None


def _parsed(key: str, text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise Damage(f"its fact {key!r} is not JSON") from error
    if not isinstance(value, _SHAPES.get(key, object)):
        raise Damage(f"its fact {key!r} is of another shape")
    return value


def set_facts(connection: sqlite3.Connection, **values: Any) -> None:
    """Replaces facts; part of whatever transaction is open."""
    connection.executemany(
        "INSERT OR REPLACE INTO facts VALUES (?, ?)",
        [(key, json.dumps(value)) for key, value in values.items()],
    )


def check_belongs(path: Path, manifest: Manifest, known: dict[str, Any]) -> None:
    """Refuses a database that another Hanse or another run has written.

    Args:
        path: The database.
        manifest: The manifest beside it.
        known: The database's facts.
    """
    check_format(path, known.get("format"))
    if known.get("config_sha256") != manifest.config_sha256:
        raise HanseError(
            f"{path}: its checkpoints belong to another configuration than the manifest.json"
            " beside it; put back the two files that belong together"
        )


@contextmanager
def explained(path: Path, then: str = "try again") -> Iterator[None]:
    """Turns SQLite's errors into lines for the user.

    Args:
        path: The database.
        then: What to do once an outer cause (no space, a lock) is gone.
    """
    try:
        yield
    except Damage as error:
        raise HanseError(damaged(path, str(error))) from error
    except sqlite3.Error as error:
        line = _explain(path, error, then)
        if line is None:
            raise
        raise HanseError(line) from error


def damaged(path: Path, detail: str) -> str:
    """The line for a database that cannot be trusted."""
    return f"{path}: damaged ({' '.join(detail.split())}); {_RESTORE}"


def _explain(path: Path, error: sqlite3.Error, then: str) -> str | None:
    # The low byte is the primary code; the others tell where in SQLite it arose.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    text = " ".join(str(error).split())
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, text)
    if code == sqlite3.SQLITE_ERROR and "no such" in text:
        return f"{path}: not a run's database ({text}); {_RESTORE}"
    if code == sqlite3.SQLITE_FULL:
        return f"{path}: the disk is full; free some space, then {then}"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"{path}: another program keeps it locked; close that program, then {then}"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return f"{path}: cannot be written ({text}); mend the folder's permissions, then {then}"
    if code == sqlite3.SQLITE_IOERR:
        return f"{path}: the disk fails ({text}); mend it, then {then}"
    return None


def _check_whole(path: Path) -> None:
    """Compares the file's length with what its header says, which SQLite does only in pages."""
    with _opening:
        # Whoever has a connection has looked already, and would lose its locks by looking again.
        if _opened[_identity(path) or (0, 0)] <= 0:
            _compare_lengths(path)


def _compare_lengths(path: Path) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(100)
        if header and not header.startswith(_MAGIC):
            raise HanseError(damaged(path, "not an SQLite file"))
        if _pages_wait(path):
            return
        found = path.stat().st_size  # asked last: it only grows, until no page waits any more
    except FileNotFoundError:
        raise HanseError(f"{path}: missing; {_RESTORE}") from None
    except OSError as error:
        raise HanseError(
            f"{path}: cannot be read ({error.strerror}); mend the folder's permissions"
        ) from error
    page = int.from_bytes(header[16:18], "big")
    expected = int.from_bytes(header[28:32], "big") * (65536 if page == 1 else page)
    if len(header) < 100 or found < expected:
        raise HanseError(f"{path}: truncated ({found} of {expected or '?'} bytes); {_RESTORE}")


def _pages_wait(path: Path) -> bool:
    """Whether pages may still wait in the write-ahead log to be put into the file."""
    try:
        return _write_ahead_log(path).stat().st_size > 0
    except FileNotFoundError:
        return False


def _write_ahead_log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")
