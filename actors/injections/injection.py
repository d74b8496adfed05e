"""Injections: things that are done to a league while it runs, as middleware around single agents.

One of your own in a few lines, named in a run file as ``kind = "whisper.py:Whisper"``::

    from actors.injections import Injection, changed
    from services.talk.payloads import MarketNote

    class Whisper(Injection):
        '''The origin's notes lose their last sentence.'''

        attack = True  # a monitor should raise an alarm; False (the default): it should not

        def sent(self, message, context):
            if self.role == "origin" and isinstance(message.payload, MarketNote):
                words, _, _ = message.payload.text.rpartition(". ")
                return changed(message, MarketNote(text=words, claims=message.payload.claims[:-1]))
            return message
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from actors.agent import Agent
from actors.context import Context
from services.messages import MESSAGE_FIELDS, Message, Payload, filled
from services.talk.topology import Topology

Begins = Literal["firm", "board", "forecaster", "gateway"]


@dataclass(frozen=True, slots=True)
class Scene:
    """Where and when an injection plays: the ground truth that detection is measured by."""

    kind: str
    number: int
    """Its place in the run file, from 1."""
    onset: int
    """Virtual minutes; the first at which anything is different."""
    end: int
    """The first minute at which it does nothing any more."""
    town: str
    origin: str
    bridge: str
    amplifier: str
    firms: tuple[str, ...]
    """Of the origin's town."""
    topology: Topology

    def role(self, agent: str) -> str:
        """``origin``, ``bridge``, ``amplifier`` or, for anybody else, nothing."""
        for role in ("origin", "bridge", "amplifier"):
            if getattr(self, role) == agent:
                return role
        return ""


class Injection:
    """What is done to one agent; each agent that an injection concerns has an instance of its own.

    All hooks are called from the onset on until the end. Randomness comes from ``context.rng``.
    """

    attack: ClassVar[bool] = False
    """Whether a monitor should raise an alarm."""
    begins_with: ClassVar[Begins] = "firm"
    """What kind of agent the origin is, unless the run file names one."""
    enquires: ClassVar[bool] = False
    """Whether a firm that it begins with must be one that asks others how its orders stand."""
    hours: ClassVar[int] = 60
    """Working hours that it lasts, unless the run file says."""

    def __init__(self, scene: Scene, agent: str, **options: Any) -> None:
        if options:
            raise TypeError(f"{scene.kind} has no option {', '.join(sorted(options))}")
        self.scene = scene
        self.agent = agent
        self.role = scene.role(agent)

    @classmethod
    def concerns(cls, scene: Scene) -> frozenset[str]:
        """The agents that it is put around.

        If the origin is not among them, it is one of them that does it: the ground truth names the
        first by name as the origin.
        """
        return frozenset((scene.origin, scene.bridge, scene.amplifier))

    def truth(self) -> dict[str, float]:
        """Prices that really change in the town, by item, as multiples of the normal ones."""
        return {}

    def every_hour(self, agent: Agent, context: Context) -> None:
        """Called at the onset and at every working hour, before the agent's own wake-up."""

    def over(self, agent: Agent, context: Context) -> None:
        """Called once, at the end."""

    def received(self, message: Message, context: Context) -> Message | None:
        """What the agent gets to see of a message; ``None``: nothing."""
        return message

    def sent(self, message: Message, context: Context) -> Message | None:
        """What really leaves of a message that the agent has sent; ``None``: nothing."""
        return message

    def save(self) -> Any:
        """What must survive the end of a day, as plain data."""
        return None

    def load(self, saved: Any) -> None:
        """Takes back what :meth:`save` returned."""


def changed(message: Message, payload: Payload) -> Message:
    """The same message (number, recipient, cause) with another payload."""
    return filled(Message, {**message.__dict__, "payload": payload}, MESSAGE_FIELDS)
