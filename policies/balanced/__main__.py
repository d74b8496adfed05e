"""The study from the command line: ``python -m policies.balanced --quick --json balanced.json``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from policies.balanced.study import run_study


def main(
    quick: Annotated[bool, typer.Option(help="One instance of the problem.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the table there, too.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Instances of the problem.")] = 4,
) -> None:
    """Compares rules for combining the gradients of tasks; ends with 1 if a demand is not met."""
    progress = Console(stderr=True)
    table = run_study(1 if quick else seeds, on_rule=lambda rule: progress.print(f"{rule} ..."))
    if json is not None:
        json.write_text(table.model_dump_json(indent=2) + "\n", encoding="utf-8")
    console = Console()
    console.print(table.rich())
    console.print(f"{table.cpu_seconds:.0f} CPU seconds")
    raise typer.Exit(0 if table.passed else 1)


if __name__ == "__main__":
    typer.run(main)
