"""Measures: what a containment controller may lay on an agent, and hosts enforce as it sends.

A measure is a message to the agent that it restrains. The agent never sees it: its host takes it
(:mod:`actors.restraints`). Every measure has an end, and can be lifted before it.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from services.messages import Channel, Payload


class Control(Payload):
    """Base of what an agent's host takes in the agent's place; only the league's own send it."""

    internal: ClassVar[bool] = True
    channel: ClassVar[Channel] = "exec"


class Measure(Control):
    """Base of all measures against the recipient: it concerns what it sends to other agents.

    An agent's messages to its exchange and to controllers of containment are never withheld: a
    restrained firm goes on trading, and can be heard.
    """

    measure: str
    """Its id, unique in a run."""
    recipients: tuple[str, ...] = ()
    """To whom; empty: to all."""
    channels: tuple[Channel, ...] = ()
    """On which channels; empty: on all."""
    until: int
    """The minute at which it ends by itself."""
    reason: str = ""
    """The alert that it answers."""


class Quarantine(Measure):
    """What the agent sends is withheld: to all (an agent's quarantine), or to some (an edge's)."""

    type: Literal["quarantine"] = "quarantine"


class Throttle(Measure):
    """The agent may send so many messages in an hour; what is more is withheld."""

    type: Literal["throttle"] = "throttle"
    per_hour: Annotated[int, Field(ge=0)]


class RequireApproval(Measure):
    """What the agent sends is held until who has laid the measure on it has said yes or no."""

    type: Literal["require_approval"] = "require_approval"


class Advisory(Payload):
    """A controller tells firms that something false is about: what they were told is in doubt.

    It goes to everybody, not only to suspects, and binds nobody: what a firm has heard from others
    since then it should believe no longer, and be convinced of nothing for a while; what it has
    seen itself it may believe.
    """

    internal: ClassVar[bool] = True
    type: Literal["advisory"] = "advisory"
    since: int
    """The minute from which on what was heard is in doubt."""
    until: int = 0
    """The minute up to which what is heard is in doubt as well; at least the rest of the hour."""
    reason: str = ""
    """The alert that it answers."""


class Lift(Control):
    """Ends a measure before its time; what is held by it goes to its recipients."""

    type: Literal["lift"] = "lift"
    measure: str


class ApprovalRequest(Payload):
    """A host asks, in the agent's name, whether a message may go."""

    internal: ClassVar[bool] = True
    channel: ClassVar[Channel] = "exec"
    type: Literal["approval_request"] = "approval_request"
    held: str
    """The id of the message that is held."""
    to: str
    on: Channel
    said: str
    """The type of its payload and its body, as the log keeps it."""
    measure: str


class Verdict(Control):
    """The answer to an :class:`ApprovalRequest`."""

    type: Literal["verdict"] = "verdict"
    held: str
    approved: bool
