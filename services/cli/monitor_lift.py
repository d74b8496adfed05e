"""`hanse monitor lift`: an operator ends a measure of containment before its time."""

from __future__ import annotations

from typing import Annotated

import typer

from services.cli.console import Json, RunArgument, note, say, say_json, typed
from services.errors import HanseError

EXAMPLE = """Examples:

  hanse monitor lift talk24-seed0-001 quarantine-1

  hanse monitor lift talk24-seed0-001 all

  hanse monitor watch talk24-seed0-001 --brief
      shows the measures that stand, and when they are lifted

The order is a small file in the run's folder. The league takes it at the
next virtual hour at which somebody does something, and the measure ends an
hour later. It is journalled, so a crash and a resume lead to the same run.

If no measure stands at the end of the last whole day, nothing is ordered.

Exit codes: 0 ordered, or there is nothing to lift (one line says so),
2 it cannot be (one line says why).
"""


def lift(
    run: RunArgument,
    measure: Annotated[
        str, typer.Argument(metavar="MEASURE", help="A measure's id, or all of them: all.")
    ],
    as_json: Json = False,
) -> None:
    """Lift a measure of a run that is going on, or all: somebody is restrained without reason.

    The agent named operator says so to the containment controller, as a message that is logged and
    traced like any other.
    """
    from actors.orders import ALL, place
    from actors.replaying import config_of
    from services.cli.folders import find_run
    from services.cli.monitor_account import account_of
    from services.config.problems import unknown
    from services.runs import Run

    folder = find_run(run)
    source = Run(folder)
    config = config_of(source)
    if config.containment is None or config.monitor is None:
        raise HanseError(
            f"{folder}: nobody is restrained in this run: its run file has no"
            f" [{'monitor' if config.monitor is None else 'containment'}]"
        )
    state = source.state
    if state == "finished":
        raise HanseError(
            f"{folder}: this run is finished, nothing can be lifted any more; to see what would"
            f" have been without measures: {typed('hanse', 'monitor', 'verify', folder)}"
        )
    account = account_of(source, config.monitor.tick_minutes)
    when = "" if source.day is None else f" (at the end of day {source.day})"
    if measure == ALL and not account.standing:
        # As resuming a run that is finished: what is wanted is so already.
        note(f"no measure stands in {folder}{when}: nothing to lift")
        if as_json:
            say_json({"run": str(folder), "lift": measure, "order": None})
        return
    if measure != ALL:
        if measure in account.measures and measure not in account.standing:
            raise HanseError(f"{folder}: {measure} is over already")
        if measure not in account.standing:
            known = [*sorted(account.standing), ALL] if account.standing else []
            named = unknown(measure, known, "measure")
            raise HanseError(f"{folder}: {named}{when}")
    order = place(folder, measure)
    if as_json:
        say_json({"run": str(folder), "lift": measure, "order": str(order)})
    else:
        say(f"ordered: lift {measure}; the league takes it at its next hour")
    if state == "resumable":
        note(
            "nobody plays this run at the moment; it is taken when the run goes on:"
            f" {typed('hanse', 'resume', folder)}"
        )
