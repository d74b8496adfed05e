"""Plays a reference world through our economy: the firms decide, or their actions are replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from actors import exchange
from actors.context import Context
from actors.strategies import make_strategy
from actors.strategies.strategy import Strategy
from services.economy.commands import COMMANDS, Command
from services.economy.results import Result
from services.economy.rules import COFFEEBENCH
from services.economy.setup import TownSetup, standard_firms
from services.economy.town import CLOSES, OPENS, Town
from services.economy.world import LedgerEntry
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from tests.parity.reference import Meta, Reference, Row

FOCAL_FIRM = "roaster_A"
NAMES = {"heuristic_roaster": "heuristic"}
"""Strategies that the reference calls by another name."""
NEVER_FORGET = 10**6
"""Days for which the town remembers everything, so that the whole course can be compared."""


@dataclass
class Day:
    """A day as it stood at the end of its evening."""

    number: int
    figures: dict[str, dict[str, Any]]
    ledger: list[LedgerEntry]


@dataclass
class Course:
    """A town and all that has happened in it."""

    town: Town
    actions: list[dict[str, Any]] = field(default_factory=list)
    sales: list[dict[str, Any]] = field(default_factory=list)
    days: list[Day] = field(default_factory=list)
    today: list[LedgerEntry] = field(default_factory=list)
    """What has been booked since the last evening."""

    def take_records(self) -> None:
        """Collects what the town has to tell."""
        records = self.town.drain()
        for kind, subject, body in records.events:
            if kind == "action":
                told = json.loads(body) if isinstance(body, str) else body
                self.actions.append({"agent": subject, **told})
            elif kind == "consumer_sale":
                assert isinstance(body, dict)
                self.sales.append(body)
        self.today += records.ledger
        if records.figures:
            number = records.figures[0][0]
            figures = {firm: dict(values) for _, firm, values in records.figures}
            self.days.append(Day(number, figures, self.today))
            self.today = []


def drive(reference: Reference) -> Course:
    """Lets the firms decide, turn by turn, as an exchange would ask them."""
    course = Course(found_town(reference.meta))
    town = course.town
    firms = _strategies(reference)
    contexts = {name: Context(name, reference.meta.seed) for name in firms}
    results: dict[str, Result] = {}
    while (minute := town.next_minute()) is not None:
        answers = []
        for name, reason in town.advance(minute):
            strategy, context = firms[name], contexts[name]
            context.clock.now = minute
            seen = None
            if reason is not None and strategy.observes:
                seen = town.observe(name, reason)
            turn = exchange.Turn(
                day=minute // MINUTES_PER_DAY,
                minute_of_day=minute % MINUTES_PER_DAY,
                reason=reason,
                result=results.pop(name, None),
                observation=seen,
            )
            answers.append((name, strategy.decide(turn, context)))
        for name, command in answers:
            results[name] = town.apply(name, command)
        course.take_records()
    return course


def replay(reference: Reference) -> Course:
    """Applies the recorded actions that change books at their minutes, whosever turn it is.

    The town itself opens and closes its days and declares its bankruptcies at the 09:00 wakes.

    Raises:
        HanseError: an action is not one of a firm of this world, or no command at all.
    """
    course = Course(found_town(reference.meta))
    town = course.town
    actions = replayed_actions(reference)
    upcoming = next(actions, None)
    for day in range(reference.meta.days):
        _advance(town, day * MINUTES_PER_DAY + OPENS)
        while upcoming is not None and upcoming[0] < day * MINUTES_PER_DAY + CLOSES:
            minute, firm, command = upcoming
            _advance(town, minute)
            town.clock(minute)
            town.apply(firm, command)
            upcoming = next(actions, None)
        course.take_records()
        _advance(town, day * MINUTES_PER_DAY + CLOSES, course)
    return course


def is_replayed(row: Row) -> bool:
    """Whether a recorded action can change books; looking and waiting cannot."""
    return not row["tool"].startswith("view_") and row["tool"] not in (
        "read_message",
        "wait_for_next_day",
    )


def replayed_actions(reference: Reference) -> Iterator[tuple[int, str, Command]]:
    """The recorded actions that are replayed: minute, firm, command."""
    firms = {firm.name for firm in standard_firms()}
    for row in reference.tables["actions"]:
        if not is_replayed(row):
            continue
        where = f"{reference.folder}: actions: seq {row['seq']}"
        if row["agent"] not in firms:
            raise HanseError(f"{where}: there is no firm {row['agent']!r} in this world")
        try:
            minute = int(row["day"]) * MINUTES_PER_DAY + int(row["minute_of_day"])
            command = COMMANDS[row["tool"]].model_validate(json.loads(row["args_json"]))
        except (KeyError, ValueError, ValidationError) as error:
            told = str(error).splitlines()[0]
            raise HanseError(f"{where}: {row['tool']!r} is no command: {told}") from error
        yield minute, row["agent"], command


def found_town(meta: Meta) -> Town:
    """The world that the reference was measured in."""
    setup = TownSetup(
        seed=meta.seed,
        days=meta.days,
        rules=COFFEEBENCH,
        firms=standard_firms(meta.start_cash),
        loss_probability=meta.delivery_loss_prob,
        delay_probability=meta.delivery_delay_prob,
        memory_days=NEVER_FORGET,
        offer_memory_days=NEVER_FORGET,
    )
    return Town(setup)


def _strategies(reference: Reference) -> dict[str, Strategy]:
    meta = reference.meta
    made = {}
    for firm in standard_firms():
        name = meta.focal if firm.name == FOCAL_FIRM else meta.others
        where = str(reference.folder / "meta.json")
        made[firm.name] = make_strategy(NAMES.get(name, name), firm.name, firm.role, {}, where)
    return made


def _advance(town: Town, until: int, course: Course | None = None) -> None:
    """Moves the town on to a minute; whoever may act on the way is not asked."""
    while (minute := town.next_minute()) is not None and minute <= until:
        town.advance(minute)
        if course is not None:
            course.take_records()
