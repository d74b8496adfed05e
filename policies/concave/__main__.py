"""The studies from the command line: ``python -m policies.concave --quick --json concave.json``."""

import json as encoding
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from policies.concave.study.table import run_study


def main(
    quick: Annotated[bool, typer.Option(help="A fifth of the time, fewer demands.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the tables there, too.")] = None,
) -> None:
    """Shows what the multi-level estimate is worth; ends with 1 if a demand is missed."""
    study = run_study(quick, Console(stderr=True).print)
    if json is not None:
        json.write_text(encoding.dumps(study.record(), indent=2) + "\n", encoding="utf-8")
    console = Console()
    for part in study.rich():
        console.print(part)
    console.print(f"Run once, {study.cpu_seconds:.0f} CPU seconds on {study.machine}.")
    raise typer.Exit(0 if study.passed else 1)


if __name__ == "__main__":
    typer.run(main)
