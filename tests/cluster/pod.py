"""What a container of Kubernetes or Docker has, made of namespaces: little.

Its network is a loopback of its own. All is read-only but ``/tmp``, ``/dev/shm`` and one folder.
Its processes are those of a user without a name, a home or any right of root's, who can get none.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cluster.hosts import PROJECT

USER = 1000
PRIVATE = ("/tmp", "/root")
"""Folders that it has of its own, empty but for what it needs."""


def in_pod(script: str, folder: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    """Runs a bash script in a new one; all that it starts ends with it.

    Args:
        script: The script. ``ray`` and ``python`` are on its PATH, Hanse can be imported.
        folder: What it may write to, at the same path inside; not below ``/tmp``.
        timeout: Seconds.
    """
    (folder / "script").write_text(script)
    folder.chmod(0o777)
    kept = [Path(sys.base_prefix), Path(sys.prefix), PROJECT]
    lines = ["ip link set lo up", "mount --make-rprivate /", "mount -t proc proc /proc"]
    lines += [f"mount --bind {folder} {folder}"]
    for number, path in enumerate(kept):
        lines += [f"mkdir {folder}/{number}", f"mount --rbind {path} {folder}/{number}"]
    lines += [f"mount -t tmpfs -o mode=1777 tmpfs {path}" for path in (*PRIVATE, "/dev/shm")]
    lines += ["mount -o remount,bind,ro /"]
    for number, path in enumerate(kept):
        lines += [f"mkdir -p {path}", f"mount --rbind {folder}/{number} {path}"]
        lines += [f"mount -o remount,bind,ro {path}"]
    lines += [
        f"exec setpriv --reuid {USER} --regid {USER} --clear-groups --no-new-privs"
        " --bounding-set=-all --inh-caps=-all env -i HOME=/nonexistent RAY_USAGE_STATS_ENABLED=0"
        f" PATH={Path(sys.executable).parent}:/usr/bin:/bin PYTHONPATH={PROJECT}"
        f" PYTHONDONTWRITEBYTECODE=1 bash {folder}/script"
    ]
    words = ["unshare", "--net", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
    return subprocess.run(
        [*words, "bash", "-ec", "\n".join(lines)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )
