"""What all benchmarks share: repeating, spreads, and the machine they ran on."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any


@dataclass
class Line:
    """One row of the table."""

    bench: str
    what: str
    value: str
    spread: str = ""
    goal: str = ""
    met: bool | None = None


@dataclass
class Bench:
    """Collects lines, and notes that are printed below the table."""

    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(
        self,
        bench: str,
        what: str,
        values: list[float] | float,
        unit: str,
        goal: str = "",
        met: bool | None = None,
    ) -> float:
        """Adds the median of the values with their range; returns the median."""
        many = values if isinstance(values, list) else [values]
        middle = statistics.median(many)
        spread = f"{len(many)} x, {_number(min(many))} to {_number(max(many))}"
        self.lines.append(Line(bench, what, f"{_number(middle)} {unit}".strip(), spread, goal, met))
        return middle


def _number(value: float) -> str:
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cpu_seconds(call: Callable[[], Any], times: int) -> list[float]:
    """CPU seconds of this process for each of several calls, after one to warm up."""
    call()
    found = []
    for _ in range(times):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return found


def machine() -> str:
    """The machine and the versions, in a line."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    versions = ", ".join(
        f"{name} {metadata.version(name)}" for name in ("ray", "pydantic", "msgpack")
    )
    return (
        f"{os.cpu_count()} cores ({model}), load {load:.1f},"
        f" Python {platform.python_version()}, {versions}"
    )
