"""Hosts that need no other play a day each for itself, and the log is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.inline_hosts import InlineHosts
from actors.league import League
from services.config import GenerateConfig, RunConfig
from services.runs import Run
from tests.actors.ray_session import ray_session
from tests.actors.test_determinism import log_of, three_towns

__all__ = ["ray_session"]


def many_towns(**changes: object) -> RunConfig:
    """Towns whose exchanges quote to a router every morning, though nobody buys abroad."""
    config = RunConfig(
        days=6, placement="inline", generate=GenerateConfig(firms=36, towns=4, strategy="scripted")
    )
    return config.with_overrides(source="test", **changes)


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The minute of every round that hosts were called for together."""
    called: list[int] = []
    work = InlineHosts.work

    def counted(self: InlineHosts, minute: int, *more: object) -> object:
        called.append(minute)
        return work(self, minute, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(InlineHosts, "work", counted)
    return called


@pytest.mark.parametrize("hosts", [2, 3])
def test_towns_that_do_not_trade_play_their_days_apart(
    tmp_path: Path, rounds: list[int], hosts: int
) -> None:
    alone = log_of(many_towns(), tmp_path / "alone")
    rounds.clear()
    assert log_of(many_towns(), tmp_path / "apart", hosts=hosts) == alone
    assert rounds and max(rounds) < 1440, "only day 0 is played round by round"
    assert list(Run(tmp_path / "apart").rows("messages", "type = 'town_quote' AND minute > 1440"))


def test_the_router_knows_the_same_in_the_evening(tmp_path: Path) -> None:
    states = []
    for hosts in (1, 3):
        folder = tmp_path / str(hosts)
        with League.create(many_towns(), folder, hosts=hosts) as league:
            league.run(until_day=3)
            router = league.hosts.hosts[league.layout["router"]].agents["router"]  # type: ignore[attr-defined]
            states.append(router.save())
    assert states[0] == states[1] and len(states[0]["quotes"]) == 4


def test_a_day_on_which_somebody_buys_abroad_is_played_again_together(
    tmp_path: Path, rounds: list[int]
) -> None:
    alone = log_of(three_towns(), tmp_path / "alone")
    rounds.clear()
    assert log_of(three_towns(), tmp_path / "apart", hosts=3) == alone
    assert max(rounds) >= 11 * 1440


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_the_same_holds_on_ray(tmp_path: Path) -> None:
    alone = log_of(many_towns(), tmp_path / "alone")
    assert log_of(many_towns(placement="packed", hosts=3), tmp_path / "ray") == alone
