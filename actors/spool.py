"""The spool of a host: what is only there once, on the disk of the host's machine at once.

A host appends two things to it: answers that cannot be computed again, before they are used, and
what its agents log where the run's folder is not. The league has both in its own folder by the end
of the day, and the host removes them. If the host's process or the league's dies before that, the
next beginning finds them here.

**Who may still be heard.** Each beginning of the play, new or from a checkpoint, is an *epoch* of
the run, and its number stands in the run's database and in the name of every spool. A league that
begins again first takes the answers from the spools of the epoch that has just ended, on all
machines that answer, and only then raises the number. An answer that it does not get at that moment
is void for good: the day is played again without it, and with another answer in its place the
question may never have been asked. So a host that was cut off may go on, but what it writes belongs
to an epoch that has ended, and nobody reads it. Where the league's journal has an answer to the
same question, the journal's counts. What was logged is no part of the result: it is taken as found.

A spool survives the death of any process, and like the database it does not wait for the disk.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

from actors.guard import JournalRow

MOST_BYTES: Final = 16_000_000
"""What the spool of one host may hold; a day's answers and log are some kilobytes of it."""
LOG_SHARE: Final = 0.75
"""How much of that the log may take, so that there is room for answers."""
FORGOTTEN_DAYS: Final = 30
"""Spools of a run that nobody has written to for so long are removed."""
FOLDER: Final = "spool"
"""In the run's folder, for hosts on the league's own machine."""
ANSWERS_DROPPED: Final = "answers_not_spooled"
"""Counts answers that a spool had no room for; they are lost if the league dies at once."""
LOG_DROPPED: Final = "log_records_dropped"
"""Counts log records that a spool had no room for; they are lost."""
_ANSWER: Final = "answer"
_LOG: Final = "log"


class Epoch(NamedTuple):
    """A beginning of the play."""

    number: int
    """How often the run had begun before."""
    day: int
    """The day it begins with."""


class Spooled(NamedTuple):
    """What spools hold that the league has not yet had."""

    answers: list[JournalRow]
    log: list[str]
    """Lines of the run's log."""


