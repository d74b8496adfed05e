"""`hanse train`: learn a policy for a firm, on the rules that the league runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.console import Json, Quiet, note, say, say_json, typed
from services.cli.train_buyer import purchasing, run_buyer, train_buyer
from services.errors import HanseError

if TYPE_CHECKING:
    from policies.training.algorithm import Figures
    from policies.training.settings import TrainingConfig
    from policies.training.trainer import Trainer

TRAININGS = Path("trainings")
"""Below the working directory."""
EXAMPLE = """Examples:

  hanse train                       the standard training: roaster_A of the standard league

  hanse new roaster.toml --training
      a training file of your own, with every key and its default

  hanse train roaster.toml --out trainings/first

  hanse train --set ppo.learning_rate=3e-4 --set chain.enabled=false
      with other values than the file's

  hanse train --resume trainings/first
      goes on where it was stopped; the result is the same as without the stop

  hanse train --resume trainings/first --iterations 200
      makes it longer, also when it is done; the learning rate falls as it was
      planned before, and then stays

  hanse train policies/training/market.toml
      a roaster and the shops that it sells to learn together

  hanse train policies/training/router.toml
      which town a router asks for what is ordered abroad

  hanse run --set firms.roaster_A.strategy=policy:trainings/first/policy
      the policy in a league

While it runs: what the firm earns while it explores (of several firms all);
each objective, if there are several; cost and its price, if the budget is
kept to (lagrangian); how undecided it is (entropy); the weight of CHAIN; and
at every validation how the likeliest levers do on the validation seeds. The
best of these is kept: first by the budget, if it is kept to; then by net
income, or by the weighted objectives of a day where profit is not alone.

