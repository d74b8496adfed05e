"""An agent that something is done to: it delegates to the agent itself, through injections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

from actors.agent import Agent
from actors.context import Context
from actors.injections.injection import Injection
from services.messages import MESSAGE_FIELDS, Channel, Message, Payload, filled
from services.talk.hours import next_hour
from services.telemetry.redaction import redact


class Withheld(Payload):
    """Takes the place of a message that an injection has kept back; its sender gets it itself.

    So the sender's numbers have no gap, and the log says what is missing.
    """

    type: Literal["withheld"] = "withheld"
    channel: ClassVar[Channel] = "exec"
    recipient: str
    what: str
    """The type of the payload that was kept back."""


class Injected(Agent):
    """Around one agent, all injections that concern it; without effect before their onset.

    What the agent sends is changed before anybody has seen it, and keeps its number and cause.

    Args:
        agent: Who is played with.
        injections: In the order of the run file.
        foreign: Whether one of them is a user's own code.
    """

    def __init__(
        self, agent: Agent, injections: Sequence[Injection], foreign: bool = False
    ) -> None:
        super().__init__(agent.name)
        self.agent = agent
        self.injections = list(injections)
        self.untrusted = agent.untrusted or foreign
        self.reproducible = agent.reproducible
        self.essential = agent.essential
        self._foreign = foreign
        self._waking: set[int] = set()
        """The minutes for which the agent itself has asked to be woken."""

    @property
    def foreign(self) -> bool:
        """Whether it runs somebody's own code."""
        return self._foreign or self.agent.foreign

    def start(self, context: Context) -> None:
        """The agent's own start; also asks to be woken at the onsets."""
        self._through(context, lambda: self.agent.start(context))
        for injection in self.injections:
            context.wake_at(injection.scene.onset)

    def wake(self, context: Context) -> None:
        """An injection's hour, the agent's own wake-up, or both."""
        now = context.now
        for injection in self.injections:
            scene = injection.scene
            if now == scene.onset and self.name == _teller(injection):
                self._tell(injection, context)
            if scene.onset <= now < scene.end:
                context.wake_at(min(next_hour(now), scene.end))
                self._try(injection.every_hour, context)
            elif now == scene.end:
                self._try(injection.over, context)
        if now in self._waking:
            self._waking.discard(now)
            self._through(context, lambda: self.agent.wake(context))

    def handle(self, message: Message, context: Context) -> None:
        """Hands on what the injections leave of the message."""
        if isinstance(message.payload, Withheld) and message.sender == self.name:
            return
        seen: Message | None = message
        for injection in self._active(context.now):
            if seen is not None:
                seen = injection.received(seen, context)
        if seen is not None:
            received = seen
            self._through(context, lambda: self.agent.handle(received, context))

    @property
    def waits(self) -> bool:
        """Whether the agent waits."""
        return self.agent.waits

    def waiting_for(self) -> dict[str, str]:
        """Whom the agent waits for."""
        return self.agent.waiting_for()

    def quiet(self, context: Context) -> None:
        """Nothing more is due for the agent."""
        self._through(context, lambda: self.agent.quiet(context))

    def save(self) -> dict[str, Any]:
        """The agent's state, and that of the injections."""
        return {
            "agent": self.agent.save(),
            "waking": sorted(self._waking),
            "injections": [injection.save() for injection in self.injections],
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`."""
        self.agent.load_checked(saved["agent"])
        self._waking = set(saved["waking"])
        for injection, state in zip(self.injections, saved["injections"], strict=True):
            if state is not None:
                injection.load(state)

    def summary(self) -> dict[str, Any]:
        """The agent's own."""
        return self.agent.summary()

    def _try(self, hook: Callable[[Agent, Context], None], context: Context) -> None:
        """Calls a hook; if it fails that is noted, and the agent goes on by itself."""
        try:
            hook(self.agent, context)
        except Exception as error:
            detail = redact(f"{type(error).__name__}: {' '.join(str(error).split())}")[:500]
            body = {"agent": self.name, "error": type(error).__name__, "detail": detail}
            context.record("injection_error", self.name, body)

    def _active(self, now: int) -> list[Injection]:
        return [i for i in self.injections if i.scene.onset <= now < i.scene.end]

    def _through(self, context: Context, call: Callable[[], None]) -> None:
        """Has the agent act, then changes what it has sent."""
        sent, asked = len(context.outbox), len(context.wakes)
        call()
        self._waking.update(context.wakes[asked:])
        active = self._active(context.now)
        if not active:
            return
        for place in range(sent, len(context.outbox)):
            message = context.outbox[place]
            left: Message | None = message
            for injection in active:
                if left is not None:
                    left = injection.sent(left, context)
            context.outbox[place] = _withheld(message) if left is None else left

    def _tell(self, injection: Injection, context: Context) -> None:
        scene = injection.scene
        body = {
            "kind": scene.kind,
            "attack": injection.attack,
            "onset": scene.onset,
            "end": scene.end,
            "town": scene.town,
            "origin": self.name,  # the scene's, unless the injection does not concern that at all
            "bridge": scene.bridge,
            "amplifier": scene.amplifier,
            "truth": self._truth(injection),
        }
        context.record("injection", "", body)

    @staticmethod
    def _truth(injection: Injection) -> dict[str, float]:
        """What it says of prices; nothing if that is none: the rest of the truth must be told."""
        try:
            return {str(item): float(factor) for item, factor in injection.truth().items()}
        except Exception:
            return {}


def _teller(injection: Injection) -> str:
    """Who notes the ground truth in the log: the origin, or whoever it concerns."""
    concerned = injection.concerns(injection.scene)
    origin = injection.scene.origin
    return origin if origin in concerned else min(concerned)


def _withheld(message: Message) -> Message:
    payload = Withheld(recipient=message.recipient, what=message.payload_type)
    values = {
        **message.__dict__,
        "recipient": message.sender,
        "channel": payload.channel,
        "payload": payload,
    }
    return filled(Message, values, MESSAGE_FIELDS)
