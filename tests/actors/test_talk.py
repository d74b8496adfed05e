"""Leagues that talk: the same log wherever the agents live, and trade as if nobody talked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.cast import Cast
from actors.league import League
from actors.talkers import possibility_edges
from services.config import RunConfig
from services.errors import HanseError
from services.messages import Channel
from services.runs import Run
from tests.actors.ray_session import ray_session
from tests.actors.test_determinism import log_of

__all__ = ["ray_session"]


def talking(injections: list[dict[str, Any]] | None = None, **changes: Any) -> RunConfig:
    """Two towns of six firms that talk, for four days."""
    values: dict[str, Any] = {
        "days": 4,
        "placement": "inline",
        "generate": {"firms": 12, "towns": 2, "strategy": "informed"},
        "talk": {},
        "injections": injections or [],
    }
    return RunConfig.parse(values | changes, "test")


EVERYTHING = [
    {"kind": "mixed", "day": 1, "hour": 11},
    {"kind": "harvest_shock", "day": 1, "hour": 10},
    {"kind": "promotion_burst", "day": 2, "hour": 9, "hours": 5},
    {"kind": "contract_handover", "day": 1, "hour": 9},
    {"kind": "faulty_tool", "day": 2, "hour": 15},
    {"kind": "corrupted_memory", "day": 2, "hour": 12, "hours": 4},
    {"kind": "retry_storm", "day": 2, "hour": 9},
]
"""All at once: what is kept from hour to hour and day to day of every kind."""


def incomes(config: RunConfig, folder: Path) -> dict[str, float]:
    with League.create(config, folder) as league:
        return {firm.firm: firm.net_income for firm in league.run().firms}


@pytest.mark.parametrize("hosts", [2, 3])
def test_the_log_does_not_depend_on_the_number_of_hosts(tmp_path: Path, hosts: int) -> None:
    alone = log_of(talking(EVERYTHING), tmp_path / "alone")
    assert log_of(talking(EVERYTHING), tmp_path / "spread", hosts=hosts) == alone


@pytest.mark.parametrize("day", [0, 1, 2])
def test_a_run_that_is_resumed_has_the_log_of_one_that_was_not(tmp_path: Path, day: int) -> None:
    whole = log_of(talking(EVERYTHING), tmp_path / "whole")
    with League.create(talking(EVERYTHING), tmp_path / "parts") as league:
        league.run(until_day=day)
    with League.resume(tmp_path / "parts") as league:
        assert league.run().log_sha256 == whole


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_the_log_on_ray_is_the_log_without_it(tmp_path: Path) -> None:
    alone = log_of(talking(EVERYTHING), tmp_path / "alone")
    on_ray = talking(EVERYTHING, placement="packed", hosts=2)
    assert log_of(on_ray, tmp_path / "ray") == alone


def test_with_nothing_to_believe_informed_firms_trade_as_scripted_ones_do(tmp_path: Path) -> None:
    scripted = talking().dump() | {"talk": None}
    scripted["generate"]["strategy"] = "scripted"
    silent = RunConfig.parse(scripted, "test")
    assert incomes(talking(), tmp_path / "a") == incomes(silent, tmp_path / "b")


def test_until_the_onset_nothing_is_different(tmp_path: Path) -> None:
    onset = 2 * 1440 + 14 * 60
    rumour = talking([{"kind": "price_rumour", "day": 2, "hour": 14}])
    logs = []
    for name, config in (("with", rumour), ("without", talking())):
        log_of(config, tmp_path / name)
        run = Run(tmp_path / name)
        logs.append(
            [list(run.rows(table, f"minute < {onset}")) for table in ("messages", "events")]
        )
        assert list(run.rows("messages", f"minute >= {onset}"))
    assert logs[0] == logs[1]


def test_the_ground_truth_stands_in_the_log_at_the_onset(tmp_path: Path) -> None:
    config = talking([{"kind": "price_rumour", "day": 1, "hour": 10, "origin": "farmer_1"}])
    log_of(config, tmp_path / "run")
    (event,) = Run(tmp_path / "run").rows("events", "kind = 'injection'")
    known = Cast(config).talkers.topology
    told = json.loads(event[7])
    assert event[0] == told["onset"] == 1440 + 600
    assert (told["kind"], told["attack"], told["origin"]) == ("price_rumour", True, "farmer_1")
    assert told["bridge"] == known.gateways["town_1"]
    assert told["amplifier"] in known.entries["town_1"]


@pytest.mark.parametrize("seed", range(12))
def test_an_origin_can_be_convinced_and_one_of_a_storm_asks_others(seed: int) -> None:
    kinds = ("price_rumour", "retry_storm", "mixed")
    cast = Cast(talking([{"kind": kind, "day": 1} for kind in kinds], seed=seed))
    known = cast.talkers.topology
    for _, kind, scene, _ in cast.talkers.scenes:
        assert scene.origin in scene.firms
        assert scene.origin not in {scene.bridge, scene.amplifier, *known.careful}
        assert known.partners[scene.origin] or not kind.enquires


def test_all_channels_are_used_along_declared_edges_only(tmp_path: Path) -> None:
    config = talking(EVERYTHING)
    log_of(config, tmp_path / "run")
    nodes, edges = Cast(config).possibility_edges()
    possible = {(a, b, channel) for a, b, channels in edges for channel in channels}
    rows = Run(tmp_path / "run").rows(
        "messages", "type NOT IN ('withheld') AND sender NOT LIKE 'exchange%'"
    )
    used = {(r[2], r[4], r[5]) for r in rows if not r[4].startswith("exchange")}
    assert used <= possible
    assert {channel for _, _, channel in used} == {"comm", "mem", "tool", "exec"}
    assert set(nodes) == {name for edge in edges for name in edge[:2]}


def test_a_league_without_talk_has_neither_boards_nor_edges() -> None:
    cast = Cast(RunConfig(days=1))
    assert cast.talkers.names == []
    assert cast.possibility_edges()[1] == []


def test_boards_and_forecasters_live_with_their_town() -> None:
    cast = Cast(talking())
    layout = cast.layout("packed", 2)
    for town in ("town_1", "town_2"):
        homes = {layout[f"{what}_{town}"] for what in ("exchange", "board", "forecaster")}
        assert len(homes) == 1


def test_what_is_asked_may_be_answered_and_a_note_need_not_be() -> None:
    contacts: dict[str, dict[str, tuple[Channel, ...]]] = {
        "a": {"b": ("comm",), "board": ("mem",)},
        "b": {"nobody": ("comm",)},
    }
    assert possibility_edges(contacts, {"a": "town", "b": "town"}, ["board"]) == (
        ["a", "b", "board"],
        [("a", "b", ("comm",)), ("a", "board", ("mem",)), ("board", "a", ("mem",))],
    )


def test_a_firm_that_declares_nothing_may_write_to_all_of_its_town() -> None:
    towns = {"a": "north", "b": "north", "c": "south"}
    _, edges = possibility_edges({"a": None, "b": {}, "c": None}, towns, [])
    assert edges == [("a", "b", ("comm",))]


@pytest.mark.parametrize(
    ("injection", "complaint"),
    [
        ({"kind": "mixed", "origin": "farmer_9"}, "[1].origin: there is no firm, board or"),
        ({"kind": "mixed", "options": {"loud": 1}}, "[1].options: 'mixed' cannot be made"),
        ({"kind": "mixed", "options": {"items": ["tea"]}}, "items: ['tea'] does not fit"),
        ({"kind": "no_file.py:Mine"}, "[1].kind: 'no_file.py:Mine' cannot be imported"),
        ({"kind": "json:JSONDecoder"}, "derive a class of that name from actors.injections"),
    ],
)
def test_what_does_not_fit_is_said_before_the_run_starts(
    injection: dict[str, Any], complaint: str
) -> None:
    cast = Cast(talking([{"day": 1, **injection}]), "run.toml")
    with pytest.raises(HanseError) as error:
        cast.check()
    assert str(error.value).startswith("run.toml: injections[1].")
    assert complaint in str(error.value)


def test_an_attack_on_a_board_needs_a_board() -> None:
    config = talking([{"kind": "corrupted_memory", "day": 1}], talk={"boards": False})
    with pytest.raises(HanseError, match=r"remove boards = false from \[talk\]"):
        Cast(config).check()
