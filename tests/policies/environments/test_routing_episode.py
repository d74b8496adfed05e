"""An episode of several towns plays as a league does, and measures what the router's orders get."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.cast import Cast
from actors.league import League
from actors.routing import WaitingRouter
from policies.environments.routing_episode import RoutingEpisode, routable
from services.config import RouterConfig, RunConfig
from services.errors import HanseError
from services.runs import Run
from tests.policies.environments.two_ports import two_ports


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("ports") / "run"
    with League.create(two_ports(), folder) as played:
        played.run()
    return Run(folder)


def trades(run: Run, direction: str) -> list[dict[str, Any]]:
    rows = run.rows("events", "kind = ?", ("trade",))
    return [body for *_, text in rows if (body := json.loads(text))["direction"] == direction]


def test_the_books_are_those_of_a_league_with_the_same_seed(league: Run) -> None:
    episode = RoutingEpisode(two_ports(), "router")
    assert episode.proceed() is None
    result = league.result
    assert result is not None
    told = [firm.net_income for firm in result.firms]  # each rounded to the cent
    assert episode.net_income() == pytest.approx(sum(told), abs=0.005 * len(told))


def test_kilograms_and_orders_are_those_of_the_log(league: Run) -> None:
    episode = RoutingEpisode(two_ports(), "router")
    episode.proceed()
    bought, refused = trades(league, "import"), trades(league, "refused")
    assert len(bought) >= 5
    assert episode.trade.filled_kg == sum(trade["qty"] for trade in bought)
    assert episode.trade.empty_handed == len(refused)
    assert episode.trade.orders == len(bought) + len(refused)


def test_surplus_is_what_buyers_would_have_paid_less_what_they_paid(league: Run) -> None:
    episode = RoutingEpisode(two_ports(), "router")
    episode.proceed()
    freight = Cast(two_ports()).setup("Bergen").freight_per_kg
    would = 5.0  # importing roasters pay at most that
    surplus = sum(
        trade["qty"] * (would + freight) - trade["amount"] for trade in trades(league, "import")
    )
    assert episode.trade.surplus == pytest.approx(surplus, abs=0.02 * episode.trade.orders)


def test_a_seat_that_always_asks_the_cheapest_plays_as_the_rule_does() -> None:
    config = two_ports(days=10)
    rule = RoutingEpisode(config, "router")
    rule.proceed()
    seat = WaitingRouter("router", Cast(config).exchanges)
    seated = RoutingEpisode(config, "router", seat)
    decisions = 0
    while (order := seated.proceed()) is not None:
        view = seat.view(order, seated.now)
        assert [c.ask for c in view.candidates] == sorted(c.ask for c in view.candidates)
        seat.asks = view.candidates[0].town
        decisions += 1
    assert decisions > 10
    assert seated.trade == rule.trade
    assert seated.net_income() == rule.net_income()


def test_an_order_for_which_nobody_is_asked_is_refused() -> None:
    config = two_ports()
    seat = WaitingRouter("router", Cast(config).exchanges)
    episode = RoutingEpisode(config, "router", seat)
    while episode.proceed() is not None:
        pass
    assert episode.trade.filled_kg == 0
    assert episode.trade.empty_handed == episode.trade.orders > 0


@pytest.mark.parametrize(
    ("changes", "router", "message"),
    [
        ({}, "forwarder", "there is no router 'forwarder'.*allowed: router"),
        ({"towns": []}, "router", "no router 'router' between towns"),
        ({"routers": [{"name": "router"}, {"name": "second"}]}, "router", "has several"),
        ({"monitor": {"caspian": False, "bace": True}}, "router", "without monitor"),
    ],
)
def test_a_league_that_it_would_play_differently_is_refused(
    changes: dict[str, Any], router: str, message: str
) -> None:
    values = two_ports().dump()
    if changes.get("towns") == []:
        values["firms"] = [f | {"town": None} for f in values["firms"]]
    config = RunConfig.parse(values | changes, "test")
    with pytest.raises(HanseError, match=message):
        routable(config, router)


def test_a_league_with_a_strategy_of_the_users_own_is_refused() -> None:
    values = two_ports().dump()
    values["firms"][0]["strategy"] = "tests.actors.moody:Moody"
    with pytest.raises(HanseError, match=r"roaster_Bergen_A\.strategy"):
        routable(RunConfig.parse(values, "test"), "router")


def test_the_routers_configuration_is_not_touched() -> None:
    config = two_ports()
    RoutingEpisode(config, "router").proceed()
    assert config.routers == [RouterConfig(name="router")]
