"""Hosts: each carries one agent or many, delivers their mail in rounds and keeps their records.

This is plain Python. A league calls it directly (placement ``inline``) or through the Ray actor in
``actors.ray_hosts``; nothing here knows which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from actors import states
from actors.agent import Agent
from actors.calling import Calls
from actors.context import Clock, Context
from actors.guard import Guard, JournalRow
from actors.mailboxes import Mailboxes
from actors.monitor import Monitor
from actors.notes import Notes
from actors.occupation import Occupation
from actors.outgoing import Outgoing
from actors.reports import DayApart, DayRecords, Later, MessageRow, Report, Saved
from actors.restraints import Restraints
from actors.states import Mornings, packed_state
from actors.wakes import Wakes
from services.messages import MINUTES_PER_DAY, Message, delivery_order
from services.telemetry.logs import Place
from services.telemetry.timings import clock as wall_clock

__all__ = ["Host", "packed_state"]


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
        keep: Is given each answer that cannot be computed again, before it is used.
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
        keep: Callable[[JournalRow], None] | None = None,
    ) -> None:
        self.name = name
        self.restraints = Restraints() if restraints is None else restraints
        self.directory = directory
        self.mailbox_limit = mailbox_limit
        self.notes = Notes(name, trace_key)
        self.clock = Clock()
        self._mornings = Mornings(make)
        self.guard = Guard(turn_timeout, self._mornings.again, keep)
        self.handled = 0
        self.occupation = Occupation(name, self.clock)
        self._calls = Calls(self.guard, self.restraints, self.notes, self.occupation)
        self._outgoing = Outgoing(name, directory, unwatched, self._undeliverable)
        self._make = make
        self._seed = seed
        self._names = sorted(names)
        self._begin({n: make(n) for n in self._names})
        self._mornings.remember(self.agents, self._save())

    def _begin(self, agents: dict[str, Agent]) -> None:
        self.agents = agents
        self.contexts = {n: Context(n, self._seed, clock=self.clock) for n in agents}
        self._calls.begin(agents, self.contexts)
        self._waiters = [a for a in agents.values() if type(a).waits is not Agent.waits]
        self._mail: list[Message] = []
        self._wakes = Wakes()
        self._seen: dict[tuple[str, str], int] = {}
        self._mailboxes = Mailboxes(self.mailbox_limit)
        self._busy: set[str] = set()
        self._outgoing.begin()
        self.restraints.begin()
        self.notes.begin()
        self.guard.counters.clear()
        self.guard.journal.clear()

    # ---- rounds ----------------------------------------------------------------------------------

    def start(self) -> Report:
        """Minute 0, round 0 of a new run: every agent's ``start``."""
        self.clock.now = self.clock.round = 0
        self.occupation.round_begins()
        for name, agent in self.agents.items():
            began = wall_clock()
            self._calls.call(name, agent.start)
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
        self.occupation.round_begins()
        self.notes.mail_is_there()
        if quiet:
            for waiter in self._waiters:
                if waiter.waits:
                    self._calls.call(waiter.name, waiter.quiet)
        # Sorted first: what is new is told by the sender's counter, whatever came first.
        self._mail += [m for m in sorted(inbound, key=delivery_order) if self._is_new(m)]
        handled = 0
        wakes = self._wakes
        while True:
            for due, name in wakes.take(clock.now):
                began = wall_clock()
                self._calls.call(name, self.agents[name].wake)
                self.notes.woken(name, due, began)
            mail, self._mail = self._mail, []
            if len(mail) > 1:
                mail.sort(key=delivery_order)
            self._calls.deliver(self._accepted(mail))
            handled += len(mail)
            self.handled += len(mail)
            outbound = self._close_round()
            self.notes.mail_is_there()
            if clock.now >= alone_until or outbound or self.guard.journal:
                return self._report(handled, outbound)
            if self._mail:
                clock.round += 1
            elif (first := wakes.first) is None or first >= alone_until or self._waits():
                return self._report(handled, outbound)
            else:
                clock.now, clock.round = first, 0
                self.occupation.round_begins()

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
        later: dict[str, Later] = {}
        self._outgoing.later = later
        self._busy = set()
        report = self.work(minute, 0, [], alone_until=until)
        self._outgoing.later = None
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
            mail, key=lambda x: (x[1].sent_at, x[0], *delivery_order(x[1]))
        ):
            name = message.recipient
            if name in self._busy or not self._is_new(message):
                return False
            clock.now, clock.round = message.sent_at, sent + 1
            began = wall_clock()
            self._calls.call(name, self.agents[name].handle, message)
            self.notes.heard(message, began)
            context = self.contexts[name]
            if context.outbox or context.wakes:
                return False
        self._calls.touched.clear()
        self.handled += len(mail)
        self.occupation.handling = None
        return True

    def _accepted(self, mail: list[Message]) -> list[Message]:
        """What the recipients' mailboxes take of the mail; the rest is refused, counted, noted."""
        accepted, refused = self._mailboxes.take(self.clock.now, mail)
        self.notes.unhandled += len(mail) - len(accepted)
        for name, count in refused.items():
            self.guard.count("mail_refused", count)
            body = {"count": count, "limit": self.mailbox_limit}
            self.contexts[name].record_all([("mail_refused", name, body)], cause="")
        return accepted

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
        touched, contexts = self._calls.touched, self.contexts
        restrained = self.restraints.restrained
        for name in touched:
            context = contexts[name]
            if name in restrained:
                self.restraints.sift(name, context)
            if context.wakes:
                self._wakes.add(name, context.wakes)
                context.wakes.clear()
        senders = map(contexts.__getitem__, touched)
        outbound = self._outgoing.sort(self.clock, senders, self._mail)
        if self._outgoing.later is not None:
            self._busy.update(touched)
        touched.clear()
        self.occupation.handling = None
        return outbound

    def _undeliverable(self, message: Message, context: Context) -> None:
        self.guard.count("undeliverable")
        self.notes.unhandled += 1
        body = {"message": message.id, "to": message.recipient}
        context.record_all([("undeliverable", context.agent, body)], cause=message.id)

    def _waits(self) -> bool:
        return any(waiter.waits for waiter in self._waiters)

    def _report(self, handled: int, outbound: dict[str, list[Message]]) -> Report:
        journal = self.guard.journal
        if journal:
            self.guard.journal = []
        return Report(
            outbound,
            bool(self._mail),
            self._wakes.first,
            self._waits(),
            handled,
            self.clock.now,
            self.clock.round,
            journal,
            self._outgoing.take_watched(),
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
        self.occupation.round_begins()
        rows.sort(key=itemgetter(0, 1, 2, 3))
        for name, agent in self.agents.items():
            if isinstance(agent, Monitor):
                if orders:
                    self._calls.call(name, partial(agent.obey, orders))
                if rows:
                    self._calls.call(name, partial(agent.observe, tick, rows))
        return self._report(0, self._close_round())

    # ---- days ------------------------------------------------------------------------------------

    def end_day(self) -> DayRecords:
        """Hands over the day's records and every agent's state, and forgets the records."""
        events: list[tuple[Any, ...]] = []
        ledger: list[tuple[Any, ...]] = []
        metrics: list[tuple[Any, ...]] = []
        for context in self.contexts.values():
            events += context.events
            ledger += context.ledger
            metrics += context.figures
            context.events, context.ledger, context.figures = [], [], []
        saved = self._save()
        self._mornings.remember(self.agents, saved)
        counters, self.guard.counters = self.guard.counters, {}
        notes = self.notes.take(self.clock.now // MINUTES_PER_DAY, counters)
        rows = self._outgoing.take_rows()
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
            saved = self._save()
        else:
            self._wakes = states.load(saved, self.agents, self.contexts, self.restraints)
        self._mornings.remember(self.agents, saved)
        return self._wakes.first

    def summaries(self) -> dict[str, dict[str, Any]]:
        """Every agent's summary."""
        return {name: agent.summary() for name, agent in self.agents.items()}

    def busy_with(self) -> dict[str, object] | None:
        """The agent that is handling something now, what, and the seconds since its round began."""
        return self.occupation.busy_with()

    def whereabouts(self) -> Place:
        """Who does what at the moment, for log records."""
        return self.occupation.whereabouts()

    def trace_of(self, message: str) -> str | None:
        """The trace of the message that is being handled, as 32 hexadecimal digits."""
        now = self.occupation.message(message)
        return None if now is None else self.notes.trace_of(now)

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
        return states.save(self.agents, self.contexts, self._wakes, self.restraints)
