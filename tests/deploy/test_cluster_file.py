"""A cluster file is read before anything is started; what it lacks is one line with the key."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.cluster import ClusterFile
from services.errors import HanseError

LOCAL = Path(__file__).parents[2] / "deploy" / "local.yaml"


@pytest.fixture
def values(tmp_path: Path) -> dict[str, Any]:
    """The file that comes with Hanse, with a key that exists."""
    (tmp_path / "key").write_text("a key")
    values: dict[str, Any] = yaml.safe_load(LOCAL.read_text())
    values["auth"]["ssh_private_key"] = str(tmp_path / "key")
    values["file_mounts"]["~/.ray/auth_token"] = str(tmp_path / "own" / "token")
    return values


def read(folder: Path, values: Any) -> ClusterFile:
    file = folder / "hosts.yaml"
    file.write_text(values if isinstance(values, str) else yaml.safe_dump(values))
    return ClusterFile.read(file)


def refusal(folder: Path, values: Any) -> str:
    with pytest.raises(HanseError) as refused:
        read(folder, values)
    said = str(refused.value)
    assert said.startswith(str(folder / "hosts.yaml"))
    assert "\n" not in said
    return said


def test_the_head_is_the_first_of_the_hosts(tmp_path: Path, values: dict[str, Any]) -> None:
    cluster = read(tmp_path, values)
    assert cluster.hosts == ("192.168.1.10", "192.168.1.11", "192.168.1.12")
    assert (cluster.name, cluster.user, cluster.port) == ("hanse", "hanse", 6379)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("", "cluster_name"),
        ("", "provider"),
        ("provider", "head_ip"),
        ("provider", "worker_ips"),
        ("auth", "ssh_user"),
        ("auth", "ssh_private_key"),
        ("file_mounts", "~/.ray/auth_token"),
        ("", "head_start_ray_commands"),
        ("", "worker_start_ray_commands"),
    ],
)
def test_a_missing_key_is_named(
    tmp_path: Path, values: dict[str, Any], table: str, key: str
) -> None:
    del (values[table] if table else values)[key]
    said = refusal(tmp_path, values)
    assert key in said and (not table or table in said)
    assert "deploy/local.yaml" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v.update(colour="red"), "'colour' was unexpected"),
        (lambda v: v["provider"].update(type="aws"), "provider.type: 'aws'"),
        (lambda v: v["provider"].update(worker_ips=["192.168.1.10"]), "named twice"),
        (lambda v: v["provider"].update(worker_ips=3), "provider.worker_ips"),
        (lambda v: v.update(cluster_name="my hosts; reboot"), "cluster_name"),
        (lambda v: v["auth"].update(ssh_private_key="/nowhere/key"), "/nowhere/key does not exist"),
        (lambda v: v.update(head_start_ray_commands=["ray stop"]), "no `ray start`"),
        (lambda v: v.update(cluster_name="x" * 65), "cluster_name"),
        (lambda v: v["auth"].update(ssh_user="-oProxyCommand=x"), "auth.ssh_user"),
        (lambda v: v["auth"].update(ssh_private_key="~nouser/x"), "no such user"),
        (lambda v: v["auth"].update(ssh_private_key="a\0b"), "control character"),
        (lambda v: v["file_mounts"].update({"~/.ray/auth_token": "~nouser/x"}), "no such user"),
        (lambda v: v["provider"].update(head_ip="1.1.1.1; touch x"), "provider.head_ip"),
        (lambda v: v["provider"].update(head_ip="fd00::1"), "looks like an IPv6 address"),
        (lambda v: v["provider"].update(head_ip="300.1.1.1"), "no IPv4 address"),
        (lambda v: v["provider"].update(worker_ips=["", " "]), "provider.worker_ips"),
        (lambda v: v["provider"].update(worker_ips=["-oX"]), "provider.worker_ips"),
        (
            lambda v: v.update(worker_start_ray_commands=["ray start --address=x"]),
            "worker_start_ray_commands: `ray start` needs RAY_AUTH_MODE=token",
        ),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path,
    values: dict[str, Any],
    change: Callable[[dict[str, Any]], None],
    said: str,
) -> None:
    change(values)
    assert said in refusal(tmp_path, values)


def test_a_file_that_is_no_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    assert "line 2" in refusal(tmp_path, "cluster_name: x\nprovider: a: b\n")


def test_a_file_that_is_not_there_says_where_one_is(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=re.escape("copy deploy/local.yaml")):
        ClusterFile.read(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "cluster_name: 2020-99-99",
        "cluster_name: 0b_",
        "cluster_name: !!int foo",
        "[" * 5000,
        "{}: " * 5000,
        "1: 2\n? [a]\n: b",
        "a: &a [x]\nb: *a",
        "#" * 1_000_001,
        "cluster_name: ~",
    ],
)
def test_yaml_that_makes_no_sense_is_one_line(tmp_path: Path, text: str) -> None:
    refusal(tmp_path, text)


def test_a_value_that_yaml_mistakes_for_a_date_is_named_with_its_line(tmp_path: Path) -> None:
    said = refusal(tmp_path, "# mine\ncluster_name: 2020-99-99\n")
    assert "line 2" in said and "'2020-99-99' is no timestamp" in said


@pytest.mark.parametrize("name", ["h1", "node-1.lab.example.org", "10.0.0.1", "my_host"])
def test_a_host_may_be_a_name_or_an_address(
    tmp_path: Path, values: dict[str, Any], name: str
) -> None:
    values["provider"]["head_ip"] = name
    assert read(tmp_path, values).head == name


def test_a_device_is_refused_as_a_pipe_is_which_would_be_waited_for() -> None:
    with pytest.raises(HanseError, match="/dev/null: this is no regular file; name one"):
        ClusterFile.read(Path("/dev/null"))


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_a_token_that_is_no_regular_file_is_refused(
    tmp_path: Path, values: dict[str, Any], make: Callable[[Path], None]
) -> None:
    cluster = read(tmp_path, values)
    cluster.token.parent.mkdir()
    make(cluster.token)
    with pytest.raises(HanseError, match="token: the token is no regular file; remove it"):
        cluster.make_token()


@pytest.mark.parametrize("held", ["", " \n"])
def test_an_empty_token_is_refused(tmp_path: Path, values: dict[str, Any], held: str) -> None:
    cluster = read(tmp_path, values)
    cluster.token.parent.mkdir()
    cluster.token.write_text(held)
    with pytest.raises(HanseError, match="the token is empty; remove it"):
        cluster.make_token()


def test_a_token_that_others_can_read_is_refused(tmp_path: Path, values: dict[str, Any]) -> None:
    cluster = read(tmp_path, values)
    cluster.make_token()
    cluster.token.chmod(0o644)
    with pytest.raises(HanseError, match="others can read the token"):
        cluster.make_token()


def test_the_token_is_made_once_and_is_for_its_owner(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    cluster = read(tmp_path, values)
    assert cluster.make_token()
    token = cluster.token.read_text()
    assert len(token) == 64
    assert cluster.token.stat().st_mode & 0o777 == 0o600
    assert not cluster.make_token()
    assert cluster.token.read_text() == token
