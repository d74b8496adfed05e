"""Two hundred create/run/close cycles in one process must leave nothing behind."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

from actors.league import League
from services.config import standard
from tests.bench.measuring import Bench


def left_behind() -> dict[str, int]:
    """Open handles, threads, child processes and shared-memory files of this process."""
    me = os.getpid()
    children = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            children += int(fields[1]) == me and fields[0] != "Z"
    shared = Path("/dev/shm")
    return {
        "handles": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "children": children,
        "shared memory": len(list(shared.iterdir())) if shared.exists() else 0,
    }


def cycle(placement: str, folder: Path) -> None:
    """One league from creation to its end."""
    config = standard().with_overrides(source="bench", days=1, placement=placement, hosts=1)
    with League.create(config, folder) as league:
        league.run()


def bench(table: Bench, cycles: int = 200, on_ray: int = 200) -> None:
    """Counts before and after, inline and on Ray's actors (Ray itself stays up)."""
    with tempfile.TemporaryDirectory() as folder:
        cycle("inline", Path(folder) / "warm")
        before = left_behind()
        for number in range(cycles):
            cycle("inline", Path(folder) / str(number))
        _compare(table, f"{cycles} inline cycles", before, left_behind())
    import ray
    from ray.util.state import list_actors

    from actors.local_ray import start_ray

    start_ray()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(3):
                cycle("packed", Path(folder) / f"warm-{number}")
            before = left_behind()
            for number in range(on_ray):
                cycle("packed", Path(folder) / str(number))
            _compare(table, f"{on_ray} cycles on Ray", before, left_behind())
            try:
                alive = len(list_actors(filters=[("state", "=", "ALIVE")], limit=1000))
            except Exception:
                alive = -1
            if alive >= 0:
                table.add(
                    "cycles", "actors alive after the cycles on Ray", alive, "", "0", alive == 0
                )
    finally:
        ray.shutdown()


def _compare(table: Bench, what: str, before: dict[str, int], after: dict[str, int]) -> None:
    for kind, number in after.items():
        more = number - before[kind]
        table.add("cycles", f"{kind} left by {what}", more, "", "0", more <= 0)
