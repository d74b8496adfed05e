"""Hosts of a cluster, as the user's machine sees them: the cluster file, ssh, what each host has.

Nothing here imports Ray or an actor. The commands are in ``services/cli/cluster.py``; what runs on
the head is ``services/cli/cluster_head.py``.
"""

from services.cluster.cluster_file import ClusterFile
from services.cluster.ssh import Ssh, Unreachable

__all__ = ["ClusterFile", "Ssh", "Unreachable"]
