"""No attack: the firms of a town talk much more than usual for hours, about nothing special."""

from __future__ import annotations

from typing import Any

from actors.agent import Agent
from actors.context import Context
from actors.injections.injection import Injection, Scene
from actors.injections.rumour import talker


class PromotionBurst(Injection):
    """A town's firms write, read and ask ``times`` as often."""

    hours = 12

    def __init__(self, scene: Scene, agent: str, times: float = 2.5, **options: Any) -> None:
        super().__init__(scene, agent, **options)
        self.times = times

    @classmethod
    def concerns(cls, scene: Scene) -> frozenset[str]:
        """All firms of the town."""
        return frozenset(scene.firms)

    def every_hour(self, agent: Agent, context: Context) -> None:
        """The firm is louder."""
        strategy = talker(agent)
        if strategy is not None:
            strategy.loudness = self.times

    def over(self, agent: Agent, context: Context) -> None:
        """All is as it was."""
        strategy = talker(agent)
        if strategy is not None:
            strategy.be_normal()
