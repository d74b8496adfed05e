"""`hanse replay`: a run again from a day on, in which something does not happen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.console import (
    Json,
    Quiet,
    RunArgument,
    dollars,
    note,
    say,
    say_json,
    say_table,
    typed,
)
from services.errors import HanseError

if TYPE_CHECKING:
    from actors.replaying import Comparison, Pair
    from services.config import InterventionConfig
    from services.telemetry.inspection.diff import Side

EXAMPLE = """Examples:

  hanse replay talk24-seed0-001 --from 8 --mute farmer_2
      what if farmer_2 had said nothing to anybody from day 8 on?

  hanse replay talk24-seed0-001 --from 8 --cut farmer_2:roaster_1
      what if it had not written to roaster_1?

  hanse replay talk24-seed0-001 --from 8 --drop 'farmer_2#726' --days 3
      what if this one message had not been sent? Three days of it

  hanse replay RUN --from 0 --mute farmer_2 --json

An agent that is muted goes on trading: its offers and orders on the
market stand; what is withheld is what it says to other agents.

Exit codes: 0 played and compared, 2 bad input, 130 stopped.
"""

_FIRMS = 12
"""Firms with the greatest differences that are shown."""
_NAMES = {
    "wrong_hours": "hours of wrong beliefs",
    "overloaded_hours": "hours of overload",
    "infected_agents": "agents infected",
    "infected_messages": "messages that say it",
    "alert": "alerts",
    "measure": "measures",
    "withheld": "messages withheld",
    "withheld_by_measures": "  by the league's measures",
    "withheld_by_interventions": "  by --mute, --cut, --drop",
}


def replay(
    run: RunArgument,
    start: Annotated[
        int,
        typer.Option("--from", metavar="DAY", min=0, help="The first day that is played again."),
    ],
    mute: Annotated[
        list[str] | None,
        typer.Option(metavar="AGENT", help="Says nothing from that day on; several times."),
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(metavar="A:B", help="A says nothing to B from that day on; several times."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="MESSAGE", help="One message, such as farmer_2#726; several times."),
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, help="How many days to play (to the end of the run).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The replay's folder (runs/<run>-replay-<n>)."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play a run again from a day on, with something that does not happen, and compare.

    One seed gives one run to the byte, so whatever differs afterwards follows from what was
    changed: who would have earned what, what would have been said, which wrong beliefs would not
    have spread. The run itself is not changed; the replay is a run of its own.
    """
    from actors.replaying import replay as play_again
    from services.cli.folders import find_run, new_folder
    from services.cli.progress import RunDisplay
    from services.cli.session import check_strategies, stopped, warn_of_changes
    from services.config import RunConfig
    from services.runs import Run

    interventions = _interventions(start, mute or [], cut or [], drop or [])
    source = find_run(run)
    manifest = Run(source).manifest
    config = RunConfig.parse(manifest.config, str(source / "manifest.json"))
    checked = check_strategies(config, str(source))
    warn_of_changes(manifest.strategies, checked.strategies)
    with new_folder(out, f"{source.resolve().name}-replay") as folder:
        total = config.days if days is None else min(config.days, start + days)
        display = RunDisplay(total, start, show=not (quiet or checked.played))
        try:
            with display:
                found = play_again(source, start, interventions, folder, days=days, on_day=display)
        except KeyboardInterrupt:
            stopped(folder)
    if as_json:
        changed = [i.model_dump(mode="json", exclude_defaults=True) for i in interventions]
        say_json({"changed": changed, **found.document()})
    else:
        _show(found, interventions)


def _interventions(
    day: int, mute: list[str], cut: list[str], drop: list[str]
) -> list[InterventionConfig]:
    from pydantic import ValidationError

    from services.config import InterventionConfig
    from services.messages import MINUTES_PER_DAY

    begin = day * MINUTES_PER_DAY
    found = [InterventionConfig(kind="mute", agent=agent, begin=begin) for agent in mute]
    for pair in cut:
        agent, colon, recipient = pair.partition(":")
        if not (agent and colon and recipient):
            raise HanseError(f"--cut {pair}: name two agents: who says nothing, and to whom: A:B")
        found.append(InterventionConfig(kind="cut", agent=agent, recipient=recipient, begin=begin))
    for message in drop:
        try:
            found.append(InterventionConfig(kind="drop", drop=message))
        except ValidationError:
            raise HanseError(
                f"--drop {message}: is not the id of a message; allowed: agent#number, as"
                " `hanse trace RUN find` shows it"
            ) from None
    return found


# ---- what is shown -------------------------------------------------------------------------------


def _show(found: Comparison, interventions: list[InterventionConfig]) -> None:
    from services.runs import Run
    from services.telemetry.inspection.prose import Prose
    from services.telemetry.inspection.watch_words import intervention
    from services.telemetry.reader import TraceReader

    for one in interventions:
        say(f"without: {intervention(one)}")
    parting = found.parting
    if parting.day is None:
        say(f"nothing differs: days {found.day} to {found.last_day} are the same to the byte")
    else:
        say(f"they part on day {parting.day}:")
        sides = (("run", found.run, parting.first), ("replay", found.replay, parting.second))
        for name, folder, side in sides:
            say(f"  {name:6}  {_step(Prose(TraceReader(Run(folder))).side(side))}")
        _show_figures(found)
    say(f"replay {found.replay}")
    if parting.day is not None:
        more = typed("hanse", "trace", found.run, "diff", found.replay)
        note(f"more: {more}    (causes, deals, books day by day)")


def _step(side: Side | None) -> str:
    from services.telemetry.inspection.words import when

    if side is None or side.step is None:
        return "nothing more on that day"
    step = side.step
    words = step.words if len(step.words) <= 100 else f"{step.words[:97]}..."
    return f"{when(step.minute)}  {words}   {step.id}"


def _show_figures(found: Comparison) -> None:
    rows = [_row("net income of all firms $", found.total, money=True)]
    apart = sorted(
        (item for item in found.net_income.items() if item[1][0] != item[1][1]),
        key=lambda item: -abs(item[1][1] - item[1][0]),
    )
    rows += [_row(f"  {firm}", pair, money=True) for firm, pair in apart[:_FIRMS]]
    rows.append(_row("messages", found.messages))
    for name, pair in {**found.events, **(found.harm or {})}.items():
        if any(pair):
            rows.append(_row(_NAMES.get(name, name), pair))
    say_table(
        ["", ">run", ">replay", ">difference"],
        rows,
        title=f"days {found.day} to {found.last_day}; net income since the run began",
    )
    if len(apart) > _FIRMS:
        say(f"and {len(apart) - _FIRMS} more firms; --json has them all")
    if found.harm is None:
        say("nobody talks in this league, so that there are no wrong beliefs to count")


def _row(name: str, pair: Pair, money: bool = False) -> list[str]:
    one, two = pair
    if money:
        return [name, dollars(one), dollars(two), f"{two - one:+,.2f}"]
    return [name, f"{one:,.0f}", f"{two:,.0f}", f"{two - one:+,.0f}"]
