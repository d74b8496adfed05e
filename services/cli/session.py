"""Running a league from the command line: progress, what a Ctrl-C leads to, the result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from services.cli.console import note, typed
from services.cli.progress import RunDisplay
from services.cli.summary import show_result

if TYPE_CHECKING:
    from actors.league import League
    from services.config import RunConfig


def check_strategies(config: RunConfig, source: str) -> bool:
    """Refuse, before anything is made, a strategy that cannot be imported or does not fit.

    Args:
        config: the run.
        source: what the user knows it by, such as the run file's name.

    Returns:
        Whether a person plays a firm: a bar would be drawn over the terminal they type in.
    """
    from actors.cast import Cast

    cast = Cast(config, source)
    cast.check()
    return bool(cast.needs_terminal())


def play(
    open_league: Callable[[], League],
    folder: Path,
    config: RunConfig,
    *,
    first_day: int,
    show: bool,
    as_json: bool,
) -> None:
    """Run a league to its end and show the result.

    Args:
        open_league: makes or resumes the league; it may take seconds, as Ray starts.
        folder: the run's folder.
        config: what is run.
        first_day: the day with which this session begins.
        show: show progress.
        as_json: print the result as JSON.
    """
    display = RunDisplay(config.days, first_day, show=show)
    try:
        # A strategy that prints, or a person's dialogue, must not get into the JSON document.
        stdout: AbstractContextManager[object] = (
            redirect_stdout(sys.stderr) if as_json else nullcontext()
        )
        with stdout, display, open_league() as league:
            result = league.run(on_day=display)
    except KeyboardInterrupt:
        stopped(folder)
    show_result(result, folder, as_json=as_json)


def stopped(folder: Path) -> NoReturn:
    """Say how far the run got and how it goes on; exits with the code of an interrupt.

    Args:
        folder: the run's folder, whose league has closed: days may have been written until then.
    """
    from services.runs import Run

    if not (folder / "manifest.json").exists():
        note("stopped before the run began")
    else:
        day = Run(folder).day
        when = "before the end of day 0" if day is None else f"after day {day}"
        note(f"stopped {when}; continue with: {typed('hanse', 'resume', folder)}")
    raise typer.Exit(130)
