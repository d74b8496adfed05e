"""`hanse doctor --cluster`: what every host of a cluster file is like, each as a check."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Final, NamedTuple

from services.cli.console import size, typed
from services.cli.health import Check
from services.cluster import ClusterFile, Ssh, asking, exposure
from services.cluster.certificates import days_left
from services.cluster.checks import ASPECTS, Facts, Finding, findings
from services.cluster.exposure import Exposure
from services.cluster.on_head import Head
from services.cluster.starting import missing
from services.errors import HanseError

HERE: Final = "(here)"
"""Stands for the user's machine in the table."""
SHARED_BYTES: Final = 200_000_000
"""What deploy/local.yaml gives Ray's object store, in /dev/shm."""
RENEW_DAYS: Final = 30
_OTHERS: Final = 0o077
"""What a file's mode lets others than its owner do."""
_TOKEN: Final = "~/.ray/auth_token"
_CLOSED: Final = {8265: "--dashboard-host=127.0.0.1", 10001: "no grpcio installed there"}
"""Ports that nobody but their own machine is to reach, and what closes them in `ray start`."""


class HostCheck(NamedTuple):
    """One thing that was looked at on one host."""

    host: str
    check: Check

    def document(self) -> dict[str, Any]:
        """For --json."""
        return {"host": self.host, **self.check.document()}


class Look(NamedTuple):
    """What was learned of a cluster."""

    facts: dict[str, Facts]
    exposures: dict[str, Exposure]
    silent: dict[str, str]
    """Why hosts did not say anything."""
    status: dict[str, Any] | None
    """What the head says of its nodes; ``None`` if Ray is not up there."""
    fault: str = ""
    """Why the head does not say it though Ray is up."""


def look(cluster: ClusterFile, ssh: Ssh) -> Look:
    """Asks every host, and the head for its nodes if Ray is up there."""
    answers, problems = ssh.on_all(
        cluster.hosts, lambda host: (asking.ask(ssh, host), exposure.ask(ssh, host))
    )
    facts = {host: fact for host, (fact, _) in answers.items()}
    exposures = {host: shown for host, (_, shown) in answers.items()}
    silent = {
        host: next((p for p in problems if p.startswith(f"{host}: ")), f"{host}: says nothing")
        for host in cluster.hosts
        if host not in answers
    }
    if cluster.head not in facts or not _has_head(facts[cluster.head]):
        return Look(facts, exposures, silent, None)
    try:
        return Look(facts, exposures, silent, Head(cluster, ssh).ask("status"))
    except HanseError as error:
        return Look(facts, exposures, silent, None, str(error))


def check_cluster(cluster: ClusterFile, seen: Look) -> list[HostCheck]:
    """All checks, host by host, the user's machine first."""
    found = findings(seen.facts, cluster.head, version("ray"))
    checks = [HostCheck(HERE, _token_here(cluster))]
    for host in cluster.hosts:
        if host in seen.silent:
            fault, _, remedy = seen.silent[host].removeprefix(f"{host}: ").partition("; ")
            checks.append(HostCheck(host, Check("ssh", "failed", fault, remedy)))
            continue
        own = [finding for finding in found if finding.host == host]
        checks += [HostCheck(host, check) for check in _of_host(cluster, seen, host, own)]
    return checks


def _of_host(cluster: ClusterFile, seen: Look, host: str, found: list[Finding]) -> Iterator[Check]:
    facts, shown = seen.facts[host], seen.exposures[host]
    yield Check("ssh", "ok", f"lets {cluster.user} in")
    fine = _fine(facts, cluster.head)
    for aspect in ASPECTS:
        faults = [finding for finding in found if finding.aspect == aspect]
        yield Check(
            aspect,
            "failed" if faults else "ok",
            "; ".join(finding.fault for finding in faults) or fine[aspect],
            "; ".join(finding.remedy for finding in faults),
        )
    is_up = bool(facts.processes)
    yield _shared_memory(shown, is_up)
    yield _secrets(shown, is_up)
    yield _tls(cluster, facts, shown, is_up)
    yield _listening(shown)
    yield _ray(cluster, seen, host)


def _fine(facts: Facts, head: str) -> dict[str, str]:
    """What is said of each aspect when nothing is wrong with it."""
    ray = facts.packages.get("ray", "")
    clock = (
        "right"
        if abs(facts.clock) < 0.05
        else (f"{abs(facts.clock):.1f} s {facts.ahead_or_behind}")
    )
    return {
        "versions": f"Python {facts.python}, Ray {ray}; packages as on {head}",
        "programs": "rsync is there",
        "host name": f"{facts.name} resolves",
        "disk": ", ".join(f"{size(free)} free in {folder}" for folder, free in facts.disk.items()),
        "clock": clock,
    }


