"""The study from the command line: ``python -m policies.chain --quick --json chain.json``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from policies.chain.study import Run
from policies.chain.table import run_rates, run_study


def main(
    quick: Annotated[bool, typer.Option(help="Two modes and one seed.")] = False,
    processes: Annotated[int, typer.Option(min=1, help="How many runs at once.")] = 1,
    rates: Annotated[
        bool, typer.Option("--rates", help="PPO alone at several learning rates, no demands.")
    ] = False,
    keep: Annotated[
        Path | None, typer.Option(help="Folder of finished runs, which are not run again.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the table there, too.")] = None,
) -> None:
    """Trains with and without CHAIN and compares; ends with 1 if a demand is not met.

    Seeds and demands were laid down beforehand: `SEEDS` in `study.py` and `demands` in `table.py`.
    """
    progress = Console(stderr=True)

    def told(done: int, number: int, run: Run) -> None:
        progress.print(f"{done} of {number}: {run.mode}, seed {run.seed}")

    if rates:
        table = run_rates(processes=processes, keep=keep, on_run=told)
    else:
        table = run_study(quick=quick, processes=processes, keep=keep, on_run=told)
    if json is not None:
        json.write_text(table.model_dump_json(indent=2) + "\n", encoding="utf-8")
    Console().print(table.rich())
    raise typer.Exit(0 if table.passed else 1)


if __name__ == "__main__":
    typer.run(main)
