"""How much mail an agent takes in a minute: so that no flood can hold the minute up."""

from __future__ import annotations

from collections import Counter

from services.messages import Message


class Mailboxes:
    """The mailboxes of a host's agents.

    Args:
        limit: Messages that one agent accepts from another in a minute.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._minute = -1
        self._received: list[Message] = []
        """The mail of the minute, while it is too little for any mailbox to be full."""
        self._pairs: Counter[tuple[str, str]] | None = None
        """How many messages of the minute each has had from each, once there could be too many."""

    def take(self, minute: int, mail: list[Message]) -> tuple[list[Message], Counter[str]]:
        """What the mailboxes take of the mail, and how much of each recipient's they refuse."""
        if minute != self._minute:
            self._minute = minute
            self._received, self._pairs = [], None
        limit, pairs = self.limit, self._pairs
        refused: Counter[str] = Counter()
        if pairs is None:
            if len(self._received) + len(mail) <= limit:
                self._received += mail
                return mail, refused
            # By sender too, so that one agent's flood takes nobody else's place.
            pairs = self._pairs = Counter((m.recipient, m.sender) for m in self._received)
            self._received = []
        accepted = []
        for message in mail:
            pair = message.recipient, message.sender
            pairs[pair] += 1
            if pairs[pair] <= limit:
                accepted.append(message)
            else:
                refused[message.recipient] += 1
        return accepted, refused
