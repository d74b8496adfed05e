"""Plays towns in tests: who decides at random, what is observed on the way, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from actors import exchange
from actors.context import Context
from actors.strategies import make_strategy
from actors.strategies.strategy import Strategy
from services.economy.commands import Command
from services.economy.results import Result
from services.economy.setup import TownSetup
from services.economy.town import Town, Turn
from services.economy.world import LedgerEntry
from services.messages import MINUTES_PER_DAY

Step = tuple[str, Command]
"""A firm and the command with which it answered its turn."""


@dataclass
class Play:
    """A town, its firms' strategies and everything that has been recorded so far.

    ``surprises`` are commands that take the place of what a strategy would have said, turn by
    turn from the first; ``None`` leaves the turn to the strategy.
    """

    town: Town
    strategies: dict[str, Strategy]
    seed: int = 0
    surprises: Sequence[Command | None] = ()
    before: Callable[[str, Command], object] = lambda name, command: None
    """Called before a command is carried out."""
    turns: list[Turn] = field(default_factory=list)
    """Turns that have not been answered yet."""
    steps: list[Step] = field(default_factory=list)
    events: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    ledger: list[LedgerEntry] = field(default_factory=list)
    sound: bool = True
    """False once the original's rules have let a deal at a negative price pass (note, W12)."""
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    """The event log as a league would have written it."""

    def __post_init__(self) -> None:
        self.contexts = {name: Context(name, self.seed) for name in self.strategies}
        self.results: dict[str, Result] = {}
        self.take_records()

    def run(self, days: int | None = None) -> Play:
        """Plays to the end, or for so many days."""
        for _ in self.played(days):
            pass
        return self

    def played(self, days: int | None = None) -> Iterator[Result | None]:
        """Plays on; stops after every command with its result, and at every minute with None."""
        while (minute := self.town.next_minute()) is not None:
            if days is not None and minute // MINUTES_PER_DAY >= days:
                return
            self.ask(minute)
            yield None
            yield from self.answered()

    def ask(self, minute: int) -> None:
        """Works off what is due until a firm has a turn, as an exchange does."""
        while not self.turns and (due := self.town.next_minute()) is not None and due <= minute:
            self.turns = self.town.advance(due)
            self.take_records()

    def answered(self) -> Iterator[Result]:
        """Carries the answers to the turns out, one after the other."""
        turns, self.turns = self.turns, []
        for name, command in self.decided(turns):
            self.before(name, command)
            self.steps.append((name, command))
            self.results[name] = self.town.apply(name, command)
            self.take_records()
            yield self.results[name]

    def decided(self, turns: list[Turn]) -> list[Step]:
        """What each firm answers, all of them before the first answer is carried out."""
        answers: list[Step] = []
        for name, reason in turns:
            state = self.town.state
            told = exchange.Turn(
                day=state.day,
                minute_of_day=state.minute % MINUTES_PER_DAY,
                reason=reason,
                result=self.results.pop(name, None),
            )
            if reason is not None:
                self.town.dismiss_notices(name)
            context = self.contexts[name]
            context.clock.now = state.minute
            command = self.strategies[name].decide(told, context)
            at = len(self.steps) + len(answers)
            surprise = self.surprises[at] if at < len(self.surprises) else None
            answers.append((name, command if surprise is None else surprise))
        return answers

    def take_records(self) -> None:
        """Collects what the town has to tell."""
        records = self.town.drain()
        minute = self.town.state.minute
        for kind, subject, body in records.events:
            text = body if isinstance(body, str) else json.dumps(body)
            self.rows.append((minute, 0, "exchange", len(self.rows) + 1, None, kind, subject, text))
            body = json.loads(text)
            self.events.append((kind, subject, body))
            if kind == "deal" and body["unit_price"] < 0:
                self.sound = False
        self.ledger += records.ledger


def play(
    setup: TownSetup,
    strategy: str | Callable[[str, str], Strategy] = "random",
    *,
    seed: int = 0,
    surprises: Sequence[Command | None] = (),
    town: Town | None = None,
    **options: Any,
) -> Play:
    """A town whose firms all decide by one strategy, before its first minute."""

    def made(name: str, role: str) -> Strategy:
        if isinstance(strategy, str):
            return make_strategy(strategy, name, role, options)
        return strategy(name, role)

    strategies = {f.name: made(f.name, f.role) for f in setup.firms}
    return Play(town or Town(setup), strategies, seed, surprises)
