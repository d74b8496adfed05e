"""`hanse monitor bench`: how good the monitors are, measured here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from services.cli.console import Json, Quiet, say, say_json
from services.errors import HanseError

if TYPE_CHECKING:
    from actors.studies.containing import Worth
    from actors.studies.detecting import Row
    from actors.studies.verifying import Row as Verified
    from services.cli.monitor_progress import Steps

FAILED_CODE: Final = 4
"""The exit code if a requirement is not met."""
_WIDTH: Final = 180
"""Columns of a table that has no terminal to fit into."""


class Suite(StrEnum):
    """What is measured."""

    SYNTHETIC = "synthetic"
    LEAGUE = "league"
    CONTAINMENT = "containment"
    ATTRIBUTION = "attribution"
    VERIFICATION = "verification"
    BACE = "bace"


class About(NamedTuple):
    """What a suite is, and how long it takes."""

    quick: int
    """Minutes of a processor's time with --quick; not measured on a quiet machine."""
    full: int
    """The same in full, by the number of runs or traces."""
    what: str


SUITES_ABOUT: Final = {
    Suite.SYNTHETIC: About(2, 60, "CASPIAN and rivals on traces whose truth is known"),
    Suite.ATTRIBUTION: About(2, 20, "whether origin, bridge, amplifier are found there"),
    Suite.LEAGUE: About(1, 60, "leagues of 6, 24, 96 firms, attacked or seemingly so"),
    Suite.CONTAINMENT: About(1, 30, "what measures are worth, against alerts alone"),
    Suite.VERIFICATION: About(1, 20, "whether replays without suspects find who began"),
    Suite.BACE: About(5, 15, "BACE on signals whose graph is known"),
}
_EXAMPLE: Final = """Examples:

  hanse monitor bench --quick
      CASPIAN on synthetic cascades, fewer than its claims need

  hanse monitor bench league --quick --json > league.json

  hanse monitor bench synthetic --out page.html

The suites, and the minutes they take one processor: with --quick, in full
(roughly; not measured on a quiet machine, in full by the number of runs):

{suites}

With --quick they say little about rates.

Exit codes: 0 all requirements are met, 2 bad input, 4 one is not met,
130 stopped.
"""
EXAMPLE = _EXAMPLE.format(
    suites="\n\n".join(
        f"  {suite} ({about.quick}, {about.full} min): {about.what}"
        for suite, about in SUITES_ABOUT.items()
    )
)


class Measured(NamedTuple):
    """What came of a suite."""

    tables: Sequence[Any]
    """For a terminal (rich)."""
    document: dict[str, Any]
    unmet: list[str]
    """The requirements that are not met."""
    warnings: Sequence[str] = ()
    page: str = ""
    """A page of its own, if there is one."""


