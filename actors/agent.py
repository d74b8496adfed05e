"""Agents: who acts. An agent receives a message and answers with messages.

The whole life of an agent, without a league and without Ray::

    from actors.agent import Agent, handles
    from actors.context import Context
    from services.messages import Message, Text

    class Greeter(Agent):
        @handles(Text)
        def on_text(self, message: Message, context: Context) -> None:
            context.reply(message, Text(text=f"hello, {message.sender}"))

    greeter = Greeter("greeter")
    context = Context("greeter", seed=0)
    sent = greeter.receive(context.incoming("alice", Text(text="hi")), context)
    assert sent[0].recipient == "alice"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from actors.context import Context
from services.messages import Message, Payload

_Method = TypeVar("_Method", bound=Callable[..., Any])


def handles(*payloads: type[Payload]) -> Callable[[_Method], _Method]:
    """Marks a method as the handler of messages with these payloads (or subclasses of them)."""

    def mark(method: _Method) -> _Method:
        method._handles = payloads  # type: ignore[attr-defined]
        return method

    return mark


class Agent:
    """Base of everything that acts.

    Override what is needed: :meth:`start` once at the beginning, :meth:`wake` for minutes asked for
    with ``context.wake_at``, methods marked with :func:`handles` for messages, and
    :meth:`save`/:meth:`load` for what must survive the end of a day. Handlers run one at a time.
    """

    _handlers: ClassVar[dict[type[Payload], str]] = {}

    untrusted: bool = False
    """Whether a host must guard itself against this agent being slow (a user's own code)."""
    reproducible: bool = True
    """False for agents whose answers cannot be computed again (a person at a keyboard)."""
    essential: bool = False
    """Whether the run must end if this agent fails; other agents only lose their turn."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def watched(self) -> bool:
        """Whether its calls go through a fork of its context, in case they come to nothing."""
        return self.untrusted or not self.reproducible

    @property
    def foreign(self) -> bool:
        """Whether it is somebody's own code, which may trace what it does."""
        return not type(self).__module__.startswith("actors.")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        found = dict(cls._handlers)
        for attribute, method in vars(cls).items():
            for payload in getattr(method, "_handles", ()):
                found[payload] = attribute
        cls._handlers = found

    def start(self, context: Context) -> None:
        """Called once, at minute 0 of a new run, before any message."""

    def wake(self, context: Context) -> None:
        """Called at a minute that the agent has asked for with ``context.wake_at``."""

    def receive(self, message: Message, context: Context) -> list[Message]:
        """Handles one message and returns the messages that were sent in answer.

        Raises:
            Exception: whatever a handler raises; a host turns it into a logged event.
        """
        before = len(context.outbox)
        self.handle(message, context)
        return context.outbox[before:]

    def handle(self, message: Message, context: Context) -> None:
        """As :meth:`receive`, for a host, which collects what was sent itself."""
        self.handler_of(type(message.payload))(message, context)

    def handler_of(self, payload: type[Payload]) -> Callable[[Message, Context], None]:
        """What handles messages with a payload of that type; at worst :meth:`unhandled`."""
        handler = self._handlers.get(payload)
        if handler is None:
            handler = self._inherited(payload)
            if handler is not None:
                type(self)._handlers[payload] = handler
        return self.unhandled if handler is None else getattr(self, handler)

    def unhandled(self, message: Message, context: Context) -> None:
        """Called for a message that no handler is marked for; notes it in the event log."""
        context.record(
            "unhandled", message.sender, {"message": message.id, "type": message.payload_type}
        )

    @property
    def waits(self) -> bool:
        """Whether the agent waits for answers before it goes on."""
        return False

    def waiting_for(self) -> dict[str, str]:
        """Whom the agent waits for: agent name to message id."""
        return {}

    def quiet(self, context: Context) -> None:
        """Called when the agent waits but nothing more is due in this minute."""

    def save(self) -> Any:
        """What must survive the end of a day, as plain data (dicts, lists, str, numbers, bytes)."""
        return None

    def load(self, saved: Any) -> None:
        """Takes back what :meth:`save` returned."""

    def load_checked(self, saved: Any) -> None:
        """As :meth:`load`; does nothing for an agent that saves nothing."""
        if saved is not None:
            self.load(saved)

    def summary(self) -> dict[str, Any]:
        """Figures for the run's result, as plain data."""
        return {}

    def _inherited(self, payload: type[Payload]) -> str | None:
        for base in payload.__mro__[1:]:
            handler = self._handlers.get(base)
            if handler is not None:
                return handler
        return None
