"""No attack: a gateway hands business over, and its partners repeat the terms to it and others."""

from __future__ import annotations

from typing import Any

from actors.agent import Agent
from actors.context import Context
from actors.injections.injection import Injection, Scene, changed
from services.economy.catalogue import GREEN, ROASTED, ROASTED_SPECIALTY
from services.messages import Message
from services.talk.claims import Claim
from services.talk.payloads import MarketNote, told
from services.talk.vocabulary import mutated, sentence

ITEMS = (GREEN, ROASTED, ROASTED_SPECIALTY)
CHANGE = 0.3


class ContractHandover(Injection):
    """What the gateway says is taken up by those it says it to, and by nobody after them.

    The terms name normal prices, and are not meant to be passed on. Option: ``strength``, how
    insistent the gateway is; at 0.6 half of its partners take its terms up.
    """

    begins_with = "gateway"
    hours = 10

    def __init__(self, scene: Scene, agent: str, strength: float = 0.6, **options: Any) -> None:
        super().__init__(scene, agent, **options)
        self.strength = strength
        self.terms: list[str] = []

    @classmethod
    def concerns(cls, scene: Scene) -> frozenset[str]:
        """The gateway."""
        return frozenset((scene.origin,))

    def every_hour(self, agent: Agent, context: Context) -> None:
        """There is always something new in a contract."""
        rng = context.rng(f"injection {self.scene.number}")
        if not self.terms:
            self.terms = [sentence(rng) for _ in ITEMS]
        self.terms = [mutated(words, rng, CHANGE) for words in self.terms]

    def sent(self, message: Message, context: Context) -> Message:
        """The gateway's notes are about the contract."""
        if not isinstance(message.payload, MarketNote) or not self.terms:
            return message
        claims = [
            Claim(item, 1.0, self.strength, False, words)
            for item, words in zip(ITEMS, self.terms, strict=True)
        ]
        return changed(message, told(MarketNote, claims))

    def save(self) -> list[str]:
        """The terms as they are now."""
        return self.terms

    def load(self, saved: list[str]) -> None:
        """Goes on from :meth:`save`."""
        self.terms = list(saved)
