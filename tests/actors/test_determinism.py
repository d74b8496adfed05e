"""One seed gives one event log, byte for byte, wherever the agents live and whatever dies."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from actors.inline_hosts import InlineHosts
from actors.league import League
from actors.reports import Report
from services.config import FirmConfig, RouterConfig, RunConfig, TownConfig
from services.runs import Run
from tests.actors.ray_session import ray_session

__all__ = ["ray_session"]

DAYS = 12


def league_of_six(**changes: Any) -> RunConfig:
    firms = [
        FirmConfig(name=f"{role}_{letter}", role=role, strategy=strategy)  # type: ignore[arg-type]
        for role, strategies in (
            ("farmer", ("scripted", "random")),
            ("roaster", ("repaired", "scripted")),
            ("retailer", ("scripted", "random")),
        )
        for letter, strategy in zip("AB", strategies, strict=True)
    ]
    return RunConfig(days=DAYS, firms=firms, placement="inline").with_overrides(
        source="test", **changes
    )


def three_towns(**changes: Any) -> RunConfig:
    """Three towns, two of them short of green coffee, whose roasters buy abroad."""
    firms = []
    for number, town in enumerate(("north", "south", "west")):
        for role in ("farmer", "roaster", "retailer"):
            for letter in "AB" if role != "farmer" or town == "north" else "A":
                strategy = "importing" if role == "roaster" else "scripted"
                firms.append(
                    FirmConfig(
                        name=f"{role}_{number}_{letter}", role=role, strategy=strategy, town=town
                    )
                )
    return RunConfig(
        days=DAYS,
        placement="inline",
        towns=[TownConfig(name=town) for town in ("north", "south", "west")],
        firms=firms,
        routers=[RouterConfig(name="router", rule="cheapest")],
    ).with_overrides(source="test", **changes)


def log_of(config: RunConfig, folder: Path, hosts: int | None = None) -> str:
    with League.create(config, folder, hosts=hosts) as league:
        result = league.run()
    assert Run(folder).verify()
    return result.log_sha256


def test_the_three_towns_do_trade(tmp_path: Path) -> None:
    log_of(three_towns(), tmp_path / "towns")
    trades = list(Run(tmp_path / "towns").rows("events", "kind = 'trade'"))
    assert len(trades) >= 10


def test_the_same_seed_gives_the_same_log_twice(tmp_path: Path) -> None:
    assert log_of(league_of_six(), tmp_path / "a") == log_of(league_of_six(), tmp_path / "b")


def test_another_seed_gives_another_log(tmp_path: Path) -> None:
    first = log_of(league_of_six(), tmp_path / "a")
    assert first != log_of(league_of_six(seed=1), tmp_path / "b")


@pytest.mark.parametrize("hosts", [2, 3])
def test_the_log_does_not_depend_on_the_number_of_inline_hosts(tmp_path: Path, hosts: int) -> None:
    for name, config in (("six", league_of_six()), ("towns", three_towns())):
        alone = log_of(config, tmp_path / f"{name}-1")
        assert log_of(config, tmp_path / f"{name}-{hosts}", hosts=hosts) == alone


def test_the_log_does_not_depend_on_the_order_in_which_mail_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_order = log_of(three_towns(), tmp_path / "in-order", hosts=3)
    shuffler = random.Random(5)
    work = InlineHosts.work

    def shuffled(
        self: InlineHosts,
        minute: int,
        round_: int,
        names: Sequence[str],
        inbound: dict[str, list[Any]],
        *more: Any,
    ) -> dict[str, Report]:
        order = list(names)
        shuffler.shuffle(order)
        for batches in inbound.values():
            shuffler.shuffle(batches)
            for batch in batches:
                shuffler.shuffle(batch)
        return work(self, minute, round_, order, inbound, *more)

    monkeypatch.setattr(InlineHosts, "work", shuffled)
    assert log_of(three_towns(), tmp_path / "shuffled", hosts=3) == in_order


def test_mail_that_arrives_twice_is_handled_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = log_of(three_towns(), tmp_path / "once", hosts=3)
    work = InlineHosts.work

    def doubled(
        self: InlineHosts,
        minute: int,
        round_: int,
        names: Sequence[str],
        inbound: dict[str, list[Any]],
        *more: Any,
    ) -> dict[str, Report]:
        twice = {host: batches * 2 for host, batches in inbound.items()}
        return work(self, minute, round_, names, twice, *more)

    monkeypatch.setattr(InlineHosts, "work", doubled)
    assert log_of(three_towns(), tmp_path / "twice", hosts=3) == once


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
@pytest.mark.parametrize(
    ("placement", "hosts"), [("one", 1), ("packed", 1), ("packed", 2), ("packed", 3)]
)
def test_the_log_on_ray_is_the_log_without_it(tmp_path: Path, placement: str, hosts: int) -> None:
    inline = log_of(league_of_six(), tmp_path / "inline")
    on_ray = league_of_six(placement=placement, hosts=hosts)
    assert log_of(on_ray, tmp_path / "ray") == inline


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_towns_on_different_ray_hosts_trade_as_they_do_on_one(tmp_path: Path) -> None:
    inline = log_of(three_towns(), tmp_path / "inline")
    assert log_of(three_towns(placement="packed", hosts=2), tmp_path / "ray") == inline


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
@pytest.mark.parametrize(("placement", "victim"), [("one", "retailer_B"), ("packed", "host-1")])
def test_a_host_killed_in_the_middle_of_a_day_changes_nothing(
    tmp_path: Path, placement: str, victim: str
) -> None:
    inline = log_of(league_of_six(), tmp_path / "inline")
    folder = tmp_path / "ray"
    with League.create(league_of_six(placement=placement, hosts=2), folder) as league:
        hosts: Any = league.hosts
        pid = next(m["pid"] for m in hosts.metrics() if m["host"] == victim)
        work, calls = hosts.work, 0

        def work_and_kill(*arguments: Any) -> dict[str, Report]:
            nonlocal calls
            calls += 1
            if calls == 200:
                os.kill(pid, signal.SIGKILL)
            return work(*arguments)  # type: ignore[no-any-return]

        hosts.work = work_and_kill
        result = league.run()
    assert result.log_sha256 == inline
    assert result.counters["host_restarts"] == 1
