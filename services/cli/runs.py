"""`hanse runs`: which runs there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.console import Json, dollars, note, say, say_json, say_table, size
from services.errors import HanseError

if TYPE_CHECKING:
    from services.runs import RunSummary

EXAMPLE = """Examples:

  hanse runs

  hanse runs runs/coffee-sweep-1c9d02ab       the replicas of a sweep
"""


def runs(
    root: Annotated[
        Path | None, typer.Argument(metavar="ROOT", help="The folder of the runs (runs/).")
    ] = None,
    as_json: Json = False,
) -> None:
    """List runs, the newest last: their state, seed, days and what came of them.

    Troubles are errors of agents and turns that were missed.

    A run is running, finished, resumable (stopped; `hanse resume` continues it) or damaged.
    """
    from services.cli.folders import RUNS, replica_folders
    from services.runs import list_runs

    folder = RUNS if root is None else root
    if root is not None and not root.is_dir():
        raise HanseError(f"{root}: there is no such folder; name one that holds run folders")
    found = list_runs(folder)
    if as_json:
        say_json(
            [{**run.model_dump(mode="json"), "bytes": _bytes(Path(run.folder))} for run in found]
        )
        return
    if found:
        say_table(
            [
                *("run", "state", ">seed", ">days", "rules", "placement"),
                *("best firm", ">net income $", "troubles", ">size"),
            ],
            [_row(run) for run in found],
        )
    sweeps = {
        path: count
        for path in (sorted(folder.iterdir()) if folder.is_dir() else [])
        if path.is_dir() and (count := len(replica_folders(path)))
    }
    for path, count in sweeps.items():
        say(f"sweep {path}: {count} replicas")
    for run in found:
        if run.error is not None:
            note(run.error)
    if not found and not sweeps:
        note(f"no runs in {folder}/; start one with: hanse run")


def _row(run: RunSummary) -> list[str]:
    best = max(run.result.firms, key=lambda firm: firm.net_income) if run.result else None
    done = 0 if run.day is None else run.day + 1
    return [
        Path(run.folder).name,
        run.state,
        "" if run.seed is None else str(run.seed),
        "" if run.days is None else str(done) if run.result else f"{done} of {run.days}",
        run.rules or "",
        run.placement or "",
        "" if best is None else best.firm,
        "" if best is None else dollars(best.net_income),
        _troubles(run),
        size(_bytes(Path(run.folder))),
    ]


def _troubles(run: RunSummary) -> str:
    errors, missed = run.agent_errors or 0, run.turns_missed or 0
    parts = [f"{errors:,} {'error' if errors == 1 else 'errors'}"] if errors else []
    parts += [f"{missed:,} missed"] if missed else []
    return ", ".join(parts) or "–"


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
