"""What a league under way waits for, read from the `status.json` that it keeps in its folder."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from services.cli.console import typed
from services.errors import HanseError

_STALE = 10.0
"""The league rewrites its status about once a second; after this many seconds it hangs itself."""


@dataclass(frozen=True)
class Status:
    """A league's status, and how old it is."""

    folder: Path
    state: str
    """running, finished or resumable."""
    values: dict[str, Any]
    """As the league wrote it; empty if it has not."""
    now: float
    """Wall time at which it was read."""

    @property
    def age(self) -> float | None:
        """Seconds since the league wrote it."""
        return _seconds_since(self.values.get("updated"), self.now)

    def document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "run": str(self.folder),
            "state": self.state,
            "age_seconds": self.age,
            **self.values,
        }

    def lines(self) -> list[str]:
        """For people."""
        if self.state == "finished":
            return [f"{self.folder}: the run is finished"]
        if self.state != "running":
            resume = typed("hanse", "resume", self.folder)
            return [f"{self.folder} is not running; continue with: {resume}"]
        if not self.values:
            return [f"{self.folder} is running, but has not said yet what it is doing"]
        get = self.values.get
        lines = [
            f"{self.folder} is running (process {get('pid')}): day {get('day')}, "
            f"{_clock(get('minute'))}, round {get('round')}, {get('messages', 0):,} messages"
        ]
        if self.age is not None and self.age > _STALE:
            lines.append(
                f"its status is {self.age:.0f} s old: the league itself hangs; stop process "
                f"{get('pid')} and continue with: {typed('hanse', 'resume', self.folder)}"
            )
        waiting = get("waiting_for") or []
        if not waiting:
            lines.append("it waits for nobody")
        lines += [f"everyone waits for {self._one(entry)}" for entry in waiting]
        return lines

    def _one(self, entry: dict[str, Any]) -> str:
        host = entry.get("host")
        since = _seconds_since(entry.get("since"), self.now)
        parts = [
            str(entry.get("agent")),
            # With an actor for each agent the host has the agent's name.
            f"on {host}" if host and host != entry.get("agent") else "",
            f"to handle {entry['message']}" if entry.get("message") else "",
            f"for {since:.1f} s" if since is not None else "",
        ]
        return " ".join(part for part in parts if part)


def look(folder: Path) -> Status:
    """The status of a run, as far as it has one."""
    from services.runs import Run

    state = Run(folder).state
    path = folder / "status.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        values = {}
    except (OSError, ValueError) as error:
        raise HanseError(f"{path}: cannot be read ({error}); try again") from None
    return Status(folder, state, values if isinstance(values, dict) else {}, time.time())


def running_runs(root: Path) -> list[Path]:
    """The folders below `root` whose run is under way."""
    from services.runs import list_runs

    if not root.is_dir():
        return []
    return [Path(run.folder) for run in list_runs(root) if run.state == "running"]


def _clock(minute: Any) -> str:
    if not isinstance(minute, int):
        return "no time"
    return f"{minute % 1440 // 60:02}:{minute % 60:02}"


def _seconds_since(moment: Any, now: float) -> float | None:
    """From a wall time, as a number or as ISO text."""
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment).timestamp()
        except ValueError:
            return None
    return max(0.0, now - moment) if isinstance(moment, (int, float)) else None
