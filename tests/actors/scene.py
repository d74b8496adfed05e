"""A host with two firms, one steady and one that does what a test wants of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from actors.agent import Agent
from actors.context import Context
from actors.exchange import Turn
from actors.firm import Firm
from actors.guard import JournalRow
from actors.host import Host
from actors.reports import DayRecords
from actors.strategies import Strategy
from services.economy.commands import Command, ViewListings
from services.messages import Message, Payload

TIMEOUT = 0.25
SLEEP = 8 * TIMEOUT
GOOD, ODD = "farmer_A", "farmer_B"

Decide = Callable[["Turn", Context], Any]


class Steady(Strategy):
    """Looks at the listings, always; remembers how often."""

    def __init__(self, firm: str, role: str = "farmer") -> None:
        super().__init__(firm, role)
        self.turns = 0

    def decide(self, turn: Turn, context: Context) -> Command:
        self.turns += 1
        return ViewListings()

    def save(self) -> int:
        return self.turns

    def load(self, saved: int) -> None:
        self.turns = saved


class Asker(Agent):
    """Stands in for the exchange: passes the test's turns on and keeps what comes back."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.answers: list[Message] = []

    def handle(self, message: Message, context: Context) -> None:
        if isinstance(message.payload, Turn):
            for firm in (GOOD, ODD):
                context.send(firm, message.payload)
        else:
            self.answers.append(message)


class Scene:
    """A host with the asker, one steady firm and one odd firm."""

    def __init__(self, decide: Decide, untrusted: bool = True, turn_timeout: float = 60.0) -> None:
        class Odd(Steady):
            def decide(self, turn: Turn, context: Context) -> Command:
                super().decide(turn, context)
                return decide(turn, context)  # type: ignore[no-any-return]

        def make(name: str) -> Agent:
            if name == "asker":
                return Asker(name)
            strategy = Steady(name) if name == GOOD else Odd(name)
            strategy.untrusted = untrusted and name == ODD
            return Firm(name, "asker", strategy)

        names = ["asker", GOOD, ODD]
        where = dict.fromkeys(names, "here")
        self.host = Host("here", 0, names, make, where, turn_timeout=turn_timeout)
        self.journal: list[JournalRow] = []
        self.number = 0

    def turn(self, minute: int) -> dict[str, Payload]:
        """Both firms have a turn at a minute; what they answer."""
        self.number += 1
        asked = Turn(day=minute // 1440, minute_of_day=minute % 1440)
        context = Context("asker", now=minute)
        asker = self.host.agents["asker"]
        assert isinstance(asker, Asker)
        asker.answers.clear()
        inbound = [context.incoming("test", asked, self.number)]
        for round_ in range(3):
            report = self.host.work(minute, round_, inbound if round_ == 0 else [])
            self.journal += report.journal
        assert len(asker.answers) == len({m.sender for m in asker.answers}) == 2
        return {m.sender: m.payload for m in asker.answers}

    def strategy(self, firm: str) -> Steady:
        agent = self.host.agents[firm]
        assert isinstance(agent, Firm) and isinstance(agent.strategy, Steady)
        return agent.strategy


@contextmanager
def scene(decide: Decide, **options: Any) -> Iterator[Scene]:
    made = Scene(decide, **options)
    try:
        yield made
    finally:
        made.host.close()


def missed(payload: Payload) -> tuple[str, str]:
    assert payload.type == "turn_missed"  # type: ignore[attr-defined]
    return payload.reason, payload.detail  # type: ignore[attr-defined]


def events(day: DayRecords, kind: str) -> list[dict[str, Any]]:
    return [json.loads(row[7]) for row in day.events if row[5] == kind]
