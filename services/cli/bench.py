"""`hanse bench policies`: what the methods of learning are worth, beside their notes' figures."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from services.cli.commands import add
from services.cli.console import note
from services.errors import HanseError

SUITES = {
    "chain": "CHAIN: less churn at no loss of return, on CartPole with drifting observations",
    "balanced": "balanced multi-task updates beside six other ways to combine gradients",
    "concave": "the bias of plug-in gradients of concave utilities, and MLMC without it",
    "becon": "BECON's belief and gates where the best decision is computable",
    "becon-learned": "BECON and eight others where decisions have to be learned",
    "becon.procurement": "BECON as a controller that buys for a roaster, in whole leagues",
}
COMMANDS = {name: (f"policies.{name}",) for name in SUITES} | {
    "becon-learned": ("policies.becon", "--level", "2")
}
"""Each is a module of ``policies`` that can be run: ``python -m policies.chain``."""
EXAMPLE = (
    """Examples:

  hanse bench policies --quick          every suite at a small size, a few minutes

  hanse bench policies becon --json-to figures/

The suites:

"""
    + "\n\n".join(f"  {name}: {line}" for name, line in SUITES.items())
    + """

Each prints every demand of its method's note as met or MISSED; with --quick
fewer. What stands beside them for comparison holds, or does not hold.

Whether a trained firm earns is asked with: hanse evaluate POLICY --must-win

Exit codes: 0 all demands are met, 2 bad input, 4 one is not met, 130 stopped.
"""
)


def policies(
    suites: Annotated[
        list[str] | None, typer.Argument(metavar="SUITE", help="By default all, one by one.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds; says little about small differences.")
    ] = False,
    json_to: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write each table there as JSON, too.")
    ] = None,
) -> None:
    """Rerun the experiments of the methods' notes and print our figures beside theirs."""
    from services.cli.train import need_rl

    chosen = list(dict.fromkeys(suites or SUITES))
    for name in chosen:
        if name not in SUITES:
            raise HanseError(f"bench policies: no suite {name!r}; allowed: {', '.join(SUITES)}")
    need_rl("bench policies")
    if json_to is not None:
        try:
            json_to.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HanseError(
                f"{json_to}: cannot be made: {error.strerror or error}; choose another folder"
            ) from None
    missed = [name for name in chosen if not _run(name, quick, json_to)]
    if missed:
        note(f"a demand is not met in: {', '.join(missed)}")
        raise typer.Exit(4)


def _run(name: str, quick: bool, json_to: Path | None) -> bool:
    """Runs a suite in a process of its own; whether all its demands are met."""
    command = [sys.executable, "-m", *COMMANDS[name]]
    if quick:
        command.append("--quick")
    if json_to is not None:
        command += ["--json", str(json_to.absolute() / f"{name}.json")]
    note(f"{name}: {SUITES[name]}")
    began = time.perf_counter()
    # One thread: these networks are too small for more, and figures are those of one core.
    code = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False)
    note(f"{name}: {time.perf_counter() - began:.0f} s")
    if code.returncode not in (0, 1):
        raise HanseError(f"bench policies: {name} has failed (exit code {code.returncode})")
    return code.returncode == 0


def register(app: typer.Typer) -> None:
    """Adds the group to the command line."""
    group = typer.Typer(
        help="Rerun what Hanse claims, and print the figures.", no_args_is_help=True
    )
    add(group, policies, EXAMPLE)
    # With one command alone, typer would make it the group itself.
    group.callback()(lambda: None)
    app.add_typer(group, name="bench")
