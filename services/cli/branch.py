"""`hanse branch`: another run that shares the first days of one, and may go on differently."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.console import Json, Quiet, RunArgument, note, say, say_json, typed

if TYPE_CHECKING:
    from services.runs import Run

EXAMPLE = """Examples:

  hanse branch coffee-seed0-001 --day 29

  hanse branch coffee-seed0-001 --day 29 --set seed=1

  hanse branch coffee-seed0-001 --day 29 --set firms.roaster_B.strategy=repaired --set days=120
"""


def branch(
    run: RunArgument,
    day: Annotated[
        int, typer.Option(min=0, help="The last day that both share; days count from 0.")
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A key of the run file that changes then; can be given several times.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The new run's folder (runs/<run>-day<D>-<n>)."),
    ] = None,
    start: Annotated[bool, typer.Option(help="Run it at once, or only make its folder.")] = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Start a new run from the end of a day of another one.

    The new run has its own folder and shares nothing with the old one, which is not changed.
    With --set it goes on under another seed, other numbers, other strategies or options; what has
    taken effect when the league opened (the firms, their cash, the set of rules) stays. A firm
    with another strategy starts without memory.
    """
    from services.cli.folders import find_run, new_folder
    from services.cli.resume import go_on
    from services.runs import Run

    source = find_run(run)
    parent = Run(source)
    with new_folder(out, f"{source.resolve().name}-day{day}") as folder:
        _make(parent, day, folder, settings or [])
        if start:
            go_on(folder, as_json=as_json, quiet=quiet)
        elif as_json:
            say_json({"run": str(folder), "parent": str(source), "day": day})
        else:
            say(f"run {folder}")
            note(f"start it with: {typed('hanse', 'resume', folder)}")


def _make(parent: Run, day: int, folder: Path, settings: list[str]) -> None:
    from actors.branching import check_branch, refit
    from actors.strategies.fingerprint import fingerprints
    from services.cli.calibrations import check_calibration
    from services.cli.session import check_strategies, warn_of_changes
    from services.config import RunConfig, apply_settings
    from services.runs import branch as branch_run

    before = RunConfig.parse(parent.manifest.config, str(parent.folder / "manifest.json"))
    after = before
    if settings:
        after = apply_settings(before, settings, check_calibration=check_calibration)
    checked = check_strategies(after, "--set" if settings else str(parent.folder))
    if settings:
        check_branch(before, after, day)
    warn_of_changes(parent.manifest.strategies, checked.strategies)
    branch_run(
        parent.folder,
        day,
        folder,
        config=after.dump() if settings else None,
        strategies=fingerprints(checked.strategies),
        refit=(lambda state: refit(state, before, after)) if settings else None,
    )
