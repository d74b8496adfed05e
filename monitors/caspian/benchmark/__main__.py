"""`python -m monitors.caspian.benchmark`: runs the benchmark and prints its tables.

`hanse monitor bench` measures the same, with bars and a verdict; monitors know nothing of the
command line, so here a line on stderr says how far it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from monitors.caspian.benchmark.benchmark import run_benchmark
from monitors.caspian.benchmark.page import page
from monitors.caspian.benchmark.results import FULL, QUICK
from monitors.caspian.benchmark.tables import tables


def main(
    quick: Annotated[
        bool, typer.Option("--quick", help="96 traces: too few for false alarm rates.")
    ] = False,
    processes: Annotated[int, typer.Option(min=1, help="How many processes to use.")] = 2,
    json: Annotated[Path | None, typer.Option(help="Where to write the figures.")] = None,
    html: Annotated[Path | None, typer.Option(help="Where to write a page with charts.")] = None,
) -> None:
    """Measures CASPIAN's robust mode beside its rivals on synthetic cascades."""
    console = Console()
    try:
        results = run_benchmark(QUICK if quick else FULL, processes=processes, progress=_tell)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    for table in tables(results):
        console.print(table)
    for text in results.warnings:
        console.print(text, style="yellow")
    if json is not None:
        json.write_text(results.model_dump_json(indent=1) + "\n", encoding="utf-8")
    if html is not None:
        html.write_text(page(results), encoding="utf-8")


def _tell(done: int, total: int, what: str) -> None:
    """A line at each tenth of a part."""
    if done and done * 10 // total > (done - 1) * 10 // total:
        typer.echo(f"{what}: {done:,} of {total:,}", err=True)


if __name__ == "__main__":
    typer.run(main)
