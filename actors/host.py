"""Hosts: each carries one agent or many, delivers their mail in rounds and keeps their records.

This is plain Python. A league calls it directly (placement ``inline``) or through the Ray actor in
``actors.ray_hosts``; nothing here knows which.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from time import monotonic
from typing import Any

import msgpack

from actors.agent import Agent
from actors.context import Clock, Context
from actors.customs import SEND_LIMIT
from actors.guard import Guard, JournalRow
from actors.mailboxes import Mailboxes
from actors.measures import Control
from actors.monitor import Monitor
from actors.notes import Notes
from actors.reports import DayApart, DayRecords, Later, MessageRow, Report, Saved
from actors.restraints import Restraints
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY, Message, Payload
from services.telemetry.logs import Place
from services.telemetry.timings import clock as wall_clock

_Handlers = dict[type[Payload], Callable[[Message, Context], None]]

_delivery_order = attrgetter("recipient", "sender", "number")


class Host:
    """Carries agents.

    Args:
        name: The host's name.
        seed: The run's seed.
        names: The agents that live here.
        make: Makes an agent by its name, as it is before the first day.
        directory: For every agent of the league the host on which it lives.
        turn_timeout: Seconds that a watched agent may take to handle a message.
        mailbox_limit: Messages that one agent accepts from another in a minute; more are refused
            and counted, so that agents who answer each other without end cannot hold the minute.
        trace_key: The digest of the run's configuration, from which the ids of spans are made;
            ``None``: nothing is traced.
        unwatched: Agents whose mail no monitor looks at; ``None``: there is no monitor.
        restraints: What keeps agents from sending; by default nothing does.
    """

    def __init__(
        self,
        name: str,
        seed: int,
        names: Iterable[str],
        make: Callable[[str], Agent],
        directory: dict[str, str],
        *,
        turn_timeout: float = 10.0,
        mailbox_limit: int = 10_000,
        trace_key: str | None = "",
        unwatched: frozenset[str] | None = None,
        restraints: Restraints | None = None,
    ) -> None:
        self.name = name
        self.restraints = Restraints() if restraints is None else restraints
        self._unwatched = unwatched
        self.directory = directory
        self.mailbox_limit = mailbox_limit
        self.notes = Notes(name, trace_key)
        self.clock = Clock()
        self.guard = Guard(turn_timeout, self._remake)
        self.handled = 0
        self.handling: tuple[str, Message | None] | None = None
        """(agent, message) while a handler runs."""
        self._round_began = 0.0
        self._make = make
        self._seed = seed
        self._names = sorted(names)
        self._begin({n: make(n) for n in self._names})
        self._remember(self._save())

    def _begin(self, agents: dict[str, Agent]) -> None:
        self.agents = agents
        self.contexts = {n: Context(n, self._seed, clock=self.clock) for n in agents}
        self._foreign = {n for n, a in agents.items() if a.foreign}
        self._plain = {
            name: (agent, self.contexts[name], _Handlers())
            for name, agent in agents.items()
            if not (agent.watched or agent.foreign) and type(agent).handle is Agent.handle
        }
        """Agents that need neither a watch nor a place for spans of their own."""
        self._waiters = [a for a in agents.values() if type(a).waits is not Agent.waits]
        self._mail: list[Message] = []
        self._wakes: list[tuple[int, str]] = []
        self._scheduled: set[tuple[int, str]] = set()
        self._seen: dict[tuple[str, str], int] = {}
        self._mailboxes = Mailboxes(self.mailbox_limit)
        self._touched: dict[str, None] = {}
        self._later: dict[str, Later] | None = None
        self._busy: set[str] = set()
        self._rows: list[MessageRow] = []
        self._watched: list[MessageRow] = []
        self.restraints.begin()
        self.notes.begin()
        self.guard.counters.clear()
        self.guard.journal.clear()

    # ---- rounds ----------------------------------------------------------------------------------

    def start(self) -> Report:
        """Minute 0, round 0 of a new run: every agent's ``start``."""
        self.clock.now = self.clock.round = 0
        self._round_began = monotonic()
        for name, agent in self.agents.items():
            began = wall_clock()
            self._call(name, agent.start)
            self.notes.woken(name, 0, began)
        return self._report(0, self._close_round())

    def work(
        self,
        minute: int,
        round_: int,
        inbound: list[Message],
        quiet: bool = False,
        alone_until: int = 0,
    ) -> Report:
        """One round: wake-ups that are due, then mail in (recipient, sender, counter) order.

        Args:
            minute: Virtual minutes since the start.
            round_: The round within the minute, from 0.
            inbound: Mail from other hosts.
            quiet: Nothing else is due in this minute; agents that still wait are told so.
            alone_until: No other host has anything to do before this minute, so that rounds and
                minutes may follow each other here up to it, until there is mail for another host,
                an agent waits or something must be written at once.
        """
        clock = self.clock
        clock.now = minute
        clock.round = round_
        self._round_began = monotonic()
        self.notes.mail_is_there()
        if quiet:
            for waiter in self._waiters:
                if waiter.waits:
                    self._call(waiter.name, waiter.quiet)
        # Sorted first: what is new is told by the sender's counter, whatever came first.
        self._mail += [m for m in sorted(inbound, key=_delivery_order) if self._is_new(m)]
        handled = 0
        wakes = self._wakes
        while True:
            while wakes and wakes[0][0] <= clock.now:
                entry = due, name = heapq.heappop(wakes)
                self._scheduled.discard(entry)
                began = wall_clock()
                self._call(name, self.agents[name].wake)
                self.notes.woken(name, due, began)
            mail, self._mail = self._mail, []
            if len(mail) > 1:
                mail.sort(key=_delivery_order)
            self._deliver(mail)
            handled += len(mail)
            self.handled += len(mail)
            outbound = self._close_round()
            self.notes.mail_is_there()
            if clock.now >= alone_until or outbound or self.guard.journal:
                return self._report(handled, outbound)
            if self._mail:
                clock.round += 1
            elif not wakes or wakes[0][0] >= alone_until or self._waits():
                return self._report(handled, outbound)
            else:
                clock.now, clock.round = wakes[0][0], 0
                self._round_began = monotonic()

    def play_apart(self, minute: int, until: int) -> DayApart:
        """Plays a day as if there were no other hosts, on the chance that none is needed.

        Silent mail is kept back (:meth:`hear`). If anything else would go to another host, or an
        agent waits or may not be asked twice, the day has to be played again, together.

        Args:
            minute: The first minute at which anybody is woken.
            until: The first minute of the next day.
        """
        if any(agent.watched for agent in self.agents.values()):
            return DayApart(False, {}, None, 0)
        self._later, self._busy = {}, set()
        report = self.work(minute, 0, [], alone_until=until)
        later, self._later = self._later, None
        kept = not (report.outbound or report.due or report.waits or report.journal)
        return DayApart(kept, later, report.next_wake, report.handled)

    def hear(self, mail: Later) -> bool:
        """Handles the silent mail of a day that was played apart.

        Returns:
            Whether it made no difference that it came late: who has heard it has done nothing else
            all day, and does nothing now.
        """
        clock = self.clock
        for sent, message in sorted(
            mail, key=lambda x: (x[1].sent_at, x[0], *_delivery_order(x[1]))
        ):
            name = message.recipient
            if name in self._busy or not self._is_new(message):
                return False
            clock.now, clock.round = message.sent_at, sent + 1
            began = wall_clock()
            self._call(name, self.agents[name].handle, message)
            self.notes.heard(message, began)
            context = self.contexts[name]
            if context.outbox or context.wakes:
                return False
        self._touched.clear()
        self.handled += len(mail)
        self.handling = None
        return True

    def _deliver(self, mail: list[Message]) -> None:
        mail = self._accepted(mail)
        note, arrived, touched = self.notes.handled.append, self.notes.arrived, self._touched
        for message in mail:
            # One look at a model's values is cheaper than one at each of its attributes.
            values = message.__dict__
            name = values["recipient"]
            began = wall_clock()
            plain = self._plain.get(name)
            if plain is None:
                self._call(name, self.agents[name].handle, message)
            else:
                # As the guard does it, without three calls for each message.
                agent, context, handlers = plain
                kind = values["payload"].__class__
                handler = handlers.get(kind)
                if handler is None:
                    control = issubclass(kind, Control)
                    handler = self.restraints.take if control else agent.handler_of(kind)
                    handlers[kind] = handler
                touched[name] = None
                self.handling = (name, message)
                context.handled = message
                before = len(context.outbox)
                try:
                    handler(message, context)
                except Exception as error:
                    self.guard.failed(agent, context, message, error, before)
                if len(context.outbox) - before > SEND_LIMIT:
                    self.guard.flooded(agent, context, message, before)
            note((values["sender"], values["number"], arrived, began, wall_clock() - began))

    def _accepted(self, mail: list[Message]) -> list[Message]:
        """What the recipients' mailboxes take of the mail; the rest is refused, counted, noted."""
        accepted, refused = self._mailboxes.take(self.clock.now, mail)
        self.notes.unhandled += len(mail) - len(accepted)
        for name, count in refused.items():
            self.guard.count("mail_refused", count)
            body = {"count": count, "limit": self.mailbox_limit}
            self.contexts[name].record_all([("mail_refused", name, body)], cause="")
        return accepted

    def _call(self, name: str, handler: Callable[..., Any], message: Message | None = None) -> None:
        agent = self.agents[name]
        self._touched[name] = None
        self.handling = (name, message)
        if message is not None and isinstance(message.payload, Control):
            context = self.contexts[name]
            context.handled = message
            self.restraints.take(message, context)
            return
        if name in self._foreign:
            handler = self.notes.placed(handler, name, self.clock.now, message)
        after = self.guard.call(agent, self.contexts[name], handler, message)
        if after is not agent:
            self.agents[name] = after

    def _is_new(self, message: Message) -> bool:
        """Exactly once in effect: what was handled before is dropped."""
        key = (message.recipient, message.sender)
        if message.number <= self._seen.get(key, 0):
            self.guard.count("duplicates")
            return False
        self._seen[key] = message.number
        return True

    def _close_round(self) -> dict[str, list[Message]]:
        """Logs and sorts what was sent in the round; returns the mail for other hosts."""
        outbound: dict[str, list[Message]] = {}
        minute, round_ = self.clock.now, self.clock.round
        directory, own, mail, later = self.directory, self.name, self._mail, self._later
        put, before = self._rows.append, len(self._rows)
        restrained = self.restraints.restrained
        for name in self._touched:
            context = self.contexts[name]
            if name in restrained:
                self.restraints.sift(name, context)
            if context.wakes:
                self._schedule(name, context.wakes)
            if not context.outbox:
                continue
            for m in context.outbox:
                v = m.__dict__
                payload, recipient = v["payload"], v["recipient"]
                about = v["in_reply_to"], v["cause"], v["trace"], payload.log_body()
                put(
                    (
                        minute,
                        round_,
                        name,
                        v["number"],
                        recipient,
                        v["channel"],
                        payload.type,
                        *about,
                    )
                )
                host = directory.get(recipient)
                if later is not None and payload.silent and host is not None:
                    later.setdefault(host, []).append((round_, m))
                elif host == own:
                    mail.append(m)
                elif host is not None:
                    outbound.setdefault(host, []).append(m)
                else:
                    self.guard.count("undeliverable")
                    self.notes.unhandled += 1
                    body = {"message": m.id, "to": m.recipient}
                    context.record_all([("undeliverable", name, body)], cause=m.id)
            context.outbox.clear()
        if self._unwatched is not None:
            skip = self._unwatched
            self._watched += [
                row for row in self._rows[before:] if row[2] not in skip and row[4] not in skip
            ]
        if later is not None:
            self._busy.update(self._touched)
        self._touched.clear()
        self.handling = None
        return outbound

    def _schedule(self, name: str, minutes: list[int]) -> None:
        for minute in minutes:
            entry = (minute, name)
            if entry not in self._scheduled:
                self._scheduled.add(entry)
                heapq.heappush(self._wakes, entry)
        minutes.clear()

    def _waits(self) -> bool:
        return any(waiter.waits for waiter in self._waiters)

    def _report(self, handled: int, outbound: dict[str, list[Message]]) -> Report:
        journal = self.guard.journal
        if journal:
            self.guard.journal = []
        watched, self._watched = self._watched, []
        return Report(
            outbound,
            bool(self._mail),
            self._wakes[0][0] if self._wakes else None,
            self._waits(),
            handled,
            self.clock.now,
            self.clock.round,
            journal,
            watched,
        )

    def observe(
        self, minute: int, tick: int, rows: list[MessageRow], orders: Sequence[str] = ()
    ) -> Report:
        """Shows the monitors that live here what was said in a tick, and what has been ordered.

        Args:
            minute: The minute at which they look at it, and at which they say what they have to.
            tick: The number of the tick.
            rows: The messages, as the log has them.
            orders: The measures that an operator wants to end.
        """
        self.clock.now, self.clock.round = minute, 0
        self._round_began = monotonic()
        rows.sort(key=itemgetter(0, 1, 2, 3))
        for name, agent in self.agents.items():
            if isinstance(agent, Monitor):
                if orders:
                    self._call(name, partial(agent.obey, orders))
                if rows:
                    self._call(name, partial(agent.observe, tick, rows))
        return self._report(0, self._close_round())

    # ---- days ------------------------------------------------------------------------------------

    def end_day(self) -> DayRecords:
        """Hands over the day's records and every agent's state, and forgets the records."""
        rows, self._rows = self._rows, []
        events: list[tuple[Any, ...]] = []
        ledger: list[tuple[Any, ...]] = []
        metrics: list[tuple[Any, ...]] = []
        for context in self.contexts.values():
            events += context.events
            ledger += context.ledger
            metrics += context.figures
            context.events, context.ledger, context.figures = [], [], []
        saved = self._save()
        self._remember(saved)
        counters, self.guard.counters = self.guard.counters, {}
        notes = self.notes.take(self.clock.now // MINUTES_PER_DAY, counters)
        return DayRecords(rows, events, ledger, metrics, saved, counters, self.name, notes)

    def restore(self, saved: Saved | None, journal: Iterable[JournalRow] = ()) -> int | None:
        """Goes back to the end of a day, whatever has happened since.

        Args:
            saved: States of the agents that live here, as :meth:`end_day` gave them; ``None`` goes
                back to before the first day.
            journal: Answers to give again instead of calling the agents.

        Returns:
            The next minute at which an agent wants to be woken.
        """
        self._begin({n: self._make(n) for n in self._names})
        self.guard.replay(list(journal))
        if saved is None:
            self._remember(self._save())
            return None
        for name, agent in self.agents.items():
            state, context = saved[name], self.contexts[name]
            agent.load_checked(msgpack.unpackb(state["state"], strict_map_key=False))
            context.number, context.entries = state["number"], state["entries"]
            if state.get("restraints") is not None:
                kept = msgpack.unpackb(state["restraints"], strict_map_key=False)
                self.restraints.load(name, kept)
            self._wakes += [(minute, name) for minute in state["wakes"]]
        heapq.heapify(self._wakes)
        self._scheduled = set(self._wakes)
        self._remember(saved)
        return self._wakes[0][0] if self._wakes else None

    def summaries(self) -> dict[str, dict[str, Any]]:
        """Every agent's summary."""
        return {name: agent.summary() for name, agent in self.agents.items()}

    def busy_with(self) -> dict[str, object] | None:
        """The agent that is handling something now, what, and the seconds since its round began."""
        now = self.handling
        if now is None:
            return None
        name, message = now
        return {
            "host": self.name,
            "agent": name,
            "message": "" if message is None else f"{message.id} ({message.payload_type})",
            "seconds": monotonic() - self._round_began,
        }

    def whereabouts(self) -> Place:
        """Who does what at the moment, for log records."""
        agent, message = self.handling or (None, None)
        return Place(agent, self.clock.now, None if message is None else message.id)

    def trace_of(self, message: str) -> str | None:
        """The trace of the message that is being handled, as 32 hexadecimal digits."""
        _, now = self.handling or (None, None)
        return None if now is None or now.id != message else self.notes.trace_of(now)

    def waiting_for(self) -> list[tuple[str, str, str]]:
        """Whom this host's agents wait for: (who waits, for whom, message)."""
        return [
            (w.name, agent, message)
            for w in self._waiters
            for agent, message in w.waiting_for().items()
        ]

    def close(self) -> None:
        """Ends the host's threads."""
        self.guard.close()

    def _save(self) -> Saved:
        saved: Saved = {}
        for name, agent in self.agents.items():
            saved[name] = {
                "state": packed_state(agent),
                "number": self.contexts[name].number,
                "entries": self.contexts[name].entries,
                "wakes": sorted(minute for minute, who in self._wakes if who == name),
            }
            restraints = self.restraints.save(name)
            if restraints is not None:
                saved[name]["restraints"] = msgpack.packb(restraints)
        return saved

    def _remember(self, saved: Saved) -> None:
        """Keeps the morning states of watched agents, who may have to begin their day again."""
        self._mornings = {n: saved[n]["state"] for n, a in self.agents.items() if a.untrusted}

    def _remake(self, name: str) -> Agent:
        agent = self._make(name)
        agent.load_checked(msgpack.unpackb(self._mornings[name], strict_map_key=False))
        return agent


def packed_state(agent: Agent) -> bytes:
    """What an agent saves, as msgpack.

    Raises:
        HanseError: its ``save`` fails, or returns what is no plain data.
    """
    try:
        return msgpack.packb(agent.save())  # type: ignore[no-any-return]
    except Exception as error:
        first = str(error).partition("\n")[0]
        raise HanseError(
            f"{agent.name}: its save() must return plain data (dict, list, str, number, bytes):"
            f" {type(error).__name__}: {first}"
        ) from error
