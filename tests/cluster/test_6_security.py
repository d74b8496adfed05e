"""A cluster with TLS: the same result, and nothing for those who are not let in."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.cluster.eavesdropper import WORDS, Overheard, overhearing
from tests.cluster.hosts import PROJECT, Hosts
from tests.cluster.inline import Inline
from tests.cluster.laptop import Laptop

LEAGUE = """
name = "sixty"
seed = 3
days = 100
placement = "packed"
[generate]
firms = 60
towns = 3
[machines]
town_1 = "h1"
"host-1" = "10.77.0.1"
"host-2" = "h3"
"""
HEAD = "10.77.0.1:6379"
TOKEN = "RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=/root/.hanse/hanse.token"
# Ray itself would try for longer.
CLIENT = """
import os
os.environ["RAY_gcs_rpc_server_reconnect_timeout_s"] = "3"
from ray._raylet import GcsClient
GcsClient(address="{head}").internal_kv_keys(b"", None, timeout=5)
print("let in")
"""


def documented() -> str:
    """The words that deploy/local.yaml says are to be added for TLS."""
    text = (PROJECT / "deploy" / "local.yaml").read_text()
    words = re.findall(r"^# +(RAY_\S*TLS\S*=\S+)$", text, re.MULTILINE)
    assert len(words) == 4
    return " ".join(words)


@pytest.fixture(scope="module")
def secret(laptop: Laptop) -> Iterator[Laptop]:
    """The cluster is up, with what deploy/local.yaml says about TLS."""
    laptop.hanse("cluster down hosts.yaml")
    laptop.cluster_file(
        "tls.yaml", **{"RAY_AUTH_MODE=token\n": f"RAY_AUTH_MODE=token {documented()}\n"}
    )
    laptop.hanse("cluster up tls.yaml")
    yield laptop
    laptop.hanse("cluster down tls.yaml")


class Seen(NamedTuple):
    """A league on it, and what was seen of it meanwhile."""

    result: dict[str, Any]
    heard: Overheard
    doctor: dict[tuple[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def seen(secret: Laptop, hosts: Hosts) -> Seen:
    secret.write("sixty.toml", LEAGUE)
    with overhearing(hosts["h3"]) as heard:
        secret.hanse("cluster run tls.yaml sixty.toml --detach --out runs/placed")
        found: dict[tuple[str, str], dict[str, Any]] = {}
        deadline = time.monotonic() + 60
        while "host-2" not in str(found) and time.monotonic() < deadline:
            said = json.loads(secret.hanse("doctor --cluster tls.yaml --json").stdout)
            found = {(check["host"], check["name"]): check for check in said["checks"]}
        result = secret.result("cluster attach tls.yaml placed")
    return Seen(result, heard, found)


def test_the_result_is_the_same_to_the_byte(seen: Seen, inline: Inline) -> None:
    assert seen.result["log_sha256"] == inline.digest(LEAGUE)


def test_nobody_reads_along(seen: Seen) -> None:
    assert seen.heard.size > 100_000
    assert {word: seen.heard.says(word) for word in WORDS} == dict.fromkeys(WORDS, False)


def test_hosts_are_where_the_run_file_wants_them_as_doctor_shows(seen: Seen, hosts: Hosts) -> None:
    said = [seen.doctor[host.address, "Ray"]["found"] for host in hosts.cluster]
    carried = [re.findall(r"/(host-\d)", line) for line in said]
    assert carried == [["host-0", "host-1"], [], ["host-2"]]


def test_doctor_finds_nothing_wrong_and_names_the_certificate_and_what_listens(
    seen: Seen, hosts: Hosts
) -> None:
    assert {check["state"] for check in seen.doctor.values()} == {"ok"}
    assert "ends in 399 days" in seen.doctor[hosts["h2"].address, "TLS"]["found"]
    assert "gcs_server 6379" in seen.doctor[hosts["h1"].address, "beyond loopback"]["found"]


def let_in(laptop: Laptop, *clients: str) -> list[bool]:
    """For clients, each with variables of its own, whether the head lets them in."""
    laptop.write("client.py", CLIENT.format(head=HEAD))
    command = "timeout 60 python client.py"
    started = [laptop.host.start(f"{TOKEN} {variables} {command}") for variables in clients]
    ended = [(process.communicate()[0], process.returncode) for process in started]
    assert all((code == 0) == ("let in" in said) for said, code in ended)
    return [code == 0 for _, code in ended]


def with_files(folder: str, host: str) -> str:
    names = {"SERVER_CERT": f"{host}.pem", "SERVER_KEY": f"{host}.key", "CA_CERT": "authority.pem"}
    files = " ".join(f"RAY_TLS_{key}={folder}/{name}" for key, name in names.items())
    return f"RAY_USE_TLS=1 {files}"


def test_only_a_client_with_a_certificate_of_the_authority_is_let_in(
    secret: Laptop, hosts: Hosts
) -> None:
    secret.host.ssh("mkdir -p stolen strange")
    for name in ("h2.key", "h2.pem", "authority.pem"):
        (secret.home / "stolen" / name).write_bytes(
            (hosts["h2"].home / ".hanse" / "tls" / name).read_bytes()
        )
    strange = (
        "from pathlib import Path; from services.cluster.certificates import Authority;"
        "a = Authority(Path('strange')); a.make('Another'); a.issue(Path('strange'), ['h2'])"
    )
    secret.host.ssh(f'python -c "{strange}"')
    without = ""
    own, others = with_files("/root/stolen", "h2"), with_files("/root/strange", "h2")
    assert let_in(secret, own, without, others) == [True, False, False]


def test_a_cluster_file_without_tls_is_said_to_be_another_at_once(secret: Laptop) -> None:
    said = secret.refused("cluster status hosts.yaml")
    assert "what runs at 10.77.0.1:6379 lets nobody in without TLS" in said
    assert "hanse cluster down hosts.yaml, then up" in said


def test_keys_are_for_their_owner_alone_and_no_hosts_key_stays_on_the_laptop(
    secret: Laptop, hosts: Hosts
) -> None:
    for host in hosts.cluster:
        mode = host.ssh(f"stat -c %a .hanse/tls/{host.name}.key").stdout.strip()
        assert mode == "600"
    keys = secret.host.ssh("find /root/.hanse -name '*.key' -printf '%m %f\\n'").stdout
    assert keys == "600 authority.key\n"


def test_a_machine_that_is_none_is_one_line(secret: Laptop) -> None:
    secret.write("nowhere.toml", LEAGUE.replace('"h3"', '"h9"'))
    said = secret.refused("cluster run tls.yaml nowhere.toml")
    assert "host-2 is to be on 'h9', which is no machine of this cluster; there are h1" in said
    assert "stopped" not in said
