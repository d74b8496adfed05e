"""``python -m tests.bench [NAME ...] [--times N] [--quick]``."""

from __future__ import annotations

import argparse
import os
import sys

from rich.console import Console
from rich.table import Table

from services.config import INJECTIONS
from tests.bench import (
    cluster,
    cycles,
    injections,
    light,
    on_ray,
    reference,
    telemetry,
    thousand,
    watching,
)
from tests.bench.measuring import Bench, machine

NAMES = (
    *("reference", "sweep", "default", "turn", "telemetry", "watching", "light", "thousand"),
    "cycles",
)
APART = ("injections", "cluster")
"""Only if they are named: what is done rather than its speed, and what needs root and minutes."""


def main() -> int:
    """Runs the named benchmarks (all without a name) and prints one table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(NAMES)}; default all of these; or {', '.join(APART)}",
    )
    parser.add_argument("--times", type=int, default=5, help="repetitions (default 5)")
    parser.add_argument("--quick", action="store_true", help="smaller leagues and fewer cycles")
    parser.add_argument("--seeds", type=int, default=20, help="injections: pairs of runs (20)")
    parser.add_argument(
        "--firms", type=int, nargs="+", default=[6, 24, 96], choices=list(injections.TOWNS),
        help="injections: sizes of leagues (all three)",
    )  # fmt: skip
    parser.add_argument(
        "--kinds", nargs="+", default=list(INJECTIONS), choices=list(INJECTIONS),
        help="injections: which (all)",
    )  # fmt: skip
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES + APART]
    if unknown:
        print(
            f"unknown benchmark {unknown[0]!r}; allowed: {', '.join(NAMES + APART)}",
            file=sys.stderr,
        )
        return 2
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    chosen = given.names or NAMES
    table = Bench()
    about = machine()
    print(about, flush=True)
    for name in NAMES + APART:
        if name not in chosen:
            continue
        print(f"{name} ...", flush=True)
        if name == "reference":
            reference.bench(table, given.times)
        elif name == "sweep":
            on_ray.bench_sweep(table, min(given.times, 3))
        elif name == "default":
            on_ray.bench_default(table, min(given.times, 3))
        elif name == "turn":
            on_ray.bench_turn(table, min(given.times, 3))
        elif name == "telemetry":
            telemetry.bench(table, given.times, given.quick)
        elif name == "watching":
            watching.bench(table, given.times, given.quick)
        elif name == "light":
            light.bench(table)
        elif name == "injections":
            injections.bench(table, 3 if given.quick else given.seeds, given.firms, given.kinds)
        elif name == "cluster":
            cluster.bench(table, given.times, given.quick)
        elif name == "thousand":
            if given.quick:
                thousand.bench(table, firms=120, days=30, towns=6)
            else:
                thousand.bench(table)
        else:
            cycles.bench(table, *((20, 10) if given.quick else (200, 200)))
    show(table, about)
    return 0


def show(table: Bench, about: str) -> None:
    """Prints the table and what it was measured on."""
    view = Table(title="Hanse benchmarks", caption=about, caption_justify="left")
    for column in ("bench", "what", "median", "runs and range", "goal", ""):
        view.add_column(column)
    for line in table.lines:
        verdict = "" if line.met is None else ("met" if line.met else "NOT met")
        view.add_row(line.bench, line.what, line.value, line.spread, line.goal, verdict)
    console = Console(width=150)
    console.print(view)
    for note in table.notes:
        console.print(note)


if __name__ == "__main__":
    raise SystemExit(main())
