"""How a host calls the handlers of its agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from actors.agent import Agent
from actors.context import Context
from actors.customs import SEND_LIMIT
from actors.guard import Guard
from actors.measures import Control
from actors.notes import Notes
from actors.occupation import Occupation
from actors.restraints import Restraints
from services.messages import Message, Payload
from services.telemetry.timings import clock as wall_clock

_Handlers = dict[type[Payload], Callable[[Message, Context], None]]


class Calls:
    """Calls agents: those that may fail or be slow under guard, all others as fast as it can.

    Args:
        guard: Looks after agents that fail, flood or time out.
        restraints: Takes the messages that are for an agent's host.
        notes: Notes when each message was handled, and gives spans a place.
        occupation: Is told who is called.
    """

    def __init__(
        self, guard: Guard, restraints: Restraints, notes: Notes, occupation: Occupation
    ) -> None:
        self._guard = guard
        self._restraints = restraints
        self._notes = notes
        self._occupation = occupation
        self.begin({}, {})

    def begin(self, agents: dict[str, Agent], contexts: dict[str, Context]) -> None:
        """Forgets everything: the host begins anew, with these agents."""
        self._agents = agents
        self._contexts = contexts
        self.touched: dict[str, None] = {}
        """The agents that were called in this round, in order."""
        self._foreign = {n for n, a in agents.items() if a.foreign}
        self._plain = {
            name: (agent, contexts[name], _Handlers())
            for name, agent in agents.items()
            if not (agent.watched or agent.foreign) and type(agent).handle is Agent.handle
        }
        """Agents that need neither a watch nor a place for spans of their own."""

    def call(self, name: str, handler: Callable[..., Any], message: Message | None = None) -> None:
        """Calls an agent's handler: with a message, or to wake it."""
        agent, context = self._agents[name], self._contexts[name]
        self.touched[name] = None
        self._occupation.handling = (name, message)
        if message is not None and isinstance(message.payload, Control):
            context.handled = message
            self._restraints.take(message, context)
            return
        if name in self._foreign:
            handler = self._notes.placed(handler, name, context.now, message)
        after = self._guard.call(agent, context, handler, message)
        if after is not agent:
            self._agents[name] = after

    def deliver(self, mail: Iterable[Message]) -> None:
        """Has messages handled by their recipients, one after the other."""
        note, arrived, touched = self._notes.handled.append, self._notes.arrived, self.touched
        occupation = self._occupation
        for message in mail:
            # One look at a model's values is cheaper than one at each of its attributes.
            values = message.__dict__
            name = values["recipient"]
            began = wall_clock()
            plain = self._plain.get(name)
            if plain is None:
                self.call(name, self._agents[name].handle, message)
            else:
                # As the guard does it, without three calls for each message.
                agent, context, handlers = plain
                kind = values["payload"].__class__
                handler = handlers.get(kind)
                if handler is None:
                    control = issubclass(kind, Control)
                    handler = self._restraints.take if control else agent.handler_of(kind)
                    handlers[kind] = handler
                touched[name] = None
                occupation.handling = (name, message)
                context.handled = message
                before = len(context.outbox)
                try:
                    handler(message, context)
                except Exception as error:
                    self._guard.failed(agent, context, message, error, before)
                if len(context.outbox) - before > SEND_LIMIT:
                    self._guard.flooded(agent, context, message, before)
            note((values["sender"], values["number"], arrived, began, wall_clock() - began))
