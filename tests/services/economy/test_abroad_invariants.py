"""What holds for two towns that trade with each other, whatever their firms do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from services.economy.abroad import TradeFill, TradeOrder
from services.economy.replay import replay
from services.economy.rules import HANSE
from services.economy.setup import TownSetup
from tests.services.economy.arbitrary import worlds
from tests.services.economy.books import check_ledger, check_money, check_town
from tests.services.economy.driving import Play
from tests.services.economy.merchants import merchants

TOWNS = st.tuples(worlds(HANSE, "Luebeck"), worlds(HANSE, "Visby"))


def both_played(setups: tuple[TownSetup, TownSetup], seed: int) -> tuple[Play, Play]:
    return merchants(setups[0], seed), merchants(setups[1], seed + 1)


def steps(games: tuple[Play, Play], honest: bool = True) -> Iterator[None]:
    """Plays both towns minute by minute; stops whenever no message is under way."""
    while due := [m for game in games if (m := game.town.next_minute()) is not None]:
        minute = min(due)
        for game in games:
            game.ask(minute)
        while any(game.turns for game in games):
            for game in games:
                for _ in game.answered():
                    pass
                game.ask(minute)
            for home, away in (games, games[::-1]):
                trade(home, away, minute, honest)
            yield


def trade(home: Play, away: Play, minute: int, honest: bool = True) -> None:
    """Passes the home town's orders to the other town and its answers back."""
    for order in home.town.abroad.outbox:
        wish = TradeOrder(
            order=order.id,
            town=home.town.setup.name,
            reply_to="",
            item=order.item,
            qty=order.qty,
            max_price=order.max_price,
        )
        away.town.clock(minute)
        answer = away.town.abroad.fill(wish)
        away.take_records()
        away.ask(minute)
        home.town.clock(minute)
        if isinstance(answer, TradeFill) and not honest:
            answer = answer.model_copy(update={"total_micros": -(10**10)})
        if isinstance(answer, TradeFill):
            home.town.abroad.settle(answer)
        else:
            home.town.abroad.give_back(answer)
        home.take_records()
        home.ask(minute)
    home.town.abroad.outbox.clear()


@given(TOWNS, st.integers(0, 999))
def test_coffee_and_money_are_conserved_within_and_between_two_towns(
    setups: tuple[TownSetup, TownSetup], seed: int
) -> None:
    games = both_played(setups, seed)
    towns = [game.town for game in games]
    for _ in steps(games):
        for game in games:
            check_town(game.town)
            check_money(game.town, game.events, game.ledger)
        assert sum(town.state.clearing for town in towns) == 0
        for item in towns[0].state.goods:
            counts = [town.state.goods[item] for town in towns]
            landed = sum(count.get("imported", 0) for count in counts)
            at_sea = sum(c.qty for t in towns for c in t.state.imports if c.item == item)
            assert sum(count.get("exported", 0) for count in counts) == landed + at_sea
    for game in games:
        check_ledger(game.town, game.ledger)


@given(TOWNS, st.integers(0, 999))
def test_the_log_of_each_town_gives_it_again_without_the_other(
    setups: tuple[TownSetup, TownSetup], seed: int
) -> None:
    games = both_played(setups, seed)
    for _ in steps(games):
        pass
    for game in games:
        assert replay(game.town.setup, game.rows).dump() == game.town.dump()


def test_the_two_towns_of_these_tests_do_trade() -> None:
    setups = (
        TownSetup(name="Luebeck", foreign_trade=True, days=5),
        TownSetup(name="Visby", foreign_trade=True, days=5),
    )
    games = both_played(setups, 0)
    for _ in steps(games):
        pass
    directions = [body["direction"] for kind, _, body in games[0].events if kind == "trade"]
    assert {"export", "import", "refused"} == set(directions)


def test_answers_that_do_not_fit_move_no_money_and_can_be_replayed() -> None:
    setup = TownSetup(name="Luebeck", foreign_trade=True, days=5)
    games = both_played((setup, replace(setup, name="Visby")), 0)
    for _ in steps(games, honest=False):
        for game in games:
            check_town(game.town)
            check_money(game.town, game.events, game.ledger)
            assert game.town.state.imports == []
    reasons = {b["reason"] for kind, _, b in games[0].events if kind == "trade" and "reason" in b}
    assert "the answer was at a price that was not ordered" in reasons
    for game in games:
        assert replay(game.town.setup, game.rows).dump() == game.town.dump()
