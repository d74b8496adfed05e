"""A league on a cluster that loses a process, a machine or a cable ends as if it had not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from tests.cluster.hosts import Hosts
from tests.cluster.inline import Inline
from tests.cluster.laptop import HANSE, Laptop
from tests.cluster.recoveries import Days, Recoveries, killed, now

LEAGUE = """
name = "long"
seed = 3
days = 80
placement = "packed"
[generate]
firms = 60
towns = 3
"""
CABLE_OUT_SECONDS = 20.0
KILL_DAY = 10


def lose_host_process(hosts: Hosts) -> float:
    return killed(hosts["h2"], "^ray::HostActor")


def lose_raylet(hosts: Hosts) -> float:
    return killed(hosts["h3"], "raylet/raylet")


def lose_recorder(hosts: Hosts) -> float:
    return killed(hosts["h1"], "^[^ ]*python[^ ]* -m services.cli.cluster_head play")


def lose_cable(hosts: Hosts) -> float:
    moment = now()
    hosts["h2"].cut()
    time.sleep(CABLE_OUT_SECONDS)
    hosts["h2"].mend()
    return moment


@pytest.mark.parametrize(
    ("lose", "what", "made_anew"),
    [
        (lose_host_process, "a host's process (kill -9)", 1),
        (lose_raylet, "a machine's raylet (kill -9)", 1),
        (lose_recorder, "the league itself (kill -9)", 0),
        (lose_cable, "a machine's cable, for 20 s", 1),
    ],
    ids=["host", "raylet", "recorder", "cable"],
)
def test_a_league_goes_on_with_the_same_result(
    cluster: Laptop,
    hosts: Hosts,
    inline: Inline,
    recoveries: Recoveries,
    lose: Callable[[Hosts], float],
    what: str,
    made_anew: int,
) -> None:
    if made_anew:
        all_are_there(cluster)
    name = lose.__name__
    cluster.write("long.toml", LEAGUE)
    cluster.hanse(f"cluster run hosts.yaml long.toml --detach --out runs/{name}")
    folder = f".hanse/hanse/runs/{name}/project/runs/{name}"
    days = Days(hosts["h1"], f"{folder}/run.db")
    try:
        days.wait_for(KILL_DAY)
        moment = lose(hosts)
        result = cluster.result(f"cluster attach hosts.yaml {name}")
        seconds = days.standstill(moment)
    finally:
        days.close()
    recoveries.add(what, seconds, result["counters"]["host_restarts"])
    assert result["log_sha256"] == inline.digest(LEAGUE)
    assert result["counters"]["host_restarts"] == made_anew
    assert result["counters"]["undeliverable"] == 0
    assert result["spans"] == result["spans_expected"]


def test_a_run_is_shown_to_its_end_though_the_connection_drops(
    cluster: Laptop, inline: Inline
) -> None:
    cluster.write("long.toml", LEAGUE)
    words = f"{HANSE} cluster run hosts.yaml long.toml --json --out runs/dropped"
    cluster.host.ssh(f"nohup {words} >result 2>said </dev/null & echo $! >typed")
    said = cluster.home / "said"
    wait_until(lambda: "day 7 " in said.read_text())
    cluster.host.cut()
    try:
        wait_until(lambda: "trying again" in said.read_text())
    finally:
        cluster.host.mend()
    cluster.host.ssh("tail --pid=$(cat typed) -f /dev/null")
    assert "connected again" in said.read_text()
    shown = [line.split()[1] for line in said.read_text().splitlines() if line.startswith("day")]
    assert shown == [str(day) for day in range(7, 80, 8)]
    result = json.loads((cluster.home / "result").read_text())
    assert result["log_sha256"] == inline.digest(LEAGUE)


def test_a_slow_and_lossy_link_changes_nothing_but_the_time(
    cluster: Laptop, hosts: Hosts, inline: Inline
) -> None:
    all_are_there(cluster)
    short = LEAGUE.replace("days = 80", "days = 10")
    cluster.write("short.toml", short)
    with hosts["h2"].slowed(milliseconds=100, loss=0.01):
        result = cluster.result("cluster run hosts.yaml short.toml")
    assert result["log_sha256"] == inline.digest(short)
    assert result["counters"]["host_restarts"] == 0


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def all_are_there(cluster: Laptop) -> None:
    """A machine that was lost comes back by itself: the head starts it again."""
    deadline = time.monotonic() + 150
    while cluster.hanse("cluster status hosts.yaml", check=False).returncode != 0:
        assert time.monotonic() < deadline, "a lost machine has not come back"
        time.sleep(1)
