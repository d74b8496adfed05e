"""The reference scripted world (seed 0, all firms scripted), inline, with its event log."""

from __future__ import annotations

import cProfile
import pstats
import tempfile
from collections import defaultdict
from pathlib import Path

from actors.context import Context
from actors.exchange import Turn
from actors.league import League
from actors.strategies import make_strategy
from services.config import FirmConfig, RunConfig
from services.economy.results import Result
from services.economy.rules import COFFEEBENCH
from services.economy.setup import TownSetup
from services.economy.town import Town
from tests.bench.measuring import Bench, cpu_seconds

ORIGINAL_CPU_SECONDS = 7.4
"""What the original needs for the same books on the machine of the note (coffeebench.md, S17)."""
BARE_CPU_SECONDS = 0.36
"""What a bare engine without actors, messages or log needed there."""
GOAL_CPU_SECONDS = 0.5
ACTIONS = 7_556


def reference_config(seed: int = 0) -> RunConfig:
    """The reference world as a run."""
    firms = [
        FirmConfig(name=f"{role}_{letter}", role=role, strategy="scripted")
        for role in ("farmer", "roaster", "retailer")
        for letter in "AB"
    ]
    return RunConfig(seed=seed, rules="coffeebench", placement="inline", firms=firms)


def run_league() -> None:
    """A whole run with store, checkpoints and digests."""
    with (
        tempfile.TemporaryDirectory() as folder,
        League.create(reference_config(), Path(folder) / "run") as league,
    ):
        result = league.run()
    assert result.actions == ACTIONS
    assert result.firms[2].net_income == 400.33


def run_bare() -> None:
    """The same economy and strategies in a loop, without actors, messages or log."""
    town = Town(TownSetup(rules=COFFEEBENCH))
    strategies = {f.name: make_strategy("scripted", f.name, f.role, {}) for f in town.setup.firms}
    results: dict[str, Result] = {}
    context = Context("bare")
    while (minute := town.next_minute()) is not None:
        answers = []
        for firm, reason in town.advance(minute):
            turn = Turn.trusted(
                day=minute // 1440,
                minute_of_day=minute % 1440,
                reason=reason,
                result=results.pop(firm, None),
            )
            answers.append((firm, strategies[firm].decide(turn, context)))
        for firm, command in answers:
            results[firm] = town.apply(firm, command)
        town.drain()
    assert town.state.actions == ACTIONS


def bench(table: Bench, times: int) -> None:
    """CPU seconds of both, their ratio, and where the time goes."""
    bare = table.add(
        "reference", "economy and strategies alone", cpu_seconds(run_bare, times), "CPU s"
    )
    seconds = cpu_seconds(run_league, times)
    middle = table.add(
        "reference",
        "90 days inline, event log and checkpoints on",
        seconds,
        "CPU s",
        f"<= {GOAL_CPU_SECONDS} (original {ORIGINAL_CPU_SECONDS}, bare engine {BARE_CPU_SECONDS})",
        min(seconds) <= GOAL_CPU_SECONDS,
    )
    table.add("reference", "actions per CPU second", ACTIONS / middle, "")
    table.add("reference", "league over bare economy", middle / bare, "x")
    table.notes.append("reference: where a profiled run spends its time: " + _where())


def _where() -> str:
    profile = cProfile.Profile()
    profile.enable()
    run_league()
    profile.disable()
    spent: dict[str, float] = defaultdict(float)
    for (file, _, function), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        spent[_part(file, function)] += own
    whole = sum(spent.values())
    ranked = sorted(spent.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{part} {100 * own / whole:.0f} %" for part, own in ranked if own > 0)


def _part(file: str, function: str) -> str:
    for folder, part in (
        ("/services/economy/", "economy"),
        ("/services/runs/", "run store"),
        ("/services/messages", "messages"),
        ("/actors/strategies/", "strategies"),
        ("/actors/", "actors and league"),
        ("/pydantic/", "pydantic"),
    ):
        if folder in file:
            return part
    for word, part in (("sqlite", "SQLite"), ("pydantic", "pydantic"), ("zlib", "compression")):
        if word in function:
            return part
    return "interpreter and library calls"
