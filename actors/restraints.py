"""How a host enforces measures and interventions: at the sending side, before anything is logged.

A message that is withheld is no message: it has no row in the log's table of messages. An event
``withheld`` says what it was, to whom and why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from actors.context import Context
from actors.measures import (
    ApprovalRequest,
    Control,
    Lift,
    Measure,
    Quarantine,
    RequireApproval,
    Throttle,
    Verdict,
)
from services.config import InterventionConfig
from services.messages import Message, Origin, pack, payload_class, unpack

HELD_LIMIT = 1_000
"""Messages of one agent that may wait for approval; more are withheld."""
_HOUR = 60


@dataclass(slots=True)
class _Standing:
    """A measure in force."""

    measure: Measure
    by: str
    """Who has laid it on the agent."""
    hour: int = -1
    sent: int = 0
    """How many messages a throttle has let through in that hour."""

    def concerns(self, message: Message) -> bool:
        recipients, channels = self.measure.recipients, self.measure.channels
        return (not recipients or message.recipient in recipients) and (
            not channels or message.channel in channels
        )


@dataclass(slots=True)
class _Agent:
    """What stands against one agent."""

    standing: list[_Standing] = field(default_factory=list)
    held: dict[str, tuple[str, Message]] = field(default_factory=dict)
    """Messages that wait for approval, by id, with the measure."""
    cleared: set[str] = field(default_factory=set)
    """Ids of messages of this round that have been approved."""


class Restraints:
    """What stands against the agents of one host.

    Args:
        exempt: Agents whose mail, to them and from them, is never withheld.
        interventions: What a counterfactual replay changes.
    """

    def __init__(
        self, exempt: Iterable[str] = (), interventions: Iterable[InterventionConfig] = ()
    ) -> None:
        self._exempt = frozenset(exempt)
        self._interventions: dict[str, list[InterventionConfig]] = {}
        for intervention in interventions:
            agent = intervention.agent or (intervention.drop or "").rpartition("#")[0]
            self._interventions.setdefault(agent, []).append(intervention)
        self._agents: dict[str, _Agent] = {}
        self.restrained: set[str] = set(self._interventions)
        """The agents whose outbox has to be looked through."""

    def begin(self) -> None:
        """Forgets all measures: the host begins anew."""
        self._agents = {}
        self.restrained = set(self._interventions)

    def take(self, message: Message, context: Context) -> None:
        """Takes what is for the agent's host: a measure, its end, or a verdict."""
        control = message.payload
        assert isinstance(control, Control)
        agent = self._agents.setdefault(message.recipient, _Agent())
        if isinstance(control, Measure):
            agent.standing = [
                s for s in agent.standing if s.measure.measure != control.measure
            ]  # the same id again: prolonged, or changed
            agent.standing.append(_Standing(control, message.sender))
            self.restrained.add(message.recipient)
            body = control.model_dump(mode="json", exclude_defaults=True) | {"by": message.sender}
            body["kind"] = control.type  # type: ignore[attr-defined]
            context.record("measure", message.recipient, body)
        elif isinstance(control, Lift):
            self._end(message.recipient, agent, control.measure, "lifted", context)
        elif isinstance(control, Verdict):
            self._judge(agent, control, context)
        self._tidy(message.recipient)

    def sift(self, name: str, context: Context) -> None:
        """Takes out of an agent's outbox what may not go, or not yet."""
        now = context.now
        agent = self._agents.get(name)
        if agent is not None:
            for standing in [s for s in agent.standing if s.measure.until <= now]:
                self._end(name, agent, standing.measure.measure, "ended", context)
        outbox = context.outbox[:]
        context.outbox.clear()
        for message in outbox:
            cleared = agent is not None and message.id in agent.cleared
            verdict = None if cleared else self._verdict(name, agent, message, now)
            if verdict is None:
                context.outbox.append(message)
            elif isinstance(verdict, _Standing):
                self._hold(agent, verdict, message, context)  # type: ignore[arg-type]
            else:
                _withheld(message, verdict, context)
        if agent is not None:
            agent.cleared.clear()
        self._tidy(name)

    def save(self, name: str) -> Any:
        """What stands against an agent, as plain data; ``None``: nothing."""
        agent = self._agents.get(name)
        if agent is None:
            return None
        return {
            "standing": [
                (s.measure.model_dump(mode="json"), s.by, s.hour, s.sent) for s in agent.standing
            ],
            "held": [(measure, pack([m])) for measure, m in agent.held.values()],
        }

    def load(self, name: str, saved: Any) -> None:
        """Goes on from :meth:`save`."""
        standing = []
        for values, by, hour, sent in saved["standing"]:
            measure = payload_class(values["type"]).model_validate(values)
            assert isinstance(measure, Measure)
            standing.append(_Standing(measure, by, hour, sent))
        held = {}
        for measure_id, packed in saved["held"]:
            [message] = unpack(packed)
            held[message.id] = measure_id, message
        self._agents[name] = _Agent(standing, held)
        self.restrained.add(name)

    def _verdict(
        self, name: str, agent: _Agent | None, message: Message, now: int
    ) -> str | _Standing | None:
        """Why a message is withheld; the measure by which it is held; ``None``: it may go."""
        if message.recipient in self._exempt or name in self._exempt:
            return None
        for intervention in self._interventions.get(name, ()):
            if intervention.concerns(message.id, message.recipient, message.channel, now):
                return intervention.kind
        for standing in agent.standing if agent is not None else ():
            if not standing.concerns(message):
                continue
            measure = standing.measure
            if isinstance(measure, Quarantine):
                return measure.measure
            if isinstance(measure, Throttle):
                if standing.hour != now // _HOUR:
                    standing.hour, standing.sent = now // _HOUR, 0
                if standing.sent >= measure.per_hour:
                    return measure.measure
                standing.sent += 1
            elif isinstance(measure, RequireApproval):
                return standing
        return None

    def _hold(self, agent: _Agent, standing: _Standing, message: Message, context: Context) -> None:
        if len(agent.held) >= HELD_LIMIT:
            _withheld(message, standing.measure.measure, context)
            return
        agent.held[message.id] = standing.measure.measure, message
        request = ApprovalRequest(
            held=message.id,
            to=message.recipient,
            on=message.channel,
            said=f"{message.payload_type} {message.payload.log_body()}",
            measure=standing.measure.measure,
        )
        context.send(standing.by, request, origin=_origin(message))

    def _judge(self, agent: _Agent, verdict: Verdict, context: Context) -> None:
        measure, message = agent.held.pop(verdict.held, ("", None))
        if message is None:
            return  # released meanwhile, when its measure ended
        if verdict.approved:
            agent.cleared.add(_release(message, context).id)
        else:
            _withheld(message, measure, context)

    def _end(self, name: str, agent: _Agent, measure: str, how: str, context: Context) -> None:
        found = [s for s in agent.standing if s.measure.measure == measure]
        agent.standing = [s for s in agent.standing if s.measure.measure != measure]
        if not found:
            return
        context.record("measure_over", name, {"measure": measure, "how": how})
        for held in [h for h, (m, _) in agent.held.items() if m == measure]:
            _release(agent.held.pop(held)[1], context)

    def _tidy(self, name: str) -> None:
        agent = self._agents.get(name)
        if agent is not None and not (agent.standing or agent.held or agent.cleared):
            del self._agents[name]
            if name not in self._interventions:
                self.restrained.discard(name)


def _origin(message: Message) -> Origin:
    return Origin(message.in_reply_to or message.cause or "", message.root)


def _release(message: Message, context: Context) -> Message:
    """Sends a message that was held; under a new number, as its recipient has seen later ones."""
    return context.send(
        message.recipient,
        message.payload,
        channel=message.channel,
        in_reply_to=message.in_reply_to,
        origin=_origin(message),
    )


def _withheld(message: Message, why: str, context: Context) -> None:
    body = {
        "message": message.id,
        "to": message.recipient,
        "channel": message.channel,
        "type": message.payload_type,
        "measure": why,
        "said": message.payload.log_body(),
    }
    cause = message.in_reply_to or message.cause or ""
    context.record_all([("withheld", message.sender, body)], cause=cause)