def bench(
    suite: Annotated[
        Suite, typer.Argument(metavar="[SUITE]", help="What is measured; see below.")
    ] = Suite.SYNTHETIC,
    quick: Annotated[bool, typer.Option("--quick", help="Less of it, in minutes.")] = False,
    processes: Annotated[
        int | None, typer.Option(min=1, max=1024, help="At the same time (one a processor).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it as an HTML page, too.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure detection, attribution and containment, and say whether requirements are met.

    The same suite gives the same figures on any machine, whatever the number of processes; only
    times differ.
    """
    from rich.console import Console

    from services.cli.monitor_progress import Steps

    if out is not None and (out.is_dir() or not out.absolute().parent.is_dir()):
        raise HanseError(f"{out}: cannot be written; name a file in a folder that is there")
    with Steps(show=not quiet) as steps:
        found = SUITES[suite](quick, processes or os.cpu_count() or 1, steps)
    if out is not None:
        _write(out, found)
    if as_json:
        say_json({"suite": suite.value, "quick": quick, "unmet": found.unmet, **found.document})
    else:
        console = Console(width=None if sys.stdout.isatty() else _WIDTH)
        for table in found.tables:
            console.print(table)
        for warning in found.warnings:
            say(warning)
        say(f"not met: {'; '.join(found.unmet)}" if found.unmet else "all requirements are met")
        if out is not None:
            say(str(out))
    if found.unmet:
        raise typer.Exit(FAILED_CODE)


def _write(out: Path, found: Measured) -> None:
    from io import StringIO

    from rich.console import Console

    from services.whole_file import whole

    text = found.page
    if not text:
        console = Console(record=True, file=StringIO(), width=_WIDTH)
        for table in found.tables:
            console.print(table)
        text = console.export_html()
    try:
        with whole(out) as target:
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HanseError(f"{out}: cannot be written: {error.strerror or error}") from None


# ---- the suites ----------------------------------------------------------------------------------


def _synthetic(quick: bool, processes: int, steps: Steps, *, blame: bool = False) -> Measured:
    from monitors.caspian.benchmark.benchmark import run_benchmark
    from monitors.caspian.benchmark.page import page
    from monitors.caspian.benchmark.results import FULL, QUICK
    from monitors.caspian.benchmark.tables import tables

    size = QUICK if quick else FULL
    if blame:
        size = size.model_copy(update={"extras": False})
    results = run_benchmark(
        size,
        processes=processes,
        progress=lambda done, of, what: steps(what, done, of),
    )
    shown = list(tables(results))
    checks = results.checks
    if blame:
        shown = [table for table in shown if "ttribution" in str(table.title)]
        checks = [check for check in checks if "origin" in check.requirement]
    unmet = [f"{one.id} {one.requirement} ({one.measured})" for one in checks if not one.passed]
    document = results.model_dump(mode="json")
    return Measured(shown, document, unmet, results.warnings, page(results))


def _league(quick: bool, processes: int, steps: Steps) -> Measured:
    from actors.studies.detecting import detect
    from actors.watchers import standard_calibrations

    size: dict[str, Any] = {"sizes": (6,), "seeds": 4} if quick else {}
    study = detect(
        **size, processes=processes, progress=steps, calibrations=standard_calibrations()
    )
    return Measured(
        [_detections(study.rows())], study.model_dump(mode="json"), _unmet(study), _few(quick)
    )


def _containment(quick: bool, processes: int, steps: Steps) -> Measured:
    from actors.studies.containing import contain
    from actors.watchers import standard_calibrations

    size: dict[str, Any] = {}
    if quick:
        kinds = ("price_rumour", "retry_storm", "steady")
        size = {"sizes": (6,), "kinds": kinds, "seeds": 4}
    study = contain(
        **size, processes=processes, progress=steps, calibrations=standard_calibrations()
    )
    return Measured(
        [_worth(study.worth())], study.model_dump(mode="json"), _unmet(study), _few(quick)
    )


def _verification(quick: bool, processes: int, steps: Steps) -> Measured:
    from actors.studies.verifying import try_suspects
    from actors.watchers import standard_calibrations

    size: dict[str, Any] = {"sizes": (6,), "seeds": 4} if quick else {}
    study = try_suspects(
        **size, processes=processes, progress=steps, calibrations=standard_calibrations()
    )
    return Measured(
        [_verified(study.rows())], study.model_dump(mode="json"), _unmet(study), _few(quick)
    )


def _bace(quick: bool, processes: int, steps: Steps) -> Measured:
    from monitors.bace.benchmark import run_benchmark

    table = run_benchmark(
        quick=quick, processes=processes, on_case=lambda done, of, row: steps("cases", done, of)
    )
    unmet = [
        f"{row.suite} {row.form} seed {row.seed}: {check.name} {check.value:g}, {check.demand}"
        for row in table.rows
        for check in row.checks
        if not check.passed
    ]
    return Measured([table.rich()], table.model_dump(mode="json"), unmet)


SUITES: Final[dict[Suite, Callable[[bool, int, Steps], Measured]]] = {
    Suite.SYNTHETIC: _synthetic,
    Suite.ATTRIBUTION: partial(_synthetic, blame=True),
    Suite.LEAGUE: _league,
    Suite.CONTAINMENT: _containment,
    Suite.VERIFICATION: _verification,
    Suite.BACE: _bace,
}


def _few(quick: bool) -> list[str]:
    return ["four runs of a kind tell little: leave --quick out for rates"] if quick else []


def _unmet(study: Any) -> list[str]:
    """What a study says of its requirements, if it has any."""
    checks = getattr(study, "checks", ())
    checks = checks() if callable(checks) else checks
    return [f"{one.requirement} ({one.measured})" for one in checks if not one.passed]


def _detections(rows: Sequence[Row]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title="Alarms in leagues; in brackets 95 %", title_justify="left", box=SIMPLE_HEAD
    )
    table.add_column("firms", justify="right")
    table.add_column("what is done")
    heads = ("runs", "found", "false alarms", "hours, median", "9 in 10")
    for head in (*heads, "origin", "bridge", "amplifier"):
        table.add_column(head, justify="right")
    for row in rows:
        share, low, high = row.detected
        rate = f"{share:.2f} ({low:.2f}-{high:.2f})"
        told = [rate, ""] if row.attack else ["", rate]
        delays = (
            [f"{row.delay(q):g}" for q in (0.5, 0.9)] if row.attack and row.delays else ["", ""]
        )
        first = [
            f"{row.named[role][0]:.2f}" if row.attack and role in row.named else ""
            for role in ("origin", "bridge", "amplifier")
        ]
        table.add_row(f"{row.firms}", row.kind, f"{row.runs}", *told, *delays, *first)
    return table


def _worth(rows: Sequence[Worth]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    harms = {
        "harmed_hours": "hours of harm",
        "infected_messages": "messages",
        "income_lost": "income lost $",
    }
    title = "Harm with alerts alone, and the share that containment avoids; in brackets 95 %"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column("firms", justify="right")
    table.add_column("what is done")
    for name in harms.values():
        table.add_column(name, justify="right")
        table.add_column("avoided", justify="right")
    for head in ("trade lost", "measures", "withheld"):
        table.add_column(head, justify="right")
    for row in rows:
        cells = [f"{row.firms}", row.kind]
        for harm in harms:
            cells.append(f"{row.harm[harm]['alerts']:,.0f}")
            cells.append(_interval(row.avoided.get(harm)))
        table.add_row(
            *cells, _interval(row.trade_lost), f"{row.measures:.1f}", f"{row.withheld:,.0f}"
        )
    return table


def _verified(rows: Sequence[Verified]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = "The true origin of abrupt cascades: named by the monitor, and after replays"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column("firms", justify="right")
    table.add_column("what is done")
    for head in ("runs", "alarms", "named first", "among suspects", "first after replays"):
        table.add_column(head, justify="right")
    for row in rows:
        shares = _interval(row.suspected), f"{row.among:.2f}", _interval(row.verified)
        table.add_row(f"{row.firms}", row.kind, f"{row.runs}", f"{row.alarms}", *shares)
    return table


def _interval(values: tuple[float, float, float] | None) -> str:
    if values is None or values[0] != values[0]:
        return ""
    share, low, high = values
    return f"{share:.2f} ({low:.2f}-{high:.2f})"
