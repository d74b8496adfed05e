"""`hanse export`: a run's tables for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from services.cli.console import Json, RunArgument, say, say_json

EXAMPLE = """Examples:

  hanse export coffee-seed0-001 --to parquet

  hanse export coffee-seed0-001 --to csv --out tables/
"""


class Format(StrEnum):
    """What a run is exported to."""

    parquet = "parquet"
    csv = "csv"
    log = "log"


def export(
    run: RunArgument,
    to: Annotated[
        Format, typer.Option(help="Tables as Parquet or CSV, or the event log as lines of text.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the files go (export/ in the run's folder)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run's messages, events, ledger and metrics as files."""
    from services.cli.folders import find_run
    from services.runs import export as export_run

    folder = find_run(run)
    files = export_run(folder, out or folder / "export", to.value)
    if as_json:
        say_json({"files": [str(file) for file in files]})
    else:
        for file in files:
            say(str(file))
