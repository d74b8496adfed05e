"""Starting a cluster: every host is looked at, `ray up`, and every host has joined."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from services.cluster.asking import check, faults
from services.cluster.certificates import certify
from services.cluster.cluster_file import ClusterFile
from services.cluster.on_head import PROGRAM, Head
from services.cluster.ssh import Ssh, printable
from services.cluster.stopping import stop
from services.errors import HanseError

RAY_UP_SECONDS: Final = 300.0
JOIN_SECONDS: Final = 120.0
"""The head starts the other hosts itself, some 20 seconds after it is up."""
_MONITOR_LOG: Final = "/tmp/ray/session_latest/logs/monitor.out"

_KEEPS: Final = f"{PROGRAM} keep"
"""Part of the command line of a run that is under way."""


def start(cluster: ClusterFile, ssh: Ssh, tell: Callable[[str], None]) -> dict[str, Any]:
    """Starts a cluster; one that is up already, whole, is left as it is.

    Args:
        cluster: Which.
        ssh: The way to its hosts.
        tell: Is told what is done.

    Returns:
        What Hanse's program on the head says of its nodes.

    Raises:
        HanseError: a host is not as it has to be, or has not joined; nothing is left running then.
    """
    tell(f"looking at {len(cluster.hosts)} hosts ...")
    facts = check(cluster, ssh)
    head = Head(cluster, ssh)
    head.send_code()
    if any("gcs_server" in process for process in facts[cluster.head].processes):
        nodes = _running(head)
        if nodes is not None and not missing(cluster, nodes):
            tell("it is up already")
            return nodes
        # A head that lets nobody in, as it was started with another TLS, names no runs.
        if any(_KEEPS in process for process in facts[cluster.head].processes):
            raise HanseError(
                f"{cluster.path}: a run is under way on this cluster, and a new start would end it;"
                f" wait for it, or: hanse cluster down {cluster.typed}"
            )
    if cluster.make_token():
        tell(f"made the token {cluster.token}: whoever has it may use the cluster")
    certify(cluster, ssh, {host: fact.name for host, fact in facts.items()}, tell)
    try:
        tell("ray up ...")
        _ray_up(cluster)
        tell("waiting for the hosts to join ...")
        return _joined(cluster, head)
    except BaseException:
        tell("stopping what has started ...")
        stop(cluster, ssh)
        raise


def missing(cluster: ClusterFile, nodes: dict[str, Any]) -> list[str]:
    """Hosts of the cluster file that no living node stands for."""
    living = {name for node in nodes["nodes"] for name in (node["address"], node["host"])}
    if len(nodes["nodes"]) >= len(cluster.hosts):
        return []  # a host may be known to Ray by an address that the file does not name
    return [host for host in cluster.hosts if host not in living]


def _running(head: Head) -> dict[str, Any] | None:
    try:
        answer: dict[str, Any] = head.ask("status")
    except HanseError:
        return None
    return answer


def _ray_up(cluster: ClusterFile) -> None:
    """Runs `ray up`, which starts the head.

    Raises:
        HanseError: it fails; its last line, and where all that it said is.
    """
    log = Path.home() / ".hanse" / f"{cluster.name}-ray-up.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = log.open("w")
    except OSError as error:
        raise HanseError(
            f"{log}: what ray up says cannot be written: {error.strerror or error}; make room, or"
            f" let {log.parent} be written to"
        ) from None
    words = [ray_command(), "up", "-y", "--no-config-cache", str(cluster.path)]
    # The newer autoscaler counts the head among the hosts of the list, and leaves the last one out.
    environment = {**os.environ, "RAY_UP_enable_autoscaler_v2": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    with file:
        try:
            done = subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                env=environment, timeout=RAY_UP_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise HanseError(
                f"{cluster.head}: ray up has not ended for {RAY_UP_SECONDS:.0f} s; it said: {log}"
            ) from None
    if done.returncode != 0:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()] or [
            "nothing"
        ]
        telling = [line for line in lines if "rror" in line] or lines
        said = printable(telling[-1].strip())
        raise HanseError(f"{cluster.head}: ray up fails: {said}; all it said: {log}")


def ray_command() -> str:
    """The `ray` that belongs to this Python."""
    beside = Path(sys.executable).parent / "ray"
    return str(beside) if beside.exists() else "ray"


def _joined(cluster: ClusterFile, head: Head) -> dict[str, Any]:
    began = time.monotonic()
    nodes: dict[str, Any] = head.ask(
        "status", f"--hosts={len(cluster.hosts)}", f"--wait={JOIN_SECONDS:.0f}",
        timeout=JOIN_SECONDS + 60,
    )  # fmt: skip
    absent = missing(cluster, nodes)
    if absent:
        # What was well when it was looked at may not be any more: a disk fills up.
        _, found = faults(cluster, head.ssh, [cluster.head, *absent])
        if found:
            raise HanseError(f"{cluster.path}: a host has not joined: {'; '.join(found)}")
        log = head.ssh.run(cluster.head, f"tail -n 200 {_MONITOR_LOG}").stdout.splitlines()
        telling = [line for line in log if re.search("rror|ailed|refused|denied", line)]
        hint = f"; the head last said: {printable(telling[-1].strip())}" if telling else ""
        raise HanseError(
            f"{', '.join(absent)}: has not joined the cluster within"
            f" {time.monotonic() - began:.0f} s; can {cluster.head} log in there with the key"
            f" {cluster.key}, and do they reach each other on every port?{hint}"
        )
    return nodes
