"""What hosts need, and need to have in common, before a cluster of them makes sense."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

CLOCK_SECONDS: Final = 60.0
"""By how much clocks may differ: the logs and spans of hosts have to fit together."""
DISK_BYTES: Final = 300_000_000
"""Ray's session folder, the code and a run need about this much, at least."""


class Facts(NamedTuple):
    """What a host said about itself (:mod:`services.cluster.on_host`)."""

    name: str
    python: str
    packages: dict[str, str]
    """Version by package; empty if it is not installed."""
    rsync: bool
    resolves: bool
    """Whether it finds the address of its own name without a long search."""
    disk: dict[str, int]
    """Free bytes by folder."""
    clock: float
    """Seconds by which its clock is ahead of this machine's."""
    processes: list[str]
    """Ray's processes and those of leagues that run there, as ``pid command``."""

    @classmethod
    def parse(cls, answer: Mapping[str, Any], asked: float, answered: float) -> Facts:
        """From a host's answer, and the seconds (of this machine) when it was asked and came."""
        ahead = answer["clock"] - (asked + answered) / 2
        # Half of the time that the answer took may have passed before or after.
        doubt = (answered - asked) / 2
        ahead = 0.0 if abs(ahead) <= doubt else ahead
        return cls(**{**answer, "clock": ahead})


def problems(facts: Mapping[str, Facts], head: str, ray_here: str) -> list[str]:
    """What has to be mended first, each in a line that names the host and the remedy.

    Args:
        facts: What each host said.
        head: The host that the others are compared with.
        ray_here: The version of Ray on this machine, which starts the others'.
    """
    found: list[str] = []
    first = facts[head]
    for host, fact in facts.items():
        lacking = [package for package, version in fact.packages.items() if not version]
        if lacking:
            found.append(
                f"{host}: {', '.join(lacking)} not installed for its Python {fact.python};"
                " pip install -r requirements.lock there"
            )
        if not fact.rsync:
            found.append(f"{host}: rsync is not installed")
        if fact.python != first.python:
            found.append(
                f"{host}: has Python {fact.python}, {head} has {first.python}; all hosts need the"
                " same"
            )
        for package, version in fact.packages.items():
            wanted = ray_here if package == "ray" else first.packages[package]
            if version and wanted and version != wanted:
                where = "this machine" if package == "ray" else head
                found.append(
                    f"{host}: has {package} {version}, {where} has {wanted};"
                    f" pip install {package}=={wanted} there"
                )
        if not fact.resolves:
            found.append(
                f"{host}: does not find the address of its own name {fact.name}, and Ray would wait"
                f" for it again and again; add it to /etc/hosts there"
            )
        for folder, free in fact.disk.items():
            if free < DISK_BYTES:
                found.append(
                    f"{host}: its disk is full: {free / 1e6:.0f} MB free in {folder}, needs"
                    f" {DISK_BYTES / 1e6:.0f}; free some there"
                )
        if abs(fact.clock) > CLOCK_SECONDS:
            way = "ahead" if fact.clock > 0 else "behind"
            found.append(
                f"{host}: its clock is {abs(fact.clock):.0f} s {way} of this machine's; set it, or"
                " switch on its time service (timedatectl set-ntp true)"
            )
    return found