The folder: progress.jsonl has a line for each iteration, tensorboard/ holds
the same for TensorBoard, checkpoint.pt is where to go on, policy/ is the best
policy so far; of firms that learn together it has a folder for each.
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
        typer.Option(min=1, help="In place of ppo.iterations; also longer, with --resume."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="In place of the file's.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A key of the training file; can be given several times.",
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a firm's policy with PPO, churn reduced by CHAIN, against the strategies of a league.

    It may be stopped at any time (Ctrl-C) and resumed. What it learns acts in a league as
    strategy = "policy:FOLDER"; compare it with: hanse evaluate FOLDER.
    """
    need_rl("train")
    if resume is not None and (file or out or settings or seed is not None):
        raise HanseError(
            "train: --resume goes on with a training as it was begun; leave out the file, --out,"
            " --seed and --set"
        )
    from policies.training.episodes import check
    from policies.training.folder import TRAINING, refuse_existing, resumable

    if file is not None and (table := purchasing(file)) is not None:
        if iterations is not None:
            raise HanseError(f"--iterations: {file} trains a purchasing policy, which has none")
        buyer = train_buyer(file, table, settings or [], TRAININGS, out, seed)
        run_buyer(*buyer, quiet, as_json)
        return
    # Whatever does not fit is said at once, before torch and Ray are there.
    if resume is not None:
        folder, config = resume, resumable(resume, iterations)
        check(config, str(folder / TRAINING))
    else:
        config = _config(file, settings or [], iterations, seed)
        folder = out or TRAININGS / f"{config.name}-seed{config.seed}"
        refuse_existing(folder)
        source = "the standard training" if file is None else str(file)
        check(config, f"{source} with --set" if settings else source)
    try:
        trainer = _trained(config, folder, resume is not None, iterations, quiet)
    except KeyboardInterrupt:
        _tell_stopped(folder)
        raise typer.Exit(130) from None
    _tell(trainer, as_json)


def _trained(
    config: TrainingConfig, folder: Path, resumed: bool, iterations: int | None, quiet: bool
) -> Trainer:
    from actors.local_ray import local_ray

    with local_ray(config.ppo.runners + 1):
        from policies.training.trainer import Trainer

        trainer = Trainer.resume(folder, iterations) if resumed else Trainer.create(config, folder)
        if trainer.done and not quiet:
            note(
                f"{folder}: all {trainer.iteration} iterations are done already; for more:"
                f" {typed('hanse', 'train', '--resume', folder, '--iterations')} N"
            )
        try:
            with _display(trainer, show=not quiet) as tell:
                trainer.run(tell)
        finally:
            trainer.close()
    return trainer


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


def _config(
    file: Path | None, settings: list[str], iterations: int | None, seed: int | None
) -> TrainingConfig:
    from policies.training.settings import TrainingConfig

    config = TrainingConfig() if file is None else TrainingConfig.load(file)
    if settings:
        config = config.with_settings(settings)
    if iterations is not None:
        ppo = config.ppo.model_dump(mode="json") | {"iterations": iterations}
        config = config.changed("--iterations", ppo=ppo)
    return config if seed is None else config.changed("--seed", seed=seed)


def _tell_stopped(folder: Path) -> None:
    """What is there after Ctrl-C, and how to go on."""
    from policies.training.folder import TRAINING, iterations_done

    if not (folder / TRAINING).is_file():
        note(f"stopped before the training began; there is no {folder}: type the same again")
        return
    done = iterations_done(folder)
    when = f"after iteration {done}" if done else "before the first iteration was done"
    note(f"stopped {when}; go on with: {typed('hanse', 'train', '--resume', folder)}")


def _line(figures: Figures, weights: Mapping[str, float]) -> str:
    """An iteration's figures for a person."""
    parts = [f"exploring ${figures['net_income']:,.0f}"]
    if len(weights) > 1:
        parts += [f"{name} {figures[f'objective_{name}']:.2f}" for name in weights]
    if "price" in figures:
        parts.append(f"cost {figures['cost']:.3f} at a price of {figures['price']:.2g}")
    parts += [
        f"{figures['steps'] / figures['seconds']:,.0f} steps/s",
        f"entropy {figures['entropy']:.2f}",
    ]
    if "chain_lambda" in figures:
        parts.append(f"chain {figures['chain_lambda']:.2g}")
    if "validation" in figures:
        parts.append(f"acting {_validated(figures, weights)} on the validation seeds")
    return ", ".join(parts)


def _validated(figures: Figures, weights: Mapping[str, float]) -> str:
    from policies.training.tally import profit_alone

    score = figures["validation"]
    if profit_alone(weights):
        parts = [f"${score:,.0f}"]
    else:
        parts = [f"{score:.3f} a day", f"${figures['validation_net_income']:,.0f}"]
    if len(weights) > 1:
        parts += [f"{name} {figures[f'validation_{name}']:.2f}" for name in weights]
    if "validation_cost" in figures:
        parts.append(f"cost {figures['validation_cost']:.3f}")
    return parts[0] if len(parts) == 1 else f"{parts[0]} ({', '.join(parts[1:])})"


@contextmanager
def _display(trainer: Trainer, *, show: bool) -> Iterator[Callable[[Figures], None]]:
    """A bar on a terminal; elsewhere a line for each validation."""
    total = trainer.config.ppo.iterations
    weights = trainer.config.environment.objectives
    if not show:
        yield lambda figures: None
    elif not sys.stderr.isatty():

        def tell(figures: Figures) -> None:
            if "validation" in figures:
                note(f"iteration {figures['iteration']:.0f} of {total}: {_line(figures, weights)}")

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
                progress.update(row, advance=1, description=_line(figures, weights))
                if "validation" in figures:
                    progress.console.print(
                        f"iteration {figures['iteration']:.0f}: {_line(figures, weights)}",
                        highlight=False,
                    )

            yield advance


def _tell(trainer: Trainer, as_json: bool) -> None:
    from policies.training.tally import profit_alone

    folders, best = trainer.policies, trainer.best
    alone, dollars = len(folders) == 1, profit_alone(trainer.config.environment.objectives)
    policy = next(iter(folders.values())) if alone else trainer.folder
    if as_json:
        document = {
            "folder": str(trainer.folder),
            "policy": str(policy),
            "iterations": trainer.iteration,
            "validation_net_income": _kept(trainer, "validation_net_income"),
        }
        if not alone:
            document["policies"] = {name: str(folder) for name, folder in folders.items()}
        if best is not None and not dollars:
            document["validation_score"] = best.score
        if best is not None and trainer.config.lagrangian.enabled:
            document["validation_cost_above_budget"] = best.excess
        say_json(document)
        return
    told = ""
    if best is not None:
        told = f": net income ${best.score:,.0f}" if dollars else f": {best.score:.3f} a day"
        told += " in validation"
        if best.excess:
            told += f", its mean cost {best.excess:.3f} above the budget"
    where = f"policy {policy}" if alone else f"policies {trainer.folder / 'policy'}"
    say(f"{where}{told}")
    note(f"compare {'it' if alone else 'them'}: {typed('hanse', 'evaluate', policy)}")


def _kept(trainer: Trainer, name: str) -> float | None:
    """A figure of the policies that are kept, of all firms together."""
    from policies.training.artefact import read_manifest

    if trainer.best is None:
        return None
    metrics = {m: read_manifest(folder).metrics[name] for m, folder in trainer.policies.items()}
    return sum(metrics[module] for module in trainer.modules.values())
