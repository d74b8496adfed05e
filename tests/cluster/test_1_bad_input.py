"""What is wrong with a host is said with its name before anything is started."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.hosts import Host, Hosts
from tests.cluster.laptop import Laptop


@pytest.fixture(autouse=True)
def nothing_starts(hosts: Hosts) -> object:
    yield
    for host in hosts.cluster:
        assert host.processes() == []


def test_a_host_that_does_not_answer_is_named(laptop: Laptop) -> None:
    laptop.cluster_file("away.yaml", **{"192.168.1.11, 192.168.1.12": "10.77.0.2, 10.77.0.9"})
    said = laptop.refused("cluster up away.yaml")
    assert "10.77.0.9: does not answer" in said
    assert "10.77.0.2" not in said
    assert "ssh -i" in said


def test_a_key_that_opens_nothing_is_named(laptop: Laptop) -> None:
    laptop.host.ssh("ssh-keygen -q -t ed25519 -N '' -f other_key")
    laptop.cluster_file("key.yaml", **{"~/.ssh/id_ed25519 ": "~/other_key "})
    said = laptop.refused("cluster up key.yaml")
    for host in ("10.77.0.1", "10.77.0.2", "10.77.0.3"):
        assert f"{host}: does not take the key /root/other_key for root" in said


def test_a_key_that_does_not_exist_is_said_so(laptop: Laptop) -> None:
    laptop.cluster_file("nokey.yaml", **{"~/.ssh/id_ed25519 ": "~/.ssh/lost "})
    assert "the key /root/.ssh/lost does not exist" in laptop.refused("cluster up nokey.yaml")


@contextmanager
def profile(host: Host, text: str) -> Iterator[None]:
    """Gives a host another profile for a while; with ``...`` for what it has."""
    file = host.home / ".bash_profile"
    before = file.read_text()
    file.write_text(text.replace("...", before))
    try:
        yield
    finally:
        file.write_text(before)


def test_a_host_with_another_ray_is_named_with_both_versions(laptop: Laptop, hosts: Hosts) -> None:
    old = hosts["h3"].home / "old" / "ray-2.59.0.dist-info"
    old.mkdir(parents=True)
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: ray\nVersion: 2.59.0\n")
    with profile(hosts["h3"], "...export PYTHONPATH=/root/old\n"):
        said = laptop.refused("cluster up hosts.yaml")
    assert "10.77.0.3: has ray 2.59.0, this machine has 2.60" in said
    assert "10.77.0.2" not in said


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        ("import time as t; real = t.time; t.time = lambda: real() + 300", "clock is 300 s ahead"),
        ("import time as t; real = t.time; t.time = lambda: real() - 300", "clock is 300 s behind"),
        ("import sys; sys.version_info = (3, 14)", "has Python 3.14, 10.77.0.1 has 3."),
    ],
)
def test_a_host_with_another_clock_or_python_is_named(
    laptop: Laptop, hosts: Hosts, lie: str, said: str
) -> None:
    # Whatever Python runs there believes this.
    (hosts["h3"].home / "lie").mkdir(exist_ok=True)
    (hosts["h3"].home / "lie" / "sitecustomize.py").write_text(f"{lie}\n")
    with profile(hosts["h3"], "...export PYTHONPATH=/root/lie PYTHONDONTWRITEBYTECODE=1\n"):
        line = laptop.refused("cluster up hosts.yaml")
    assert said in line
    assert "10.77.0.3: " in line
    assert "10.77.0.2" not in line


def test_a_host_without_ray_is_named(laptop: Laptop, hosts: Hosts) -> None:
    with profile(hosts["h2"], ""):
        said = laptop.refused("cluster up hosts.yaml")
    assert "10.77.0.2: a login shell of root finds no `ray`" in said


@pytest.mark.skipif(sys.prefix.startswith("/tmp/"), reason="Python lies where the disk is filled")
def test_a_full_disk_is_named(laptop: Laptop, hosts: Hosts) -> None:
    small = hosts["h2"].ssh("mkdir small && mount -t tmpfs -o size=20m tmpfs /tmp && df -m /tmp")
    assert "20" in small.stdout
    try:
        said = laptop.refused("cluster up hosts.yaml")
    finally:
        hosts["h2"].ssh("umount /tmp")
    assert "10.77.0.2: its disk is full" in said


def test_without_a_cluster_a_run_is_refused_and_leaves_no_folder(laptop: Laptop) -> None:
    said = laptop.refused("cluster run hosts.yaml")
    assert "the cluster is not up" in said
    assert "hanse cluster up" in said
    assert not list(laptop.home.glob("runs/*"))
