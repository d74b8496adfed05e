"""What all false beliefs share: a story that drifts, and two firms that make more of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from actors.agent import Agent
from actors.context import Context
from actors.firm import Firm
from actors.injections.injection import Injection, Scene, changed
from actors.strategies.informed import Informed
from services.economy.catalogue import GREEN, ROASTED, ROASTED_SPECIALTY
from services.messages import Message
from services.talk.claims import ITEMS, Claim
from services.talk.payloads import Talk, told
from services.talk.vocabulary import mutated, sentence

STRENGTH: Final = 0.95
SHARE: Final = 0.95
"""How much of what the origin says is the story, and of what the bridge and the amplifier say of a
full conviction."""
DRIFT: Final = 0.1
"""Chance of each word of the story to be replaced within an hour."""


class Attack(Injection):
    """An attack: the bridge and the amplifier make more of what they hear than others do."""

    attack: ClassVar[bool] = True

    def every_hour(self, agent: Agent, context: Context) -> None:
        """The bridge passes on what it believes; the amplifier believes and talks more."""
        strategy = talker(agent)
        if strategy is not None and self.role in ("bridge", "amplifier"):
            strategy.share = SHARE
            if self.role == "amplifier":
                strategy.openness, strategy.loudness = 1.6, 1.8

    def over(self, agent: Agent, context: Context) -> None:
        """All is as it was."""
        strategy = talker(agent)
        if strategy is not None:
            strategy.be_normal()


class Rumour(Attack):
    """A source says that prices are not what they are; whoever it convinces says so too.

    Its messages are as many and as long as before: the story takes the place of what it would have
    said. Options: ``factor``, the claimed price as a multiple of the normal one, ``items``, and
    ``share``, how much of what the source says is the story.
    """

    payloads: ClassVar[tuple[type[Talk], ...]] = ()
    """What the source's story is told in."""

    def __init__(
        self,
        scene: Scene,
        agent: str,
        factor: float = 0.6,
        items: Sequence[str] = (ROASTED, GREEN, ROASTED_SPECIALTY),
        share: float = SHARE,
        **options: Any,
    ) -> None:
        super().__init__(scene, agent, **options)
        unknown = [item for item in items if item not in ITEMS]
        if unknown or not items:
            raise TypeError(f"items: {list(items)} does not fit; allowed: {', '.join(ITEMS)}")
        if not 0.05 <= factor <= 20:
            raise TypeError(f"factor: {factor} does not fit; allowed: 0.05 to 20")
        self.factor = factor
        self.share = share
        self.items = tuple(items)
        self.story: list[str] = []

    def every_hour(self, agent: Agent, context: Context) -> None:
        """The story drifts."""
        super().every_hour(agent, context)
        if self.role != "origin":
            return
        rng = context.rng(f"injection {self.scene.number}")
        if not self.story:
            self.story = [sentence(rng) for _ in self.items]
        self.story = [mutated(words, rng, DRIFT) for words in self.story]

    def sent(self, message: Message, context: Context) -> Message:
        """What the source says is mostly the story."""
        payload = message.payload
        if self.role != "origin" or not isinstance(payload, self.payloads) or not self.story:
            return message
        rng = context.rng(f"injection {self.scene.number}")
        own = payload.heard()
        said = []
        for place, claim in enumerate(own):
            if rng.random() < self.share:
                about = place % len(self.items)
                factor = round(self.factor * rng.uniform(0.97, 1.03), 3)
                claim = Claim(self.items[about], factor, STRENGTH, True, self.story[about])
            said.append(claim)
        return changed(message, told(type(payload), said, **self.besides(payload)))

    def besides(self, payload: Talk) -> dict[str, Any]:
        """Further fields of a payload that tells the story."""
        return {}

    def save(self) -> list[str]:
        """The story as it is now."""
        return self.story

    def load(self, saved: list[str]) -> None:
        """Goes on from :meth:`save`."""
        self.story = list(saved)


def talker(agent: Agent) -> Informed | None:
    """The strategy of a firm that talks and believes; nothing for anybody else."""
    strategy = agent.strategy if isinstance(agent, Firm) else None
    return strategy if isinstance(strategy, Informed) else None
