"""Running a league from the command line: progress, what a Ctrl-C leads to, the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import typer

from services.cli.console import note, typed
from services.cli.progress import RunDisplay
from services.cli.summary import show_result

if TYPE_CHECKING:
    from actors.cast import Cast
    from actors.league import League
    from services.config import RunConfig
    from services.telemetry.logs import RunLog


class Checked(NamedTuple):
    """What is known about a run before it starts."""

    played: bool
    """Whether a person plays a firm: a bar would be drawn over the terminal they type in."""
    ray_actors: int
    """Ray actors that will carry the agents; 0 without Ray."""
    strategies: list[str]
    """The firms' strategies, and the kinds of injections."""


def check_strategies(config: RunConfig, source: str) -> Checked:
    """Refuse, before anything is made, a strategy that cannot be imported or does not fit.

    Args:
        config: the run.
        source: what the user knows it by, such as the run file's name.
    """
    from actors.cast import Cast

    return _checked(Cast(config, source))


def check_new(config: RunConfig, source: str) -> Checked:
    """As `check_strategies`, for a run that is to begin: what it says of machines has to fit, too.

    A run that goes on may do so in a layout without some of its hosts.

    Args:
        config: the run.
        source: what the user knows it by, such as the run file's name.
    """
    from actors.cast import Cast
    from actors.machines import check_names

    cast = Cast(config, source)
    checked = _checked(cast)
    placement = config.resolved_placement(len(cast.names)) if checked.ray_actors else "inline"
    check_names(cast, placement, config.hosts)
    return checked


def _checked(cast: Cast) -> Checked:
    cast.check()
    config = cast.config
    played = bool(cast.needs_terminal())
    placement = config.resolved_placement(len(cast.names))
    inline = played or placement == "inline"
    actors = 0 if inline else len(set(cast.layout(placement, config.hosts).values()))
    return Checked(played, actors, cast.classes)


def warn_of_changes(before: Mapping[str, str], strategies: list[str]) -> None:
    """A strategy's file is not what it was in the days that are played already: say so.

    Args:
        before: the digests in the manifest of the run that goes on.
        strategies: the firms' strategies.
    """
    from actors.strategies.fingerprint import changed

    if files := changed(before, strategies):
        note(
            f"{', '.join(files)}: changed since the run began; the days from here on are played "
            "with it as it is now"
        )


def announce_ray(checked: Checked) -> None:
    """Ray takes seconds to start: say so, and how to do without."""
    if checked.ray_actors:
        note(
            f"starting Ray ({checked.ray_actors} actors; --placement inline runs a league of this"
            " size without it) ..."
        )


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
    display = RunDisplay(config.days, first_day, show=show, news=_news(folder, config))
    try:
        # A strategy that prints, or a person's dialogue, must not get into the JSON document.
        stdout: AbstractContextManager[object] = (
            redirect_stdout(sys.stderr) if as_json else nullcontext()
        )
        with stdout, display, open_league() as league, run_log(league):
            if show and league.metrics_port is not None:
                note(f"metrics at http://127.0.0.1:{league.metrics_port}/metrics")
            result = league.run(on_day=display)
            exported = league.exported
    except KeyboardInterrupt:
        stopped(folder)
    show_result(result, folder, as_json=as_json)
    for name, counts in exported.items():
        note(counts.line(name))
        if not counts.complete:
            note(f"send them again with: {typed('hanse', 'trace', folder)} export --to otlp")


def _news(folder: Path, config: RunConfig) -> Callable[[int], list[str]] | None:
    """Tells of a day what monitors have noted in it; ``None`` where nobody watches."""
    if config.monitor is None:
        return None
    from services.cli.monitor_account import news_of
    from services.runs import Run

    tick_minutes = config.monitor.tick_minutes
    return lambda day: news_of(Run(folder), day, tick_minutes)


def run_log(league: League) -> RunLog:
    """Sends what is logged in this process to the run's folder, and warnings to stderr."""
    from services.telemetry.logs import RunLog, Where

    folder = league.store.folder
    return RunLog(folder, Where(league.store.manifest.id, league.whereabouts, league.trace_of))


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
