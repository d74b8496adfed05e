"""What the processes of a host take: CPU, told apart by what they are, and bytes on its cable."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

LEAGUE: Final = "league and recorder"
HOSTS: Final = "hosts"
RAYLETS: Final = "raylets"
GCS: Final = "GCS"
AUTOSCALER: Final = "autoscaler"
OTHERS: Final = "other processes of Ray"
APART: Final = "ssh"
"""What is not counted: it carries the benchmark's own connections."""
KINDS: Final = (LEAGUE, HOSTS, RAYLETS, GCS, AUTOSCALER, OTHERS)
_TOLD_BY: Final = (
    ("ray::HostActor", HOSTS),
    ("gcs_server", GCS),
    ("autoscaler/_private/monitor.py", AUTOSCALER),
    ("raylet/raylet", RAYLETS),
    ("cluster_program", LEAGUE),
    ("sshd", APART),
    ("bash -lc", APART),
)
"""Words of a command line, and what it is; the first that fits."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """A process at a moment."""

    kind: str
    own: int
    """Ticks of its own, in user mode and in the system."""
    children: int
    """Ticks of its children that have ended and were waited for."""


def kind_of(command_line: str) -> str:
    """What a process is, by its command line."""
    return next((kind for words, kind in _TOLD_BY if words in command_line), OTHERS)


def ticks(stat: str) -> tuple[int, int]:
    """A process's own ticks and those of its ended children, from ``/proc/PID/stat``."""
    # The name, in brackets, may hold anything.
    fields = stat.rpartition(")")[2].split()
    user, system, user_children, system_children = map(int, fields[11:15])
    return user + system, user_children + system_children


def spent(before: Mapping[int, Process], after: Mapping[int, Process]) -> dict[str, float]:
    """CPU seconds between two moments, by kind.

    A process that has ended in between is counted with the one that has waited for it.
    """
    total: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    for now in after.values():
        total[now.kind] += now.own + now.children
    for number, then in before.items():
        kind = after[number].kind if number in after else then.kind
        parent = 0 if number not in after else then.children
        total[kind] -= then.own + parent
    return {kind: total[kind] / _TICKS for kind in KINDS}


def processes(namespaces: Iterable[str]) -> dict[int, Process]:
    """All processes in the named network namespaces, by number."""
    inodes = {(Path("/run/netns") / name).stat().st_ino for name in namespaces}
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            if (folder / "ns" / "net").stat().st_ino not in inodes:
                continue
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if words:
                stat = (folder / "stat").read_text(errors="replace")
                found[int(folder.name)] = Process(kind_of(words), *ticks(stat))
        except OSError:
            continue  # it has ended meanwhile
    return found


def sent_bytes(namespaces: Iterable[str]) -> int:
    """What hosts have sent over their cables since these were laid, all together.

    The outer end of a cable has received what the host has sent.
    """
    counters = (Path(f"/sys/class/net/{name}/statistics/rx_bytes") for name in namespaces)
    return sum(int(counter.read_text()) for counter in counters)
