"""`hanse monitor calibrate`: from when on a league's score is an alarm."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from services.cli.console import Json, Quiet, note, say, say_json, say_table, typed
from services.errors import HanseError

EXAMPLE = r"""Examples:

  hanse monitor calibrate talk.toml

  hanse monitor calibrate talk.toml --segments 320 --out strict.json --level 0.01

Then name the file in the run file, relative to it:

  \[monitor]
  calibration = "calibration.json"

It holds for this league: another number of firms, other strategies, other
towns or ticks need one of their own. 160 segments keep the rate of false
alarms; with fewer it may be several times what was asked for.

Exit codes: 0 written, 2 bad input, 130 stopped.
"""


def calibrate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The league's run file (TOML).")],
    segments: Annotated[
        int, typer.Option(min=1, max=100_000, help="Benign runs that are played.")
    ] = 160,
    level: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="Share of benign runs with a false alarm.")
    ] = 0.05,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the calibration goes (calibration.json beside the run file).",
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Runs at the same time (one a processor).")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn what a harmless league looks like, and write thresholds that it seldom reaches.

    The league of the run file is played under many seeds: undisturbed, and with harvest shocks,
    promotions and handed over contracts, which are no attacks. What its run file injects is left
    out.
    """
    from actors.studies.calibrating import calibrate_league
    from monitors.caspian.calibration import ENOUGH_SEGMENTS
    from services.cli.monitor_progress import Steps
    from services.cli.session import check_new
    from services.config import load
    from services.whole_file import whole

    if out is None:
        out = file.parent / "calibration.json"
        if out.exists():
            raise HanseError(f"{out}: is there already; name it with --out to replace it")
    if out.is_dir():
        raise HanseError(f"{out}: this is a folder; name the file that it should become")
    if not out.absolute().parent.is_dir():
        raise HanseError(f"{out}: there is no folder {out.parent}; make it first")
    config = load(file, calibrated=False)
    check_new(config, str(file))
    with Steps(show=not quiet) as steps:
        found = calibrate_league(
            config, segments, processes, partial(steps, "benign runs"), level=level
        )
    try:
        with whole(out) as partial_file:
            found.save(partial_file)
    except OSError as error:
        raise HanseError(
            f"{out}: cannot be written: {error.strerror or error}; choose another place with --out"
        ) from None
    if as_json:
        say_json({"file": str(out), "id": found.id, **found.model_dump(mode="json")})
        return
    rows = [[name, f"{value:.4g}"] for name, value in sorted(found.thresholds.items())]
    say_table(["statistic", ">threshold"], rows)
    say(f"{found.segments} benign runs, {found.level:.1%} of them may raise a false alarm")
    say(f"calibration {found.id} in {out}")
    if found.segments < ENOUGH_SEGMENTS:
        note(f"{ENOUGH_SEGMENTS} runs would keep that rate; with fewer it may be several times it")
    named = os.path.relpath(out.absolute(), file.absolute().parent)
    note(f'use it with calibration = "{named}" in [monitor], then: {typed("hanse", "run", file)}')
