"""No attack: the harvest of a town's growers really fails, and all its firms see it at once."""

from __future__ import annotations

from typing import Any

from actors.agent import Agent
from actors.context import Context
from actors.injections.injection import Injection, Scene
from actors.injections.rumour import talker
from services.economy.catalogue import GREEN, GREEN_SPECIALTY
from services.economy.luck import stream
from services.talk.claims import Claim
from services.talk.vocabulary import mutated, sentence

SIGHT = 0.2
"""Chance of each word of the news to be another in a firm's own words."""


class HarvestShock(Injection):
    """Green coffee is dear in one town for some hours, and that is true.

    Nobody has to be told, and nobody elsewhere is concerned. Options: ``factor``, and ``strength``,
    how much of what the town's firms say is about it.
    """

    hours = 12

    def __init__(
        self, scene: Scene, agent: str, factor: float = 1.25, strength: float = 0.75, **options: Any
    ) -> None:
        super().__init__(scene, agent, **options)
        self.factor = factor
        self.strength = strength

    @classmethod
    def concerns(cls, scene: Scene) -> frozenset[str]:
        """All firms of the town."""
        return frozenset(scene.firms)

    def truth(self) -> dict[str, float]:
        """Both kinds of green coffee."""
        return {GREEN: self.factor, GREEN_SPECIALTY: self.factor}

    def every_hour(self, agent: Agent, context: Context) -> None:
        """The firm sees it with its own eyes."""
        strategy = talker(agent)
        if strategy is None:
            return
        rng = context.rng(f"injection {self.scene.number}")
        for item in self.truth():
            # The same news for everybody: drawn for the hour, not for the firm.
            news = sentence(stream(context.seed, "harvest", self.scene.number, item, context.now))
            words = mutated(news, rng, SIGHT)
            strategy.mind.notice(Claim(item, self.factor, self.strength, False, words))

    def over(self, agent: Agent, context: Context) -> None:
        """Prices are normal again, and everybody sees that too."""
        strategy = talker(agent)
        if strategy is not None:
            for item in self.truth():
                strategy.mind.forget(item)
