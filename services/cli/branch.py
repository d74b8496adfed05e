"""`hanse branch`: another run that shares the first days of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.cli.console import Json, Quiet, RunArgument, note, say, say_json, typed

EXAMPLE = """Example:

  hanse branch coffee-seed0-001 --day 29
"""


def branch(
    run: RunArgument,
    day: Annotated[
        int, typer.Option(min=0, help="The last day that both share; days count from 0.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The new run's folder (runs/<name>-seed<seed>-<n>)."),
    ] = None,
    start: Annotated[bool, typer.Option(help="Run it at once, or only make its folder.")] = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Start a new run from the end of a day of another one.

    The new run has its own folder and shares nothing with the old one, which is not changed.
    """
    from services.cli.folders import find_run, new_folder
    from services.cli.resume import go_on
    from services.runs import Run
    from services.runs import branch as branch_run

    source = find_run(run)
    manifest = Run(source).manifest
    with new_folder(out, manifest.name, manifest.seed) as folder:
        branch_run(source, day, folder)
        if start:
            go_on(folder, as_json=as_json, quiet=quiet)
        elif as_json:
            say_json({"run": str(folder), "parent": str(source), "day": day})
        else:
            say(f"run {folder}")
            note(f"start it with: {typed('hanse', 'resume', folder)}")
