"""What Hanse needs of a machine, each as a check with a remedy."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from services.cli.console import size
from services.cli.folders import RUNS

_NEEDED = ("ray", "pydantic", "msgpack", "typer", "rich", "numpy", "scipy", "networkx")
_FOR_DATA = ("pandas", "pyarrow")
_GIGABYTE = 1e9
_RAY_TIMEOUT = 90.0


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warning", "failed"]
    found: str
    remedy: str = ""

    def document(self) -> dict[str, Any]:
        """For --json."""
        return asdict(self)


def check_machine(*, start_ray: bool) -> list[Check]:
    """All checks, the cheap ones first.

    Args:
        start_ray: start Ray in a process of its own, run a task, and stop it (some seconds).
    """
    checks: list[Callable[[], Check]] = [
        check_python,
        check_packages,
        check_memory,
        check_shared_memory,
        check_disk,
        check_ports,
        check_host_name,
        *([check_ray] if start_ray else []),
    ]
    return [check() for check in checks]


def check_python(found: tuple[int, int] = sys.version_info[:2]) -> Check:
    """3.11 to 3.13."""
    text = ".".join(map(str, found))
    if (3, 11) <= found <= (3, 13):
        return Check("Python", "ok", f"{text} at {sys.executable}")
    return Check("Python", "failed", text, "use Python 3.11, 3.12 or 3.13")


def check_packages(version_of: Callable[[str], str] = version) -> Check:
    """The packages that Hanse imports; those for tables are optional."""
    found, missing = [], []
    for package in (*_NEEDED, *_FOR_DATA):
        try:
            found.append(f"{package} {version_of(package)}")
        except PackageNotFoundError:
            missing.append(package)
    text = ", ".join(found)
    needed = [package for package in missing if package in _NEEDED]
    if needed:
        return Check("packages", "failed", text, f"pip install {' '.join(needed)}")
    if missing:
        remedy = "for data frames and hanse export: pip install 'hanse[data]'"
        return Check("packages", "warning", text, remedy)
    return Check("packages", "ok", text)


def check_memory() -> Check:
    """Ray's own processes take about 0.5 GB, each actor process 60 MB."""
    available = available_memory()
    if available is None:
        return Check("memory", "warning", "unknown on this system")
    text = f"{size(available)} available"
    if available < 0.7 * _GIGABYTE:
        return Check("memory", "failed", text, "free some, or use --placement inline (no Ray)")
    if available < 2 * _GIGABYTE:
        return Check(
            "memory", "warning", text, "enough for few Ray actors; use --placement inline or packed"
        )
    actors = int((available - _GIGABYTE) / 70e6)
    return Check("memory", "ok", f"{text}: room for about {actors} Ray actors")


def available_memory() -> float | None:
    """Bytes that a new process could use: of the machine, or of the container if that is less."""
    amounts = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                amounts.append(float(line.split()[1]) * 1024)
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        if limit.isdecimal():
            used = float(Path("/sys/fs/cgroup/memory.current").read_text())
            amounts.append(float(limit) - used)
    except (OSError, ValueError):
        pass
    if amounts:
        return min(amounts)
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return None


def check_shared_memory() -> Check:
    """Ray's object store lives in /dev/shm; containers often have 64 MB of it."""
    folder = Path("/dev/shm")
    if not folder.is_dir():
        return Check("shared memory", "ok", "not used on this system")
    free = shutil.disk_usage(folder).free
    text = f"{size(free)} free in {folder}"
    if free < 0.2 * _GIGABYTE:
        return Check(
            "shared memory", "warning", text, "Ray falls back to disk; docker run --shm-size=1g"
        )
    return Check("shared memory", "ok", text)


def check_disk(folder: Path = RUNS) -> Check:
    """A default run takes some tens of MB."""
    place = next(place for place in (folder, *folder.absolute().parents) if place.is_dir())
    free = shutil.disk_usage(place).free
    text = f"{size(free)} free for {folder}/"
    if not os.access(place, os.W_OK):
        return Check("disk", "failed", f"{place} cannot be written to", "use --out FOLDER")
    if free < 0.1 * _GIGABYTE:
        return Check("disk", "failed", text, "free some space, or use --out FOLDER")
    if free < _GIGABYTE:
        return Check("disk", "warning", text, "long runs need more; or use --out FOLDER")
    return Check("disk", "ok", text)


def check_ports() -> Check:
    """Ray's processes talk over local ports that the system chooses; only a cluster's is fixed."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port), timeout=2):
                pass
    except OSError as error:
        return Check(
            "ports",
            "failed",
            f"no connection on 127.0.0.1 ({error})",
            "allow local connections in the firewall, or use --placement inline (no Ray)",
        )
    if not _is_free(6379):
        return Check("ports", "ok", "local ports work; 6379 is taken (a Ray or Redis server)")
    return Check("ports", "ok", "local ports work")


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def check_host_name() -> Check:
    """Ray looks up the machine's own name; a name that does not resolve costs it 10 s each time."""
    name = socket.gethostname()
    started = time.perf_counter()
    try:
        socket.gethostbyname(name)
        text, known = f"{name} resolves", True
    except OSError:
        text, known = f"{name} does not resolve", False
    seconds = time.perf_counter() - started
    if known and seconds < 1:
        return Check("host name", "ok", text)
    return Check(
        "host name",
        "warning",
        f"{text} ({seconds:.1f} s)",
        f"Ray starts slowly; add '127.0.0.1 {name}' to /etc/hosts",
    )


def check_ray(timeout: float = _RAY_TIMEOUT) -> Check:
    """Start Ray, run a task and stop it, in a process that can be given up on."""
    remedy = "runs without Ray work: --placement inline"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "services.cli.ray_probe"],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Check("Ray", "failed", f"did not start within {timeout:.0f} s", remedy)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return Check("Ray", "failed", f"does not start: {last}", remedy)
    seconds = json.loads(done.stdout.splitlines()[-1])
    address = os.environ.get("RAY_ADDRESS")
    cluster = f"; RAY_ADDRESS is {address}" if address else ""
    return Check(
        "Ray",
        "ok",
        f"starts in {seconds['start']:.1f} s, first task in {seconds['task']:.1f} s{cluster}",
    )
