"""What `hanse cluster down` leaves: nothing."""

from __future__ import annotations

from tests.cluster.hosts import Hosts
from tests.cluster.inline import Inline
from tests.cluster.laptop import Laptop
from tests.cluster.recoveries import Days
from tests.cluster.test_3_failures import LEAGUE


def test_down_leaves_no_process_and_no_port_on_any_host(cluster: Laptop, hosts: Hosts) -> None:
    cluster.write("long.toml", LEAGUE)
    cluster.hanse("cluster run hosts.yaml long.toml --detach --out runs/under-way")
    days = Days(hosts["h1"], ".hanse/hanse/runs/under-way/project/runs/under-way/run.db")
    days.wait_for(5)
    days.close()
    assert all(host.processes() for host in hosts.cluster)
    cluster.hanse("cluster down hosts.yaml")
    for host in hosts.cluster:
        assert host.processes() == [], host.name
        assert host.listening() == [], host.name


def test_down_names_a_host_that_does_not_answer_and_stops_the_others(
    laptop: Laptop, hosts: Hosts
) -> None:
    hosts["h3"].cut()
    try:
        said = laptop.refused("cluster down hosts.yaml")
    finally:
        hosts["h3"].mend()
    assert "10.77.0.3: does not answer" in said
    assert "the other hosts are stopped" in said


def test_a_run_that_was_under_way_goes_on_when_the_cluster_is_up_again(
    laptop: Laptop, inline: Inline
) -> None:
    assert "3 hosts are up" in laptop.hanse("cluster up hosts.yaml").stdout
    assert "under-way: go on with it there" in laptop.hanse("cluster status hosts.yaml").stdout
    result = laptop.result("cluster resume hosts.yaml under-way")
    assert result["log_sha256"] == inline.digest(LEAGUE)
    assert result["spans"] == result["spans_expected"]
