"""The standard league with three gossips, a monitor and the warden that it reports to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from actors.agent import Agent, handles
from actors.cast import Cast
from actors.context import Context
from actors.measures import Quarantine
from actors.monitor import Monitor
from services.config import MonitorConfig, RunConfig
from services.messages import Message, Payload, Text

GOSSIPS = ("ann", "bob", "cat")


class Heard(Payload):
    """What the monitor tells the warden of a tick."""

    type: Literal["test_heard"] = "test_heard"
    tick: int
    messages: list[str]


class Gossip(Agent):
    """Says something to the next gossip at a quarter past and to every hour, until 20:15."""

    def start(self, context: Context) -> None:
        context.wake_at(555)

    def wake(self, context: Context) -> None:
        to = GOSSIPS[(GOSSIPS.index(self.name) + 1) % len(GOSSIPS)]
        context.send(to, Text(text=f"it is {context.now}"))
        later = context.now + 30
        # The exchange is asleep by then.
        context.wake_at(later if later % 1440 < 1230 else later + 1440 - 690)

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        """Listens."""


class Counter(Monitor):
    """Tells the warden at once which messages it was shown; raises when told to."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.seen = 0

    def observe(self, tick: int, rows: Sequence[tuple[Any, ...]], context: Context) -> None:
        self.seen += len(rows)
        ids = [f"{row[2]}#{row[3]}" for row in rows]
        context.send("warden", Heard(tick=tick, messages=ids))
        context.record("counted", "", {"tick": tick, "seen": self.seen})
        if tick == 34:
            raise RuntimeError("too much talk")

    def save(self) -> int:
        return self.seen

    def load(self, saved: int) -> None:
        self.seen = saved


class Warden(Agent):
    """Notes when it hears of a tick, and silences bob for two hours on the second day."""

    @handles(Heard)
    def on_heard(self, message: Message, context: Context) -> None:
        heard = message.payload
        assert isinstance(heard, Heard)
        context.record("told", "", {"tick": heard.tick, "of": heard.messages})
        if heard.tick == 33:
            until = context.now + 120
            context.send("bob", Quarantine(measure="q", until=until, reason="test"))


class Watched(Cast):
    """The standard league, and they."""

    def __init__(self, config: RunConfig, source: str = "run file") -> None:
        super().__init__(config, source)
        self.monitors = ["counter"] if config.monitor is not None else []
        self.containment = ["warden"]
        self.names = sorted([*self.names, *GOSSIPS, *self.monitors, "warden"])

    def make(self, name: str) -> Agent:
        if name in GOSSIPS:
            return Gossip(name)
        if name == "counter":
            return Counter(name)
        return Warden(name) if name == "warden" else super().make(name)


def watched(**changes: Any) -> RunConfig:
    """Three days of it."""
    config = RunConfig(days=3, placement="inline", monitor=MonitorConfig(caspian=False))
    return config.with_overrides(source="test", **changes)
