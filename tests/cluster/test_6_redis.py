"""Ray's own table of the cluster is kept in a Redis: its process may die alone."""

from __future__ import annotations

import secrets
import shutil

import pytest

from tests.cluster.hosts import Host, Hosts
from tests.cluster.inline import Inline
from tests.cluster.laptop import Laptop
from tests.cluster.recoveries import Days, Recoveries, killed
from tests.cluster.test_3_failures import KILL_DAY, LEAGUE

GCS = "gcs/gcs_server"


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs Debian's redis-server")
def test_a_run_goes_on_when_rays_table_of_the_cluster_loses_its_process(
    laptop: Laptop, hosts: Hosts, inline: Inline, recoveries: Recoveries
) -> None:
    laptop.hanse("cluster down hosts.yaml")
    with_redis(laptop, hosts["h1"])
    laptop.hanse("cluster up redis.yaml")
    laptop.write("long.toml", LEAGUE)
    laptop.hanse("cluster run redis.yaml long.toml --detach --out runs/lose_gcs")
    days = Days(hosts["h1"], ".hanse/hanse/runs/lose_gcs/project/runs/lose_gcs/run.db")
    try:
        days.wait_for(KILL_DAY)
        moment = killed(hosts["h1"], GCS)
        hosts["h1"].ssh(f"for i in $(seq 100); do pgrep -f {GCS} && break; sleep 0.1; done")
        result = laptop.result("cluster attach redis.yaml lose_gcs")
        recoveries.add("Ray's gcs_server (with a Redis)", days.standstill(moment), 0)
    finally:
        days.close()
    assert result["log_sha256"] == inline.digest(LEAGUE)
    assert result["spans"] == result["spans_expected"]
    assert "3 hosts are up" in laptop.hanse("cluster up redis.yaml").stdout
    said = laptop.hanse("cluster status redis.yaml").stdout
    assert all(name in said for name in ("h1", "h2", "h3"))
    laptop.hanse("cluster down redis.yaml")


def with_redis(laptop: Laptop, head: Host) -> None:
    """A Redis on the head, and a cluster file that uses it."""
    password = secrets.token_hex(16)
    profile = head.home / ".bash_profile"
    profile.write_text(f"{profile.read_text()}export REDIS_PASSWORD={password}\n")
    head.ssh(
        "redis-server --port 6399 --bind 127.0.0.1 --requirepass $REDIS_PASSWORD"
        " --save '' --dir /tmp --daemonize yes"
    )
    laptop.cluster_file(
        "redis.yaml",
        **{
            "    ray start --head --port=6379\n": "    RAY_REDIS_ADDRESS=127.0.0.1:6399\n"
            "    ray start --head --port=6379\n"
            '    --redis-password="$REDIS_PASSWORD"\n'
        },
    )
    assert password not in (laptop.home / "redis.yaml").read_text()
