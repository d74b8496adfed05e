"""`hanse sweep`: the same league under many seeds, and what two leagues differ in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.console import Json, Quiet, Settings
from services.errors import HanseError

if TYPE_CHECKING:
    from services.config import RunConfig

EXAMPLE = """Examples:

  hanse sweep coffee.toml --seeds 0-31

  hanse sweep --seeds 0-31,40 --set firms.roaster_A.strategy=scripted --out runs/scripted

  hanse sweep runs/scripted runs/heuristic
"""


def sweep(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Run file (TOML); without it the standard league. "
            "Or one or two folders of sweeps, to look at them again.",
        ),
    ] = None,
    seeds: Annotated[str, typer.Option(metavar="SEEDS", help="Such as 0-31 or 0-31,40.")] = "0-7",
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where the runs go (runs/<name>-sweep-<configuration>)."
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Another sweep, compared seed by seed."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Replicas at the same time (one for each processor).")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a league under many seeds; show each firm's mean net income and its 95 % interval.

    A sweep that was stopped is taken up by the same command: finished replicas are kept,
    interrupted ones resumed. Two sweeps are compared by the differences of equal seeds.
    """
    from services.cli.comparison import Sweep, show
    from services.cli.replicas import run_replicas
    from services.seeds import parse_seeds

    paths = files or []
    if any(path.is_dir() for path in paths):
        if settings or out:
            raise HanseError(f"{paths[0]}: is there already; --set and --out need a run file")
        folders = [*paths, *([] if against is None else [against])]
        if len(folders) > 2:
            raise HanseError(f"sweep: {len(folders)} sweeps are too many; compare two")
        this, *others = [Sweep.read(folder) for folder in folders]
    else:
        if len(paths) > 1:
            raise HanseError(
                f"sweep: {len(paths)} run files are too many; sweep each, then compare the folders"
            )
        others = [] if against is None else [Sweep.read(against)]
        config = _configuration(paths[0] if paths else None, settings or [])
        this = run_replicas(config, parse_seeds(seeds), out, workers, show=not quiet)
    show(this, others[0] if others else None, as_json=as_json)
    if this.failures:
        seed, message = next(iter(this.failures.items()))
        raise HanseError(
            f"{len(this.failures)} replicas failed; seed {seed}: {message} "
            "(the same command tries them again)"
        )


def _configuration(file: Path | None, settings: list[str]) -> RunConfig:
    from actors.cast import Cast
    from actors.machines import check_names
    from services.cli.calibrations import check_calibration, warn_of_size
    from services.config import apply_settings, load, standard

    if any(setting.partition("=")[0].strip() == "seed" for setting in settings):
        raise HanseError("--set seed: a sweep has many seeds; use --seeds")
    config = standard() if file is None else load(file, check_calibration=check_calibration)
    config = apply_settings(config, settings, check_calibration=check_calibration)
    cast = Cast(config, "standard league" if file is None else str(file))
    cast.check()
    check_names(cast, "inline", config.hosts)
    warn_of_size(config)
    for firm in cast.needs_terminal():
        raise HanseError(
            f"sweep: {firm} is played by a human; let another strategy play: "
            f"--set firms.{firm}.strategy=scripted"
        )
    return config
