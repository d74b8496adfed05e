"""An exchange on a desk of its own: no host, no firms, no router."""

from __future__ import annotations

import json
from typing import Any

from actors.context import Context
from actors.exchange import Exchange, Turn
from services.economy.commands import Command, WaitForNextDay
from services.economy.rules import COFFEEBENCH
from services.economy.setup import TownSetup, standard_firms
from services.messages import Message, Payload

FARMER, ROASTER, SHOP = "farmer_A", "roaster_A", "retailer_A"
THREE = tuple(f for f in standard_firms() if f.name.endswith("_A"))
# The original's rules dispatch in the order of the firms, which makes a test easy to follow.
SETUP = TownSetup(firms=THREE, rules=COFFEEBENCH, days=3)


class Desk:
    """An exchange and what passes over its desk."""

    def __init__(self, setup: TownSetup = SETUP, routers: tuple[str, ...] = ()) -> None:
        self.exchange = Exchange("exchange", setup, routers)
        self.context = Context("exchange", setup.seed)
        self.numbers: dict[str, int] = {}
        self.exchange.start(self.context)

    def wake(self, minute: int) -> list[Message]:
        """Wakes the exchange and returns what it sends."""
        self.context.clock.now = minute
        self.context.wakes.clear()
        before = len(self.context.outbox)
        self.exchange.wake(self.context)
        return self.context.outbox[before:]

    def tell(self, sender: str, payload: Payload, about: Message | None = None) -> list[Message]:
        """Hands the exchange a message and returns what it sends."""
        self.numbers[sender] = number = self.numbers.get(sender, 0) + 1
        message = Message(
            sender=sender,
            number=number,
            recipient="exchange",
            channel="tool",
            sent_at=self.context.now,
            payload=payload,
            in_reply_to=about.id if about else None,
        )
        return self.exchange.receive(message, self.context)

    def answer(self, turns: list[Message], *commands: Command) -> list[Message]:
        """Answers turns in their order, with waiting if nothing else is said."""
        sent: list[Message] = []
        for at, turn in enumerate(turns):
            command = commands[at] if at < len(commands) else WaitForNextDay()
            sent += self.tell(turn.recipient, command, turn)
        return sent

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The bodies of all events of a kind."""
        return [json.loads(e[7]) for e in self.context.events if e[5] == kind]

    def actions(self) -> list[tuple[str, str]]:
        """Who has done what, in order."""
        return [(e[6], json.loads(e[7])["tool"]) for e in self.context.events if e[5] == "action"]


def turns(messages: list[Message]) -> list[Message]:
    return [m for m in messages if isinstance(m.payload, Turn)]


def turn_of(message: Message) -> Turn:
    assert isinstance(message.payload, Turn)
    return message.payload
