"""Runs of the cluster's benchmark: a league is played on hosts, and looked at from outside."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench import cluster_program
from tests.bench.cluster_leagues import FIRST_DAYS, Kind, league
from tests.bench.host_usage import HOSTS, processes, sent_bytes, spent
from tests.cluster.hosts import Host
from tests.cluster.laptop import Laptop

WORKERS = "192.168.1.11, 192.168.1.12"
"""The workers of the example's cluster file."""
IDLE_SECONDS = 10.0
_CODE = '"$(ls -td "$HOME"/.hanse/hanse/code/*/ | head -1)"'


class Place(NamedTuple):
    """One machine or several, on which leagues are played."""

    host: Host
    """Where the league is."""
    namespaces: list[str]
    """Of all its machines."""
    environment: str
    """Shell words before the program."""


@dataclass(frozen=True)
class Measured:
    """A league that was played; times in seconds, without its first days."""

    told: dict[str, Any]
    """What the program has measured."""
    cpu: dict[str, float]
    """CPU seconds of all processes, by what they are."""
    bytes: int
    """On all cables."""

    @property
    def messages(self) -> int:
        """How many."""
        return int(self.told["messages"])

    @property
    def wall(self) -> float:
        """Seconds."""
        return float(self.told["wall"])

    @property
    def rate(self) -> float:
        """Messages a second."""
        return self.messages / self.wall

    @property
    def cpu_per_thousand(self) -> float:
        """CPU seconds of all processes for a thousand messages."""
        return 1000 * sum(self.cpu.values()) / self.messages

    @property
    def host_cpu(self) -> float:
        """CPU seconds of hosts for a message."""
        return self.cpu[HOSTS] / self.messages

    @property
    def bytes_per_message(self) -> float:
        """On the cables."""
        return self.bytes / self.messages

    @property
    def rounds_a_day(self) -> float:
        """A day that hosts play apart is one."""
        return float(self.told["pace"]["rounds"] / self.told["days"])

    @property
    def at_work(self) -> float:
        """The share of time in which the slowest host of a round is at work."""
        return float(self.told["pace"]["slowest"] / self.wall)

    @property
    def in_calls(self) -> float:
        """The share of time in rounds in which no host is at work: Ray, mail, cable."""
        pace = self.told["pace"]
        return float((pace["seconds"] - pace["slowest"]) / self.wall)

    @property
    def between(self) -> float:
        """The share of time outside of rounds: the league itself, and the ends of days."""
        return 1 - float(self.told["pace"]["seconds"] / self.wall)

    @property
    def waiting(self) -> float:
        """The share of time in which a host waits, on average: for others, the league, Ray."""
        return 1 - float(self.told["pace"]["worked"] / (self.told["hosts"] * self.wall))

    @property
    def call_seconds(self) -> float:
        """Of a round, beside the slowest host's work."""
        pace = self.told["pace"]
        return float((pace["seconds"] - pace["slowest"]) / pace["rounds"])

    @property
    def recorder_day(self) -> float:
        """CPU seconds in which the league's process collects a day and writes it down."""
        return float((self.told["writes_cpu"] + self.told["ends_cpu"]) / self.told["days"])


def one_machine(laptop: Laptop) -> Place:
    """A machine alone, with Ray on its loopback; its hosts get as much time as on a cluster."""
    return Place(laptop.host, [_namespace(laptop.host)], "RAY_worker_niceness=0")


@contextmanager
def cluster(laptop: Laptop, machines: int) -> Iterator[Place]:
    """A cluster of two or three machines, by `hanse cluster up`."""
    hosts = laptop.hosts.cluster[:machines]
    addresses = [host.address for host in hosts]
    laptop.cluster_file("bench.yaml", **{WORKERS: ", ".join(addresses[1:])})
    laptop.hanse("cluster up bench.yaml")
    try:
        environment = (
            f"PYTHONPATH={_CODE} RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0"
            f" RAY_ADDRESS={addresses[0]}:6379"
        )
        yield Place(hosts[0], [_namespace(host) for host in hosts], environment)
    finally:
        laptop.hanse("cluster down bench.yaml", check=False)


def play(place: Place, kind: Kind, firms: int, machines: int, days: int) -> Measured:
    """Plays a league of so many firms for each machine, on as many host processes.

    Args:
        place: Where; it may have fewer machines.
        kind: Of league.
        firms: For each machine.
        machines: How many.
        days: That are looked at.
    """
    home = place.host.home
    values = league(kind, firms, machines, days)
    given = {"values": {**values, "placement": "packed", "hosts": machines}}
    (home / "league.json").write_text(json.dumps({**given, "first_days": FIRST_DAYS}))
    program = Path(cluster_program.__file__)
    shutil.copy(program, home / program.name)
    (home / "go").unlink(missing_ok=True)
    process = place.host.start(
        f"exec env {place.environment} python {program.name} league.json 2>program.err"
    )
    try:
        _line(process, home, "ready")
        before, bytes_before = processes(place.namespaces), sent_bytes(place.namespaces)
        (home / "go").touch()
        told = json.loads(_line(process, home, "{"))
        after, bytes_after = processes(place.namespaces), sent_bytes(place.namespaces)
        (home / "go").unlink()
        process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()
    return Measured(told, spent(before, after), bytes_after - bytes_before)


def idle(place: Place) -> tuple[float, float]:
    """What machines take on which nobody plays: processors (1 is one that is busy), bytes a second.

    Ray's processes tell each other that they live.
    """
    before, bytes_before = processes(place.namespaces), sent_bytes(place.namespaces)
    began = time.monotonic()
    time.sleep(IDLE_SECONDS)
    after, bytes_after = processes(place.namespaces), sent_bytes(place.namespaces)
    seconds = time.monotonic() - began
    return sum(spent(before, after).values()) / seconds, (bytes_after - bytes_before) / seconds


def median(runs: list[Measured], what: str) -> float:
    """The median of a figure."""
    return statistics.median(getattr(run, what) for run in runs)


def _namespace(host: Host) -> str:
    return f"hanse-{host.name}"


def _line(process: subprocess.Popen[str], home: Path, begins: str) -> str:
    """The next line that begins in this way."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(begins):
            return line
    raise AssertionError(f"{begins!r} was not said: {(home / 'program.err').read_text()[-2000:]}")
