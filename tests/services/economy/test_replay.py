"""A replay of the event log rebuilds the state exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.economy.commands import Command
from services.economy.replay import EventRow, Replay, replay
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.setup import TownSetup, standard_firms
from services.economy.town import Town
from services.errors import HanseError
from tests.services.economy.arbitrary import surprises, worlds
from tests.services.economy.driving import Play, play
from tests.services.economy.test_invariants import played

RULES = [pytest.param(rules, id=rules.name) for rules in (HANSE, COFFEEBENCH)]
FROM_OUTSIDE = ("action", "turn_missed", "trade")


def scripted(rules: Rules) -> TownSetup:
    return TownSetup(seed=1, days=20, rules=rules)


def stress(rules: Rules) -> TownSetup:
    return TownSetup(
        seed=1,
        days=60,
        rules=rules,
        firms=standard_firms(1_100.0),
        loss_probability=0.10,
        delay_probability=0.25,
    )


@pytest.mark.parametrize("world", [scripted, stress])
@pytest.mark.parametrize("rules", RULES)
def test_the_log_of_the_reference_firms_gives_their_town_again(
    rules: Rules, world: Callable[[Rules], TownSetup]
) -> None:
    setup = world(rules)
    game = play(setup, "scripted").run()
    again = replay(setup, game.rows)
    assert again.dump() == game.town.dump()
    assert any(firm.bankrupt_day is not None for firm in again.firms.values()) == (world is stress)


@given(worlds(), st.integers(0, 999), surprises())
def test_the_log_of_whatever_firms_do_gives_their_town_again(
    setup: TownSetup, seed: int, surprising: list[Command | None]
) -> None:
    game = played(setup, seed, surprising).run()
    assert replay(setup, game.rows).dump() == game.town.dump()
