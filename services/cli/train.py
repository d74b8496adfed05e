"""`hanse train`: learn a policy for a firm, on the rules that the league runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.console import Json, Quiet, note, say, say_json, typed
from services.errors import HanseError

if TYPE_CHECKING:
    from policies.training.settings import TrainingConfig
    from policies.training.trainer import Figures, Trainer

TRAININGS = Path("trainings")
"""Below the working directory."""
EXAMPLE = """Examples:

  hanse train                       the standard training: roaster_A of the standard league

  hanse new roaster.toml --training
      a training file of your own, with every key and its default

  hanse train roaster.toml --out trainings/first

  hanse train --resume trainings/first
      goes on where it was stopped; the result is the same as without the stop

  hanse run --set firms.roaster_A.strategy=policy:trainings/first/policy
      the policy in a league

While it runs: what the firm earns while it explores; how undecided it still is
(entropy); the weight of CHAIN; and at every validation what the likeliest levers
earn on the validation seeds. The best of these is kept, by net income.

The folder: progress.jsonl has a line for each iteration, tensorboard/ the same for
TensorBoard, checkpoint.pt is where to go on, policy/ is the best policy so far by
the mean net income on the validation seeds.
"""


def train(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Training file (TOML); without it the standard one."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where it goes (trainings/<name>-seed<seed>)."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Go on with a training that was stopped."),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="In place of the file's ppo.iterations, for a first try."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="In place of the file's.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a firm's policy with PPO, churn reduced by CHAIN, against the strategies of a league.

    It may be stopped at any time (Ctrl-C) and resumed. What it learns acts in a league as
    strategy = "policy:FOLDER"; compare it with: hanse evaluate FOLDER.
    """
    need_rl("train")
    if resume is not None and (file or out or iterations or seed is not None):
        raise HanseError(
            "train: --resume goes on with a training as it was begun; leave out the file,"
            " --out, --iterations and --seed"
        )
    from actors.local_ray import local_ray
    from policies.training.folder import read_training, refuse_existing

    # Whatever does not fit is said at once, before torch and Ray are there.
    if resume is not None:
        folder, config = resume, read_training(resume)
    else:
        from policies.training.episodes import check

        config = _config(file, iterations, seed)
        folder = out or TRAININGS / f"{config.name}-seed{config.seed}"
        refuse_existing(folder)
        check(config)
    with local_ray(config.ppo.runners + 1):
        from policies.training.trainer import Trainer

        trainer = Trainer.create(config, folder) if resume is None else Trainer.resume(folder)
        if trainer.done and not quiet:
            note(f"{folder}: all {trainer.iteration} iterations are done already")
        try:
            _run(trainer, quiet)
        finally:
            trainer.close()
    _tell(trainer, as_json)


def need_rl(command: str) -> None:
    """Refuses where the libraries for learning are missing.

    Args:
        command: Which needs them.

    Raises:
        HanseError: it says how to install them.
    """
    for name in ("torch", "gymnasium", "safetensors", "tensorboardX", "dm_tree"):
        module = "tree" if name == "dm_tree" else name
        if find_spec(module) is None:
            raise HanseError(f"{command}: needs {name}: make rl, or pip install 'hanse[rl]'")


def _config(file: Path | None, iterations: int | None, seed: int | None) -> TrainingConfig:
    from policies.training.settings import TrainingConfig

    config = TrainingConfig() if file is None else TrainingConfig.load(file)
    if iterations is not None:
        ppo = config.ppo.model_dump(mode="json") | {"iterations": iterations}
        config = config.changed("--iterations", ppo=ppo)
    return config if seed is None else config.changed("--seed", seed=seed)


def _run(trainer: Trainer, quiet: bool) -> None:
    try:
        with _display(trainer, show=not quiet) as tell:
            trainer.run(tell)
    except KeyboardInterrupt:
        note(
            f"stopped after iteration {trainer.iteration}; go on with:"
            f" {typed('hanse', 'train', '--resume', trainer.folder)}"
        )
        raise typer.Exit(130) from None


def _line(figures: Figures) -> str:
    """An iteration's figures for a person."""
    parts = [
        f"exploring ${figures['net_income']:,.0f}",
        f"{figures['steps'] / figures['seconds']:,.0f} steps/s",
        f"entropy {figures['entropy']:.2f}",
    ]
    if "chain_lambda" in figures:
        parts.append(f"chain {figures['chain_lambda']:.2g}")
    if "validation" in figures:
        parts.append(f"acting ${figures['validation']:,.0f} on the validation seeds")
    return ", ".join(parts)


@contextmanager
def _display(trainer: Trainer, *, show: bool) -> Iterator[Callable[[Figures], None]]:
    """A bar on a terminal; elsewhere a line for each validation."""
    total = trainer.config.ppo.iterations
    if not show:
        yield lambda figures: None
    elif not sys.stderr.isatty():

        def tell(figures: Figures) -> None:
            if "validation" in figures:
                note(f"iteration {figures['iteration']:.0f} of {total}: {_line(figures)}")

        yield tell
    else:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            MofNCompleteColumn(),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            row = progress.add_task("", total=total, completed=trainer.iteration)

            def advance(figures: Figures) -> None:
                progress.update(row, advance=1, description=_line(figures))
                if "validation" in figures:
                    progress.console.print(
                        f"iteration {figures['iteration']:.0f}: {_line(figures)}", highlight=False
                    )

            yield advance


def _tell(trainer: Trainer, as_json: bool) -> None:
    policy = trainer.folder / "policy"
    if as_json:
        say_json(
            {
                "folder": str(trainer.folder),
                "policy": str(policy),
                "iterations": trainer.iteration,
                "validation_net_income": trainer.best,
            }
        )
        return
    best = "" if trainer.best is None else f": net income ${trainer.best:,.0f} in validation"
    say(f"policy {policy}{best}")
    note(f"compare it: {typed('hanse', 'evaluate', policy)}")
