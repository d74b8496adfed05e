"""What a host does for the user's machine: `python - facts` or `python - end`, with this on stdin.

It runs on hosts that have no Hanse, so it imports nothing but the standard library. The answer is
one line of JSON.
"""

import json
import os
import shutil
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("ray", "pydantic", "msgpack", "zstandard", "typer", "rich", "networkx", "numpy",
            "scipy", "opentelemetry-sdk")  # fmt: skip


def facts() -> dict[str, object]:
    """Python, packages, disk, clock, name, and the processes of Ray and of leagues."""
    packages = {}
    for package in PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            packages[package] = ""
    name = socket.gethostname()
    began = time.monotonic()
    try:
        socket.gethostbyname(name)
        resolves = time.monotonic() - began < 2
    except OSError:
        resolves = False
    return {
        "name": name,
        "python": ".".join(map(str, sys.version_info[:2])),
        "packages": packages,
        "rsync": shutil.which("rsync") is not None,
        "resolves": resolves,
        "disk": disks(os.path.expanduser("~"), "/tmp", os.path.expanduser("~/.hanse")),
        "clock": time.time(),
        "processes": processes(),
    }


def disks(*places: str) -> dict[str, int]:
    """Free bytes by place; of places on one disk the first alone."""
    free: dict[int, tuple[str, int]] = {}
    for place in places:
        with suppress(OSError):  # it does not exist yet
            free.setdefault(os.stat(place).st_dev, (place, shutil.disk_usage(place).free))
    return dict(free.values())


def processes() -> list[str]:
    """Ray's processes and those of leagues, of this user, as ``pid command``."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdecimal() or int(entry) == os.getpid():
            continue
        try:
            if os.stat(f"/proc/{entry}").st_uid != os.getuid():
                continue
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").strip("\0").split("\0")
        except OSError:
            continue  # it has ended meanwhile
        if is_ours(words):
            found.append(f"{entry} {' '.join(words).strip()}")
    return found


def is_ours(words: list[str]) -> bool:
    """Whether a command line is one of Ray's or of a league's, and does not merely name one."""
    title = words[0]
    if title.startswith(("ray::", "ray-dashboard-")) or "/ray/core/src/ray/" in title:
        return True
    program = os.path.basename(title)
    if program in ("ssh", "rsync") or title.startswith("ssh: "):
        return any("/ray_ssh_" in word for word in words)
    if not program.startswith("python"):
        return False
    rest = iter(words[1:])
    for word in rest:
        if word == "-m":
            module = next(rest, "")
            return module == "services.cli.cluster_head" or module.startswith("ray.")
        if word in ("-X", "-W"):
            next(rest, "")
        elif word in ("-c", "-"):
            return False
        elif not word.startswith("-"):
            folders = ("/ray/_private/", "/ray/dashboard/", "/ray/autoscaler/")
            return any(folder in word for folder in folders)
    return False


def end(patience: float = 4.0) -> list[str]:
    """Ends them all, first with a request and then without; those that are left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + patience
        while (left := processes()) and time.monotonic() < deadline:
            for line in left:
                with suppress(OSError):  # it has ended meanwhile
                    os.kill(int(line.split()[0]), number)
            time.sleep(0.3)
        if not left:
            return []
    return left


if __name__ == "__main__":
    print(json.dumps(end() if sys.argv[1:] == ["end"] else facts()))
