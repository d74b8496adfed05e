"""`hanse monitor report` and `hanse monitor compare`: a run's monitoring looked at afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from services.cli.console import Json, Quiet, RunArgument, note, say, say_json, say_table
from services.errors import HanseError

if TYPE_CHECKING:
    from actors.cast import Cast
    from monitors.bace.compare import Comparison, Finding
    from monitors.bace.graph import InfluenceGraph
    from monitors.caspian.calibration import Calibration
    from services.config import RunConfig
    from services.runs import Run

REPORT_EXAMPLE = """Examples:

  hanse monitor report talk24-seed0-001

  hanse monitor report talk24-seed0-001 --out monitor.html --open

  hanse monitor report unwatched-seed0-001 --calibration calibration.json
      the same of a run that nobody watched, looked at now

Exit codes: 0 written, 2 bad input.
"""
COMPARE_EXAMPLE = """Examples:

  hanse monitor compare coffee-seed0-001

  hanse monitor compare runs/many/seed-0 runs/many/seed-1 runs/many/seed-2
      several seeds of one configuration (hanse sweep) tell more

  hanse monitor compare RUN --hourly --json

explained: who is influenced gets messages from whom it is influenced by.
relayed: only by way of others. hidden: there is no such chain; it runs
through the market, or both follow something else. It is predictive
influence, not proof of a cause.

Exit codes: 0 compared, 2 bad input, or too little data.
"""
PAGE = "monitor.html"
"""In the run's folder."""
_SHOWN = 15


