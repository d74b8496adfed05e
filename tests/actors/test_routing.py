"""Routers that remember how their orders have fared, and one that acts by a trained policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from numpy.typing import NDArray

from actors.cast import Cast
from actors.league import League
from actors.routing import PolicyRouter, RememberingRouter, from_config
from actors.strategies.fingerprint import changed, fingerprints
from policies.environments.routing_layout import Dealings, RoutingDecision, RoutingLayout
from policies.training.artefact import describe, write
from services.config import RouterConfig, RunConfig
from services.economy.abroad import TownQuote, TradeFill, TradeOrder, TradeRefused
from services.errors import HanseError
from services.messages import Message
from services.runs import Run
from tests.actors import test_router
from tests.policies.environments.two_ports import two_ports

pytest.importorskip("safetensors")

BEANS = "green_coffee_kg"
TOWNS = ("Bergen", "Riga", "Visby")
EXCHANGES = {town: f"exchange_{town}" for town in TOWNS}
SETUP = Cast(two_ports()).setup("Bergen")


class Office(test_router.Office):
    """A router that remembers, and the mail that reaches it."""

    router: RememberingRouter

    def __init__(self, router: RememberingRouter) -> None:
        super().__init__(router=router)

    def quote(self, town: str, ask: float | None = None, kg: int = 50) -> None:
        assert ask is not None
        asks, stock = {BEANS: ask}, {BEANS: kg}
        exchange = EXCHANGES[town]
        said = TownQuote(town=town, exchange=exchange, day=0, asks=asks, kg=stock, load=2)
        assert self.tell(exchange, said) == []

    def order(self, qty: int = 10, name: str = "F1") -> Message:  # type: ignore[override]
        wish = TradeOrder(
            order=name, town="Bergen", reply_to="exchange_Bergen", item=BEANS, qty=qty, max_price=5
        )
        [sent] = self.tell("exchange_Bergen", wish)
        return sent


def wish() -> TradeOrder:
    return TradeOrder(
        order="F9", town="Bergen", reply_to="exchange_Bergen", item=BEANS, qty=20, max_price=5.0
    )


def filled(town: str, qty: int) -> TradeFill:
    return TradeFill(order="F1", town=town, item=BEANS, qty=qty, total_micros=qty * 3_400_000)


def asking_the_cheapest() -> Office:
    office = Office(RememberingRouter("router", EXCHANGES))
    office.quote("Riga", 4.0, 90)
    office.quote("Visby", 3.4, 30)
    return office


def test_it_remembers_what_it_asked_for_and_what_it_got() -> None:
    office = asking_the_cheapest()
    first, second = office.order(name="F1"), office.order(25, name="F2")
    office.tell("exchange_Visby", filled("Visby", 10), about=first)
    office.tell("exchange_Visby", TradeRefused(order="F2", reason="sold out"), about=second)
    visby, riga = office.router.view(wish(), 600).candidates
    assert (visby.town, riga.town) == ("Visby", "Riga"), "the cheapest first"
    assert visby.dealings == Dealings(2, {BEANS: 35}, {BEANS: 10}, 1)
    assert riga.dealings == Dealings()
    assert (visby.ask, visby.on_offer, visby.load) == (3.4, 30, 2)


def test_a_new_quote_begins_a_towns_dealings_anew() -> None:
    office = asking_the_cheapest()
    office.order()
    office.quote("Visby", 3.5, 60)
    visby = office.router.view(wish(), 600).candidates[0]
    assert visby.dealings == Dealings() and visby.on_offer == 60


def test_an_answer_to_an_order_of_before_the_quote_counts_with_the_new_one() -> None:
    office = asking_the_cheapest()
    sent = office.order()
    office.quote("Visby", 3.5, 60)
    office.tell("exchange_Visby", filled("Visby", 10), about=sent)
    assert office.router.view(wish(), 600).candidates[0].dealings.filled_kg == {BEANS: 10}


def test_a_stray_answer_changes_nothing() -> None:
    office = asking_the_cheapest()
    sent = office.order()
    office.tell("exchange_Riga", filled("Riga", 10), about=sent)
    assert office.router.view(wish(), 600).candidates[0].dealings.filled_kg is None


def test_read_back_it_remembers_the_same() -> None:
    office = asking_the_cheapest()
    sent = office.order()
    saved = msgpack.unpackb(msgpack.packb(office.router.save()))
    office.router = RememberingRouter("router", EXCHANGES)
    office.router.load(saved)
    office.tell("exchange_Visby", filled("Visby", 10), about=sent)
    visby = office.router.view(wish(), 600).candidates[0]
    assert visby.dealings == Dealings(1, {BEANS: 10}, {BEANS: 10}, 0)


def test_it_goes_on_from_what_a_router_with_a_rule_has_kept() -> None:
    office = asking_the_cheapest()
    sent = office.order()
    kept = office.router.save()
    del kept["dealings"], kept["under_way"]
    office.router = RememberingRouter("router", EXCHANGES)
    office.router.load(kept)
    [handed_on] = office.tell("exchange_Visby", filled("Visby", 10), about=sent)
    assert handed_on.recipient == "exchange_Bergen"
    assert office.router.view(wish(), 600).candidates[0].dealings == Dealings()
    assert office.order(name="F2").recipient == "exchange_Visby"


# ---- by a policy -------------------------------------------------------------------------------


def weights(towns: int, empty_handed: float = -9.0) -> dict[str, NDArray[Any]]:
    """Networks that leave the cheapest town once it has sent an order back."""
    fields = [field.name for field in RoutingLayout(towns, SETUP).fields]
    first = np.zeros((1, len(fields)), np.float32)
    first[0, fields.index("town_0.empty_handed")] = 5.0
    last = np.zeros((towns, 1), np.float32)
    last[0, 0] = empty_handed
    bias = np.zeros(towns, np.float32)
    bias[0] = 1.0
    zeros = np.zeros_like(first)
    return {
        "policy.0.weight": first, "policy.0.bias": np.zeros(1, np.float32),
        "policy.2.weight": last, "policy.2.bias": bias,
        "value.0.weight": zeros, "value.0.bias": np.zeros(1, np.float32),
        "value.2.weight": np.zeros((1, 1), np.float32), "value.2.bias": np.zeros(1, np.float32),
    }  # fmt: skip


def folder(path: Path, towns: int = 2, **changes: Any) -> Path:
    manifest = {
        **describe(RoutingLayout(towns, SETUP), RoutingDecision(towns), SETUP.rules),
        "name": "small",
        "cadence": "order",
        "hidden": [1],
        "objectives": {"surplus": 1.0},
        "training": {},
        "iteration": 7,
        "versions": {"hanse": "0"},
        **changes,
    }
    write(path, manifest, weights(towns))
    return path


def by_policy(path: Path, exchanges: dict[str, str] = EXCHANGES) -> PolicyRouter:
    config = RouterConfig(name="router", policy=f"policy:{path}")
    return from_config(config, SETUP, exchanges, "run.toml: routers.router.policy")


def test_a_policy_asks_another_town_once_the_cheapest_has_sent_an_order_back(
    tmp_path: Path,
) -> None:
    office = Office(by_policy(folder(tmp_path)))
    office.quote("Riga", 4.0, 90)
    office.quote("Visby", 3.4, 30)
    first = office.order()
    assert first.recipient == "exchange_Visby"
    office.tell("exchange_Visby", TradeRefused(order="F1", reason="sold out"), about=first)
    assert office.order(name="F2").recipient == "exchange_Riga"
    office.quote("Visby", 3.4, 30)
    assert office.order(name="F3").recipient == "exchange_Visby", "a new day, a new chance"


def test_each_decision_is_an_event(tmp_path: Path) -> None:
    office = Office(by_policy(folder(tmp_path)))
    office.quote("Riga", 4.0, 90)
    office.order()
    *_, kind, _, body = office.context.events[-1]
    assert kind == "routing_decision"
    assert json.loads(body) == {
        "order": "F1", "town": "Bergen", "asks": "Riga", "rank": 0, "among": ["Riga"],
        "ask": 4.0, "policy": "small",
    }  # fmt: skip


def test_an_order_that_no_town_can_fill_is_refused_without_a_decision(tmp_path: Path) -> None:
    office = Office(by_policy(folder(tmp_path)))
    office.quote("Riga", 6.0, 90)
    refused = office.order()
    assert isinstance(refused.payload, TradeRefused)
    assert office.context.events == []


def test_with_more_towns_than_it_has_learned_about_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="among 2 other towns, here there are 3"):
        by_policy(folder(tmp_path), {**EXCHANGES, "Turku": "exchange_Turku"})


def test_a_policy_of_a_firm_is_refused_as_a_routers(tmp_path: Path) -> None:
    with pytest.raises(
        HanseError, match=r"routers.router.policy: policy 'small' does not fit: role"
    ):
        by_policy(folder(tmp_path, role="roaster"))


def test_a_policy_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=r"routers\.router\.policy: .*is not a trained policy"):
        by_policy(tmp_path / "none")


def with_policy(path: Path, **changes: Any) -> RunConfig:
    values = two_ports(**changes).dump()
    values["routers"] = [{"name": "router", "policy": f"policy:{path}"}]
    return RunConfig.parse(values, "test")


def test_a_league_plays_by_it_and_resumes_to_the_same_log(tmp_path: Path) -> None:
    config = with_policy(folder(tmp_path / "policy"))
    with League.create(config, tmp_path / "whole") as league:
        whole = league.run()
    stopped = False

    def stop(progress: Any) -> None:
        nonlocal stopped
        stopped = progress.day == 2
        if stopped:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), League.create(config, tmp_path / "half") as league:
        league.run(stop)
    assert stopped
    with League.resume(tmp_path / "half") as league:
        resumed = league.run()
    assert resumed.log_sha256 == whole.log_sha256
    kinds = [row[-3] for row in Run(tmp_path / "half").rows("events", "agent = ?", ("router",))]
    assert "routing_decision" in kinds


def test_a_run_notes_which_policy_its_router_had(tmp_path: Path) -> None:
    config = with_policy(folder(tmp_path / "policy"))
    assert config.routers[0].policy is not None
    before = fingerprints(Cast(config).classes)
    assert list(before) == [config.routers[0].policy]
    folder(tmp_path / "policy", name="another")
    assert changed(before, Cast(config).classes) == [str(tmp_path / "policy")]


def test_a_routers_policy_leaves_no_room_for_partners(tmp_path: Path) -> None:
    values = two_ports().dump()
    values["routers"] = [
        {"name": "router", "policy": "policy:x", "options": {"partners": {"Bergen": "Riga"}}}
    ]
    with pytest.raises(HanseError, match=r"routers\.router\.options: a policy has no partners"):
        RunConfig.parse(values, "test")
