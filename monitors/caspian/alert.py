"""What a monitor says about a cascade: the report, and the payload that carries it.

A report is revised as the cascade goes on: a role (origin, bridge, amplifier) is ``pending`` until
enough ticks have passed to say anything, then ``provisional``, then ``final`` (note ``caspian``
8.5, 8.6). Attribution is statistical evidence, not an authorisation to block.
"""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from services.messages import Channel, Payload

DIGITS: Final = 6
"""Significant digits of every figure in a report, so that its JSON is the same on any machine."""


def rounded(value: float) -> float:
    """The value to :data:`DIGITS` significant digits; never -0.0."""
    if value == 0 or not math.isfinite(value):
        return value + 0.0
    return float(f"{value:.{DIGITS}g}")


Figure = Annotated[float, AfterValidator(rounded)]
"""A float that is rounded when it is put into a report."""

State = Literal["pending", "provisional", "final"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Suspect(_Record):
    """An agent, and how much speaks for it: scores of one role compare, those of two do not."""

    agent: str
    score: Figure


class Role(_Record):
    """Who seems to have played a part in the cascade: at most three, the likeliest first."""

    state: State = "pending"
    suspects: tuple[Suspect, ...] = ()

    @property
    def best(self) -> str | None:
        """The likeliest, if anybody is named yet."""
        return self.suspects[0].agent if self.suspects else None


class Spine(_Record):
    """A path along which influence seems to have travelled."""

    path: tuple[str, ...]
    """Agents, the origin first."""
    bottleneck: Figure
    """The smallest excess of an edge on the path; paths are ranked by it."""
    channel: Channel
    """The channel that has carried most of it."""


class Spectrum(_Record):
    """The paper's signals (section 5.1), on the sparse excess matrix of the edges: for display."""

    lambda1: Figure = 0.0
    """Largest singular value."""
    lambda2: Figure = 0.0
    """The next one."""
    amplification: Figure = 1.0
    """lambda1 + lambda2, over that of the tick before."""
    gap: Figure = 1.0
    """1 - lambda2/lambda1."""
    phase: Figure = 0.0
    """Relative change of lambda2/lambda1 since the tick before."""
    entropy: Figure = 0.0
    """How evenly the excess is spread over the channels: 0 (one) to 1 (all four alike)."""
    watch: bool = False
    """The paper's watch condition: it amplifies, contracts and grows."""


class CascadeReport(_Record):
    """One cascade as it is known by now."""

    id: str
    """``cascade-<n>``, n counts the monitor's alarms; revisions keep it."""
    alert_tick: int
    """When the alarm was raised."""
    reported_tick: int
    """The last tick that this revision knows of."""
    onset: int
    """Estimate of the tick at which it began."""
    kind: Literal["abrupt", "gradual"]
    score: Figure
    """The largest statistic over its threshold at the alarm: at least 1."""
    statistics: dict[str, Figure]
    """At the alarm: ``q1.s``, ``q1.S`` and so on."""
    thresholds: dict[str, Figure]
    """What they were compared with."""
    origin: Role = Role()
    bridge: Role = Role()
    amplifier: Role = Role()
    spines: tuple[Spine, ...] = ()
    agents_flagged: int = 0
    """Agents with a clear excess of conditional inflow since the onset."""
    calibration: str
    """Id of the calibration that the thresholds come from."""
    sampled: Figure = 1.0
    """Smallest share of a tick's events that was looked at since the onset."""
    literal: Spectrum = Spectrum()
    """The paper's own signals at :attr:`reported_tick`."""
    evidence: tuple[str, ...] = ()
    """Ids of a few messages with the highest scores since the onset."""

    @property
    def final(self) -> bool:
        """Whether nothing more will be said about it."""
        return all(role.state == "final" for role in (self.origin, self.bridge, self.amplifier))


class CascadeAlert(Payload):
    """A monitor tells a containment controller of a cascade, or of what it has learned since."""

    type: Literal["cascade_alert"] = "cascade_alert"
    report: CascadeReport
