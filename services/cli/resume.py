"""`hanse resume`: go on with a run that was stopped, by a person or by a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.cli.console import Json, Quiet, RunArgument, note
from services.errors import HanseError

EXAMPLE = """Example:

  hanse resume coffee-seed0-001
"""


def resume(
    run: RunArgument,
    placement: Annotated[
        str | None, typer.Option(help="inline, one or packed; as before if left out.")
    ] = None,
    hosts: Annotated[
        int | None, typer.Option(help="Ray actors that carry the agents when packed: 1 to 64.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Go on with a stopped run from its last whole day.

    The result is the one that the run would have had without the stop. A run that is finished is
    left alone: its result is shown again.
    """
    from services.cli.folders import find_run

    go_on(find_run(run), placement=placement, hosts=hosts, as_json=as_json, quiet=quiet)


def go_on(
    folder: Path,
    *,
    placement: str | None = None,
    hosts: int | None = None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run what is left of a run."""
    from services.cli.session import announce_ray, check_strategies, play, warn_of_changes
    from services.cli.summary import show_result
    from services.config import RunConfig
    from services.runs import Run

    reader = Run(folder)
    if reader.state == "running":
        raise HanseError(
            f"{folder}: this run is being run at this moment; wait for it, or stop it first"
        )
    if reader.result is not None:
        note("this run is finished already")
        show_result(reader.result, folder, as_json=as_json)
        return
    config = RunConfig.parse(reader.manifest.config, str(folder)).with_overrides(
        source="command line", placement=placement, hosts=hosts
    )
    checked = check_strategies(config, str(folder))
    warn_of_changes(reader.manifest.strategies, checked.strategies)
    first_day = 0 if reader.day is None else reader.day + 1
    from actors.league import League

    if not quiet:
        note(f"run {folder}, from day {first_day}")
        if not as_json:
            announce_ray(checked)
    play(
        lambda: League.resume(folder, placement=placement, hosts=hosts),
        folder,
        config,
        first_day=first_day,
        show=not (quiet or checked.played),
        as_json=as_json,
    )
