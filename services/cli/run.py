"""`hanse run`: start a run and see what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.cli.console import Json, Quiet, Settings, note
from services.strategy_lines import AUTO_PLACEMENT, STRATEGY_LINES

_EXAMPLES = """Examples:

  hanse run

  hanse run coffee.toml --seed 7 --days 30 --placement inline

  hanse run --json > result.json

Strategies of firms in a run file:

"""
EXAMPLE = _EXAMPLES + "\n\n".join(f"  {name}: {what}" for name, what in STRATEGY_LINES.items())
EXAMPLE += """

  FILE.py:CLASS or MODULE:CLASS: one of your own; with --placement inline
  you see what it prints

  policy:FOLDER: a policy that hanse train has made
"""


def run(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Run file (TOML); without it the standard league."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="One seed, one run, to the byte.")] = None,
    days: Annotated[int | None, typer.Option(help="How long: 1 to 3660.")] = None,
    rules: Annotated[str | None, typer.Option(help="hanse or coffeebench.")] = None,
    placement: Annotated[
        str | None,
        typer.Option(
            help="inline (no Ray), one (a Ray actor for each agent), packed (on --hosts) or "
            + AUTO_PLACEMENT
            + "."
        ),
    ] = None,
    hosts: Annotated[
        int | None, typer.Option(help="Ray actors that carry the agents when packed: 1 to 64.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The run's folder (runs/<name>-seed<seed>-<n>)."),
    ] = None,
    trace: Annotated[
        bool, typer.Option(help="Note when each message is handled, for `hanse trace`.")
    ] = True,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Serve metrics to Prometheus there, on 127.0.0.1; 0: any port."
        ),
    ] = None,
    settings: Settings = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a league of firms and show what came of it.

    Without FILE it runs 90 days of six coffee firms, scripted and heuristic. Options override
    what the file says. A run that is stopped with Ctrl-C or by a crash goes on with `hanse resume`.
    """
    from services.cli.calibrations import check_calibration, warn_of_size
    from services.cli.folders import new_folder
    from services.cli.session import announce_ray, check_new, play
    from services.config import apply_settings, load, standard

    config = standard() if file is None else load(file, check_calibration=check_calibration)
    config = config.with_overrides(
        source="command line",
        seed=seed,
        days=days,
        rules=rules,
        placement=placement,
        hosts=hosts,
    )
    if settings:
        config = apply_settings(config, settings, check_calibration=check_calibration)
    checked = check_new(config, "standard league" if file is None else str(file))
    warn_of_size(config)
    with new_folder(out, f"{config.name}-seed{config.seed}") as folder:
        from actors.league import League
        from actors.tracing import Telemetry

        if not quiet:
            note(f"run {folder}")
            if not as_json:
                announce_ray(checked)
        play(
            lambda: League.create(
                config, folder, telemetry=Telemetry(trace, (), metrics_port, log_file=True)
            ),
            folder,
            config,
            first_day=0,
            show=not (quiet or checked.played),
            as_json=as_json,
        )
