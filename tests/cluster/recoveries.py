"""How long a league stood still when something of its cluster was lost."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from itertools import pairwise

from tests.cluster.hosts import Host

# It runs on the head, beside the league, and looks into the run's database.
WATCH = """
import sqlite3, sys, time
last = None
while True:
    try:
        connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=rw", uri=True)
        [[day]] = connection.execute("SELECT max(day) FROM checkpoints")
        connection.close()
    except sqlite3.Error:
        day = None
    if day is not None and day != last:
        last = day
        print(day, time.time(), flush=True)
    time.sleep(0.02)
"""


class Days:
    """The days of a run on a cluster, as they become safe; seen as they come."""

    def __init__(self, head: Host, database: str) -> None:
        (head.home / "watch.py").write_text(WATCH)
        self._head = head
        self._process = head.start(f"exec timeout 300 python watch.py {database}")
        self._seen: list[tuple[int, float]] = []
        self._new = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, day: int, seconds: float = 120) -> None:
        """Waits until a day is safe."""
        with self._new:
            seen = self._new.wait_for(lambda: self._seen and self._seen[-1][0] >= day, seconds)
        assert seen, f"day {day} is not reached within {seconds} s"

    def standstill(self, since: float) -> float:
        """Seconds from a moment (as the clock has it) to the end of the longest pause after it."""
        with self._new:
            seen = list(self._seen)
        pauses = [(b - a, b - since) for (_, a), (_, b) in pairwise(seen) if b > since]
        return max(pauses)[1]

    def close(self) -> None:
        """Stops looking."""
        self._head.ssh("pkill -f '[w]atch.py'", check=False)  # a pattern that is not its own
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            day, moment = line.split()
            with self._new:
                self._seen.append((int(day), float(moment)))
                self._new.notify_all()


class Recoveries:
    """The table that `make test-cluster` prints."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, float, int]] = []

    def add(self, what: str, seconds: float, restarts: int) -> None:
        """Adds a row: what was lost, how long it took until days ended again, hosts made anew."""
        self._rows.append((what, seconds, restarts))

    def lines(self) -> list[str]:
        """The table; empty if nothing was measured."""
        if not self._rows:
            return []
        load = os.getloadavg()[0] / (os.cpu_count() or 1)
        head = f"{'what was lost':<34}{'until days end again':>22}{'hosts made anew':>18}"
        rows = [f"{what:<34}{seconds:>20.1f} s{count:>18}" for what, seconds, count in self._rows]
        return ["", head, *rows, f"(load of this machine: {load:.1f} for each processor)"]


def now() -> float:
    """The clock that all hosts of one machine share."""
    return time.time()


def killed(host: Host, pattern: str) -> float:
    """Ends a host's processes whose command line has a pattern, with kill -9; when that was."""
    return _signalled(host, pattern, "KILL")


def stopped(host: Host, pattern: str) -> float:
    """Has them stand still from now on; when that was."""
    return _signalled(host, pattern, "STOP")


def _signalled(host: Host, pattern: str, signal: str) -> float:
    found = host.ssh(f"pgrep -f '{pattern}'").stdout.split()
    assert found, f"{host.name}: nothing is called {pattern}"
    moment = now()
    done: subprocess.CompletedProcess[str] = host.ssh(
        f"kill -{signal} {' '.join(found)}", check=False
    )
    assert "usage" not in done.stderr
    return moment
