"""`hanse train` with a file that has a table [procurement]: a purchasing policy of BECON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from services.cli.console import note, say, say_json, typed
from services.errors import HanseError

if TYPE_CHECKING:
    from policies.becon.procurement.settings import Settings

TABLE = "procurement"


def purchasing(file: Path) -> dict[str, Any] | None:
    """The table of a training file for a purchasing policy; None of any other file.

    Raises:
        HanseError: the file cannot be read, or has other tables and keys beside it.
    """
    from services.config.reading import read_toml

    values = read_toml(file, "a training file")
    if TABLE not in values:
        return None
    for key in values:
        if key != TABLE:
            raise HanseError(
                f"{file}: {key}: has no meaning beside [{TABLE}]; keep one of the two, a firm's"
                " policy or a purchasing policy"
            )
    table = values[TABLE]
    if not isinstance(table, dict):
        raise HanseError(f"{file}: {TABLE}: is a table with keys of its own; write [{TABLE}]")
    return table


def train_buyer(
    file: Path,
    table: dict[str, Any],
    settings: list[str],
    trainings: Path,
    out: Path | None,
    seed: int | None,
) -> tuple[Settings, Path]:
    """The settings of a purchasing policy's training, and its folder, which is not there yet.

    Raises:
        HanseError: a setting does not fit, or the folder is there.
    """
    from policies.becon.procurement.settings import Settings
    from policies.training.folder import refuse_existing

    given = _with_settings(table, settings)
    if seed is not None:
        given = {**given, "seed": seed}
    made = Settings.parse(given, f"{file}{' with --set' if settings else ''}: {TABLE}")
    folder = out or trainings / f"{file.stem}-seed{made.seed}"
    refuse_existing(folder)
    return made, folder


def _with_settings(table: dict[str, Any], settings: list[str]) -> dict[str, Any]:
    """The table with each `procurement.key=value` set.

    Raises:
        HanseError: a setting is none, or of another table.
    """
    from services.config.settings import put_settings

    values: dict[str, Any] = {TABLE: table}
    put_settings(values, settings, f"{TABLE}.kappa=0.5")
    for key, value in values.items():
        if key == TABLE and isinstance(value, dict):
            continue
        what = "has keys" if key == TABLE else "is no table of a purchasing policy's training"
        raise HanseError(f"--set: {key}: {what}; set a key of {TABLE}, such as {TABLE}.kappa=0.5")
    changed: dict[str, Any] = values[TABLE]
    return changed


def run_buyer(settings: Settings, folder: Path, quiet: bool, as_json: bool) -> None:
    """Learns it; a training that is stopped leaves nothing and begins anew."""
    from policies.becon.procurement.training import train_into

    policy = folder / "policy"
    try:
        train_into(policy, settings, (lambda line: None) if quiet else note)
    except KeyboardInterrupt:
        note("stopped; a purchasing policy's training has no checkpoint: type the same again")
        raise typer.Exit(130) from None
    if as_json:
        say_json({"folder": str(folder), "policy": str(policy)})
        return
    say(f"policy {policy}")
    note(f"compare it: {typed('hanse', 'evaluate', folder)}")
