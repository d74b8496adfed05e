"""A cluster with TLS: the same result, and nothing for those who are not let in."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.eavesdropper import overhearing
from tests.cluster.hosts import PROJECT, Hosts
from tests.cluster.inline import Inline
from tests.cluster.laptop import HANSE, Laptop

LEAGUE = """
name = "sixty"
seed = 3
days = 6
placement = "packed"
[generate]
firms = 60
towns = 3
[machines]
town_1 = "h1"
"host-1" = "10.77.0.1"
"host-2" = "h3"
"""
WORDS = ("retailer_", "HostActor", "exchange_town_")
"""Agents' names in the mail between hosts, and what Ray says of the actors that carry them."""
HEAD = "10.77.0.1:6379"
TOKEN = "RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=/root/.hanse/hanse.token"
CLIENT = """
import sys
from ray._raylet import GcsClient
try:
    GcsClient(address="{head}").internal_kv_keys(b"", None, timeout=5)
except Exception as error:
    sys.exit(f"refused: {{type(error).__name__}} {{error}}")
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
    laptop.write("sixty.toml", LEAGUE)
    laptop.hanse("cluster up tls.yaml")
    yield laptop
    laptop.hanse("cluster down tls.yaml")


def test_the_result_is_the_same_and_nobody_reads_along(
    secret: Laptop, hosts: Hosts, inline: Inline
) -> None:
    with overhearing(hosts["h3"]) as heard:
        result = secret.result("cluster run tls.yaml sixty.toml")
    assert result["log_sha256"] == inline.digest(LEAGUE)
    assert heard.size > 100_000
    assert {word: heard.says(word) for word in WORDS} == dict.fromkeys(WORDS, False)


def tried(laptop: Laptop, variables: str) -> str:
    laptop.write("client.py", CLIENT.format(head=HEAD))
    done = laptop.host.ssh(f"{TOKEN} {variables} timeout 60 python client.py", check=False)
    assert done.returncode in (0, 1)
    return (done.stdout + done.stderr).strip().splitlines()[-1]


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
    assert tried(secret, with_files("/root/stolen", "h2")) == "let in"
    assert tried(secret, "").startswith("refused")
    assert tried(secret, with_files("/root/strange", "h2")).startswith("refused")


def test_keys_are_for_their_owner_alone_and_no_hosts_key_stays_on_the_laptop(
    secret: Laptop, hosts: Hosts
) -> None:
    for host in hosts.cluster:
        mode = host.ssh(f"stat -c %a .hanse/tls/{host.name}.key").stdout.strip()
        assert mode == "600"
    keys = secret.host.ssh("find /root/.hanse -name '*.key' -printf '%m %f\\n'").stdout
    assert keys == "600 authority.key\n"


def doctor(laptop: Laptop) -> tuple[int, dict[tuple[str, str], dict[str, Any]]]:
    done = laptop.host.ssh(f"{HANSE} doctor --cluster tls.yaml --json", check=False)
    checks = json.loads(done.stdout)["checks"]
    return done.returncode, {(check["host"], check["name"]): check for check in checks}


def test_hosts_are_where_the_run_file_wants_them_as_doctor_shows(
    secret: Laptop, hosts: Hosts
) -> None:
    secret.hanse("cluster run tls.yaml sixty.toml --days 2000 --detach --out runs/placed")
    carried = {"h1": ["host-0", "host-1"], "h2": [], "h3": ["host-2"]}
    deadline = time.monotonic() + 60
    while True:
        code, found = doctor(secret)
        said = [found[host.address, "Ray"]["found"] for host in hosts.cluster]
        if "host-2" in said[2] or time.monotonic() > deadline:
            break
    secret.hanse("cluster stop tls.yaml placed")
    shown = [", ".join(f"placed/{name}" for name in names) for names in carried.values()]
    assert said == [f"is up; carries {names or 'no league'}" for names in shown]
    assert code == 0, found
    assert "ends in 399 days" in found[hosts["h2"].address, "TLS"]["found"]
    assert "gcs_server 6379" in found[hosts["h1"].address, "beyond loopback"]["found"]


def test_a_machine_that_is_none_is_one_line(secret: Laptop) -> None:
    secret.write("nowhere.toml", LEAGUE.replace('"h3"', '"h9"'))
    said = secret.refused("cluster run tls.yaml nowhere.toml")
    assert "host-2 is to be on 'h9', which is no machine of this cluster; there are h1" in said
