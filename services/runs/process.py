"""Who is writing a run, and whether that process still lives.

A process number alone is not enough, because numbers are used again: a process is known by its
number and the moment it started.
"""

import os
import subprocess
from pathlib import Path

from pydantic import BaseModel, ConfigDict

_PROC = Path("/proc")


class Process(BaseModel):
    """A process of this machine, told apart from any later one with the same number."""

    model_config = ConfigDict(frozen=True)

    pid: int
    started: str
    """When it started, in the operating system's own form; "" if it does not tell."""

    @classmethod
    def current(cls) -> "Process":
        """The process that asks."""
        pid = os.getpid()
        return cls(pid=pid, started=_started(pid) or "")

    def is_alive(self) -> bool:
        """Whether it runs still. A dead process that nobody has buried yet (a zombie) does not."""
        started = _started(self.pid)
        return started is not None and (not started or started == self.started)


def is_running(pid: int) -> bool:
    """Whether any process has this number now."""
    try:
        return _started(pid) is not None
    except OverflowError:
        return False


def _started(pid: int) -> str | None:
    """When a process started; None if there is none, "" if there is one of unknown age."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # it belongs to another user, so it is there
    if (_PROC / "self" / "stat").exists():
        return _started_by_proc(pid)
    return _started_by_ps(pid)


def _started_by_proc(pid: int) -> str | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # other users' processes may be hidden
    # The command's name, in brackets, may itself hold blanks and brackets.
    fields = stat[stat.rindex(")") + 2 :].split()
    state, ticks_since_boot = fields[0], fields[19]
    if state in "ZX":
        return None
    try:
        boot = (_PROC / "sys" / "kernel" / "random" / "boot_id").read_text().strip()
    except OSError:
        boot = ""
    return f"{boot}:{ticks_since_boot}"


def _started_by_ps(pid: int) -> str | None:
    try:
        answer = subprocess.run(
            ["ps", "-o", "stat=,lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
        ).stdout.split(maxsplit=1)
    except OSError:
        return ""
    if not answer or answer[0].startswith("Z"):
        return None
    return " ".join(answer[1].split())
