"""Firms of a user's own that do what nobody thought of: the run goes on to its last day."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from actors.context import Context
from actors.exchange import Turn, TurnMissed
from actors.league import League
from actors.strategies import Strategy
from services.config import FirmConfig, RunConfig, standard_firms
from services.economy.abroad import TradeFill
from services.economy.commands import Command, ViewListings, WaitForNextDay
from services.messages import Text
from services.runs import Run, RunResult


class Dreamer(Strategy):
    """Wants to be woken long after the end."""

    def decide(self, turn: Turn, context: Context) -> Command:
        context.wake_at(context.now + 30 * 1440)
        return WaitForNextDay()


class Chatterbox(Strategy):
    """Sends the exchange commands without having a turn, and says that it had none."""

    def decide(self, turn: Turn, context: Context) -> Command:
        context.send("exchange", ViewListings())
        context.send("exchange", TurnMissed(reason="error"))
        fill = TradeFill(order="F1", town="Visby", item="green_coffee_kg", qty=9, total_micros=0)
        context.send("exchange", fill)
        context.send("roaster_B", Text(text="hello"))
        return WaitForNextDay()


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
    return Counter((row[4], row[5]) for row in run.rows("events"))


@pytest.mark.parametrize("strategy", [Dreamer, Chatterbox, Impostor])
def test_the_others_play_on_and_the_run_ends_on_its_last_day(
    tmp_path: Path, strategy: type[Strategy]
) -> None:
    result, run = played(strategy, tmp_path / "run")
    assert result.days == 3 and run.day == 2
    assert result.counters["turns_missed"] == 0 or strategy is Impostor
    assert all(kinds(run)["action", f.firm] >= 3 for f in result.firms if f.firm != "roaster_A")
    assert {subject for kind, subject in kinds(run) if kind == "turn_missed"} <= {"roaster_A"}


def test_what_it_sends_without_a_turn_is_stray(tmp_path: Path) -> None:
    _, run = played(Chatterbox, tmp_path / "run")
    found = kinds(run)
    turns = found["action", "roaster_A"]
    assert found["stray_command", "roaster_A"] == 2 * turns
    assert found["stray_trade", "roaster_A"] == turns
    assert found["turn_missed", "roaster_A"] == 0


def test_nobody_can_speak_in_anothers_name(tmp_path: Path) -> None:
    _, run = played(Impostor, tmp_path / "run")
    found = kinds(run)
    assert found["turn_missed", "roaster_A"] > 3
    assert found["action", "roaster_A"] == 0
    assert "stray_command" not in {kind for kind, who in found if who == "roaster_B"}
