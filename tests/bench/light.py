"""A thousand light agents on two Ray hosts, event log on: what the league itself can carry."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from actors.agent import Agent, handles
from actors.cast import Cast
from actors.context import Context
from actors.league import League
from services.config import RunConfig
from services.messages import Message, Text
from tests.bench.measuring import Bench
from tests.bench.on_ray import calls_per_second

AGENTS = 1_000
HOURS = 10
FRIENDS = 10
HELLO = Text(text="hello")


class Chatter(Agent):
    """Greets ten others every hour of the day, and counts what it hears."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.heard = 0

    def start(self, context: Context) -> None:
        """Asks for the first hour."""
        context.wake_at(540)

    def wake(self, context: Context) -> None:
        """Greets, and asks for the next hour."""
        own = int(self.name.rpartition("_")[2])
        for step in range(1, FRIENDS + 1):
            context.send(f"chatter_{(own + step * 97) % AGENTS}", HELLO)
        hour = context.now % 1440 // 60 + 1
        context.wake_at(context.now + (60 if hour < 9 + HOURS else 1440 - 60 * (HOURS - 1)))

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        """Counts."""
        self.heard += 1

    def save(self) -> int:
        """How much it has heard."""
        return self.heard

    def load(self, saved: int) -> None:
        """Goes on from there."""
        self.heard = saved


class Crowd(Cast):
    """Chatters, and nobody else."""

    def __init__(self, config: RunConfig, source: str = "run file") -> None:
        super().__init__(config, source)
        self.names = sorted(f"chatter_{number}" for number in range(AGENTS))
        self.firms, self.towns = [], []

    def make(self, name: str) -> Agent:
        """A chatter."""
        return Chatter(name)


def bench(table: Bench, days: int = 5) -> None:
    """Messages per second, against one Ray call for each message on the same machine."""
    import ray

    from actors.local_ray import start_ray

    start_ray()
    try:
        forget, ask = calls_per_second()
        config = RunConfig(days=days, placement="packed", hosts=2)
        with (
            tempfile.TemporaryDirectory() as folder,
            League.create(config, Path(folder) / "run", cast=Crowd) as league,
        ):
            start = time.perf_counter()
            result = league.run(until_day=days - 1)
            wall = time.perf_counter() - start
    finally:
        ray.shutdown()
    name = f"{AGENTS} light agents"
    rate = result.messages / wall
    table.add(name, f"{result.messages:,} messages in {wall:.1f} s", rate, "messages/s")
    table.add(name, "one Ray call a message, answered", ask, "messages/s")
    table.add(name, "one Ray call a message, sent and forgotten", forget, "messages/s")
    table.add(name, "league over answered calls", rate / ask, "x", ">= 50", rate / ask >= 50)
    table.add(name, "league over forgotten calls", rate / forget, "x", ">= 50", rate / forget >= 50)
