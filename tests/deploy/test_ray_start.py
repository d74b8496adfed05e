"""Every `ray start` of a cluster file has tokens on, and the head's port is one."""

from __future__ import annotations

import pytest

from services.cluster.ray_start import check_start, head_port, ray_starts
from services.errors import HanseError


@pytest.mark.parametrize(
    "command",
    [
        "RAY_AUTH_MODE=token ray start --head",
        "ray stop; A=1 RAY_AUTH_MODE='token' B=2 /opt/bin/ray start --head",
        "env RAY_AUTH_MODE=token ray start --head 2>&1 | tee log",
        "RAY_AUTH_MODE=disabled RAY_AUTH_MODE=token \\\n ray start",
        "RAY_AUTH_MODE=token bash -c 'ulimit -n 9000; ray start'",
        "if true; then RAY_AUTH_MODE=token ray start; fi",
    ],
)
def test_a_start_with_tokens_on_is_taken(command: str) -> None:
    assert [start.mode for start in check_start([command], "here", "see there")] == ["token"]


@pytest.mark.parametrize(
    "command",
    [
        "ray start --head",
        "RAY_AUTH_MODE=token true; ray start",
        "RAY_AUTH_MODE=token RAY_AUTH_MODE=disabled ray start",
        "echo RAY_AUTH_MODE=token && ray start",
        "ray start # RAY_AUTH_MODE=token",
        "ray start --labels RAY_AUTH_MODE=token",
        "RAY_AUTH_MODE=token-not ray start",
        "RAY_AUTH_MODE=token ray start || ray start",
        "RAY_AUTH_MODE=token ray start\nray  start",
        "bash -c 'ray start' RAY_AUTH_MODE=token",
        "RAY_AUTH_MODE=token env -i ray start",
        "RAY_AUTH_MODE=token sudo ray start",
        "X_RAY_AUTH_MODE=token ray start",
    ],
)
def test_a_start_that_lets_everybody_in_is_refused(command: str) -> None:
    with pytest.raises(HanseError, match="needs RAY_AUTH_MODE=token before it"):
        check_start([command], "here", "see there")


def test_every_command_is_looked_at() -> None:
    with pytest.raises(HanseError, match="needs RAY_AUTH_MODE=token"):
        check_start(["RAY_AUTH_MODE=token ray start", "ray start"], "here", "see there")


def test_a_remark_starts_nothing() -> None:
    assert ray_starts("true # RAY_AUTH_MODE=token ray start") == []


def test_a_quotation_that_does_not_end_is_said() -> None:
    with pytest.raises(HanseError, match="here: this is no shell command: No closing quotation"):
        check_start("ray start 'x", "here", "see there")


@pytest.mark.parametrize(
    ("options", "port"),
    [("", 6379), ("--port=7000", 7000), ("--port 1 --port=2", 2), ("--node-manager-port=9", 6379)],
)
def test_the_last_port_is_the_heads(options: str, port: int) -> None:
    assert head_port(ray_starts(f"ray start --head {options}"), "here") == port


@pytest.mark.parametrize("port", ["0", "65536", "-1", "x", "", "$P", "6379x"])
def test_what_is_no_port_is_refused(port: str) -> None:
    with pytest.raises(HanseError, match="use a number, 1 to 65535"):
        head_port(ray_starts(f"ray start --head --port={port}"), "here")
