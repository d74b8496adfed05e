"""What firms, boards and forecasters say to each other.

A text is made of sentences; the claims of a message are those of its sentences, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from services.messages import Channel, Payload, filled
from services.talk.claims import Claim

END: Final = ". "
"""Between two sentences."""


class Said(BaseModel):
    """The numbers of a claim; its words are a sentence of the text that it comes with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str
    factor: Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)]
    strength: Annotated[float, Field(ge=0, le=1)] = 0.0
    onward: bool = True


_SAID: Final = set(Said.model_fields)


class Talk(Payload):
    """Base of all that is said in words."""

    text: str
    claims: tuple[Said, ...] = ()

    def heard(self) -> list[Claim]:
        """The claims with their words."""
        return [
            Claim(said.item, said.factor, said.strength, said.onward, words)
            for said, words in zip(self.claims, self.text.split(END), strict=False)
        ]


class MarketNote(Talk):
    """A firm tells another what it hears of the market."""

    type: Literal["market_note"] = "market_note"
    channel: ClassVar[Channel] = "comm"


class BoardWrite(Talk):
    """A firm puts a note on its town's board."""

    type: Literal["board_write"] = "board_write"
    channel: ClassVar[Channel] = "mem"


class BoardRead(Payload):
    """A firm asks what is on the board."""

    type: Literal["board_read"] = "board_read"
    channel: ClassVar[Channel] = "mem"


class BoardView(Talk):
    """What is on the board: some of its latest entries, one in each sentence."""

    type: Literal["board_view"] = "board_view"
    channel: ClassVar[Channel] = "mem"


class ForecastRequest(Talk):
    """A firm asks for a forecast, and says what it goes by."""

    type: Literal["forecast_request"] = "forecast_request"
    channel: ClassVar[Channel] = "tool"


class Forecast(Talk):
    """A forecaster's answer."""

    type: Literal["forecast"] = "forecast"
    channel: ClassVar[Channel] = "tool"
    numbers: dict[str, float] = Field(default_factory=dict)
    """The expected price of each item as a multiple of the normal one."""


class Status(Payload):
    """Base of what firms ask and answer about their service: the sender's own state, in numbers."""

    channel: ClassVar[Channel] = "exec"
    load: float = 0.0
    """Work of this hour as a share of what it can do."""
    latency: float = 0.0
    """How long an answer takes at the moment, in milliseconds."""
    errors: int = 0
    """Requests that it could not answer in the last hour."""
    waiting: int = 0
    """Own requests that it is still waiting for."""
    backlog: float = 0.0
    """Work left over from the hour before, in units."""
    tokens: int = 0
    """What it has spent in the last hour on thinking and talking."""


class StatusRequest(Status):
    """A firm asks a partner how its orders stand."""

    type: Literal["status_request"] = "status_request"
    attempt: int = 0
    """How often it has asked before without a good answer."""
    units: float = 1.0
    """The work that an answer takes; a repeated request asks for all that is open again."""


class StatusReply(Status):
    """The answer, good or not."""

    type: Literal["status_reply"] = "status_reply"
    ok: bool = True
    attempt: int = 0
    units: float = 1.0


_Talk = TypeVar("_Talk", bound=Talk)


def told(kind: type[_Talk], claims: Iterable[Claim], **more: object) -> _Talk:
    """The message that makes these claims; it is of our own making, so nothing is validated."""
    claims = list(claims)
    said = tuple(
        filled(
            Said,
            {"item": c.item, "factor": c.factor, "strength": c.strength, "onward": c.onward},
            _SAID,
        )
        for c in claims
    )
    text = END.join([c.words for c in claims])
    return kind.trusted(text=text, claims=said, type=kind.model_fields["type"].default, **more)
