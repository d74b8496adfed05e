"""Who watches a league and what may be done about it: monitors, containment, interventions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from services.config.base import ConfigModel
from services.config.problems import fault
from services.messages import Channel

ContainmentPolicy = Literal["alerts", "advise", "quarantine", "throttle", "approval"]
CONTAINMENT_POLICIES = ("alerts", "advise", "quarantine", "throttle", "approval")
INTERVENTIONS = ("mute", "cut", "drop")
"""What a counterfactual replay may change; what it withholds is logged under that name."""

Minute = Annotated[int, Field(ge=0, le=1_000_000_000)]


class MonitorConfig(ConfigModel):
    """The monitors of a league: CASPIAN over its messages, BACE over its activity."""

    caspian: bool = True
    calibration: Literal["standard"] | dict[str, Any] | None = None
    """What counts as a cascade: in a run file the name of a file that `hanse monitor calibrate` has
    written, here its contents. `standard` is that of the standard talking leagues; without one
    there are signals, but no alarms."""
    tick_minutes: Annotated[int, Field(ge=1, le=1440)] = 60
    """Virtual minutes that count as one step of the monitor."""
    shards: Annotated[int, Field(ge=1, le=64)] = 1
    """In how many parts the traffic is scored."""
    max_events: Annotated[int, Field(ge=10, le=100_000_000)] | None = None
    """Events that are scored in a tick; of more, a sample is (40,000)."""
    bace: bool = False
    refit_ticks: Annotated[int, Field(ge=10, le=1_000_000)] = 500
    """How often BACE learns its graphs anew."""


class ContainmentConfig(ConfigModel):
    """What the containment controller does about an alert."""

    policy: ContainmentPolicy = "quarantine"
    """alerts: only notes them; advise: everybody is told to doubt what was heard; quarantine:
    suspects are cut off as well; throttle: they may say little; approval: what they say has to be
    approved by the controller, which stops prices far from normal. What states no price passes
    then: requests, and words alone, which informed firms do not believe."""
    hours: Annotated[int, Field(ge=1, le=100_000)] = 168
    """How long a measure stands: a week."""
    per_hour: Annotated[int, Field(ge=0, le=1_000_000)] = 1
    """What a throttled agent may send."""
    suspects: Annotated[int, Field(ge=1, le=1000)] = 5
    """How many agents a cascade's measures may fall on, the origin first."""
    advise: bool = True
    """Whether firms are told to doubt what they have heard since the cascade began."""
    doubt_hours: Annotated[int, Field(ge=1, le=100_000)] = 48
    """How long they are to go on doubting."""


class InterventionConfig(ConfigModel):
    """Something that is changed in a counterfactual replay."""

    kind: Literal["mute", "cut", "drop"]
    """mute: an agent's messages are withheld; cut: those to one recipient; drop: one message."""
    agent: str | None = None
    recipient: str | None = None
    drop: str | None = None
    """The id of the message to drop."""
    channels: list[Channel] = Field(default_factory=list)
    begin: Minute = 0
    """The first minute."""
    end: Minute = 1_000_000_000

    @field_validator("drop")
    @classmethod
    def _is_an_id(cls, drop: str | None) -> str | None:
        if drop is not None and not (drop.rpartition("#")[0] and drop.rpartition("#")[2].isdigit()):
            raise fault(f"{drop!r} is not the id of a message; allowed: agent#number")
        return drop

    @model_validator(mode="after")
    def _complete(self) -> InterventionConfig:
        given = {"agent": self.agent, "recipient": self.recipient, "drop": self.drop}
        needed = {"mute": ["agent"], "cut": ["agent", "recipient"], "drop": ["drop"]}[self.kind]
        for key, value in given.items():
            if (value is not None) != (key in needed):
                says = "needs" if key in needed else "has no"
                raise fault(f"{self.kind!r} {says} {key}")
        return self

    def concerns(self, message: str, recipient: str, channel: Channel, minute: int) -> bool:
        """Whether it withholds a message of its agent."""
        if self.drop is not None:
            return message == self.drop
        return (
            self.begin <= minute < self.end
            and (self.recipient is None or self.recipient == recipient)
            and (not self.channels or channel in self.channels)
        )
