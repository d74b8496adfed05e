"""The studies beside the note's figures, for a terminal and for a file."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from policies.concave.study.bias import BiasRow, run_bias
from policies.concave.study.demands import Demand, demands
from policies.concave.study.learning import FAST, RATE, LearningRow, run_bandit, run_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table as RichTable

NOTE_BIAS: Final = {
    ("shortfall", 1): ".70 (2.0)",
    ("shortfall", 2): ".47",
    ("shortfall", 4): ".24",
    ("shortfall", 8): ".15",
    ("shortfall", 16): ".08",
    ("shortfall", 64): ".06 (.34)",
    ("shortfall", 0): ".04±.03 (1.8)",
    ("log", 1): ".016",
    ("log", 8): ".005",
    ("log", 64): ".002",
    ("log", 0): ".002±.002",
}
"""The note's E1; of its bias, about .04 is from a J that was itself estimated."""
NOTE_GAP: Final = {
    (1, 500): ".140",
    (1, 4000): ".143",
    (1, 20_000): ".143",
    (4, 500): ".0169",
    (4, 4000): ".0167",
    (4, 20_000): ".0166",
    (11, 500): ".0015",
    (11, 4000): ".0012",
    (11, 20_000): ".0011",
    (44, 500): ".0001",
    (44, 4000): ".00003",
    (44, 20_000): "0",
    (0, 500): ".0036",
    (0, 4000): ".0009",
    (0, 20_000): ".0003",
}
"""The note's E2."""


@dataclass(frozen=True, slots=True)
class Study:
    """All rows, what is asked of them, and where they were made."""

    quick: bool
    bias: list[BiasRow]
    learning: list[LearningRow]
    demands: list[Demand]
    machine: str
    cpu_seconds: float

    @property
    def passed(self) -> bool:
        """Whether all that counts is met."""
        return all(each.met for each in self.demands if each.counts)

    def record(self) -> dict[str, Any]:
        """For a file; standard errors of a single run are null."""
        made = asdict(self)
        for row in made["learning"]:
            row["error"] = None if row["error"] != row["error"] else row["error"]
        for each, demand in zip(made["demands"], self.demands, strict=True):
            each["met"] = demand.met
        return made

    def rich(self) -> tuple[RichTable, ...]:
        """For a terminal."""
        return _bias_table(self.bias), _learning_table(self.learning), _verdict(self.demands)


def run_study(quick: bool, progress: Callable[[str], None] = lambda line: None) -> Study:
    """Runs E1, E2 and E3; `quick` has fewer of everything, and no demand on 20 000 iterations."""
    began = time.process_time()
    bias = run_bias(8000, 64_000) if quick else run_bias()
    progress("E1, bias at a fixed policy: done")
    learning = run_bandit(16, (500, 2000)) if quick else run_bandit()
    progress("E2, the concave bandit: done")
    for rate in (RATE, FAST):
        learning += run_log(runs=4, iterations=400, rate=rate) if quick else run_log(rate=rate)
    progress("E3, logarithms: done")
    return Study(
        quick,
        bias,
        learning,
        demands(bias, learning),
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        time.process_time() - began,
    )


def _bias_table(rows: list[BiasRow]) -> RichTable:
    table = _table(
        "E1: bias of the derivative by J_2 (shortfall: it is .91), and trajectories",
        ("utility", "estimator"),
        ("spent", "bias ± s.e.", "sd", "times", "note (sd)"),
    )
    for row in rows:
        table.add_row(
            row.utility,
            row.estimator,
            f"{row.trajectories:.1f}",
            f"{row.bias:+.4f} ± {row.error:.4f}",
            f"{row.deviation:.2f}",
            str(row.repetitions),
            NOTE_BIAS.get((row.utility, row.batch), "-"),
        )
    return table


def _learning_table(rows: list[LearningRow]) -> RichTable:
    table = _table(
        "E2 (bandit, shortfall), E3 (world of E1, log): gap to the best f(J)",
        ("study", "estimator"),
        ("rate", "steps", "spent", "gap ± s.e.", "runs", "note"),
    )
    for row in rows:
        noted = NOTE_GAP.get((row.batch, row.iterations), "-") if row.study == "bandit" else "-"
        table.add_row(
            row.study,
            row.estimator,
            f"{row.rate:g}",
            str(row.iterations),
            f"{row.trajectories:.1f}",
            f"{row.gap:.5f} ± {row.error:.5f}",
            str(row.runs),
            noted,
        )
    return table


def _verdict(rows: list[Demand]) -> RichTable:
    table = _table("Acceptance (a) to (e)", ("demand",), ("asked", "value", ""))
    for row in rows:
        verdict = "met" if row.met else "MISSED"
        table.add_row(
            row.name, row.asked, f"{row.value:.3f}", verdict if row.counts else f"({verdict})"
        )
    if not all(row.counts for row in rows):
        table.caption = "In brackets: not asked for by the note, shown for comparison."
    return table


def _table(title: str, left: tuple[str, ...], right: tuple[str, ...]) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable

    table = RichTable(title=title, box=box.SIMPLE, padding=0)
    for head in left:
        table.add_column(head, no_wrap=True)
    for head in right:
        table.add_column(head, justify="right", no_wrap=True)
    return table
