"""The league study from the command line: ``python -m policies.becon.procurement --quick``."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from policies.becon.procurement.study import ARMS, REPORTED, TUNING
from policies.becon.procurement.table import study_table
from services.errors import HanseError

progress = Console(stderr=True, highlight=False)
QUICK_SEEDS = 3


def main(
    quick: Annotated[
        bool, typer.Option("--quick", help="A small training and 3 tuning seeds; says little.")
    ] = False,
    policy: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Take this policy; train none.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep the trained policy there.")
    ] = None,
    only_train: Annotated[
        bool, typer.Option("--only-train", help="Train, write --out and play no leagues.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the training.")] = 1,
    tuning: Annotated[
        bool, typer.Option("--tuning", help="Play the seeds on which settings are chosen.")
    ] = False,
    arms: Annotated[
        str, typer.Option(metavar="LIST", help="Who is compared, separated by commas.")
    ] = ",".join(ARMS),
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep what is finished; go on where it was stopped."),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the table there, too.")] = None,
) -> None:
    """Trains a purchasing policy and plays whole leagues with it; ends with 1 if a demand fails."""
    try:
        _main(quick, policy, out, only_train, seed, tuning, arms, keep, json)
    except HanseError as error:
        progress.print(str(error), markup=False, soft_wrap=True)
        raise typer.Exit(2) from None


def _main(
    quick: bool,
    policy: Path | None,
    out: Path | None,
    only_train: bool,
    seed: int,
    tuning: bool,
    arms: str,
    keep: Path | None,
    json: Path | None,
) -> None:
    if only_train and (out is None or policy is not None):
        raise HanseError("--only-train: needs --out FOLDER, and no --policy; give it one")
    if policy is None and out is not None and out.exists():
        raise HanseError(f"{out}: is there already; choose another --out, or take it: --policy")
    names = [name.strip() for name in arms.split(",")]
    for name in names:
        if name not in ARMS:
            raise HanseError(f"--arms: there is no {name!r}; allowed: {', '.join(ARMS)}")
    with tempfile.TemporaryDirectory(prefix="policy-") as scratch:
        folder = policy or out or Path(scratch)
        if policy is None:
            _train(folder, seed, quick)
        if only_train:
            progress.print(f"the policy is in {folder}", markup=False)
            return
        seeds = TUNING if tuning else TUNING[:QUICK_SEEDS] if quick else REPORTED
        table = study_table(folder, seeds, arms=names, keep=keep, say=progress.print)
    if json is not None:
        json.write_text(table.model_dump_json(indent=2) + "\n", encoding="utf-8")
    console = Console()
    for part in table.rich():
        console.print(part)
    console.print(
        f"Policy {table.policy}, kappa {table.kappa:g},"
        f" {table.train_seconds / 60:.1f} CPU minutes of training, on {table.machine}."
    )
    raise typer.Exit(0 if table.passed else 1)


def _train(folder: Path, seed: int, quick: bool) -> None:
    from policies.becon.procurement.settings import QUICK, Settings
    from policies.becon.procurement.training import train_into

    settings = replace(QUICK if quick else Settings(), seed=seed)
    train_into(folder, settings, lambda line: progress.print(line, markup=False))


if __name__ == "__main__":
    typer.run(main)
