"""`hanse monitor`: what monitors see in a league, whether they are right, what is done about it."""

from __future__ import annotations

import typer

from services.cli import (
    monitor_bench,
    monitor_calibrate,
    monitor_lift,
    monitor_pages,
    monitor_verify,
    monitor_watch,
)
from services.cli.commands import add, help_text
from services.cli.console import say

EXAMPLE = r"""A league is watched if its run file has a table \[monitor]:

  \[monitor]
  calibration = "standard"

and something is done about what monitors find if it has \[containment].

Then:

  hanse run talk.toml                       alerts are shown as they come

  hanse monitor watch talk-seed0-001        scores, alerts, measures

  hanse monitor verify talk-seed0-001       is it the suspects' doing?

  hanse monitor lift talk-seed0-001 all     end measures, while it runs

  hanse monitor report talk-seed0-001       all of it as one page

  hanse monitor calibrate talk.toml         thresholds for your league
"""

monitor_app = typer.Typer(
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def monitor(context: typer.Context) -> None:
    """Watch a league: alerts and who is behind them, measures, false alarms, how good it is.

    CASPIAN watches what agents say to each other, and raises an alert when influence begins to
    cascade; BACE learns from activity who drives whom.
    """
    if context.invoked_subcommand is None:
        text = context.get_help()
        if text:
            say(text)


def register(app: typer.Typer) -> None:
    """Makes `hanse monitor` a command of an app."""
    for function, examples in (
        (monitor_watch.watch, monitor_watch.EXAMPLE),
        (monitor_verify.verify, monitor_verify.EXAMPLE),
        (monitor_lift.lift, monitor_lift.EXAMPLE),
        (monitor_pages.report, monitor_pages.REPORT_EXAMPLE),
        (monitor_pages.compare, monitor_pages.COMPARE_EXAMPLE),
        (monitor_calibrate.calibrate, monitor_calibrate.EXAMPLE),
        (monitor_bench.bench, monitor_bench.EXAMPLE),
    ):
        add(monitor_app, function, examples)
    monitor_app.callback(invoke_without_command=True, help=help_text(monitor), epilog=EXAMPLE)(
        monitor
    )
    app.add_typer(monitor_app, name="monitor")
