"""The studies from the command line: ``python -m policies.becon --quick --json becon.json``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from policies.becon.study.level_one import QUICK, LevelOneSettings, run_level_one
from policies.becon.study.level_one_table import Table
from policies.environments.tradeoff_desk import DeskSettings


def main(
    quick: Annotated[bool, typer.Option(help="Seed 0 only, and smaller.")] = False,
    seeds: Annotated[int, typer.Option(min=1, help="How many, from 0.")] = 3,
    tables: Annotated[int, typer.Option(help="Seed of what the desk pays and costs.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write the table there, too.")] = None,
) -> None:
    """Shows what BECON is worth beside the note's figures; ends with 1 if a demand is missed."""
    progress = Console(stderr=True)
    base = QUICK if quick else LevelOneSettings()
    settings = LevelOneSettings(
        **{name: getattr(base, name) for name in base.__slots__ if name != "desk"},
        desk=DeskSettings(tables=tables),
    )
    studies = []
    for seed in range(1 if quick else seeds):
        studies.append(run_level_one(seed, settings))
        progress.print(f"seed {seed}: {studies[-1].seconds:.0f} CPU seconds")
    table = Table.of(studies, quick=quick)
    if json is not None:
        json.write_text(table.model_dump_json(indent=2) + "\n", encoding="utf-8")
    console = Console()
    for part in table.rich():
        console.print(part)
    cpu = table.cpu_seconds
    console.print(f"{cpu.mean:.0f} CPU seconds a seed on {table.machine}.")
    raise typer.Exit(0 if table.passed else 1)


if __name__ == "__main__":
    typer.run(main)
