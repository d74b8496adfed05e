"""The border between users' agents and the league: what may pass, and in what form.

A user's agent may have bypassed every model on its way (``model_construct``, ``model_copy``,
writing into its context). So all that it sends is packed and unpacked as if it went to another
process: the recipients get the same, and share nothing with the sender, wherever they live.
"""

from __future__ import annotations

import re
from typing import Final

from actors.context import Context
from services.messages import Message, pack, unpack

SEND_LIMIT: Final = 1_000
"""Messages that one agent may send while it handles one message; a flood is refused whole."""
LAST_MINUTE: Final = 10**9
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_EVENT_TYPES = (int, int, str, int, str, str, str)
"""Of an event row without its cause, which must be the message that the agent handled."""


class Rubbish(Exception):
    """An agent answered its turn with something that is no command, or sent what may not pass."""


def pass_customs(fork: Context, home: Context) -> None:
    """Checks what an agent has done to its fork, and replaces its messages by copies.

    Args:
        fork: The copy of its context that the agent has worked on.
        home: The context itself.

    Raises:
        Rubbish: something may not pass; the message says what.
    """
    if fork.ledger or fork.figures:
        raise Rubbish("tried to keep the books, which only an exchange does")
    if not all(type(minute) is int and home.now < minute < LAST_MINUTE for minute in fork.wakes):
        raise Rubbish("wants to be woken at a minute that is none")
    for ordinal, row in enumerate(fork.events, home.entries + 1):
        _check_event(row, home, ordinal)
    if fork.entries != home.entries + len(fork.events):
        raise Rubbish("changed the count of its records")
    if fork.number != home.number + len(fork.outbox):
        raise Rubbish("changed the count of its messages")
    for place, message in enumerate(fork.outbox[: SEND_LIMIT + 1]):
        fork.outbox[place] = _copy(message, home, home.number + place + 1)


def _check_event(row: object, home: Context, ordinal: int) -> None:
    clock = home.clock
    if (
        type(row) is not tuple
        or tuple(map(type, row[:4] + row[5:])) != _EVENT_TYPES
        or row[:5] != (clock.now, clock.round, home.agent, ordinal, home.origin.message or None)
        or any(_CONTROL.search(text) for text in row[5:7])
        or not all(_encodes(text) for text in row[5:])
    ):
        raise Rubbish("recorded a fact that is none (a kind and a subject in one line, and a body)")


def _copy(message: Message, home: Context, number: int) -> Message:
    try:
        if (message.sender, message.number, message.sent_at) != (home.agent, number, home.now):
            raise ValueError("it is not its own")
        for text in (message.recipient, message.in_reply_to or "", message.trace or ""):
            if _CONTROL.search(text):
                raise ValueError("an address holds a control character")
        cause, root = home.origin
        if message.cause not in (None, cause) or message.root != (root or home.own_root):
            raise ValueError("it names a cause that is none")
        if message.payload.internal:
            raise ValueError(f"only the league itself sends a {message.payload_type!r}")
        copy = unpack(pack([message]))[0]
        if _CONTROL.search(copy.payload_type) or not _encodes(copy.payload.log_body()):
            raise ValueError("its payload cannot be logged")
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise Rubbish(f"sent a message that may not pass: {reason}") from error
    return copy


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
