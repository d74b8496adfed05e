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
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

_GCS: Final = "/ray/core/src/ray/gcs/gcs_server"
_RAYLET: Final = "/ray/core/src/ray/raylet/raylet"
_PAUSE_SECONDS: Final = 0.5
_ANSWER_SECONDS: Final = 0.5
_FIRST_PAUSE_SECONDS: Final = 1.0
"""Until it is started once more; twice as long after each attempt."""
_LONGEST_PAUSE_SECONDS: Final = 60.0


class Gcs(NamedTuple):
    """A process that keeps Ray's table, and how it was started."""

    words: tuple[str, ...]
    environment: dict[str, str]

    @property
    def lasting(self) -> bool:
        """Whether its table outlives it."""
        return self._option("--redis_address=") != ""

    @property
    def session(self) -> str:
        """The name of the start of Ray that it belongs to."""
        return self._option("--session-name=")

    @property
    def port(self) -> str:
        """Where its cluster is joined."""
        return self._option("--gcs_server_port=")

    @property
    def address(self) -> str:
        """Its own machine's, under which the others know it."""
        return self._option("--node-ip-address=") or "127.0.0.1"

    def _option(self, name: str) -> str:
        return next((w.removeprefix(name) for w in self.words if w.startswith(name)), "")


def found(processes: Path = Path("/proc"), port: str = "", session: str = "") -> Gcs | None:
    """The one that keeps a cluster's table on this machine, if one does.

    A user may have several Rays on a machine, such as a local one besides the cluster's.

    Args:
        processes: Where the system tells of its processes.
        port: The cluster's; if it is not known, the session counts.
        session: The session's name; if it is not known either, one with a Redis comes first.
    """
    gcs = [one for one in _all(processes) if not port or one.port == port]
    if session and not port:
        gcs = [one for one in gcs if one.session == session]
    return max(gcs, key=lambda one: one.lasting, default=None)


def _all(processes: Path) -> Iterator[Gcs]:
    for folder, words in _commands(processes):
        if words[0].endswith(_GCS):
            try:
                entries = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # it has ended meanwhile
            yield Gcs(words, dict(entry.split("=", 1) for entry in entries if "=" in entry))


def is_needed(gcs: Gcs, processes: Path = Path("/proc")) -> bool:
    """Whether the rest of its Ray lives: a Ray that is stopped has no need of it."""
    return bool(gcs.session) and any(
        words[0].endswith(_RAYLET) and any(gcs.session in word for word in words)
        for _, words in _commands(processes)
    )


def watch(tell: Callable[[str], None], lock: Path, address: str = "") -> None:
    """Starts it again whenever it is lost; for a thread of its own, does not return.

    Args:
        tell: Is told of it.
        lock: A file by which all who watch on this machine agree on one who starts it.
        address: The cluster's, HOST:PORT.
    """
    port = address.rpartition(":")[2]
    port = port if port.isdecimal() else ""
    known: Gcs | None = None
    started = False  # here, and it has not answered yet
    next_try, pause = 0.0, _FIRST_PAUSE_SECONDS
    last_error = ""
    while True:
        seen, now = found(port=port, session=known.session if known else ""), time.monotonic()
        if seen is not None:
            known = seen
            if started and answers(known):
                tell("Ray's gcs_server was lost; it is started again, from its Redis")
                started, next_try, pause, last_error = False, 0.0, _FIRST_PAUSE_SECONDS, ""
        elif known is not None and known.lasting and now >= next_try:
            try:
                started = _start_if_needed(known, lock, port)
            except OSError as error:
                started = False
                if str(error) != last_error:
                    last_error = str(error)
                    tell(f"Ray's gcs_server was lost and cannot be started again: {error}")
            # If it ends again at once, most likely its Redis is gone, too.
            next_try, pause = now + pause, min(2 * pause, _LONGEST_PAUSE_SECONDS)
        time.sleep(_PAUSE_SECONDS)


def _start_if_needed(gcs: Gcs, lock: Path, port: str) -> bool:
    """Starts it unless somebody else has, or nobody needs it; whether it was started.

    Raises:
        OSError: it cannot be started.
    """
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if found(port=port, session=gcs.session) is not None or not is_needed(gcs):
            return False
        start(gcs)
        return True


def answers(gcs: Gcs) -> bool:
    """Whether it can be reached; it listens only when it has read its Redis."""
    try:
        address = gcs.address, int(gcs.port)
        socket.create_connection(address, timeout=_ANSWER_SECONDS).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


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
