"""Ray's own table of the cluster is kept in a Redis: its process may die alone."""

from __future__ import annotations

import pytest

from tests.cluster import redis
from tests.cluster.hosts import Hosts
from tests.cluster.inline import Inline
from tests.cluster.laptop import Laptop
from tests.cluster.recoveries import Days, Recoveries, killed
from tests.cluster.test_3_failures import KILL_DAY, LEAGUE, wait_until

GCS = "gcs/gcs_server"


@pytest.mark.skipif(redis.missing() is not None, reason=redis.missing() or "")
def test_a_run_goes_on_when_rays_table_of_the_cluster_loses_its_process(
    laptop: Laptop, hosts: Hosts, inline: Inline, recoveries: Recoveries
) -> None:
    if not redis.is_used(hosts):  # the test before may have started it so
        laptop.hanse("cluster down hosts.yaml")
        redis.with_redis(laptop, hosts)
        laptop.hanse("cluster up redis.yaml")
    laptop.write("long.toml", LEAGUE)
    laptop.hanse("cluster run redis.yaml long.toml --detach --out runs/lose_gcs")
    folder = ".hanse/hanse/runs/lose_gcs"
    days = Days(hosts["h1"], f"{folder}/project/runs/lose_gcs/run.db")
    try:
        days.wait_for(KILL_DAY)
        moment = killed(hosts["h1"], GCS)
        said = hosts["h1"].home / folder / "log"
        wait_until(lambda: "gcs_server was lost; it is started again" in said.read_text())
        result = laptop.result("cluster attach redis.yaml lose_gcs")
        recoveries.add("Ray's gcs_server (with a Redis)", days.standstill(moment), 0)
    finally:
        days.close()
    assert result["log_sha256"] == inline.digest(LEAGUE)
    assert result["spans"] == result["spans_expected"]
    assert "it is up already" in laptop.hanse("cluster up redis.yaml").stderr
