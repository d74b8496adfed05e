"""What `hanse cluster up` refuses, and what it says of a host that has not joined."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from services.cluster import Ssh, starting
from services.cluster.checks import Facts
from services.cluster.on_head import PROGRAM, Head
from services.errors import HanseError

HEAD_ALONE = {"nodes": [{"host": "h1", "address": "h1", "carries": []}], "runs": []}


@pytest.fixture(autouse=True)
def _h2_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Head, "ask", lambda *_, **__: HEAD_ALONE)
    said = subprocess.CompletedProcess([], 0, "starting\n\x1b[31mError: no way\n", "")
    monkeypatch.setattr(Ssh, "run", lambda *_, **__: said)


def test_a_run_that_is_under_way_is_not_ended_by_a_new_start(
    head: Head, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = ["1 /ray/gcs_server", f"2 /venv/bin/python -m {PROGRAM} keep coffee-seed0-001"]
    facts = Facts("h1", "3.11", {}, True, True, {}, 0.0, running)
    monkeypatch.setattr(starting, "check", lambda *_: {"h1": facts, "h2": facts})
    monkeypatch.setattr(Head, "send_code", lambda _: None)

    def locked_out(*_: Any, **__: Any) -> None:
        raise HanseError("h1: what runs at h1:6379 lets nobody in without TLS")

    monkeypatch.setattr(Head, "ask", locked_out)
    with pytest.raises(HanseError, match="a run is under way on this cluster"):
        starting.start(head.cluster, head.ssh, lambda line: None)


def test_a_home_that_cannot_be_written_to_is_one_line(
    head: Head, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/dev/null")
    with pytest.raises(HanseError, match=r"/dev/null/.hanse/c-ray-up.log: what ray up says cannot"):
        starting._ray_up(head.cluster)


def joined(head: Head, monkeypatch: pytest.MonkeyPatch, found: list[str]) -> str:
    asked: list[Any] = []

    def faults(cluster: Any, ssh: Any, hosts: Any) -> tuple[dict[str, Any], list[str]]:
        asked.extend(hosts)
        return {}, found

    monkeypatch.setattr(starting, "faults", faults)
    with pytest.raises(HanseError) as refused:
        starting._joined(head.cluster, head)
    assert asked == ["h1", "h2"]
    return str(refused.value)


def test_a_disk_that_has_filled_up_meanwhile_is_the_reason(
    head: Head, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = joined(head, monkeypatch, ["h2: its disk is full: 0 MB free in /tmp; free some there"])
    assert said == (
        "hosts.yaml: a host has not joined: h2: its disk is full: 0 MB free in /tmp; free some"
        " there"
    )


def test_a_host_that_is_well_is_named_with_what_the_head_last_said(
    head: Head, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = joined(head, monkeypatch, [])
    assert said.startswith("h2: has not joined the cluster within 0 s; can h1 log in there")
    assert said.endswith("the head last said: [31mError: no way")
