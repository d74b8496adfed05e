"""Between a host and its agents: whatever an agent does, it costs the agent its turn and no more.

An exception, an answer that is no command, a flood of messages or a time-out becomes an event in
the log, and the sender of the turn is told by a :class:`TurnMissed` in the agent's name. Answers
that cannot be computed again (a person's, a time-out) are journalled, and given again on a replay.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any, Literal

import msgpack
from pydantic import ValidationError

from actors.agent import Agent
from actors.blame import where
from actors.context import Context
from actors.customs import SEND_LIMIT, Rubbish, pass_customs
from actors.exchange import Turn, TurnMissed
from actors.watchdog import TooSlow, Watchdog
from services.economy.complaints import complaint
from services.messages import Message, payload_class
from services.telemetry.redaction import redact

TIMEOUTS_A_DAY = 3
"""After so many time-outs in a day an agent is suspended until the next morning."""

JournalRow = tuple[int, int, str, str, str]
"""(minute, round, agent, kind, body as JSON)."""
_OF_THIS_PROCESS = re.compile(r"(?<=0x)[0-9a-fA-F]+|(?<=hanse_strategy_)\w+?_[0-9a-f]{8}(?=\W|$)")
"""Memory addresses and the names of modules read from a path: they differ between machines."""


class Guard:
    """Calls agents' handlers on behalf of one host.

    Args:
        turn_timeout: Seconds that a watched agent may take to handle a message.
        remake: Makes an agent as it was in the morning.
        keep: Is given each answer that cannot be computed again, before it is used.
    """

    def __init__(
        self,
        turn_timeout: float,
        remake: Callable[[str], Agent],
        keep: Callable[[JournalRow], None] | None = None,
    ) -> None:
        self.turn_timeout = turn_timeout
        self.counters: dict[str, int] = {}
        self.journal: list[JournalRow] = []
        self._remake = remake
        self._keep = keep
        self._watchdog = Watchdog()
        self._timeouts: dict[str, int] = {}
        self._timeouts_day = -1
        self._replay: dict[tuple[int, int, str, str], tuple[str, dict[str, Any]]] = {}

    def count(self, what: str, number: int = 1) -> None:
        """Counts something that the run's result reports."""
        self.counters[what] = self.counters.get(what, 0) + number

    def replay(self, journal: list[JournalRow]) -> None:
        """Gives these answers again, instead of calling the agents, when their turn comes."""
        self._timeouts, self._timeouts_day = {}, -1
        self._replay = {}
        for minute, round_, agent, kind, text in journal:
            body = json.loads(text)
            self._replay[minute, round_, agent, body["message"]] = kind, body

    def call(
        self,
        agent: Agent,
        context: Context,
        handler: Callable[..., Any],
        message: Message | None = None,
    ) -> Agent:
        """Runs one handler; returns the agent to use from now on (a new one after a time-out).

        Raises:
            Exception: an essential agent has failed; the run cannot go on.
        """
        context.handled = message
        if agent.watched:
            return self._call_watched(agent, context, handler, message)
        before = len(context.outbox)
        try:
            if message is None:
                handler(context)
            else:
                handler(message, context)
        except Exception as error:
            self.failed(agent, context, message, error, before)
        if len(context.outbox) - before > SEND_LIMIT:
            self.flooded(agent, context, message, before)
        return agent

    def failed(
        self,
        agent: Agent,
        context: Context,
        message: Message | None,
        error: BaseException,
        before: int,
    ) -> None:
        """An agent has raised: its turn is lost, and what it sent is taken back.

        Args:
            agent: Who.
            context: Its context.
            message: What it handled.
            error: What it raised.
            before: How many messages it had sent in the round before the call.

        Raises:
            Exception: the error, if the run cannot go on without the agent.
        """
        if agent.essential:
            raise error
        self._failed(agent, context, message, error, before)

    def close(self) -> None:
        """Ends the threads of watched agents."""
        self._watchdog.close()

    def _call_watched(
        self,
        agent: Agent,
        context: Context,
        handler: Callable[..., Any],
        message: Message | None,
    ) -> Agent:
        clock = context.clock
        about = "" if message is None else message.id
        recorded = self._replay.pop((clock.now, clock.round, agent.name, about), None)
        if recorded is not None:
            return self._again(agent, context, message, *recorded)
        if self._suspended(agent.name, context.day):
            self._miss(context, message, "suspended", "too many time-outs today")
            return agent
        fork = context.fork()
        arguments = (fork,) if message is None else (message, fork)
        try:
            if agent.untrusted:
                self._watchdog.run(agent.name, self.turn_timeout, lambda: handler(*arguments))
                pass_customs(fork, context)
            else:
                handler(*arguments)
        except TooSlow:
            self._write(context, agent.name, "timeout", {"message": about})
            return self._timed_out(agent, context, message)
        except (Exception, SystemExit) as error:
            self._failed(agent, context, message, error, len(context.outbox))
            return agent
        before = len(context.outbox)
        flooding = len(fork.outbox) > SEND_LIMIT
        did = fork.outbox or fork.events or fork.wakes
        if did and not agent.reproducible and not flooding:
            self._write(context, agent.name, "answer", _answer(agent, about, fork))
        context.absorb(fork)
        if flooding:
            self.flooded(agent, context, message, before)
        return agent

    def _again(
        self,
        agent: Agent,
        context: Context,
        message: Message | None,
        kind: str,
        body: dict[str, Any],
    ) -> Agent:
        if kind == "timeout":
            return self._timed_out(agent, context, message)
        for sent in body["sent"]:
            model = payload_class(sent["payload"]["type"])
            context.send(
                sent["recipient"],
                model.model_validate(sent["payload"]),
                channel=sent["channel"],
                in_reply_to=sent["in_reply_to"],
            )
        for fact in body["recorded"]:
            context.record(*fact)
        context.wakes += body["wakes"]
        agent.load_checked(msgpack.unpackb(b64decode(body["state"]), strict_map_key=False))
        return agent

    def _write(self, context: Context, agent: str, kind: str, body: dict[str, Any]) -> None:
        clock = context.clock
        row = clock.now, clock.round, agent, kind, json.dumps(body)
        if self._keep is not None:
            self._keep(row)
        self.journal.append(row)

    def _suspended(self, name: str, day: int) -> bool:
        if day != self._timeouts_day:
            self._timeouts, self._timeouts_day = {}, day
        return self._timeouts.get(name, 0) >= TIMEOUTS_A_DAY

    def _timed_out(self, agent: Agent, context: Context, message: Message | None) -> Agent:
        """The agent starts again from its morning state: what the slow call did is not known."""
        self._suspended(agent.name, context.day)
        self._timeouts[agent.name] = self._timeouts.get(agent.name, 0) + 1
        context.forget_streams()
        detail = f"no answer within {self.turn_timeout:g} s"
        self._miss(context, message, "timeout", detail)
        return self._remake(agent.name)

    def _failed(
        self,
        agent: Agent,
        context: Context,
        message: Message | None,
        error: BaseException,
        before: int,
    ) -> None:
        del context.outbox[before:]
        self.count("agent_errors")
        said = str(error)
        if isinstance(error, ValidationError) and error.errors():
            said = f"{error.title}: {complaint(error)}"
        said = redact(f"{type(error).__name__}: {said}")
        detail = _OF_THIS_PROCESS.sub("...", said)[:500]
        body = {"agent": agent.name, "error": type(error).__name__, "detail": detail}
        if place := where(error, agent):
            body["where"] = place
        context.record("agent_error", agent.name, body)
        self._miss(context, message, "rubbish" if isinstance(error, Rubbish) else "error", detail)

    def flooded(self, agent: Agent, context: Context, message: Message | None, before: int) -> None:
        """An agent has sent more than `SEND_LIMIT` messages at once: all of them are refused."""
        refused = len(context.outbox) - before
        del context.outbox[before:]
        self.count("mail_refused", refused)
        context.record("mail_refused", agent.name, {"count": refused, "limit": SEND_LIMIT})
        self._miss(context, message, "rubbish", f"sent {refused} messages at once")

    def _miss(
        self,
        context: Context,
        message: Message | None,
        reason: Literal["error", "timeout", "suspended", "rubbish"],
        detail: str,
    ) -> None:
        if message is not None and isinstance(message.payload, Turn):
            self.count("turns_missed")
            context.reply(message, TurnMissed(reason=reason, detail=detail))


def _answer(agent: Agent, about: str, fork: Context) -> dict[str, Any]:
    """All that came of a call that cannot be made again."""
    return {
        "message": about,
        "sent": [
            {
                "recipient": m.recipient,
                "channel": m.channel,
                "in_reply_to": m.in_reply_to,
                "payload": m.payload.model_dump(),
            }
            for m in fork.outbox
        ],
        "recorded": [row[5:] for row in fork.events],
        "wakes": fork.wakes,
        "state": b64encode(msgpack.packb(agent.save())).decode(),
    }
