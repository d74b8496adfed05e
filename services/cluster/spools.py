"""Bringing home what the workers of a cluster have kept of a run, in their spools.

A league on the head asks its hosts for it over Ray. Here a run is taken from the cluster, and Ray
may be down: the files come over ssh to where `hanse resume` looks for those of its own machine.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import NamedTuple

from services.cluster.cluster_file import ClusterFile
from services.cluster.ssh import Ssh
from services.runs.epochs import SPOOLS, SPOOLS_AWAY


class Brought(NamedTuple):
    """What came of it."""

    hosts: list[str]
    """Those that had some, and whose files are here now."""
    problems: list[str]
    """A line for each host that could not be asked, which names it."""


def bring(cluster: ClusterFile, ssh: Ssh, run_id: str, run: Path) -> Brought:
    """Copies a run's spools from all workers into its folder here.

    Args:
        cluster: The cluster.
        ssh: The way to it.
        run_id: The run's id.
        run: Its folder here.
    """
    there = f"{SPOOLS_AWAY}/{run_id}"
    here = run / SPOOLS

    def fetch(host: str) -> bool:
        if ssh.run(host, f"test -d {quote(there)}").returncode != 0:
            return False
        # No two machines have files of one name: in an epoch a host of a league does not move.
        here.mkdir(parents=True, exist_ok=True)
        ssh.fetch(host, there, here)
        return True

    had, problems = ssh.on_all(cluster.workers, fetch)
    return Brought([host for host, some in had.items() if some], problems)


def remove(ssh: Ssh, run_id: str, hosts: list[str]) -> None:
    """Removes a run's spools on hosts once its folder is whole here; silent hosts are let be."""
    ssh.on_all(hosts, lambda host: ssh.run(host, f"rm -rf {quote(f'{SPOOLS_AWAY}/{run_id}')}"))
