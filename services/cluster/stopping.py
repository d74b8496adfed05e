"""Stopping a cluster, so that nothing of it is left on any host."""

from __future__ import annotations

from services.cluster.asking import end_all
from services.cluster.cluster_file import ClusterFile
from services.cluster.ssh import Ssh


def stop(cluster: ClusterFile, ssh: Ssh) -> list[str]:
    """Stops Ray and every league on all hosts.

    `ray down` would end the head alone, and the head's own processes start the others anew: so the
    head goes first, then the rest at once.

    Returns:
        What could not be stopped, each in a line that names the host and the remedy.
    """
    problems: list[str] = []
    for hosts in ((cluster.head,), cluster.workers):
        left, silent = ssh.on_all(hosts, lambda host: end_all(ssh, host))
        problems += silent
        problems += [
            f"{host}: {len(lines)} processes do not end: {lines[0]}; kill -9"
            f" {' '.join(line.split()[0] for line in lines)} there"
            for host, lines in left.items()
            if lines
        ]
    return problems