def _token_here(cluster: ClusterFile) -> Check:
    try:
        exists = cluster.check_token()
    except HanseError as error:
        fault, _, remedy = str(error).removeprefix(f"{cluster.token}: ").partition("; ")
        return Check("token", "failed", fault, remedy)
    if not exists:
        return Check("token", "ok", f"none at {cluster.token} yet; hanse cluster up makes it")
    return Check("token", "ok", f"{cluster.token}, for its owner alone")


def _shared_memory(shown: Exposure, is_up: bool) -> Check:
    text = f"{size(shown.shared_memory)} free in /dev/shm"
    if shown.shared_memory >= SHARED_BYTES or is_up:
        return Check("shared memory", "ok", text)
    return Check(
        "shared memory",
        "warning",
        f"{text}, where Ray's object store wants {size(SHARED_BYTES)}",
        "mount -o remount,size=1g /dev/shm there, or lower --object-store-memory",
    )


def _secrets(shown: Exposure, is_up: bool) -> Check:
    open_to_others = [path for path, mode in shown.secrets.items() if int(mode, 8) & _OTHERS]
    if open_to_others:
        modes = ", ".join(f"{path} has mode {shown.secrets[path]}" for path in open_to_others)
        return Check(
            "secrets",
            "failed",
            f"{modes}: others may have read it",
            f"chmod 600 {' '.join(open_to_others)} there; where others log in, make a new token",
        )
    if _TOKEN not in shown.secrets:
        if is_up:
            remedy = "hanse cluster down, then up, which brings it"
            return Check("secrets", "failed", f"{_TOKEN} is missing", remedy)
        return Check("secrets", "ok", "no token yet; hanse cluster up brings it")
    return Check("secrets", "ok", f"{', '.join(shown.secrets)}: for their owner alone")


def _tls(cluster: ClusterFile, facts: Facts, shown: Exposure, is_up: bool) -> Check:
    if cluster.tls is None:
        return Check(
            "TLS", "ok", "off: who can listen on the network can read along; deploy/EXPOSED.md"
        )
    if not cluster.tls.is_hanses:
        return Check("TLS", "ok", f"on, with a certificate of your own: {cluster.tls.certificate}")
    if not shown.certificate:
        if is_up:
            remedy = "hanse cluster down, then up, which brings it"
            return Check("TLS", "failed", f"{facts.name} has no certificate", remedy)
        return Check("TLS", "ok", "on; no certificate yet, hanse cluster up brings it")
    try:
        days = days_left(shown.certificate)
    except HanseError as error:
        fault, _, remedy = str(error).partition("; ")
        return Check("TLS", "failed", fault, remedy)
    text = f"on; the certificate ends in {days} days"
    if days > RENEW_DAYS:
        return Check("TLS", "ok", text)
    remedy = "hanse cluster down, then up, which brings a new one"
    return Check("TLS", "failed" if days < 1 else "warning", text, remedy)


def _listening(shown: Exposure) -> Check:
    reached = [one for one in shown.listening if one.beyond_loopback]
    ports: dict[str, list[str]] = {}
    for one in reached:
        ports.setdefault(one.program, []).append(str(one.port))
    text = ", ".join(f"{name} {' '.join(all_)}" for name, all_ in ports.items()) or "nothing"
    remedies = [_CLOSED[one.port] for one in reached if one.port in _CLOSED]
    if remedies:
        return Check("beyond loopback", "failed", text, f"ray start {' '.join(remedies)}")
    return Check("beyond loopback", "ok", text)


def _ray(cluster: ClusterFile, seen: Look, host: str) -> Check:
    again = typed("hanse", "cluster", "up", cluster.path)
    if seen.fault:
        return Check("Ray", "failed", f"is up, but {seen.fault}", f"{again} after a down")
    number = len(seen.facts[host].processes)
    if seen.status is None:
        if not number:
            return Check("Ray", "ok", "is not up")
        return Check(
            "Ray",
            "warning",
            f"{number} processes of Ray or a league, without a head",
            typed("hanse", "cluster", "down", cluster.path),
        )
    if host in missing(cluster, seen.status):
        return Check("Ray", "failed", "is not part of the cluster", again)
    names = {host, seen.facts[host].name, *seen.exposures[host].addresses}
    nodes = [n for n in seen.status["nodes"] if names & {n["host"], n["address"]}]
    carried = [name for node in nodes for name in node["carries"]]
    return Check("Ray", "ok", f"is up; carries {', '.join(carried) or 'no league'}")


def _has_head(facts: Facts) -> bool:
    return any("gcs_server" in process for process in facts.processes)
