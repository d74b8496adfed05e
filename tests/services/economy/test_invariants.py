"""What holds in every town, whatever its firms do."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import msgpack
from hypothesis import given
from hypothesis import strategies as st

from services.economy.commands import Command
from services.economy.rules import HANSE
from services.economy.setup import TownSetup, standard_firms
from services.economy.state import FirmState
from services.economy.town import CLOSES, OPENS, Town, Turn
from tests.services.economy.arbitrary import surprises, worlds
from tests.services.economy.books import check_ledger, check_money, check_town
from tests.services.economy.driving import play
from tests.services.economy.merchants import merchants

Surprises = list[Command | None]
SCHEDULE = ("actions", "available_at", "ready_at", "calls_today", "agenda", "agenda_counter")
"""What every command moves, also a refused one: it costs the firm half an hour."""
LAST_ACTIVE_DAY = [f.name for f in fields(FirmState)].index("last_active_day")


def belongings(town: Town) -> dict[str, Any]:
    """The town's state without its schedule."""
    state = msgpack.unpackb(town.dump())
    for key in SCHEDULE:
        del state[key]
    for firm in state["firms"].values():
        firm[LAST_ACTIVE_DAY] = None
    return state  # type: ignore[no-any-return]


@given(worlds(), st.integers(0, 999), surprises())
def test_coffee_money_and_books_are_in_order_after_every_command(
    setup: TownSetup, seed: int, surprising: Surprises
) -> None:
    game = merchants(setup, seed, surprising)
    check_town(game.town, game.sound)
    for _ in game.played():
        check_town(game.town, game.sound)
        check_money(game.town, game.events, game.ledger)
    check_ledger(game.town, game.ledger)
    assert game.town.closed
    assert game.sound or setup.rules.name == "coffeebench"


@given(worlds(), st.integers(0, 999), st.floats(0, 1))
def test_random_firms_keep_the_books_in_order_too(
    setup: TownSetup, seed: int, spice: float
) -> None:
    game = play(setup, "random", seed=seed, spice=spice)
    for _ in game.played():
        pass
    check_town(game.town, game.sound)
    check_money(game.town, game.events, game.ledger)
    check_ledger(game.town, game.ledger)


@given(worlds(rules=HANSE), st.integers(0, 999))
def test_a_firm_that_never_went_bankrupt_has_earned_what_its_equity_has_grown_by(
    setup: TownSetup, seed: int
) -> None:
    town = merchants(setup, seed, []).run().town
    for name, firm in town.firms.items():
        if firm.bankrupt_day is None:
            assert firm.net_income() == firm.equity() - firm.initial_equity
            statement = town.statement(name)
            assert statement.net_income == statement.equity_change


@given(worlds(), st.integers(0, 999), surprises())
def test_a_refused_command_changes_nothing_and_says_why(
    setup: TownSetup, seed: int, surprising: Surprises
) -> None:
    game = merchants(setup, seed, surprising)
    before: list[dict[str, Any]] = []
    game.before = lambda name, command: before.append(belongings(game.town))
    for result in game.played():
        if result is not None and not result.ok:
            assert before[-1] == belongings(game.town)
            assert result.code and result.detail and result.new_id is None
            before.clear()


@given(worlds(), st.integers(0, 999), surprises())
def test_own_commands_never_fill_a_store_beyond_its_cap(
    setup: TownSetup, seed: int, surprising: Surprises
) -> None:
    game = merchants(setup, seed, surprising)
    committed: dict[str, int] = {}
    game.before = lambda name, command: committed.update(
        {firm.name: firm.committed for firm in game.town.firms.values()}
    )
    for result in game.played():
        if result is None or result.command == "return_shipment":
            continue  # goods that come back need no room, and neither does what time brings
        for firm in game.town.firms.values():
            assert firm.committed <= max(firm.stock_cap, committed[firm.name])


@given(worlds(), st.integers(0, 999), surprises(), st.data())
def test_a_town_that_was_written_out_and_read_back_goes_on_identically(
    setup: TownSetup, seed: int, surprising: Surprises, data: st.DataObject
) -> None:
    dumps = []
    game = merchants(setup, seed, surprising)
    game.before = lambda name, command: dumps.append(game.town.dump())
    whole = game.run()
    cuts = data.draw(st.sets(st.integers(0, len(dumps) - 1), max_size=3)) if dumps else set()
    town = Town(setup)
    turns: list[Turn] = []
    for at, (name, command) in enumerate(whole.steps):
        while not turns:
            minute = town.next_minute()
            assert minute is not None
            turns = town.advance(minute)
            for turn in turns:
                if turn.reason is not None:
                    town.dismiss_notices(turn.firm)
        if at in cuts:
            assert town.dump() == dumps[at]
            town = Town.load(setup, town.dump())
            assert town.dump() == dumps[at]
        assert turns.pop(0).firm == name
        town.apply(name, command)
    while (minute := town.next_minute()) is not None:
        town.advance(minute)
    assert town.dump() == whole.town.dump()


def test_a_town_read_back_on_its_last_day_still_ends_that_evening() -> None:
    # The roaster cannot pay the first day's 30 dollars, and the run ends with it.
    people = tuple(replace(f, cash=20.0) for f in standard_firms() if f.role == "roaster")
    setup = TownSetup(firms=people, stop_when_bankrupt="roaster_A")
    town = Town(setup)
    assert town.advance(OPENS) == []
    assert town.advance(OPENS) == []
    assert town.firms["roaster_A"].bankrupt_day == 0
    again = Town.load(setup, town.dump())
    again.advance(CLOSES)
    again.advance(CLOSES)
    assert again.state.closed_on == 0 and again.next_minute() is None


def test_a_state_read_back_holds_every_text_once() -> None:
    setup = TownSetup(days=20)
    town = play(setup, "scripted").run().town
    state = Town.load(setup, town.dump()).state
    names = {name: name for name in state.firms}
    deals = state.past_deals.values()
    assert deals
    assert all(deal.seller is names[deal.seller] for deal in deals)
    assert all(state.past_deals[key].id is key for key in state.past_deals)
