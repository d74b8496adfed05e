"""A Redis on the head, and a cluster file whose head keeps Ray's table of the cluster in it."""

from __future__ import annotations

import secrets
import shutil

from tests.cluster.hosts import Hosts
from tests.cluster.laptop import Laptop


def missing() -> str | None:
    """Why there is none; ``None`` if there can be one."""
    return None if shutil.which("redis-server") else "needs the Debian package redis-server"


def is_used(hosts: Hosts) -> bool:
    """Whether the cluster that is up uses one."""
    return "--redis_address=1" in hosts["h1"].ssh("pgrep -af gcs/gcs_server", check=False).stdout


def with_redis(laptop: Laptop, hosts: Hosts) -> str:
    """Starts one; the name of the cluster file."""
    head = hosts["h1"]
    password = secrets.token_hex(16)
    profile = head.home / ".bash_profile"
    profile.write_text(f"{profile.read_text()}export REDIS_PASSWORD={password}\n")
    head.ssh(
        "redis-server --port 6399 --bind 127.0.0.1 --requirepass $REDIS_PASSWORD"
        " --save '' --dir /tmp --daemonize yes"
    )
    start = "    ray start --head --port=6379\n"
    changed = (
        f'    RAY_REDIS_ADDRESS=127.0.0.1:6399\n{start}    --redis-password="$REDIS_PASSWORD"\n'
    )
    laptop.cluster_file("redis.yaml", **{start: changed})
    assert password not in (laptop.home / "redis.yaml").read_text()
    return "redis.yaml"
