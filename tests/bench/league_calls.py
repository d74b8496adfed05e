"""What a round costs the league itself, by the number of hosts that it has to call.

The hosts carry one agent each, which hands a word to the next, so that a round is nothing but calls
and mail.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from actors.agent import Agent, handles
from actors.cast import Cast
from actors.context import Context
from actors.league import League
from actors.tracing import Telemetry
from services.config import RunConfig
from services.messages import Message, Text

HOURS = 10
FIRST_HOUR = 9
HOPS = 6
"""How often a word is handed on within a minute, each time in a round of its own."""


class Round(NamedTuple):
    """A round of a league with so many hosts, on average."""

    hosts: int
    thread: float
    """CPU seconds of the league's own thread."""
    process: float
    """CPU seconds of the league's process, with Ray's threads in it."""
    waiting: float
    """Seconds on the wall beside the slowest host's work."""


class Neighbour(Agent):
    """Every hour says a word to the next, which hands it on."""

    def __init__(self, name: str, following: str) -> None:
        super().__init__(name)
        self.following = following

    def start(self, context: Context) -> None:
        """Asks for the first hour."""
        context.wake_at(60 * FIRST_HOUR)

    def wake(self, context: Context) -> None:
        """Says it, and asks for the next hour."""
        context.send(self.following, Text(text=str(HOPS)))
        hour = context.now % 1440 // 60 + 1
        pause = 60 if hour < FIRST_HOUR + HOURS else 1440 - 60 * (HOURS - 1)
        context.wake_at(context.now + pause)

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        """Hands it on until it has gone far enough."""
        left = int(message.payload.text) - 1  # type: ignore[attr-defined]
        if left:
            context.send(self.following, Text(text=str(left)))


class Ring(Cast):
    """Neighbours in a ring, one on each host."""

    def __init__(self, config: RunConfig, source: str = "run file") -> None:
        super().__init__(config, source)
        self.names = [f"neighbour_{number:02d}" for number in range(config.hosts)]
        self.firms, self.towns = [], []

    def make(self, name: str) -> Agent:
        """A neighbour."""
        following = self.names[(self.names.index(name) + 1) % len(self.names)]
        return Neighbour(name, following)

    def layout(self, placement: str, hosts: int) -> dict[str, str]:
        """One on each host."""
        return {name: f"host-{number}" for number, name in enumerate(self.names)}


def measure(hosts: int, days: int) -> Round:
    """Plays a ring on so many hosts of this machine."""
    config = RunConfig(days=days + 1, placement="packed", hosts=hosts)
    with (
        tempfile.TemporaryDirectory() as folder,
        League.create(
            config, Path(folder) / "run", cast=Ring, telemetry=Telemetry(traced=False)
        ) as league,
    ):
        carriers: Any = league.hosts
        league._days.apart = False
        league.run(until_day=0)
        pace = carriers.pace
        before = pace.rounds, pace.seconds - pace.slowest
        thread, process = time.thread_time(), time.process_time()
        league.run(until_day=days)
        thread, process = time.thread_time() - thread, time.process_time() - process
        rounds = pace.rounds - before[0]
        waiting = pace.seconds - pace.slowest - before[1]
    return Round(hosts, thread / rounds, process / rounds, waiting / rounds)


def measured(numbers: Sequence[int], days: int) -> list[Round]:
    """A round for each number of hosts."""
    import ray

    from actors.local_ray import start_ray

    # As on a cluster: the hosts do not stand back behind all else.
    os.environ.setdefault("RAY_worker_niceness", "0")
    start_ray()
    try:
        return [measure(hosts, days) for hosts in numbers]
    finally:
        ray.shutdown()
