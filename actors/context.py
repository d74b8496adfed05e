"""What an agent may do besides thinking: send, ask to be woken, know the time, draw at random."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from pydantic_core import to_json

from services.messages import (
    MESSAGE_FIELDS,
    MINUTES_PER_DAY,
    NOBODY,
    Channel,
    Message,
    Origin,
    Payload,
    filled,
)

EventRow = tuple[int, int, str, int, str | None, str, str, str]
"""(minute, round, agent, ordinal, cause, kind, subject, body as JSON); the cause is the id of the
message that brought the event about."""
LedgerRow = tuple[int, int, str, int, str, str, str, int, str]
"""(minute, round, agent, ordinal, firm, debit, credit, micro-dollars, reference)."""


class Clock:
    """The minute and the round that a host is working at; shared by its agents' contexts."""

    __slots__ = ("now", "round")

    def __init__(self, now: int = 0) -> None:
        self.now = now
        self.round = 0


class Context:
    """An agent's only way to the world; a host keeps one for each agent.

    In a unit test: ``Context("name", seed=0, now=540)``.
    """

    __slots__ = (
        "_streams",
        "_streams_day",
        "agent",
        "clock",
        "entries",
        "events",
        "figures",
        "handled",
        "ledger",
        "number",
        "outbox",
        "seed",
        "wakes",
    )

    def __init__(self, agent: str, seed: int = 0, now: int = 0, clock: Clock | None = None) -> None:
        self.agent = agent
        self.seed = seed
        self.clock = Clock(now) if clock is None else clock
        self.number = 0
        """How many messages the agent has sent so far."""
        self.entries = 0
        """How many events and ledger entries the agent has recorded so far."""
        self.handled: Message | None = None
        """The message that is being handled; ``None`` in a start or a wake-up."""
        self.outbox: list[Message] = []
        self.wakes: list[int] = []
        self.events: list[EventRow] = []
        self.ledger: list[LedgerRow] = []
        self.figures: list[tuple[int, str, str]] = []
        self._streams: dict[str, random.Random] = {}
        self._streams_day = -1

    @property
    def now(self) -> int:
        """Virtual minutes since the start of the run."""
        return self.clock.now

    @property
    def day(self) -> int:
        """The day of :attr:`now`."""
        return self.clock.now // MINUTES_PER_DAY

    @property
    def origin(self) -> Origin:
        """Where what is sent and recorded now comes from: the message that is being handled."""
        handled = self.handled
        return NOBODY if handled is None else handled.origin

    @property
    def own_root(self) -> str:
        """The wake-up of this agent now: where a chain of causes may begin."""
        return f"{self.agent}@{self.clock.now}"

    def send(
        self,
        recipient: str,
        payload: Payload,
        *,
        channel: Channel | None = None,
        in_reply_to: str | None = None,
        origin: Origin | None = None,
    ) -> Message:
        """Sends a message; it is delivered in the next round of this minute.

        Args:
            recipient: The agent that it is for.
            payload: What it says.
            channel: Where it is not its payload's own channel.
            in_reply_to: The id of the message that it answers.
            origin: The message that it comes from, where that is not the one being handled.
        """
        if origin is None:
            origin = self.origin
        return self._send(recipient, payload, channel, in_reply_to, origin)

    def reply(self, message: Message, payload: Payload) -> Message:
        """Answers a message."""
        origin = self.origin
        answered = origin.message if message is self.handled else message.id
        return self._send(message.sender, payload, None, answered, origin)

    def _send(
        self,
        recipient: str,
        payload: Payload,
        channel: Channel | None,
        in_reply_to: str | None,
        origin: Origin,
    ) -> Message:
        cause, root = origin
        self.number = number = self.number + 1
        values = {
            "sender": self.agent,
            "number": number,
            "recipient": recipient,
            "channel": channel or payload.channel,
            "sent_at": self.clock.now,
            "payload": payload,
            "in_reply_to": in_reply_to,
            "cause": None if cause == in_reply_to else cause or None,
            "root": root or self.own_root,
            "trace": None,
        }
        message = filled(Message, values, MESSAGE_FIELDS)
        self.outbox.append(message)
        return message

    def wake_at(self, minute: int) -> None:
        """Asks for a call of the agent's ``wake`` at a later minute.

        Raises:
            ValueError: the minute is not later than now.
        """
        if minute <= self.now and self.now > 0:
            raise ValueError(f"minute {minute} is not after now ({self.now})")
        self.wakes.append(minute)

    def rng(self, purpose: str) -> random.Random:
        """The random stream of this agent for a purpose and this day.

        It depends on the run's seed, the agent's name, the purpose and the day alone, so it is the
        same wherever the agent runs and after any resume.
        """
        day = self.clock.now // MINUTES_PER_DAY
        if day != self._streams_day:
            self._streams = {}
            self._streams_day = day
        stream = self._streams.get(purpose)
        if stream is None:
            stream = random.Random(f"{self.seed}:{self.agent}:{purpose}:{day}")
            self._streams[purpose] = stream
        return stream

    def record(self, kind: str, subject: str, body: dict[str, Any] | str) -> None:
        """Notes a fact in the run's event log; ``subject`` is the firm concerned, or empty.

        The body is a dictionary, or JSON text.
        """
        self.record_all([(kind, subject, body)])

    def record_all(
        self,
        facts: Iterable[tuple[str, str, dict[str, Any] | str]],
        cause: str | None = None,
    ) -> None:
        """As :meth:`record`, for many facts: (kind, subject, body).

        Args:
            facts: What has happened.
            cause: The id of the message that brought them about, where that is not the one being
                handled; empty for none.
        """
        if cause is None:
            cause = self.origin.message
        now, round_, agent, entry = self.clock.now, self.clock.round, self.agent, self.entries
        put = self.events.append
        for kind, subject, body in facts:
            entry += 1
            text = body if body.__class__ is str else to_json(body).decode()
            put((now, round_, agent, entry, cause or None, kind, subject, text))
        self.entries = entry

    def book(self, firm: str, debit: str, credit: str, micros: int, reference: str) -> None:
        """Notes a ledger entry of ``micros`` micro-dollars in the run's ledger."""
        self.book_all([(firm, debit, credit, micros, reference)])

    def book_all(self, postings: Iterable[tuple[str, str, str, int, str]]) -> None:
        """As :meth:`book`, for many entries: (firm, debit, credit, micros, reference)."""
        now, round_, agent, entry = self.clock.now, self.clock.round, self.agent, self.entries
        put = self.ledger.append
        for posting in postings:
            entry += 1
            put((now, round_, agent, entry, *posting))
        self.entries = entry

    def measure(self, day: int, agent: str, figures: dict[str, Any]) -> None:
        """Notes an agent's figures at the end of a day."""
        self.figures.append((day, agent, to_json(figures).decode()))

    def incoming(self, sender: str, payload: Payload, number: int = 1) -> Message:
        """A message to this agent as if it came from ``sender``; for unit tests."""
        return Message(
            sender=sender,
            number=number,
            recipient=self.agent,
            channel=payload.channel,
            sent_at=self.now,
            payload=payload,
        )

    def fork(self) -> Context:
        """A copy to work on that can be thrown away; :meth:`absorb` takes over what it holds."""
        copy = Context(self.agent, self.seed, clock=Clock(self.clock.now))
        copy.clock.round = self.clock.round
        copy.number = self.number
        copy.entries = self.entries
        copy.handled = self.handled
        copy._streams = self._streams
        copy._streams_day = self._streams_day
        return copy

    def absorb(self, fork: Context) -> None:
        """Takes over what was sent, asked for and recorded on a fork."""
        self.number = fork.number
        self.entries = fork.entries
        self.outbox += fork.outbox
        self.wakes += fork.wakes
        self.events += fork.events
        self.ledger += fork.ledger
        self.figures += fork.figures
        self._streams = fork._streams
        self._streams_day = fork._streams_day

    def forget_streams(self) -> None:
        """Starts the day's random streams anew."""
        self._streams = {}
        self._streams_day = -1
