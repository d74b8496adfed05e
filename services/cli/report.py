"""`hanse report`: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.cli.console import Json, RunArgument, say, say_json

EXAMPLE = """Examples:

  hanse report coffee-seed0-001

  hanse report runs/coffee-seed0-001 --out report.html
"""


def report(
    run: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the page goes (into the run's folder)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run as one HTML page with charts; it needs no network.

    Income, prices and stocks over time, who trades with whom, the messages, the ledger. A run that
    is still going on is reported up to its last whole day.
    """
    from services.cli.folders import find_run
    from services.runs.report import write_report

    page = write_report(find_run(run), out)
    if as_json:
        say_json({"report": str(page)})
    else:
        say(str(page))
