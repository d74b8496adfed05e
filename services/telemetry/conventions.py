"""The names of attributes: OpenTelemetry's where it has one, ours (``hanse.``) where it has none.

Messages follow the conventions for messaging, firms and their commands those for generative AI
agents and tools: a firm is an agent, each of its commands a tool that the exchange carries out.
"""

from __future__ import annotations

from typing import Final

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as _ai
from opentelemetry.semconv._incubating.attributes import messaging_attributes as _messaging
from opentelemetry.semconv.attributes import error_attributes as _error
from opentelemetry.semconv.attributes import exception_attributes as _exception

SYSTEM: Final = "hanse"
"""What carries the messages, as ``messaging.system`` names it."""

# ---- OpenTelemetry's ---------------------------------------------------------------------------

MESSAGING_SYSTEM: Final = _messaging.MESSAGING_SYSTEM
MESSAGING_OPERATION_NAME: Final = _messaging.MESSAGING_OPERATION_NAME
MESSAGING_OPERATION_TYPE: Final = _messaging.MESSAGING_OPERATION_TYPE
MESSAGING_DESTINATION: Final = _messaging.MESSAGING_DESTINATION_NAME
MESSAGING_MESSAGE_ID: Final = _messaging.MESSAGING_MESSAGE_ID
MESSAGING_BODY_SIZE: Final = _messaging.MESSAGING_MESSAGE_BODY_SIZE
"""Bytes of the body as the log keeps it."""
MESSAGING_CONVERSATION: Final = _messaging.MESSAGING_MESSAGE_CONVERSATION_ID
"""The message that this one answers."""

GEN_AI_OPERATION: Final = _ai.GEN_AI_OPERATION_NAME
GEN_AI_AGENT_NAME: Final = _ai.GEN_AI_AGENT_NAME
GEN_AI_TOOL_NAME: Final = _ai.GEN_AI_TOOL_NAME
GEN_AI_TOOL_CALL_ID: Final = _ai.GEN_AI_TOOL_CALL_ID
GEN_AI_TOOL_ARGUMENTS: Final = _ai.GEN_AI_TOOL_CALL_ARGUMENTS
GEN_AI_TOOL_RESULT: Final = _ai.GEN_AI_TOOL_CALL_RESULT

ERROR_TYPE: Final = _error.ERROR_TYPE
EXCEPTION_TYPE: Final = _exception.EXCEPTION_TYPE
EXCEPTION_MESSAGE: Final = _exception.EXCEPTION_MESSAGE

# ---- ours --------------------------------------------------------------------------------------

RUN: Final = "hanse.run"
HOST: Final = "hanse.host"
AGENT: Final = "hanse.agent"
DAY: Final = "hanse.day"
"""Virtual, from 0."""
MINUTE: Final = "hanse.minute"
"""Virtual minutes since the start of the run."""
ROUND: Final = "hanse.round"
"""The round of its minute in which a message was sent, or an event happened."""
CHANNEL: Final = "hanse.channel"
MESSAGE_TYPE: Final = "hanse.message.type"
CAUSE: Final = "hanse.cause"
"""The id of the message from which this one came, or that brought this event about."""
FIRM: Final = "hanse.firm"
EVENT: Final = "hanse.event"
"""The id of the logged event that the span stands for."""
MONEY: Final = "hanse.money"
"""Dollars."""
POLICY: Final = "hanse.policy"
DECISION: Final = "hanse.decision"
BODY: Final = "hanse.body"
"""What the log says, as JSON."""
TIMING: Final = "hanse.timing"
"""``missing`` where nobody knows when, by the clock on the wall, it was; ``inferred`` where it is
only known what came right before or after."""
MISSING: Final = "missing"
INFERRED: Final = "inferred"
EVENTS_DROPPED: Final = "hanse.events.dropped"
FACT: Final = "hanse.fact."
"""Before the name of a fact in an event's body: ``hanse.fact.qty``."""

LONGEST: Final = 4096
"""Bytes that a value may take."""


def clipped(text: str, longest: int = LONGEST) -> str:
    """The text itself, or as much of its beginning as fits, with a mark that says so.

    Args:
        text: Any text; halves of characters in it become question marks.
        longest: Bytes in UTF-8 that it may take, mark included; at least 64.
    """
    if text.isascii() and len(text) <= longest:
        return text
    raw = text.encode("utf-8", "replace")
    if len(raw) <= longest:
        return raw.decode()
    mark = f"... [cut: {len(raw):,} bytes]"
    return raw[: longest - len(mark)].decode("utf-8", "ignore") + mark


def operation(name: str) -> dict[str, str | int | float | bool | tuple[str, ...]]:
    """The attributes that say what is done with a message: send, receive or process."""
    return {MESSAGING_OPERATION_NAME: name, MESSAGING_OPERATION_TYPE: name}
