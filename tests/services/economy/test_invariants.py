"""What holds in every town, whatever its firms do."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from actors.strategies.random import RandomLegal
from services.economy.commands import Command
from services.economy.setup import TownSetup
from services.economy.state import FirmState
from services.economy.town import Town
from tests.services.economy.arbitrary import surprises, worlds
from tests.services.economy.books import check_ledger, check_money, check_town
from tests.services.economy.driving import Play, play
from tests.services.economy.merchants import Merchant

Surprises = list[Command | None]
SCHEDULE = ("actions", "available_at", "ready_at", "calls_today", "agenda", "agenda_counter")
"""What every command moves, also a refused one: it costs the firm half an hour."""


def played(setup: TownSetup, seed: int, surprising: Surprises) -> Play:
    """A town of merchants, from its first minute."""
    town = Town(setup)

    def merchant(name: str, role: str) -> Merchant:
        made = Merchant(name, role)
        made.town = town
        return made

    return play(setup, merchant, seed=seed, surprises=surprising, town=town)


def belongings(town: Town) -> dict[str, Any]:
    """The town's state without its schedule."""
    state = json.loads(town.dump())
    for key in SCHEDULE:
        del state[key]
    for firm in state["firms"].values():
        del firm["last_active_day"]
    return state


@given(worlds(), st.integers(0, 999), surprises())
def test_coffee_money_and_books_are_in_order_after_every_command(
    setup: TownSetup, seed: int, surprising: Surprises
) -> None:
    game = played(setup, seed, surprising)
    check_town(game.town)
    for _ in game.played():
        check_town(game.town)
        check_money(game.town, game.events, game.ledger)
    check_ledger(game.town, game.ledger)
    assert game.town.closed
