"""`hanse evaluate` of a purchasing policy: whole leagues against other ways to purchase."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from rich.console import Console

from services.cli.console import note, say_json
from services.cli.evaluation_names import named
from services.cli.folders import RUNS
from services.errors import HanseError

USUAL = ("base_stock", "exposed", "history", "becon")
"""Whom the demands speak of."""


def purchasing_policy(path: Path) -> Path | None:
    """The folder of a purchasing policy: the path, or what its training has left there."""
    from policies.training.artefact import MANIFEST, PURCHASING

    for folder in (path, path / "policy"):
        try:
            if json.loads((folder / MANIFEST).read_bytes())["kind"] == PURCHASING:
                return folder
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def evaluate_buyer(
    policy: Path,
    seeds: list[int] | None,
    against: str | None,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> bool:
    """Plays it in all regimes beside the others, and shows the table; what is done is kept.

    Returns:
        Whether it does better than the word and the history alone.

    Raises:
        HanseError: the policy is damaged, or there is no such way to purchase.
    """
    from policies.becon.procurement.artefact import read_manifest
    from policies.becon.procurement.study import ARMS, REPORTED
    from policies.becon.procurement.table import study_table

    arms: tuple[str, ...] = USUAL
    if against is not None:
        given = named(against)
        for name in given:
            if name not in ARMS:
                raise HanseError(f"--against: there is no {name!r}; allowed: {', '.join(ARMS)}")
        arms = tuple(dict.fromkeys([*given, "becon"]))
    digest = hashlib.sha256(read_manifest(policy).model_dump_json().encode()).hexdigest()[:8]
    keep = out or RUNS / f"purchasing-evaluation-{digest}"
    told = (lambda line: None) if quiet else note
    table = study_table(policy, seeds or REPORTED, arms=arms, keep=keep, say=told)
    if as_json:
        say_json({"folder": str(keep), **json.loads(table.model_dump_json())})
    else:
        console = Console()
        for part in table.rich():
            console.print(part)
        note(f"what was played is kept in {keep}")
    return table.passed