def report(
    run: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the page goes (into the run's folder)."),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Another calibration than the run's (or its first)."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    as_json: Json = False,
) -> None:
    """Write what a monitor sees of a run as one HTML page; it needs no network.

    Scores over time, alerts with their suspects and paths, the messages that speak for them, the
    measures taken, and, where the log knows it, what was really done. The run's log is watched
    anew, so that runs without a monitor can be looked at, too.
    """
    from actors.replaying import config_of
    from monitors.caspian.report import write_page
    from services.cli.folders import find_run
    from services.runs import Run

    folder = find_run(run)
    source = Run(folder)
    page = write_page(
        folder / PAGE if out is None else out,
        _monitoring(source, config_of(source), calibration),
    )
    if as_json:
        say_json({"report": str(page)})
    else:
        say(str(page))
    if show:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def _monitoring(run: Run, config: RunConfig, calibration: Path | None) -> Any:
    from actors.cast import Cast
    from actors.replaying import harm_of
    from actors.watchers import calibration_of, caspian_settings, graph_of
    from monitors.caspian import Calibration, Caspian
    from monitors.caspian.feed import Joiner, JoinSettings
    from monitors.caspian.feed.offline import watch_run
    from monitors.caspian.report import collect
    from services.cli.monitor_recovery import recovery_of
    from services.config import MonitorConfig

    if run.day is None:
        raise HanseError(f"{run.folder}: no day of it is complete yet; wait for the first")
    monitor = config.monitor or MonitorConfig()
    cast = Cast(config, str(run.folder))
    known = (
        calibration_of(monitor, len(cast.firms), str(run.folder))
        if calibration is None
        else Calibration.load(calibration)
    )
    graph = graph_of(cast)
    caspian = Caspian(graph, known, caspian_settings(monitor), monitor.shards)
    joiner = Joiner(graph, settings=JoinSettings(tick_minutes=monitor.tick_minutes))
    hidden = [*cast.exchanges.values(), *cast.monitors, *cast.containment]
    seen, strengths = [], {}
    for tick in watch_run(run, graph, lambda _: caspian, unwatched=hidden, joiner=joiner):
        seen.append(tick)
        for found in tick.reports:
            strengths[found.id] = caspian.strengths(found.onset)
    harm = harm_of(run, cast, 0, run.day)
    first = next((found for tick in seen for found in tick.reports), None)
    told = None if first is None else (first.alert_tick + 1) * monitor.tick_minutes
    recovery = recovery_of(run, cast, told)
    return collect(
        run,
        graph,
        seen,
        strengths=strengths,
        describe=lambda name: _place(cast, name),
        infected=None if harm is None else harm.infected,
        wrong=() if recovery is None else recovery.wrong,
        recovery=() if recovery is None else recovery.lines(),
        dropped=joiner.dropped + caspian.dropped,
        passed_over=joiner.passed_over,
        calibration=_thresholds(known),
        tick_minutes=monitor.tick_minutes,
    )


def _place(cast: Cast, name: str) -> tuple[str, str]:
    """The town and the role of an agent."""
    role = next((firm.role for firm in cast.firms if firm.name == name), None)
    kinds = {"board": cast.talkers.boards, "forecaster": cast.talkers.forecasters}
    kind = next((kind for kind, there in kinds.items() if name in there.values()), "agent")
    return cast.talkers.town_of(name) or "", role or kind


def _thresholds(calibration: Calibration | None) -> tuple[str, dict[str, float]] | None:
    return None if calibration is None else (calibration.id, dict(calibration.thresholds))


# ---- compare -------------------------------------------------------------------------------------


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="A run, or several seeds of one configuration."),
    ],
    hourly: Annotated[
        bool, typer.Option("--hourly", help="Messages an hour, in place of prices, stock a day.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare who drives whom, as BACE learns it from what firms do, with who tells whom.

    An influence with messages along it is explained; one without is hidden. The paths of alerts
    are looked for in it, too: a cascade that is followed by deeds is the graver one.
    """
    from actors.cast import Cast
    from actors.replaying import config_of
    from actors.verifying import reports_of
    from monitors.bace.compare import compare as put_together
    from monitors.bace.league import DAILY, HOURLY, analyse_runs, message_edges
    from services.cli.folders import find_run
    from services.runs import Run

    sources = [Run(find_run(run)) for run in runs]
    step = None if quiet else note
    analysis = analyse_runs(sources, HOURLY if hourly else DAILY, on_step=step)
    market = list(Cast(config_of(sources[0])).exchanges.values())
    messages = sorted(message_edges(sources))
    cascades = [
        (name, [spine.path for spine in found.spines])
        for source in sources
        for name, found in reports_of(source).items()
    ]
    found = {
        context: put_together(graph, messages, cascades, go_betweens=market)
        for context, graph in analysis.graphs.items()
    }
    if as_json:
        say_json(
            {
                "runs": [str(source.folder) for source in sources],
                "graphs": {c: g.model_dump(mode="json") for c, g in analysis.graphs.items()},
                "contexts": {c: both.model_dump(mode="json") for c, both in found.items()},
            }
        )
        return
    for context, both in found.items():
        _show(analysis.graphs[context], both)
    say(next(iter(found.values())).caution if found else "nothing to compare")


def _show(graph: InfluenceGraph, found: Comparison) -> None:
    kinds: list[tuple[Literal["explained", "relayed", "hidden"], tuple[Finding, ...]]] = [
        ("explained", found.explained),
        ("relayed", found.relayed),
        ("hidden", found.hidden),
    ]
    rows = [
        [
            one.source,
            one.target,
            f"{one.weight:.3f}",
            kind,
            " > ".join(one.by_way_of),
        ]
        for kind, some in kinds
        for one in some[:_SHOWN]
    ]
    title = (
        f"context {found.context}: {graph.state}, {graph.windows:,} windows, halves agree"
        f" {graph.reliability:.2f}"
    )
    if rows:
        say_table(["influence of", "on", ">weight", "messages", "by way of"], rows, title=title)
    else:
        say(f"{title}; no influence beyond chance")
    for text in graph.notes:
        say(f"  {text}")
    left = sum(max(len(some) - _SHOWN, 0) for _, some in kinds)
    if left:
        say(f"and {left} more; --json has them all")
    say(f"messages without influence: {len(found.talk_only):,} pairs")
    for cascade in found.cascades:
        followed = ", ".join(f"{source} > {target}" for source, target in cascade.followed)
        say(
            f"{cascade.cascade}: {len(cascade.followed)} of {cascade.edges} steps of its paths are"
            f" followed by deeds{': ' + followed if followed else ''}"
        )
    say()
