"""Two towns, a router and firms that buy abroad, as a league plays them in this process."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgpack
import pytest

from actors.cast import Cast
from actors.league import League
from services.config import FirmConfig, RouterConfig, RunConfig, TownConfig
from services.economy.replay import replay
from services.economy.town import Town
from services.runs import Run
from tests.services.economy.books import check_ledger, check_money, check_town

Role = Literal["farmer", "roaster", "retailer"]
TOWNS = ("Luebeck", "Visby")
ROLES: tuple[Role, ...] = ("farmer", "roaster", "retailer")


def config(**changes: Any) -> RunConfig:
    """Luebeck has one farmer for two roasters, which therefore buy green coffee in Visby."""
    firms = [
        FirmConfig(
            name=f"{role}_{town}_{letter}",
            role=role,
            town=town,
            strategy="importing" if (role, town) == ("roaster", "Luebeck") else "scripted",
        )
        for town in TOWNS
        for role in ROLES
        for letter in ("A" if (role, town) == ("farmer", "Luebeck") else "AB")
    ]
    return RunConfig(
        days=15,
        placement="inline",
        towns=[TownConfig(name=town) for town in TOWNS],
        firms=firms,
        routers=[RouterConfig(name="router")],
    ).with_overrides(source="test", **changes)


def moody() -> RunConfig:
    """As above, but one farmer and a retailer in each town cannot be relied on."""
    plain = config().dump()
    for firm in plain["firms"]:
        if firm["name"].endswith("_B") and firm["role"] != "roaster":
            firm["strategy"] = "tests.actors.moody:Moody"
    return RunConfig.parse(plain, "test")


class Played(NamedTuple):
    """A run, its configuration and its towns as they were at the end."""

    config: RunConfig
    run: Run
    towns: dict[str, Town]


def played(config: RunConfig, folder: Path, hosts: int = 1) -> Played:
    with League.create(config, folder, hosts=hosts) as league:
        league.run()
    run = Run(folder)
    checkpoint = run.checkpoint()
    assert checkpoint is not None
    agents = msgpack.unpackb(checkpoint.state, strict_map_key=False)["agents"]
    cast = Cast(config)
    towns = {}
    for name, exchange in cast.exchanges.items():
        saved = msgpack.unpackb(agents[exchange]["state"], strict_map_key=False)
        towns[name] = Town.load(cast.setup(name), saved["town"])
    return Played(config, run, towns)


@pytest.fixture(scope="module", params=[config, moody], ids=["scripted", "moody"])
def game(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return played(request.param(), tmp_path_factory.mktemp("towns") / "run")


def events(game: Played, exchange: str) -> list[tuple[str, str, dict[str, Any]]]:
    frame = game.run.rows("events", "agent = ?", (exchange,))
    return [(kind, subject, json.loads(body)) for *_, kind, subject, body in frame]


def test_they_trade(game: Played) -> None:
    trades = Counter(
        (exchange, body["direction"])
        for exchange in ("exchange_Luebeck", "exchange_Visby")
        for kind, _, body in events(game, exchange)
        if kind == "trade"
    )
    assert trades["exchange_Visby", "export"] >= 5
    assert trades["exchange_Luebeck", "import"] >= 5


def test_what_one_town_has_paid_the_other_has_received(game: Played) -> None:
    clearing = [town.state.clearing for town in game.towns.values()]
    assert sum(clearing) == 0
    assert clearing != [0, 0]


def test_coffee_that_left_one_town_has_come_to_the_other_or_is_on_its_way(game: Played) -> None:
    towns = game.towns.values()
    for item in next(iter(towns)).state.goods:
        exported = sum(town.state.goods[item].get("exported", 0) for town in towns)
        imported = sum(town.state.goods[item].get("imported", 0) for town in towns)
        at_sea = sum(c.qty for town in towns for c in town.state.imports if c.item == item)
        assert exported == imported + at_sea


def test_books_coffee_and_money_are_in_order_in_both(game: Played) -> None:
    for name, town in game.towns.items():
        exchange = f"exchange_{name}"
        ledger = [row[4:] for row in game.run.rows("ledger", "agent = ?", (exchange,))]
        check_town(town)
        check_ledger(town, ledger)  # type: ignore[arg-type]
        check_money(town, events(game, exchange), ledger)  # type: ignore[arg-type]


def test_the_log_of_each_town_gives_it_again(game: Played) -> None:
    for name, town in game.towns.items():
        rows = game.run.rows("events")
        again = replay(town.setup, rows, f"exchange_{name}")  # type: ignore[arg-type]
        assert again.dump() == town.dump()


def test_a_firm_that_fails_loses_turns_and_the_others_do_not(game: Played) -> None:
    missed = {
        subject
        for e in ("exchange_Luebeck", "exchange_Visby")
        for kind, subject, _ in events(game, e)
        if kind == "turn_missed"
    }
    odd = {f.name for f in game.config.firms if f.strategy not in ("scripted", "importing")}
    assert missed == odd


@pytest.mark.parametrize("hosts", [2, 3])
def test_the_log_is_the_same_on_several_hosts(game: Played, tmp_path: Path, hosts: int) -> None:
    spread = played(game.config, tmp_path / "run", hosts)
    assert spread.run.log_sha256 == game.run.log_sha256
    assert spread.run.ledger_sha256 == game.run.ledger_sha256


@pytest.mark.parametrize("rule", ["direct", "least_loaded"])
def test_they_trade_by_any_of_the_routers_rules(tmp_path: Path, rule: str) -> None:
    changed = config(routers=[{"name": "router", "rule": rule}], days=8)
    assert played(changed, tmp_path / "run").towns["Visby"].state.clearing < 0
