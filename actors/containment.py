"""Containment: the controller that answers a monitor's alerts with measures, for a time.

    alert -> suspects -> measures -> (their time is over, or an operator says so) -> lifted

An alert is statistical evidence, not proof. So measures concern only what an agent says to others,
never its trade; each has an end; and each can be lifted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from actors.agent import Agent, handles
from actors.context import Context
from actors.measures import (
    Advisory,
    ApprovalRequest,
    Lift,
    Measure,
    Quarantine,
    RequireApproval,
    Throttle,
    Verdict,
)
from monitors.caspian.alert import CascadeAlert, CascadeReport, Role
from services.config import ContainmentPolicy
from services.messages import Channel, Message, Payload

MINUTES_PER_HOUR = 60
DOUBT = 3
"""Ticks before the estimated onset from which on what was heard is in doubt."""


class LiftRequest(Payload):
    """An operator wants a measure to end."""

    internal: ClassVar[bool] = True
    channel: ClassVar[Channel] = "exec"
    type: Literal["lift_request"] = "lift_request"
    measure: str
    """The id of the measure, or ``all``."""


@dataclass(slots=True)
class _Standing:
    """A measure that has been taken."""

    agent: str
    until: int
    reason: str


class ContainmentController(Agent):
    """Decides what is done about a cascade.

    Args:
        name: Its name.
        policy: ``alerts`` only notes them, ``advise`` only advises, ``quarantine`` withholds what
            suspects say, ``throttle`` lets them say a little, ``approval`` holds it until this
            controller has approved it; it approves what is :func:`harmless`.
        hours: How long a measure stands.
        per_hour: Messages that a throttled agent may send in an hour.
        suspects: How many agents the measures of one cascade may fall on.
        tick_minutes: Virtual minutes of the monitor's ticks.
        audience: Whom to advise not to believe what they have heard since the cascade began; nobody
            if it is empty.
        doubt_hours: How long they are to be convinced of nothing new.
    """

    essential = False

    def __init__(
        self,
        name: str,
        policy: ContainmentPolicy = "quarantine",
        hours: int = 168,
        per_hour: int = 1,
        suspects: int = 5,
        *,
        tick_minutes: int = 60,
        audience: Sequence[str] = (),
        doubt_hours: int = 48,
    ) -> None:
        super().__init__(name)
        self.policy = policy
        self.hours = hours
        self.per_hour = per_hour
        self.suspects = suspects
        self.tick_minutes = tick_minutes
        self.audience = tuple(audience)
        self.doubt_hours = doubt_hours
        self._taken = 0
        self._spared: set[tuple[str, str]] = set()
        """(alert, agent) whose measures an operator has lifted: they are left alone."""
        self._advised: set[str] = set()
        """The alerts that have been answered with an advisory."""
        self._standing: dict[str, _Standing] = {}

    @handles(CascadeAlert)
    def on_alert(self, message: Message, context: Context) -> None:
        """Takes measures against suspects who are under none yet."""
        alert = message.payload
        assert isinstance(alert, CascadeAlert)
        report = alert.report
        if self.policy == "alerts":
            return
        until = context.now + self.hours * MINUTES_PER_HOUR
        under = {s.agent for s in self._standing.values()}
        already = {s.agent for s in self._standing.values() if s.reason == report.id}
        suspects = [] if self.policy == "advise" else chosen(report, self.suspects)
        for agent in suspects:
            if agent in under or len(already) >= self.suspects:
                continue
            if (report.id, agent) in self._spared:
                continue
            already.add(agent)
            self._taken += 1
            measure = self._measure(f"{self.policy}-{self._taken}", until, report.id)
            context.send(agent, measure)
            self._standing[measure.measure] = _Standing(agent, until, report.id)
        if self._standing:
            context.wake_at(until)
        if report.id not in self._advised:
            self._advised.add(report.id)
            # An estimated onset may be late; doubt about an hour more costs little.
            since = max(report.onset - DOUBT, 0) * self.tick_minutes
            until = context.now + self.doubt_hours * MINUTES_PER_HOUR
            for agent in self.audience:
                context.send(agent, Advisory(since=since, until=until, reason=report.id))
            if self.audience:
                told = {"to": len(self.audience), "since": since, "until": until}
                context.record("advised", "", told | {"reason": report.id})

    @handles(ApprovalRequest)
    def on_approval_request(self, message: Message, context: Context) -> None:
        """Lets pass what states no price that is far from normal."""
        request = message.payload
        assert isinstance(request, ApprovalRequest)
        context.reply(message, Verdict(held=request.held, approved=harmless(request.said)))

    @handles(LiftRequest)
    def on_lift_request(self, message: Message, context: Context) -> None:
        """Lifts a measure, or all."""
        request = message.payload
        assert isinstance(request, LiftRequest)
        for measure, standing in list(self._standing.items()):
            if request.measure in (measure, "all"):
                self._spared.add((standing.reason, standing.agent))
                self._lift(measure, context)

    def wake(self, context: Context) -> None:
        """Lifts the measures whose time is over."""
        for measure, standing in list(self._standing.items()):
            if standing.until <= context.now:
                self._lift(measure, context)

    def save(self) -> dict[str, Any]:
        """The measures that stand."""
        return {
            "taken": self._taken,
            "advised": sorted(self._advised),
            "spared": sorted(self._spared),
            "standing": {m: (s.agent, s.until, s.reason) for m, s in self._standing.items()},
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`."""
        self._taken = saved["taken"]
        self._advised = set(saved["advised"])
        self._spared = {(alert, agent) for alert, agent in saved["spared"]}
        self._standing = {m: _Standing(*values) for m, values in saved["standing"].items()}

    def summary(self) -> dict[str, Any]:
        """How many measures it has taken."""
        return {"measures": self._taken}

    def _measure(self, name: str, until: int, reason: str) -> Measure:
        if self.policy == "throttle":
            return Throttle(measure=name, until=until, reason=reason, per_hour=self.per_hour)
        if self.policy == "approval":
            return RequireApproval(measure=name, until=until, reason=reason)
        return Quarantine(measure=name, until=until, reason=reason)

    def _lift(self, measure: str, context: Context) -> None:
        context.send(self._standing.pop(measure).agent, Lift(measure=measure))


def chosen(report: CascadeReport, most: int) -> list[str]:
    """The agents that a cascade's measures should fall on, the likeliest origin first.

    The origin alone is not enough once others have begun to pass it on: so the likeliest bridge and
    amplifier follow the two likeliest origins, and then all others by their order in their role.
    """
    roles = [[s.agent for s in role.suspects] for role in _roles(report)]
    order = roles[0][:2] + roles[1][:1] + roles[2][:1]
    for place in range(max(map(len, roles))):
        order += [agents[place] for agents in roles if place < len(agents)]
    return list(dict.fromkeys(order))[:most]


def _roles(report: CascadeReport) -> tuple[Role, Role, Role]:
    return report.origin, report.bridge, report.amplifier


def harmless(said: str) -> bool:
    """Whether a held message states no price that is far from normal.

    What states no price at all passes. Informed firms, boards and forecasters believe claims, never
    words alone, so it can make nobody believe anything; but a storm is made of such requests, and
    somebody's own agents may believe words: against those quarantine or throttle helps.

    Args:
        said: The type of its payload and its body, as an :class:`ApprovalRequest` has them.
    """
    _, _, body = said.partition(" ")
    try:
        claims = json.loads(body).get("claims", ())
        return all(abs(float(claim["factor"]) - 1.0) <= 0.2 for claim in claims)
    except (ValueError, AttributeError, TypeError, KeyError):
        return False
