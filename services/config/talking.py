"""Who talks in a league and what is done to it: the tables `[talk]` and `[[injections]]`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field, field_validator

from services.config.base import ConfigModel
from services.config.problems import fault, unknown

INJECTIONS = (
    "price_rumour",
    "corrupted_memory",
    "faulty_tool",
    "retry_storm",
    "mixed",
    "harvest_shock",
    "promotion_burst",
    "contract_handover",
)
"""What may be done to a league: five attacks, and three events that only look like one."""

_CLASS = re.compile(r"(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|.+\.py):[A-Za-z_]\w*")

Share = Annotated[float, Field(ge=0, le=1)]


class TalkConfig(ConfigModel):
    """How informed firms talk; every town has a board and a forecaster unless told otherwise."""

    boards: bool = True
    """Whether each town has a board that firms write on and read."""
    forecasters: bool = True
    """Whether each town has a forecaster that firms ask."""
    edges: Share | None = None
    """Chance that a firm of a town writes to another, besides the next in the town's ring (0.3;
    0.2 from 96 firms on)."""
    careful: Share = 0.25
    """Share of the firms that nobody convinces."""
    trust: Share = 1.0
    """How much the others are inclined to believe what they hear, at most."""
    adoption: Share = 0.8
    """How easily firms are convinced."""
    rate: Annotated[float, Field(ge=0, le=10)] = 1.0
    """How much firms talk, as a multiple of the usual."""


class InjectionConfig(ConfigModel):
    """Something that is done to a league from a certain hour on."""

    kind: str
    """One that comes with Hanse, or a class of your own."""
    day: Annotated[int, Field(ge=0, le=3660)]
    hour: Annotated[int, Field(ge=0, le=23)] = 9
    hours: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Working hours that it lasts (as the kind has it)."""
    origin: str | None = None
    """The agent with which it begins (drawn from the seed)."""
    bridge: str | None = None
    """The firm that carries it on (the gateway of the origin's town)."""
    amplifier: str | None = None
    """The firm that makes most of it (the best connected one that the bridge writes to)."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Passed to the injection."""

    @field_validator("kind")
    @classmethod
    def _known(cls, kind: str) -> str:
        if kind in INJECTIONS or _CLASS.fullmatch(kind):
            return kind
        raise fault(
            f"{unknown(kind, INJECTIONS, 'injection')},"
            " or your own as module:Class or path.py:Class"
        )
