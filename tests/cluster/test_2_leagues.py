"""A league on three hosts: the same to the byte, spread over them, and closed to strangers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from services.runs import Run
from tests.cluster.eavesdropper import WORDS, Overheard, overhearing
from tests.cluster.hosts import Hosts
from tests.cluster.inline import Inline
from tests.cluster.laptop import Laptop

DEFAULT = 'name = "coffee"\ndays = 10\nfirms = [\n' + "".join(
    f'  {{ name = "{role}_{letter}", role = "{role}" }},\n'
    for role in ("farmer", "roaster", "retailer")
    for letter in "AB"
) + "]\n"  # fmt: skip
PACKED = """
name = "packed"
seed = 3
days = 6
placement = "packed"
[generate]
firms = 300
towns = 6
"""
PATIENT = """
from actors.strategies import DailyPlan
from services.economy import commands as c

class Patient(DailyPlan):
    def day(self):
        stock = (yield c.ViewTrialBalance()).data.stock
        if green := stock.get("green_coffee_kg", 0):
            yield c.Roast(green_item_id="green_coffee_kg", qty_kg=min(green, 50))
"""


def test_every_host_joins(cluster: Laptop) -> None:
    status = json.loads(cluster.hanse("cluster status hosts.yaml --json").stdout)
    assert [node["host"] for node in status["nodes"]] == ["h1", "h2", "h3"]
    assert status["missing"] == []


def test_up_again_leaves_a_cluster_alone(cluster: Laptop, hosts: Hosts) -> None:
    before = hosts["h1"].ssh("pgrep -f gcs_server | head -1").stdout
    assert "it is up already" in cluster.hanse("cluster up hosts.yaml").stderr
    assert hosts["h1"].ssh("pgrep -f gcs_server | head -1").stdout == before


def test_the_default_league_is_the_same_to_the_byte(cluster: Laptop) -> None:
    result = cluster.result("cluster run hosts.yaml --days 20")
    assert (result["placement"], result["hosts"]) == ("one", 7)
    here = cluster.result("run --days 20 --placement inline")
    assert result["log_sha256"] == here["log_sha256"]


@pytest.fixture(scope="module")
def packed(cluster: Laptop, hosts: Hosts) -> tuple[dict[str, Any], Overheard]:
    """The result of a packed league, and what somebody on the network has read of it."""
    cluster.write("packed.toml", PACKED)
    with overhearing(hosts["h2"]) as heard:
        result = cluster.result("cluster run hosts.yaml packed.toml")
    return result, heard


def test_three_hundred_firms_packed_are_the_same_to_the_byte(
    packed: tuple[dict[str, Any], Overheard], inline: Inline
) -> None:
    result, _ = packed
    assert (result["placement"], result["hosts"]) == ("packed", 3)
    assert result["log_sha256"] == inline.digest(PACKED)


def test_without_tls_whoever_is_on_the_network_reads_along(
    packed: tuple[dict[str, Any], Overheard],
) -> None:
    _, heard = packed
    assert {word: heard.says(word) for word in WORDS} == dict.fromkeys(WORDS, True)


def test_progress_comes_to_the_terminal_and_the_folder_comes_back(cluster: Laptop) -> None:
    done = cluster.hanse("cluster run hosts.yaml packed.toml --days 3 --out runs/back")
    assert "day 2 (3 of 3)" in done.stderr
    assert "hanse report runs/back" in done.stdout
    run = Run(cluster.home / "runs" / "back")
    assert run.state == "finished"
    assert len(run.messages()) > 500


def test_a_strategy_of_the_users_own_goes_to_the_hosts(cluster: Laptop) -> None:
    cluster.write("patient.py", PATIENT)
    firms = DEFAULT.replace('role = "roaster"', 'role = "roaster", strategy = "patient.py:Patient"')
    cluster.write("patient.toml", firms.replace("days = 10", "days = 5"))
    on_cluster = cluster.result("cluster run hosts.yaml patient.toml --placement packed")
    here = cluster.result("run patient.toml --placement inline")
    assert on_cluster["log_sha256"] == here["log_sha256"]
    assert not on_cluster["counters"]["turns_missed"]


def test_a_name_that_is_taken_on_the_cluster_is_refused(cluster: Laptop, hosts: Hosts) -> None:
    hosts["h1"].ssh("mkdir -p .hanse/hanse/runs/taken")
    said = cluster.refused("cluster run hosts.yaml --days 1 --out runs/taken")
    assert "there is a run taken on the cluster already" in said
    assert not (cluster.home / "runs" / "taken").exists()


def test_a_client_without_the_token_is_refused(cluster: Laptop) -> None:
    head = "ray status --address 10.77.0.1:6379"
    token = "RAY_AUTH_TOKEN_PATH=/root/.hanse/hanse.token"
    assert cluster.host.ssh(f"RAY_AUTH_MODE=token {token} {head}").returncode == 0
    for stranger in ("RAY_AUTH_MODE=disabled", f"RAY_AUTH_MODE=token RAY_AUTH_TOKEN={'0' * 64}"):
        done = cluster.host.ssh(f"{stranger} timeout 60 {head}", check=False)
        assert done.returncode != 0
        assert "token" in (done.stdout + done.stderr).lower()


@pytest.mark.parametrize("name", ["h1", "h2", "h3"])
def test_no_dashboard_listens_beyond_loopback(cluster: Laptop, hosts: Hosts, name: str) -> None:
    beyond = [a for a in hosts[name].listening() if not a.startswith(("127.", "[::1]"))]
    assert not [address for address in beyond if address.endswith(":8265")]


def test_the_token_and_the_copied_key_are_for_their_owner_alone(
    cluster: Laptop, hosts: Hosts
) -> None:
    files = {host.name: [".ray/auth_token"] for host in hosts.cluster}
    files["h1"].append("ray_bootstrap_key.pem")
    for name, paths in files.items():
        modes = hosts[name].ssh(f"stat -c %a {' '.join(paths)}").stdout.split()
        assert set(modes) == {"600"}, (name, paths, modes)


def test_hosts_are_spread_as_status_shows_and_a_run_can_be_stopped(
    cluster: Laptop, hosts: Hosts
) -> None:
    cluster.write("long.toml", PACKED.replace("300", "60"))
    cluster.hanse("cluster run hosts.yaml long.toml --days 2000 --detach --out runs/spread")
    carried: dict[str, list[str]] = {"": []}
    deadline = time.monotonic() + 120
    while not all(carried.values()) and time.monotonic() < deadline:
        status = json.loads(cluster.hanse("cluster status hosts.yaml --json").stdout)
        carried = {n["host"]: n["carries"] for n in status["nodes"]}
    assert carried == {"h1": ["spread/host-2"], "h2": ["spread/host-0"], "h3": ["spread/host-1"]}
    [run] = [run for run in status["runs"] if run["name"] == "spread"]
    assert (run["state"], run["days"]) == ("running", 2000)
    manifest = hosts["h1"].home / ".hanse/hanse/runs/spread/project/runs/spread/manifest.json"
    kept = f".hanse/spools/{json.loads(manifest.read_text())['id']}"
    hosts["h2"].ssh(f'mkdir -p {kept}; echo \'["log", "x"]\' > {kept}/0-9999-host-0.jsonl')
    assert "hanse resume runs/spread" in cluster.hanse("cluster stop hosts.yaml spread").stderr
    assert (cluster.home / "runs" / "spread" / "spool" / "0-9999-host-0.jsonl").exists()
    assert not (hosts["h2"].home / kept).exists()
    assert Run(cluster.home / "runs" / "spread").state == "resumable"
    assert hosts["h2"].ssh("pgrep -f ^ray::HostActor", check=False).stdout == ""
