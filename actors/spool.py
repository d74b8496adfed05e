"""The spool of a host: what is only there once, on the disk of the host's machine at once.

A host appends two things to it: answers that cannot be computed again, before they are used, and
what its agents log where the run's folder is not. The league has both in its own folder by the end
of the day, and the host removes them. If the host's process or the league's dies before that, the
next beginning finds them here.

**Who may still be heard.** Each beginning of the play, new or from a checkpoint, is an *epoch* of
the run. Its number and its token stand in the run's database and in the name of every spool: two
copies of a run's folder may have the same number, but never the same token. A league that begins
again first takes the answers from the spools of the epoch that has just ended, on all machines that
answer, and only then raises the number. An answer that it does not get at that moment is void for
good: the day is played again without it, and with another answer in its place the question may
never have been asked. So a host that was cut off may go on, but what it writes belongs to an epoch
that has ended, and nobody reads it. Where the league's journal has an answer to the same question,
the journal's counts. What was logged is no part of the result: it is taken as found. A copy of a
run's folder asks no other machine before it has begun an epoch of its own: the spools there belong
to the original, which may be playing. When a run is taken from a cluster for good, the spools of
the other machines come into its folder, where a copy reads them.

A spool survives the death of any process, and like the database it does not wait for the disk.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from actors.guard import JournalRow
from actors.sound_rows import sound_row
from services.runs.epochs import SPOOLS, SPOOLS_AWAY

MOST_BYTES: Final = 16_000_000
"""What the spool of one host may hold; a day's answers and log are some kilobytes of it."""
LOG_SHARE: Final = 0.75
"""How much of that the log may take, so that there is room for answers."""
FORGOTTEN_DAYS: Final = 30
"""Spools of a run that nobody has written to for so long are removed."""
FOLDER: Final = SPOOLS
"""In the run's folder, for hosts on the league's own machine."""
ANSWERS_DROPPED: Final = "answers_not_spooled"
"""Counts answers that a spool had no room for; they are lost if the league dies at once."""
LOG_DROPPED: Final = "log_records_dropped"
"""Counts log records that a spool had no room for; they are lost."""
_ANSWER: Final = "answer"
_LOG: Final = "log"
_NAME: Final = re.compile(r"([0-9]+)-([0-9]+)-(.+?)(?:\.([0-9a-f]{16}))?\.jsonl", re.DOTALL)
"""Number and day, the host's name, and the token if the epoch has one."""


class Epoch(NamedTuple):
    """A beginning of the play."""

    number: int
    """How often the run had begun before."""
    day: int
    """The day it begins with."""
    token: str = ""
    """What no other epoch has, not even one of a copy of the run; empty for the first."""
    ended: tuple[str, ...] = ()
    """The tokens of the run's earlier epochs, whose spools are void now."""


class Spooled(NamedTuple):
    """What spools hold that the league has not yet had."""

    answers: list[JournalRow]
    log: list[str]
    """Lines of the run's log."""
    skipped: int = 0
    """How many entries were none that a host writes, or were cut off."""


class _File(NamedTuple):
    path: Path
    number: int
    day: int
    token: str


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
        self._days: dict[Path, int] = {}
        self._dropped: Counter[str] = Counter()
        self._lock = Lock()  # an agent may log in a thread of its own

    def begin(self, epoch: Epoch) -> None:
        """An epoch begins: what is there of earlier ones has been taken, or is void."""
        with self._lock:
            self._close()
            self._sizes, self._days = {}, {}
            remove(self.folder, epoch.ended)
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
            lines = [line for path in self._sizes if self._days[path] == self._day
                     for entry in _entries(path) if (line := _line(entry)) is not None]  # fmt: skip
            for path in [path for path in self._sizes if self._days[path] <= safe]:
                path.unlink(missing_ok=True)
                del self._sizes[path], self._days[path]
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
            self._sizes, self._days = {}, {}
            if self.epoch is not None:
                remove(self.folder, (*self.epoch.ended, self.epoch.token))

    def _append(self, entry: list[object], most: int, dropped: str) -> None:
        line = f"\n{json.dumps(entry)}\n".encode()  # a line before it may have been cut off
        with self._lock:
            assert self.epoch is not None
            if sum(self._sizes.values()) + len(line) > most:
                self._dropped[dropped] += 1
                return
            token = f".{self.epoch.token}" if self.epoch.token else ""
            path = self.folder / f"{self.epoch.number}-{self._day}-{self._host}{token}.jsonl"
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
            self._days[path] = self._day

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def collect(folder: Path, epoch: Epoch) -> Spooled:
    """What the hosts of a machine have kept in an epoch since its last whole day.

    Files of other names and entries that no host writes are skipped.

    Args:
        folder: The folder of their spools.
        epoch: The epoch's number and token, and the first day that is not whole.
    """
    answers: list[JournalRow] = []
    log: list[str] = []
    skipped = 0
    for file in _files(folder):
        if (file.number, file.token) != (epoch.number, epoch.token):
            continue
        for entry in _entries(file.path):
            answer, line = _answer(entry), _line(entry)
            if answer is not None:
                answers.append(answer)
            elif line is None:
                skipped += 1
            elif file.day >= epoch.day:  # of a whole day the league has the log
                log.append(line)
    return Spooled(answers, log, skipped)


