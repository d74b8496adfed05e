"""A run file says which machine of a cluster carries what, and the others are dealt out."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.cast import Cast
from actors.league import League
from actors.machines import check_names, check_nodes, on_nodes, wanted
from actors.nodes import Node, spread
from services.cli.session import check_new, check_strategies
from services.config import GenerateConfig, RunConfig
from services.errors import HanseError

H1, H2, H3 = (Node(f"n{i}", f"10.0.0.{i}", 1, f"h{i}") for i in (1, 2, 3))
TOWNS = RunConfig(
    placement="packed", hosts=3, generate=GenerateConfig(firms=30, towns=3), name="towns"
)


def cast(machines: dict[str, str], base: RunConfig = TOWNS) -> Cast:
    return Cast(base.with_overrides(machines=machines), "run.toml")


def asked(machines: dict[str, str], placement: str = "packed") -> dict[str, str]:
    league = cast(machines)
    return wanted(league, league.layout(placement, 3))


def test_a_packed_town_is_on_one_host_and_so_on_one_machine() -> None:
    league = cast({})
    layout = league.layout("packed", 3)
    for town in league.towns:
        agents = [name for name in league.names if league.talkers.town_of(name) == town]
        assert len(agents) > 9
        assert {layout[name] for name in agents} == {layout[league.exchanges[town]]}


def test_a_run_file_that_says_nothing_leaves_all_hosts_to_be_dealt_out() -> None:
    assert asked({}) == {}


def test_a_host_a_town_or_an_agent_brings_its_host_to_a_machine() -> None:
    assert asked({"host-2": "h1"}) == {"host-2": "h1"}
    assert asked({"town_2": "h1"}) == {"host-1": "h1"}
    assert asked({"exchange_town_1": "h1"}) == {"host-0": "h1"}


def test_with_an_actor_for_each_agent_a_town_brings_all_of_them() -> None:
    found = asked({"town_1": "h2"}, "one")
    assert len(found) == 11  # ten firms and the exchange
    assert set(found.values()) == {"h2"}


def test_what_is_more_particular_goes_before() -> None:
    found = asked({"exchange_town_1": "h1", "town_1": "h2"}, "one")
    assert found.pop("exchange_town_1") == "h1"
    assert set(found.values()) == {"h2"}
    assert asked({"host-0": "h3", "town_1": "h2"}) == {"host-0": "h3"}


def test_two_machines_for_one_host_are_one_line() -> None:
    with pytest.raises(HanseError) as refused:
        check_names(cast({"exchange_town_1": "h1", "farmer_1": "h2", "host-1": "h3"}), "packed", 3)
    assert str(refused.value) == (
        "run.toml: machines.farmer_1: host-0 carries exchange_town_1 too, which is to be on 'h1';"
        " name the same machine, or raise hosts"
    )


@pytest.mark.parametrize("placement", ["packed", "inline", "one"])
def test_a_name_that_nobody_has_is_refused_before_anything_starts(
    placement: str, tmp_path: Path
) -> None:
    config = TOWNS.with_overrides(machines={"town_9": "h1"}, placement=placement)
    with pytest.raises(HanseError, match=r"machines.town_9: 'town_9' is not a known host, town or"):
        League.create(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_for_three_hosts_is_fine_in_one_process_and_goes_on_with_fewer() -> None:
    league = cast({"host-2": "h3", "host-0": "h1"})
    check_names(league, "inline", 1)
    assert wanted(league, league.layout("packed", 2)) == {"host-0": "h1"}


@pytest.mark.parametrize("placement", ["packed", "inline", "one"])
def test_a_host_without_agents_is_fine_in_every_placement_if_the_file_has_it(
    placement: str,
) -> None:
    six = TOWNS.with_overrides(hosts=6)
    assert "host-5" not in Cast(six).layout(placement, 6).values()
    check_names(cast({"host-5": "h1"}, six), placement, 6)


def test_packed_on_three_hosts_a_fourth_is_refused() -> None:
    with pytest.raises(HanseError, match=r"machines.host-3: 'host-3' is not a known host"):
        check_names(cast({"host-3": "h1"}), "packed", 3)


@pytest.mark.parametrize("placement", ["inline", "one"])
def test_agents_whom_only_packing_brings_together_may_be_on_two_machines_elsewhere(
    placement: str,
) -> None:
    check_names(cast({"exchange_town_1": "h1", "farmer_1": "h2"}), placement, 3)


def test_the_refusal_of_a_new_run_names_its_file_whatever_the_placement() -> None:
    for placement in ("packed", "inline", "one"):
        config = TOWNS.with_overrides(machines={"nobody": "h1"}, placement=placement)
        with pytest.raises(HanseError, match=r"^coffee.toml: machines.nobody: 'nobody' is not a"):
            check_new(config, "coffee.toml")


def test_a_run_that_goes_on_may_lack_a_host_that_has_a_machine() -> None:
    config = TOWNS.with_overrides(machines={"host-2": "h1"}, hosts=2)
    with pytest.raises(HanseError, match=r"machines.host-2"):
        check_new(config, "coffee.toml")
    check_strategies(config, "runs/coffee")


def test_a_new_run_is_refused_on_a_cluster_without_its_machine() -> None:
    check_nodes(cast({"town_3": "h2"}), "packed", 3, [H1, H2])
    with pytest.raises(HanseError, match="host-2 is to be on 'h3', which is no machine of this"):
        check_nodes(cast({"town_3": "h3"}), "packed", 3, [H1, H2])


def test_hosts_are_put_where_they_are_asked_to_be_and_the_others_dealt_out() -> None:
    given = on_nodes({"host-0": "10.0.0.1", "host-1": "h1"}, [H1, H2, H3], [], "run.toml")
    names = ["host-0", "host-1", "host-2", "host-3", "monitors"]
    assert spread(names, [H1, H2, H3], "n1", given) == {
        "host-0": "n1", "host-1": "n1", "host-2": "n2", "host-3": "n3", "monitors": "n1",
    }  # fmt: skip


def test_monitors_may_be_elsewhere_too() -> None:
    given = on_nodes({"monitors": "h3"}, [H1, H2, H3], [], "run.toml")
    assert spread(["monitors"], [H1, H2, H3], "n1", given) == {"monitors": "n3"}


def test_a_machine_goes_by_its_short_name_too() -> None:
    long = H2._replace(name="h2.example.org")
    assert on_nodes({"host-0": "h2"}, [H1, long], [], "run.toml") == {"host-0": "n2"}


def test_a_machine_that_is_none_is_one_line_with_those_that_are() -> None:
    with pytest.raises(HanseError) as refused:
        on_nodes({"host-0": "h9"}, [H1, H2], [H3], "run.toml")
    assert str(refused.value) == (
        "run.toml: machines: host-0 is to be on 'h9', which is no machine of this cluster; there"
        " are h1 (10.0.0.1), h2 (10.0.0.2)"
    )


def test_a_machine_that_is_lost_stops_no_run() -> None:
    assert on_nodes({"host-0": "h3"}, [H1, H2], [H3], "run.toml") == {}
