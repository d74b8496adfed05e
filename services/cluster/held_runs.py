"""The runs that are on the head of a cluster, as its program finds them there."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from services.errors import HanseError
from services.runs.process import Process
from services.runs.run import Run

_NOBODY: Final = 2**30
"""A number that no process of Linux has."""


def held_runs(runs: Path) -> list[dict[str, Any]]:
    """Every run: its name, its id, how it stands and since when, and how many days are whole.

    Of a run that has no folder of its own yet the id and the days are ``None``, and so they are of
    one that cannot be read.

    Args:
        runs: The folder of the runs.
    """
    return list(_held(runs))


def _held(runs: Path) -> Iterator[dict[str, Any]]:
    for folder in sorted(runs.glob("*")):
        if not os.path.lexists(folder / "pid"):
            continue
        code = folder / "code"
        state, began = "running", folder / "pid"
        if os.path.lexists(code):
            state = "finished" if _text(code) == "0" else "stopped"
            began = code
        elif not _process(folder / "pid").is_alive():
            # Nobody has written down when it was ended; it had written last then.
            state, began = "stopped", folder / "project" / "runs" / folder.name / "run.db"
        found: dict[str, Any] = {"name": folder.name, "state": state, "since": _changed(began)}
        yield {**found, **_days(folder / "project" / "runs" / folder.name)}


def _days(folder: Path) -> dict[str, Any]:
    # It may be being made, or be damaged: the others are to be shown all the same.
    with suppress(HanseError, sqlite3.Error, OSError):
        run = Run(folder)
        done = 0 if run.day is None else run.day + 1
        return {"id": run.manifest.id, "days_done": done, "days": run.manifest.days}
    return {"id": None, "days_done": None, "days": None}


def _changed(file: Path) -> str | None:
    """When a file was written last, as ISO text in UTC."""
    with suppress(OSError):
        return datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
    return None


def _process(file: Path) -> Process:
    """The process that a file names; one that does not live if it names none."""
    number, _, started = _text(file).partition(" ")
    if not (number.isascii() and number.isdecimal() and started and len(number) < 10):
        return Process(pid=_NOBODY, started="-")
    return Process(pid=int(number), started=started)


def _text(file: Path) -> str:
    """What a file says; nothing if it cannot be read, which hides no other run."""
    with suppress(OSError):
        return file.read_text(encoding="utf-8", errors="replace").strip()
    return ""
