"""A disk of the head that fills up under a league stops it, and is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.cluster.hosts import Host, Hosts
from tests.cluster.laptop import Laptop
from tests.cluster.test_3_failures import LEAGUE, all_are_there


@contextmanager
def small_disk(host: Host, folder: str, megabytes: int) -> Iterator[None]:
    """Gives a folder of a host a disk of its own for a while."""
    host.ssh(f"mkdir -p {folder} && mount -t tmpfs -o size={megabytes}m tmpfs {folder}")
    try:
        yield
    finally:
        host.ssh(f"umount -l {folder}")


def test_a_head_whose_disk_fills_up_is_named_and_the_run_leaves_nothing_running(
    cluster: Laptop, hosts: Hosts
) -> None:
    all_are_there(cluster)
    cluster.write("long.toml", LEAGUE)
    with small_disk(hosts["h1"], ".hanse", 40):
        said = cluster.refused("cluster run hosts.yaml long.toml --days 2000 --out runs/full")
    assert "10.77.0.1: its disk is full: " in said
    assert "MB free in /root/.hanse, needs 300; free some there" in said
    for host in hosts.cluster:
        left = [line for line in host.processes() if "HostActor" in line or "cluster_head" in line]
        assert left == [], host.name
