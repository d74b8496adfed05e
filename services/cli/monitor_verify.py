"""`hanse monitor verify`: is it the suspects' doing? Play the run without each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.console import Json, Quiet, RunArgument, note, say, say_json, say_table

if TYPE_CHECKING:
    from actors.verifying import Verification

EXAMPLE = """Examples:

  hanse monitor verify talk24-seed0-001
      the three likeliest suspects of the first alert, and two to whom these
      had listened: a board that is wrong is known by its readers

  hanse monitor verify talk24-seed0-001 --alert cascade-2 --suspects 6

  hanse monitor verify talk24-seed0-001 --days 3 --json
      only three days from then on: faster

Harm is counted in hours: those in which a firm believes something wrong
about a price, or has more work than it can do. In a league whose firms do
not talk, what all of them earn is shown instead.

Exit codes: 0 at least half of the harm vanishes without some suspect (or
there is no harm that could be counted), 1 it does not, 2 bad input.
"""


def verify(
    run: RunArgument,
    alert: Annotated[
        str | None, typer.Option(metavar="ID", help="Which alert, such as cascade-2 (the first).")
    ] = None,
    suspects: Annotated[int, typer.Option(min=1, max=100, help="How many are tried.")] = 3,
    sources: Annotated[
        int,
        typer.Option(
            min=0,
            max=100,
            help="As many of those to whom the likeliest had listened.",
        ),
    ] = 2,
    margin: Annotated[
        int,
        typer.Option(
            min=0, metavar="TICKS", help="How long before the estimated onset they fall silent."
        ),
    ] = 24,
    days: Annotated[
        int | None, typer.Option(min=1, help="How many days are played (to the end of the run).")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check an alert's attribution: play the run again without each of the suspects.

    A monitor's suspicion is statistical. Here each suspect, and each of those to whom they had
    listened, is silent from before the cascade's onset on, in a replay without monitors and
    containment, and the share of the harm that then does not happen is its doing. The run is not
    changed, and the replays are not kept.
    """
    from actors.verifying import verify as check
    from services.cli.folders import find_run

    folder = find_run(run)

    def progress(agent: str, done: int, total: int) -> None:
        note(f"replay {done + 1} of {total}: without {agent or 'any measure'}")

    found = check(
        folder,
        alert=alert,
        suspects=suspects,
        sources=sources,
        margin=margin,
        days=days,
        on_replay=None if quiet else progress,
    )
    if as_json:
        say_json(found.document())
    else:
        _show(found)
    if found.measure == "harmed_hours" and found.harmed_hours and not found.confirmed:
        raise typer.Exit(1)


def _show(found: Verification) -> None:
    from actors.replaying import config_of
    from actors.verifying import reports_of
    from services.runs import Run
    from services.telemetry.inspection.cascade_report import report_in
    from services.telemetry.inspection.watch_words import alert_line, roles
    from services.telemetry.inspection.words import when

    run = Run(found.run)
    reports, config = reports_of(run), config_of(run)
    report = report_in(reports[found.alert].model_dump(mode="json"))
    assert config.monitor is not None and report is not None
    say(alert_line(report, config.monitor.tick_minutes))
    say(f"suspects: {roles(report)}")
    others = [name for name in reports if name != found.alert]
    if others:
        say(f"there are more alerts: {', '.join(others)}; see --alert")
    counted = found.measure == "harmed_hours"
    where = "in the run, played without measures" if found.replayed else "in the run"
    if counted:
        figures = found.figures
        say(
            f"harm {where}: {figures['wrong_hours']:,.0f} hours of wrong beliefs,"
            f" {figures['overloaded_hours']:,.0f} of overload"
        )
        _show_contained(found)
    else:
        say("nobody talks in this league; what all firms earn is compared instead")
    title = (
        f"each of them silent from {when(found.silent_from)} on, up to the end of day"
        f" {found.last_day}"
    )
    columns = ["without", "suspected as", *([">hours", ">harm that vanishes"] if counted else [])]
    say_table(
        [*columns, ">all firms earn more $"],
        [
            [
                one.agent,
                ", ".join(one.roles),
                *([f"{one.harmed_hours:,.0f}", _share(one.avoided)] if counted else []),
                f"{one.income:+,.2f}",
            ]
            for one in found.tested
        ],
        title=title,
    )
    say(_verdict(found))


def _show_contained(found: Verification) -> None:
    """What the measures of the run were good for, and whether the firms recovered."""
    from actors.cast import Cast
    from actors.replaying import config_of
    from services.cli.monitor_recovery import recovery_of
    from services.runs import Run

    run = Run(found.run)
    if found.contained is not None and found.contained_income is not None:
        was = found.contained
        gained = found.contained_income - found.net_income
        more = f"{abs(gained):,.2f} $ {'less' if gained < 0 else 'more'}"
        say(
            f"as it was, with its measures: {was['wrong_hours']:,.0f} hours of wrong beliefs,"
            f" {was['overloaded_hours']:,.0f} of overload; all firms earned {more}"
        )
    first = next(iter(run.rows("events", "kind = 'alert'")), None)
    recovery = recovery_of(run, Cast(config_of(run)), None if first is None else first[0])
    for line in recovery.lines() if recovery is not None else ():
        say(line)


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _verdict(found: Verification) -> str:
    best = found.tested[0]
    if found.measure == "net_income":
        return f"most is earned without {best.agent}: {best.income:+,.2f} $"
    if not found.harmed_hours:
        return "no harm was done from then on: there is nothing to attribute"
    if found.confirmed:
        return f"it is {best.agent}'s doing: without it {_share(best.avoided)} of the harm vanishes"
    return (
        f"none of them accounts for half of the harm, {best.agent} for {_share(best.avoided)};"
        " try more of them with --suspects, or more time before the onset with --margin"
    )
