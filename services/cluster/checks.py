"""What hosts need, and need to have in common, before a cluster of them makes sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

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

    @property
    def ahead_or_behind(self) -> str:
        """Which way its clock is wrong."""
        return "ahead" if self.clock > 0 else "behind"

    @classmethod
    def parse(cls, answer: Mapping[str, Any], asked: float, answered: float) -> Facts:
        """From a host's answer, and the seconds (of this machine) when it was asked and came.

        Raises:
            ValueError: it is not such an answer.
        """
        told = TypeAdapter(cls).validate_python(answer, strict=True)
        ahead = told.clock - (asked + answered) / 2
        # Half of the time that the answer took may have passed before or after.
        doubt = (answered - asked) / 2
        ahead = 0.0 if abs(ahead) <= doubt else ahead
        return told._replace(clock=ahead)


class Finding(NamedTuple):
    """Something about a host that has to be mended."""

    host: str
    aspect: str
    """Which of :data:`ASPECTS` it is about."""
    fault: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.host}: {self.fault}; {self.remedy}"


ASPECTS: Final = ("versions", "programs", "host name", "disk", "clock")


def findings(facts: Mapping[str, Facts], head: str, ray_here: str) -> list[Finding]:
    """What has to be mended first, each with its host and the remedy.

    Args:
        facts: What each host said.
        head: The host that the others are compared with; another is, if it said nothing.
        ray_here: The version of Ray on this machine, which starts the others'.
    """
    first = head if head in facts else next(iter(facts), head)
    return [
        Finding(host, aspect, fault, remedy)
        for host, fact in facts.items()
        for aspect, fault, remedy in (
            *_versions(fact, first, facts[first], ray_here),
            *_host_alone(fact),
        )
    ]


def _versions(
    fact: Facts, first: str, of_first: Facts, ray_here: str
) -> Iterator[tuple[str, str, str]]:
    lacking = [package for package, version in fact.packages.items() if not version]
    if lacking:
        fault = f"{', '.join(lacking)} not installed for its Python {fact.python}"
        yield "versions", fault, "pip install -r requirements.lock there"
    if fact.python != of_first.python:
        fault = f"has Python {fact.python}, {first} has {of_first.python}"
        yield "versions", fault, "all hosts need the same"
    for package, version in fact.packages.items():
        wanted = ray_here if package == "ray" else of_first.packages[package]
        if version and wanted and version != wanted:
            where = "this machine" if package == "ray" else first
            fault = f"has {package} {version}, {where} has {wanted}"
            yield "versions", fault, f"pip install {package}=={wanted} there"


def _host_alone(fact: Facts) -> Iterator[tuple[str, str, str]]:
    if not fact.rsync:
        yield "programs", "rsync is not installed", "apt install rsync there"
    if not fact.resolves:
        yield (
            "host name",
            f"does not find the address of its own name {fact.name}, and Ray would wait for it"
            " again and again",
            "add it to /etc/hosts there",
        )
    for folder, free in fact.disk.items():
        if free < DISK_BYTES:
            yield (
                "disk",
                f"its disk is full: {free / 1e6:.0f} MB free in {folder}, needs"
                f" {DISK_BYTES / 1e6:.0f}",
                "free some there",
            )
    if abs(fact.clock) > CLOCK_SECONDS:
        yield (
            "clock",
            f"its clock is {abs(fact.clock):.0f} s {fact.ahead_or_behind} of this machine's",
            "set it, or switch on its time service (timedatectl set-ntp true)",
        )
