"""`hanse monitor watch`: what the monitors of a league see, while it runs or afterwards."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from services.cli.console import Json, RunArgument, note, say, say_json, typed

if TYPE_CHECKING:
    from pathlib import Path

    from services.cli.monitor_account import Account, Line
    from services.runs import Run

EXAMPLE = """Examples:

  hanse monitor watch talk24-seed0-001
      in another terminal than the one in which it runs

  hanse monitor watch talk24-seed0-001 --brief
      only alerts, measures and what was withheld

  hanse monitor watch RUN --json > seen.json; echo $?

The bar of a tick reaches its line when the score is that of an alarm.
A run's folder is written a day at a time, and so the account grows.

Exit codes: 0 no alert, 2 an error (one line), 3 there was an alert,
130 stopped.
"""
ALERT_CODE: Final = 3
"""The exit code if there was an alert."""
_PAUSE: Final = 0.5
"""Seconds between two looks at a run that is going on."""


def watch(
    run: RunArgument,
    brief: Annotated[bool, typer.Option("--brief", help="Only news, no scores.")] = False,
    as_json: Json = False,
) -> None:
    """Follow what monitors see of a run: scores, alerts and who is suspected, measures.

    It may be started before, during or after the run, and ends with it. Where injections are part
    of the run file, the log tells what was really done, too.
    """
    from actors.replaying import config_of
    from services.cli.folders import find_run
    from services.cli.monitor_account import Account
    from services.cli.summary import recovery_in
    from services.errors import HanseError
    from services.runs import Run

    folder = find_run(run)
    source = Run(folder)
    config = config_of(source)
    if config.monitor is None:
        raise HanseError(
            f"{folder}: nobody watches this run; put a table [monitor] into its run file, and run"
            " it again"
        )
    account = Account(config.monitor.tick_minutes)
    if as_json:
        for _ in follow(source, account):
            pass
        recovery = recovery_in(source, account)
        told = {"recovery": None if recovery is None else recovery.document()}
        say_json({"run": str(folder), "state": source.state, **account.document(), **told})
    elif sys.stdout.isatty():
        _live(source, account, brief)
    else:
        for line in follow(source, account):
            if line.news or not brief:
                say(line.text)
    if not as_json:
        _end(source, folder, account)
    if account.alerts:
        raise typer.Exit(ALERT_CODE)


def follow(
    run: Run, account: Account, pause: Callable[[], None] = lambda: time.sleep(_PAUSE)
) -> Iterator[Line]:
    """Tells a run's days as they become whole, until nobody plays it any more.

    Args:
        run: The run.
        account: What is kept of it.
        pause: Waits a while, after all that is there has been told.
    """
    from services.cli.monitor_account import events_of

    day = 0
    while True:
        # Before its days: one may be written in between. A finished run may be held for a moment.
        going_on = run.state == "running" and run.result is None
        last = run.day
        while last is not None and day <= last:
            yield from account.day(events_of(run, day))
            day += 1
        if not going_on:
            return
        pause()


def _live(run: Run, account: Account, brief: bool) -> None:
    """News scroll by; below them, in place, the last scores and what stands."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console()
    with Live(console=console, refresh_per_second=4, transient=True) as live:

        def pause() -> None:
            live.update(_picture(run, account, brief))
            time.sleep(_PAUSE)

        for line in follow(run, account, pause):
            if line.news:
                style = "bold red" if "  ALERT " in line.text else ""
                console.print(Text(line.text, style=style))
            live.update(_picture(run, account, brief))


def _picture(run: Run, account: Account, brief: bool) -> Any:
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    from services.cli.monitor_words import ALARMING

    lines = []
    for tick in () if brief else account.last:
        alarming = tick.score is not None and tick.score >= ALARMING
        lines.append(Text(tick.line(), style="red" if alarming else "green", overflow="crop"))
    if account.standing:
        standing = ", ".join(f"{agent} ({name})" for name, agent in account.standing.items())
        lines.append(Text(f"restrained: {standing}", style="yellow"))
    lines.append(Text(account.summary(), style="dim"))
    return Panel(Group(*lines), title=run.folder.name, title_align="left")


def _end(run: Run, folder: Path, account: Account) -> None:
    from services.cli.summary import recovery_in

    say(account.summary())
    recovery = recovery_in(run, account)
    for line in recovery.lines() if recovery is not None else ():
        say(line)
    if run.state == "resumable":
        note(f"nobody plays this run at the moment; go on with: {typed('hanse', 'resume', folder)}")
    if account.alerts:
        note(f"check the attribution with: {typed('hanse', 'monitor', 'verify', folder)}")
