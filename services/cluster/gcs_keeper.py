"""Ray's table of a cluster (its GCS) on the head: started again when it dies alone.

Where the head is started with ``RAY_REDIS_ADDRESS``, the table outlives its process ``gcs_server``
in a Redis, and Ray's other processes wait for it for a minute. But nobody starts it again: a second
``ray start --head`` refuses as long as the first one's other processes live. So what keeps a run
does it, with the arguments and the environment that the lost process had. Without a Redis the table
is gone with its process, and the cluster with it.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

_GCS: Final = "/ray/core/src/ray/gcs/gcs_server"
_RAYLET: Final = "/ray/core/src/ray/raylet/raylet"
_PAUSE_SECONDS: Final = 0.5


class Gcs(NamedTuple):
    """A process that keeps Ray's table, and how it was started."""

    words: tuple[str, ...]
    environment: dict[str, str]

    @property
    def lasting(self) -> bool:
        """Whether its table outlives it."""
        return any(word.startswith("--redis_address=") and word[16:] for word in self.words)

    @property
    def session(self) -> str:
        """The name of the start of Ray that it belongs to."""
        names = [word for word in self.words if word.startswith("--session-name=")]
        return names[0].partition("=")[2] if names else ""


def found(processes: Path = Path("/proc")) -> Gcs | None:
    """The one that runs on this machine for this user, if one does."""
    for folder, words in _commands(processes):
        if words[0].endswith(_GCS):
            try:
                entries = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # it has ended meanwhile
            environment = dict(entry.split("=", 1) for entry in entries if "=" in entry)
            return Gcs(words, environment)
    return None


def is_needed(gcs: Gcs, processes: Path = Path("/proc")) -> bool:
    """Whether the rest of its Ray lives: a Ray that is stopped has no need of it."""
    return bool(gcs.session) and any(
        words[0].endswith(_RAYLET) and any(gcs.session in word for word in words)
        for _, words in _commands(processes)
    )


def watch(tell: Callable[[str], None], lock: Path) -> None:
    """Starts it again whenever it is lost; for a thread of its own, does not return.

    Args:
        tell: Is told of it.
        lock: A file by which all who watch on this machine agree on one who starts it.
    """
    known: Gcs | None = None
    while True:
        now = found()
        if now is not None:
            known = now
        elif known is not None and known.lasting:
            with lock.open("w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if found() is None and is_needed(known):
                    start(known)
                    tell("Ray's gcs_server was lost; it is started again, from its Redis")
        time.sleep(_PAUSE_SECONDS)


def start(gcs: Gcs) -> None:
    """Starts one as it was started before; it outlives this process."""
    subprocess.Popen(
        gcs.words,
        env=gcs.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _commands(processes: Path) -> list[tuple[Path, tuple[str, ...]]]:
    """Every process of this user, with its command line; one that is dead has none."""
    commands = []
    for folder in processes.glob("[0-9]*"):
        try:
            if folder.stat().st_uid != os.getuid():
                continue
            line = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        if line:
            commands.append((folder, tuple(line.rstrip("\0").split("\0"))))
    return commands
