"""Boards: the shared memory of a town."""

from __future__ import annotations

from typing import Any

from actors.agent import Agent, handles
from actors.context import Context
from actors.measures import Advisory
from services.messages import Message
from services.talk.claims import Claim
from services.talk.hours import next_hour
from services.talk.mind import INSISTENT, SENTENCES
from services.talk.payloads import BoardRead, BoardView, BoardWrite, told

ROOM = 4 * SENTENCES
"""Sentences that a board holds; the oldest make room for new ones."""


class PriceBoard(Agent):
    """Keeps what firms write on it, and shows some of it to who reads it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.entries: list[Claim] = []
        self.minutes: list[int] = []
        """When each entry was written."""
        self.wary_until = 0
        """The minute up to which nobody may insist on anything here."""
        self.written = 0
        self.read = 0

    @handles(BoardWrite)
    def on_write(self, message: Message, context: Context) -> None:
        """Puts the sentences of a note up."""
        assert isinstance(message.payload, BoardWrite)
        claims = message.payload.heard()
        if context.now < self.wary_until:
            claims = [claim for claim in claims if claim.strength < INSISTENT]
        self.entries = (self.entries + claims)[-ROOM:]
        self.minutes = (self.minutes + [context.now] * len(claims))[-ROOM:]
        self.written += 1

    @handles(BoardRead)
    def on_read(self, message: Message, context: Context) -> None:
        """Shows a few entries, drawn at random; an empty board shows nothing."""
        self.read += 1
        few = min(SENTENCES, len(self.entries))
        shown = context.rng("shown").sample(self.entries, few)
        context.reply(message, told(BoardView, shown))

    @handles(Advisory)
    def on_advisory(self, message: Message, context: Context) -> None:
        """Takes down what somebody has insisted on since something false is about."""
        assert isinstance(message.payload, Advisory)
        since = message.payload.since
        self.wary_until = max(message.payload.until, next_hour(context.now))
        kept = [
            (entry, minute)
            for entry, minute in zip(self.entries, self.minutes, strict=True)
            if minute < since or entry.strength < INSISTENT
        ]
        self.entries = [entry for entry, _ in kept]
        self.minutes = [minute for _, minute in kept]

    def save(self) -> dict[str, Any]:
        """What is on it."""
        return {
            "entries": [list(entry) for entry in self.entries],
            "minutes": self.minutes,
            "wary_until": self.wary_until,
            "written": self.written,
            "read": self.read,
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`."""
        self.entries = [Claim(*entry) for entry in saved["entries"]]
        self.minutes = list(saved["minutes"])
        self.wary_until = saved["wary_until"]
        self.written, self.read = saved["written"], saved["read"]

    def summary(self) -> dict[str, Any]:
        """How often it was written on and read."""
        return {"written": self.written, "read": self.read}
