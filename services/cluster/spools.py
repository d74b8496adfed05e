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
from services.errors import HanseError
from services.runs.epochs import SPOOLS, SPOOLS_AWAY


class Brought(NamedTuple):
    """What came of it."""

    hosts: list[str]
    """Those that had some, and whose files are here now."""
    problems: list[str]
    """A line for each host that is away, which names it."""


def bring(cluster: ClusterFile, ssh: Ssh, run_id: str, run: Path) -> Brought:
    """Copies a run's spools from all workers into its folder here.

    Args:
        cluster: The cluster.
        ssh: The way to it.
        run_id: The run's id.
        run: Its folder here.

    Raises:
        HanseError: a worker that is not away has some that could not be copied.
    """
    there = f"{SPOOLS_AWAY}/{run_id}"
    here = run / SPOOLS
    failed: list[str] = []

    def fetch(host: str) -> bool:
        looked = ssh.run(host, f"test -d {quote(there)}").returncode
        if looked == 1:
            return False
        try:
            if looked != 0:
                raise HanseError(f"{host}: does not say whether it has spools, but ends: {looked}")
            # No two machines have files of one name: in an epoch a host of a league does not move.
            here.mkdir(parents=True, exist_ok=True, mode=0o700)
            ssh.fetch(host, there, here)
        except (HanseError, OSError) as error:
            ssh.run(host, "true")  # if it does not answer now, it has gone away meanwhile
            failed.append(
                f"{error}; the run stays on the cluster: mend it and try again, or do without what"
                f" {host} has kept, and remove ~/{there} there"
            )
            return False
        return True

    had, problems = ssh.on_all(cluster.workers, fetch)
    if failed:
        raise HanseError("; ".join(failed))
    return Brought([host for host, some in had.items() if some], problems)


def remove(ssh: Ssh, run_id: str, hosts: list[str]) -> None:
    """Removes a run's spools on hosts once its folder is whole here; silent hosts are let be."""
    ssh.on_all(hosts, lambda host: ssh.run(host, f"rm -rf {quote(f'{SPOOLS_AWAY}/{run_id}')}"))
