"""What `hanse cluster down` leaves: nothing."""

from __future__ import annotations

from tests.cluster.hosts import Hosts
from tests.cluster.laptop import Laptop


def test_down_leaves_no_process_and_no_port_on_any_host(cluster: Laptop, hosts: Hosts) -> None:
    cluster.hanse("cluster run hosts.yaml --days 2000 --detach --out runs/under-way")
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


def test_a_cluster_that_was_stopped_starts_again(laptop: Laptop) -> None:
    assert "3 hosts are up" in laptop.hanse("cluster up hosts.yaml").stdout
    laptop.hanse("cluster down hosts.yaml")
