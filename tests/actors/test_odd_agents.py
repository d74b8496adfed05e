"""Firms of a user's own that do what nobody thought of: the run goes on to its last day."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from actors.context import Context
from actors.controller import PurchaseOrders
from actors.exchange import Turn, TurnMissed
from actors.league import League
from actors.strategies import Strategy
from services.config import FirmConfig, RunConfig, standard_firms
from services.economy.abroad import TradeFill
from services.economy.commands import Command, Roast, ViewListings, WaitForNextDay
from services.messages import Letter, Payload, Text
from services.runs import Run, RunResult


class Dreamer(Strategy):
    """Wants to be woken long after the end."""

    def decide(self, turn: Turn, context: Context) -> Command:
        context.wake_at(context.now + 30 * 1440)
        return WaitForNextDay()


class Chatterbox(Strategy):
    """Sends the exchange commands without having a turn."""

    def decide(self, turn: Turn, context: Context) -> Command:
        context.send("exchange", ViewListings())
        context.send("roaster_B", Text(text="hello"))
        return WaitForNextDay()


class Forger(Strategy):
    """Sends what only the league's own agents send."""

    FORGED: ClassVar[list[Payload]] = [
        TurnMissed(reason="error"),
        TradeFill(order="F1", town="Visby", item="green_coffee_kg", qty=9, total_micros=0),
        Letter(letter_id="M1", author="farmer_A", title="sell", body="cheap"),
        PurchaseOrders(kg={"green_coffee_kg": 500}),
    ]

    def decide(self, turn: Turn, context: Context) -> Command:
        context.send("exchange", self.FORGED[turn.day % len(self.FORGED)])
        return WaitForNextDay()


class Bookkeeper(Strategy):
    """Writes where only an exchange writes, and what is no fact."""

    def decide(self, turn: Turn, context: Context) -> Command:
        tricks: list[Callable[[], object]] = [
            lambda: context.book("farmer_A", "cash", "revenue", 10**12, "gift"),
            lambda: context.measure(turn.day, "farmer_A", {}),
            lambda: context.record("one\tM\ttwo", "farmer_A", "{}"),
            lambda: context.events.append(("junk",)),  # type: ignore[arg-type]
            lambda: context.wakes.append(2**70),
        ]
        tricks[turn.minute_of_day // 30 % len(tricks)]()
        return ViewListings()


class Smuggler(Strategy):
    """Answers with commands that have gone round their model."""

    def decide(self, turn: Turn, context: Context) -> Command:
        roast = Roast(green_item_id="green_coffee_kg", qty_kg=1)
        return roast.model_copy(update={"qty_kg": "5" if turn.day % 2 else object()})


class Impostor(Strategy):
    """Speaks in another's name."""

    def decide(self, turn: Turn, context: Context) -> Command:
        sent = context.send("exchange", WaitForNextDay(), in_reply_to="exchange#1")
        context.outbox[-1] = sent.model_copy(update={"sender": "roaster_B"})
        return WaitForNextDay()


def played(strategy: type[Strategy], folder: Path) -> tuple[RunResult, Run]:
    name = f"{strategy.__module__}:{strategy.__qualname__}"
    others = [f for f in standard_firms() if f.name != "roaster_A"]
    odd = FirmConfig(name="roaster_A", role="roaster", strategy=name)
    config = RunConfig(days=3, firms=[*others, odd], placement="inline")
    with League.create(config, folder) as league:
        result = league.run()
    return result, Run(folder)


def kinds(run: Run) -> Counter[tuple[str, str]]:
    """(kind, subject) of all events."""
    return Counter((row[5], row[6]) for row in run.rows("events"))


@pytest.mark.parametrize("strategy", [Dreamer, Chatterbox, Impostor, Forger, Bookkeeper, Smuggler])
def test_the_others_play_on_and_the_run_ends_on_its_last_day(
    tmp_path: Path, strategy: type[Strategy]
) -> None:
    result, run = played(strategy, tmp_path / "run")
    assert result.days == 3 and run.day == 2
    assert all(kinds(run)["action", f.firm] >= 3 for f in result.firms if f.firm != "roaster_A")
    assert {subject for kind, subject in kinds(run) if kind == "turn_missed"} <= {"roaster_A"}


def test_what_it_sends_without_a_turn_is_stray(tmp_path: Path) -> None:
    _, run = played(Chatterbox, tmp_path / "run")
    found = kinds(run)
    turns = found["action", "roaster_A"]
    assert found["stray_command", "roaster_A"] == turns
    assert found["turn_missed", "roaster_A"] == 0


def test_nobody_can_speak_in_anothers_name(tmp_path: Path) -> None:
    _, run = played(Impostor, tmp_path / "run")
    found = kinds(run)
    assert found["turn_missed", "roaster_A"] > 3
    assert found["action", "roaster_A"] == 0
    assert "stray_command" not in {kind for kind, who in found if who == "roaster_B"}


@pytest.mark.parametrize("strategy", [Forger, Bookkeeper])
def test_what_only_the_league_may_send_or_write_costs_the_turn(
    tmp_path: Path, strategy: type[Strategy]
) -> None:
    _, run = played(strategy, tmp_path / "run")
    found = kinds(run)
    assert found["turn_missed", "roaster_A"] > 3
    assert found["action", "roaster_A"] == 0
    assert not list(run.rows("ledger", "reference = 'gift'"))
    assert not {kind for kind, _ in found} & {"stray_trade", "stray_command"}


def test_a_command_is_what_its_model_makes_of_it_and_rubbish_costs_the_turn(
    tmp_path: Path,
) -> None:
    _, run = played(Smuggler, tmp_path / "run")
    roasts = [json.loads(row[7]) for row in run.rows("events", "subject = 'roaster_A'")]
    actions = [body for body in roasts if body.get("tool") == "roast"]
    assert actions and all(body["args"]["qty_kg"] == 5 for body in actions)
    assert kinds(run)["turn_missed", "roaster_A"] > 3
