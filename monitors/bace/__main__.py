"""The benchmark from the command line: ``python -m monitors.bace --quick --json bace.json``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from monitors.bace.benchmark import Row, run_benchmark


def main(
    quick: Annotated[bool, typer.Option(help="Seed 0 only.")] = False,
    processes: Annotated[int, typer.Option(min=1, help="How many cases at once.")] = 2,
    json: Annotated[Path | None, typer.Option(help="Write the table there, too.")] = None,
) -> None:
    """Fits signals with a known graph and shows how well it is found; ends with 1 if badly."""
    progress = Console(stderr=True)

    def told(done: int, number: int, row: Row) -> None:
        progress.print(f"{done} of {number}: {row.suite}, {row.form}, seed {row.seed}")

    table = run_benchmark(quick=quick, processes=processes, on_case=told)
    if json is not None:
        json.write_text(table.model_dump_json(indent=2) + "\n", encoding="utf-8")
    Console().print(table.rich())
    raise typer.Exit(0 if table.passed else 1)


if __name__ == "__main__":
    typer.run(main)