class Spool:
    """The spool of one host, as the host writes it.

    Args:
        folder: A folder of the run, on the host's machine; made when there is something to write.
        host: The host's name.
        most_bytes: What it may hold.
    """

    def __init__(self, folder: Path, host: str, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder
        self._host = host
        self._most_bytes = most_bytes
        self.epoch: Epoch | None = None
        """The epoch that it keeps for; before the first, log lines wait."""
        self._early: list[str] = []
        self._day = 0
        self._file: int | None = None
        self._sizes: dict[Path, int] = {}
        self._dropped: Counter[str] = Counter()
        self._lock = Lock()  # an agent may log in a thread of its own

    def begin(self, epoch: Epoch) -> None:
        """An epoch begins: what is there of earlier ones has been taken, or is void."""
        with self._lock:
            self._close()
            self._sizes = {}
            remove(self.folder, before=epoch.number)
            self.epoch, self._day = epoch, epoch.day
            early, self._early = self._early, []
        for line in early:
            self.log(line)

    def answer(self, row: JournalRow) -> None:
        """Keeps an answer; it is there when this returns."""
        self._append([_ANSWER, *row], self._most_bytes, ANSWERS_DROPPED)

    def log(self, line: str) -> None:
        """Keeps a line of the run's log."""
        if self.epoch is None:
            self._early.append(line)
        else:
            self._append([_LOG, line], int(self._most_bytes * LOG_SHARE), LOG_DROPPED)

    def end_day(self, day: int, safe: int) -> list[str]:
        """A day ends, and what has been logged since the last one is handed over.

        Args:
            day: Which.
            safe: The last day that the league has in its folder; what is older is removed here.
        """
        with self._lock:
            self._close()
            lines = [text for path in self._sizes if _day_of(path) == self._day
                     for kind, text, *_ in _entries(path) if kind == _LOG]  # fmt: skip
            for path in [path for path in self._sizes if _day_of(path) <= safe]:
                path.unlink(missing_ok=True)
                del self._sizes[path]
            self._day = day + 1
        return lines

    def take_dropped(self) -> dict[str, int]:
        """How much it had no room for since this was asked last, by what it was."""
        dropped, self._dropped = self._dropped, Counter()
        return dict(dropped)

    def remove(self) -> None:
        """The run is over: nothing of it stays on this machine."""
        with self._lock:
            self._close()
            self._sizes = {}
            shutil.rmtree(self.folder, ignore_errors=True)

    def _append(self, entry: list[object], most: int, dropped: str) -> None:
        line = f"\n{json.dumps(entry)}\n".encode()  # a line before it may have been cut off
        with self._lock:
            assert self.epoch is not None
            if sum(self._sizes.values()) + len(line) > most:
                self._dropped[dropped] += 1
                return
            path = self.folder / f"{self.epoch.number}-{self._day}-{self._host}.jsonl"
            try:
                if self._file is None:
                    self._file = _opened(path)
                written = os.write(self._file, line)
            except OSError:
                written = 0
            if written < len(line):  # a full disk costs what would have been kept, not the host
                self._dropped[dropped] += 1
                return
            self._sizes[path] = self._sizes.get(path, 0) + len(line)

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def collect(folder: Path, epoch: Epoch) -> Spooled:
    """What the hosts of a machine have kept in an epoch since its last whole day.

    Args:
        folder: The folder of their spools.
        epoch: The epoch's number, and the first day that is not whole.
    """
    found = Spooled([], [])
    for path in sorted(folder.glob("*.jsonl")):
        number, day = _epoch_of(path), _day_of(path)
        if number != epoch.number:
            continue
        for kind, *rest in _entries(path):
            if kind == _ANSWER:
                minute, round_, agent, about, body = rest
                found.answers.append((minute, round_, agent, about, body))
            elif day >= epoch.day:  # of a whole day the league has the log
                found.log.extend(rest)
    return found


def adopted(
    answers: Iterable[JournalRow], journal: Iterable[JournalRow], since: int
) -> list[JournalRow]:
    """The answers that a journal lacks, in their order in the run.

    Args:
        answers: What spools hold.
        journal: What the league has.
        since: The first minute that is to be played again; what is older counts as it is.
    """
    known = {_question(row) for row in journal}
    missing = {_question(row): row for row in answers if row[0] >= since}
    return sorted(row for question, row in missing.items() if question not in known)


def remove(folder: Path, before: int) -> None:
    """Removes the spools of earlier epochs of a run on this machine."""
    for path in folder.glob("*.jsonl"):
        if _epoch_of(path) < before:
            path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()  # if nothing is left in it


def away(run: str) -> Path:
    """Where a host keeps its spool on a machine that has not the run's folder.

    Spools of runs that nobody has gone on with are removed there.

    Args:
        run: The run's id.
    """
    folder = Path.home() / ".hanse" / "spools"
    long_ago = time.time() - FORGOTTEN_DAYS * 86_400
    for other in folder.glob("*"):
        with suppress(OSError):
            if other.name != run and other.stat().st_mtime < long_ago:
                shutil.rmtree(other)
    return folder / run


def _question(row: JournalRow) -> tuple[int, int, str, str]:
    minute, round_, agent, _, body = row
    return minute, round_, agent, str(json.loads(body).get("message"))


def _opened(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.utime(path.parent)  # it is not forgotten
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def _entries(path: Path) -> Iterator[list[Any]]:
    """The entries of a file; one that was cut off when its process died had not been used."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in filter(None, lines):
        with suppress(ValueError):
            yield json.loads(line)


def _epoch_of(path: Path) -> int:
    return int(path.name.split("-", 2)[0])


def _day_of(path: Path) -> int:
    return int(path.name.split("-", 2)[1])
