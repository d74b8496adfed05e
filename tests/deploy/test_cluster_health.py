"""`hanse doctor --cluster`: every host of a cluster file, with what is wrong and what to do."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from services.cli import doctor
from services.cli.cluster_health import HERE, check_cluster, look
from services.cli.health import Check
from services.cluster import ClusterFile, Ssh, Unreachable
from services.cluster.on_head import Head
from services.cluster.tls import HANSES
from services.errors import HanseError

RAYLET = "17 /opt/ray/core/src/ray/raylet/raylet"
GCS = "16 /opt/ray/core/src/ray/gcs/gcs_server"
NODES = {
    "nodes": [
        {"host": "one", "address": "10.0.0.1", "carries": ["coffee/host-1"]},
        {"host": "two", "address": "10.0.0.2", "carries": ["coffee/host-0", "coffee/monitors"]},
    ],
    "runs": [],
}


class Pretended(Ssh):
    """A way to hosts that answer as they are told to."""

    def __init__(self) -> None:
        super().__init__("u", Path("key"))
        self.answers: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        for host, name in (("10.0.0.1", "one"), ("10.0.0.2", "two")):
            facts = {
                "name": name, "python": "3.11", "packages": {"ray": version("ray")}, "rsync": True,
                "resolves": True, "disk": {"/root": 10**10}, "clock": 0.0, "processes": [],
            }  # fmt: skip
            shown = {
                "addresses": [host], "shared_memory": 10**9, "certificate": "",
                "secrets": {"~/.ray/auth_token": "600"}, "listening": ["0.0.0.0 22 sshd"],
            }  # fmt: skip
            self.answers[host] = facts, shown

    def run(
        self, host: str, command: str, *, given: str | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        if host not in self.answers:
            raise Unreachable(f"{host}: does not answer (timed out); is it on? try: ssh {host}")
        answer = self.answers[host][command.endswith(" exposed")]
        return subprocess.CompletedProcess([], 0, json.dumps(answer), "")

    def up(self) -> None:
        for host, (facts, _) in self.answers.items():
            facts["processes"] = [RAYLET, GCS] if host == "10.0.0.1" else [RAYLET]


@pytest.fixture
def ssh(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    monkeypatch.setattr("time.time", lambda: 0.0)
    monkeypatch.setattr(Head, "ask", lambda *_, **__: NODES)
    return Pretended()


@pytest.fixture
def whole(tmp_path: Path) -> ClusterFile:
    token = tmp_path / "token"
    token.write_text("x")
    token.chmod(0o600)
    return ClusterFile(
        Path("hosts.yaml"), "c", "10.0.0.1", ("10.0.0.2",), "u", tmp_path, token, 6379
    )


def checked(whole: ClusterFile, ssh: Ssh) -> dict[tuple[str, str], Check]:
    checks = check_cluster(whole, look(whole, ssh))
    return {(host, check.name): check for host, check in checks}


def test_hosts_that_are_fine_are_all_ok_before_the_cluster_is_up(
    whole: ClusterFile, ssh: Pretended
) -> None:
    found = checked(whole, ssh)
    assert {check.state for check in found.values()} == {"ok"}
    assert {host for host, _ in found} == {HERE, "10.0.0.1", "10.0.0.2"}
    assert found["10.0.0.2", "Ray"].found == "is not up"


def test_of_a_cluster_that_is_up_it_says_what_each_host_carries(
    whole: ClusterFile, ssh: Pretended
) -> None:
    ssh.up()
    found = checked(whole, ssh)
    assert found["10.0.0.1", "Ray"].found == "is up; carries coffee/host-1"
    assert found["10.0.0.2", "Ray"].found == "is up; carries coffee/host-0, coffee/monitors"


def test_a_host_that_does_not_answer_has_one_line_and_the_others_all_theirs(
    whole: ClusterFile, ssh: Pretended
) -> None:
    del ssh.answers["10.0.0.1"]
    found = checked(whole, ssh)
    assert [name for host, name in found if host == "10.0.0.1"] == ["ssh"]
    assert found["10.0.0.1", "ssh"].found == "does not answer (timed out)"
    assert found["10.0.0.1", "ssh"].remedy
    assert found["10.0.0.2", "versions"].state == "ok"


def facts(**changes: Any) -> Callable[[Pretended], None]:
    return lambda ssh: ssh.answers["10.0.0.2"][0].update(changes)


def shown(**changes: Any) -> Callable[[Pretended], None]:
    return lambda ssh: ssh.answers["10.0.0.2"][1].update(changes)


@pytest.mark.parametrize(
    ("change", "aspect", "state", "said"),
    [
        (facts(python="3.12"), "versions", "failed", "has Python 3.12, 10.0.0.1 has 3.11"),
        (facts(packages={"ray": "2.59.0"}), "versions", "failed", "has ray 2.59.0"),
        (facts(rsync=False), "programs", "failed", "rsync is not installed"),
        (facts(resolves=False), "host name", "failed", "its own name two"),
        (facts(disk={"/tmp": 10**7}), "disk", "failed", "10 MB free in /tmp"),
        (facts(clock=300.0), "clock", "failed", "300 s ahead"),
        (facts(processes=[RAYLET]), "Ray", "warning", "1 processes of Ray or a league, without"),
        (shown(shared_memory=10**7), "shared memory", "warning", "10.0 MB free in /dev/shm"),
        (shown(secrets={"~/.ray/auth_token": "644"}), "secrets", "failed", "has mode 644"),
        (shown(listening=[":: 8265 dashboard.py"]), "beyond loopback", "failed", "8265"),
    ],
)
def test_a_fault_of_a_host_is_in_one_line_with_a_remedy(
    whole: ClusterFile,
    ssh: Pretended,
    change: Callable[[Pretended], None],
    aspect: str,
    state: str,
    said: str,
) -> None:
    change(ssh)
    found = checked(whole, ssh)
    faults = {where: check for where, check in found.items() if check.state != "ok"}
    assert list(faults) == [("10.0.0.2", aspect)]
    [check] = faults.values()
    assert check.state == state
    assert said in check.found
    assert check.remedy


def test_a_host_that_is_no_part_of_its_cluster_is_named(
    whole: ClusterFile, ssh: Pretended, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh.up()
    monkeypatch.setattr(Head, "ask", lambda *_, **__: {**NODES, "nodes": NODES["nodes"][:1]})
    found = checked(whole, ssh)
    assert found["10.0.0.2", "Ray"].found == "is not part of the cluster"
    assert found["10.0.0.2", "Ray"].remedy == "hanse cluster up hosts.yaml"


def test_what_listens_beyond_loopback_is_shown_by_its_program(
    whole: ClusterFile, ssh: Pretended
) -> None:
    shown(listening=["127.0.0.1 8265 dashboard.py", "::1 9 x", "10.0.0.2 5 raylet", ":: 7 raylet"])(
        ssh
    )
    assert checked(whole, ssh)["10.0.0.2", "beyond loopback"].found == "raylet 5 7"


def test_a_cluster_that_is_up_without_its_secrets_is_not_fine(
    whole: ClusterFile, ssh: Pretended
) -> None:
    ssh.up()
    shown(secrets={})(ssh)
    object.__setattr__(whole, "tls", HANSES)
    found = checked(whole, ssh)
    assert found["10.0.0.2", "secrets"].state == "failed"
    assert found["10.0.0.2", "TLS"].found == "two has no certificate"


def test_the_token_here_is_looked_at_too(whole: ClusterFile, ssh: Pretended) -> None:
    whole.token.chmod(0o644)
    assert checked(whole, ssh)[HERE, "token"].state == "failed"


def test_a_folder_in_place_of_the_token_is_a_failed_check_of_this_machine(
    whole: ClusterFile, ssh: Pretended
) -> None:
    whole.token.unlink()
    whole.token.mkdir()
    found = checked(whole, ssh)
    assert found[HERE, "token"].state == "failed"
    assert found[HERE, "token"].found == "the token is no regular file"
    assert found[HERE, "token"].remedy
    assert found["10.0.0.2", "versions"].state == "ok"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_a_damaged_certificate_is_a_failed_check_of_its_host_alone(
    whole: ClusterFile, ssh: Pretended
) -> None:
    object.__setattr__(whole, "tls", HANSES)
    shown(certificate="-----BEGIN CERTIFICATE-----\nMIIB\n")(ssh)
    found = checked(whole, ssh)
    assert found["10.0.0.1", "TLS"].state == "ok"
    assert found["10.0.0.2", "TLS"].state == "failed"
    assert found["10.0.0.2", "TLS"].found.startswith("the certificate is damaged")
    assert found["10.0.0.2", "TLS"].remedy == "hanse cluster down, then up, which brings a new one"


@pytest.mark.parametrize("mode", ["400", "600", "700"])
def test_a_secret_that_its_owner_alone_may_use_is_fine(
    whole: ClusterFile, ssh: Pretended, mode: str
) -> None:
    shown(secrets={"~/.ray/auth_token": "600", "~/ray_bootstrap_key.pem": mode})(ssh)
    assert checked(whole, ssh)["10.0.0.2", "secrets"].state == "ok"


@pytest.mark.parametrize(
    "change", [facts(clock="late"), facts(packages=5), facts(more=1), shown(secrets={"k": "rw"}),
               shown(listening=["0.0.0.0 22"])]
)  # fmt: skip
def test_a_host_whose_answer_makes_no_sense_has_one_line_and_the_others_all_theirs(
    whole: ClusterFile, ssh: Pretended, change: Callable[[Pretended], None]
) -> None:
    change(ssh)
    found = checked(whole, ssh)
    assert [name for host, name in found if host == "10.0.0.2"] == ["ssh"]
    assert found["10.0.0.2", "ssh"].found == "its answer is not what was asked for"
    assert found["10.0.0.2", "ssh"].remedy
    assert found["10.0.0.1", "versions"].state == "ok"


def test_it_looks_at_hosts_or_at_a_run(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="--cluster looks at hosts and not at a run"):
        doctor.doctor("coffee", cluster=tmp_path)