def merged(parts: Iterable[Spooled]) -> Spooled:
    """What was collected at several times, from spools that may have grown meanwhile."""
    answers: dict[JournalRow, None] = {}
    log: Counter[str] = Counter()
    skipped = 0
    for part in parts:
        answers.update(dict.fromkeys(part.answers))
        log |= Counter(part.log)
        skipped = max(skipped, part.skipped)
    return Spooled(list(answers), list(log.elements()), skipped)


def adopted(
    answers: Iterable[JournalRow],
    journal: Iterable[JournalRow],
    minutes: range,
    agents: Collection[str],
) -> list[JournalRow]:
    """The answers that a journal lacks, in their order in the run.

    Args:
        answers: What spools hold.
        journal: What the league has.
        minutes: Those that are to be played again; what is older counts as it is.
        agents: Who plays; others cannot have answered.
    """
    known = {_question(row) for row in journal}
    missing = {_question(row): row for row in answers if row[0] in minutes and row[2] in agents}
    return sorted(row for question, row in missing.items() if question not in known)


def remove(folder: Path, ended: Collection[str]) -> None:
    """Removes the spools of epochs with these tokens on this machine."""
    _remove(folder, (file for file in _files(folder) if file.token in ended))


def remove_before(folder: Path, number: int) -> None:
    """Removes the spools of all earlier epochs in a folder that is a run's alone."""
    _remove(folder, (file for file in _files(folder) if file.number < number))


def away(run: str) -> Path:
    """Where a host keeps its spool on a machine that has not the run's folder.

    Spools of runs that nobody has gone on with are removed there.

    Args:
        run: The run's id.
    """
    folder = Path.home() / SPOOLS_AWAY
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


def _files(folder: Path) -> Iterator[_File]:
    """The spools in a folder; what has another name, or is no file, is somebody else's."""
    for path in sorted(folder.glob("*.jsonl")):
        name = _NAME.fullmatch(path.name)
        with suppress(OSError):
            if name is not None and stat.S_ISREG(path.lstat().st_mode):
                number, day, _, token = name.groups()
                yield _File(path, int(number), int(day), token or "")


def _remove(folder: Path, files: Iterable[_File]) -> None:
    for file in files:
        with suppress(OSError):
            file.path.unlink()
    with suppress(OSError):
        folder.rmdir()  # if nothing is left in it


def _entries(path: Path) -> Iterator[object]:
    """The entries of a file; ``None`` for one that was cut off when its process died.

    Such an answer had not been used.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in filter(None, lines):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        yield entry


def _answer(entry: object) -> JournalRow | None:
    return sound_row(entry[1:]) if isinstance(entry, list) and entry[:1] == [_ANSWER] else None


def _line(entry: object) -> str | None:
    """The line of the log that an entry holds."""
    if not (isinstance(entry, list) and len(entry) == 2 and entry[0] == _LOG):
        return None
    line = entry[1]
    if not isinstance(line, str) or len(line.splitlines()) > 1:
        return None
    try:
        line.encode()
    except UnicodeEncodeError:
        return None  # no file could take it
    return line
