"""The studies from the command line: ``python -m policies.becon --quick --json becon.json``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from policies.becon.study import level_one_table, level_two_table
from policies.becon.study.external import OUTSIDE, Outside, missing, run_outside
from policies.becon.study.level_one import QUICK, LevelOne, LevelOneSettings, run_level_one
from policies.becon.study.level_two import HELD_BACK, LevelTwo, run_level_two
from policies.becon.study.ppo import PPOSettings
from policies.becon.study.seeds import LEVEL_ONE, LEVEL_TWO, TUNING
from policies.becon.variants import VARIANTS
from policies.environments.tradeoff_desk import DRIFTS, DeskSettings
from policies.kept import kept
from services.errors import HanseError
from services.seeds import parse_seeds

QUICK_ITERATIONS = 30
QUICK_VARIANTS = ("exposed", "becon")
TRAINED = tuple(name for name in VARIANTS if name not in HELD_BACK)
QUICK_STEPS = 4096
Done = TypeVar("Done")
Case = tuple[str, Callable[[], tuple[LevelTwo, ...]]]
"""What it is called and how it is run."""
progress = Console(stderr=True)


def main(
    level: Annotated[int, typer.Option(min=1, max=2, help="1: deals computed; 2: learned.")] = 1,
    quick: Annotated[bool, typer.Option(help="Seed 0 only, and smaller.")] = False,
    seeds: Annotated[
        str, typer.Option(metavar="N-M", help="Others than those laid down, such as 0-2.")
    ] = "",
    tables: Annotated[int, typer.Option(help="Level 1: seed of what the desk pays.")] = 0,
    drift: Annotated[
        str, typer.Option(help="Level 1: jumps, slow, context or adversarial.")
    ] = "jumps",
    variants: Annotated[
        str, typer.Option(help="Level 2: which, separated by commas; by default all.")
    ] = "",
    iterations: Annotated[int, typer.Option(min=1, help="Level 2: of 4096 steps.")] = 80,
    rllib: Annotated[
        bool, typer.Option("--rllib", help="Level 2: train through RLlib, six times slower.")
    ] = False,
    outside: Annotated[
        bool, typer.Option("--outside", help="Level 2: also Envelope and CAPQL (morl-baselines).")
    ] = False,
    outside_steps: Annotated[
        int, typer.Option(min=1, help="Level 2: of each of these, a gradient step each.")
    ] = 40_960,
    processes: Annotated[int, typer.Option(min=1, help="How many trainings at once.")] = 1,
    keep: Annotated[
        Path | None, typer.Option(help="Folder of finished trainings, which are not run again.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the table there, too.")] = None,
) -> None:
    """Shows what BECON is worth beside the note's figures; ends with 1 if a demand is missed.

    Seeds and demands were laid down beforehand: `policies/becon/study/seeds.py` and `demands`.
    """
    laid_down = TUNING[:1] if quick else LEVEL_ONE if level == 1 else LEVEL_TWO
    numbers = _numbers(seeds) if seeds else list(laid_down)
    if level == 1:
        if drift not in DRIFTS:
            progress.print(f"--drift: there is no {drift!r}; allowed: {', '.join(DRIFTS)}")
            raise typer.Exit(2)
        base = QUICK if quick else LevelOneSettings()
        settings = replace(base, desk=DeskSettings(tables=tables), drift=drift)
        passed = _level_one(numbers, settings, quick, processes, keep, json)
    else:
        default = QUICK_VARIANTS if quick else TRAINED
        names = [name.strip() for name in variants.split(",")] if variants else list(default)
        for name in names:
            if name not in VARIANTS:
                progress.print(f"--variants: there is no {name!r}; allowed: {', '.join(VARIANTS)}")
                raise typer.Exit(2)
        length = min(iterations, QUICK_ITERATIONS) if quick else iterations
        settings_two = PPOSettings(iterations=length)
        cases = [_case(name, seed, settings_two, rllib, keep) for seed in numbers for name in names]
        if outside and (why := missing()) is not None:
            progress.print(why)
        elif outside:
            steps = min(outside_steps, QUICK_STEPS) if quick else outside_steps
            cases += [
                _outside(method, seed, steps, settings_two, keep)
                for seed in numbers
                for method in OUTSIDE
            ]
        passed = _level_two(cases, length, processes, json)
    raise typer.Exit(0 if passed else 1)


def _level_one(
    seeds: list[int],
    settings: LevelOneSettings,
    quick: bool,
    processes: int,
    keep: Path | None,
    json: Path | None,
) -> bool:
    jobs = [
        partial(
            kept,
            keep and keep / f"level-one-{seed}.json",
            LevelOne,
            settings,
            partial(run_level_one, seed, settings),
        )
        for seed in seeds
    ]
    studies = _all(jobs, [f"seed {seed}" for seed in seeds], processes)
    table = level_one_table.Table.of(studies, quick=quick)
    _write(json, table.model_dump_json(indent=2))
    console = Console()
    for part in table.rich():
        console.print(part)
    console.print(f"{table.cpu_seconds.mean:.0f} CPU seconds a seed on {table.machine}.")
    return table.passed


def _case(name: str, seed: int, settings: PPOSettings, rllib: bool, keep: Path | None) -> Case:
    run = run_level_two
    if rllib:
        from policies.becon.study.on_rllib import run_on_rllib as run
    job = partial(run, name, seed, settings)
    return f"{name}, seed {seed}", _keeping(keep, name, seed, (settings, rllib), job)


def _outside(
    method: Outside, seed: int, steps: int, settings: PPOSettings, keep: Path | None
) -> Case:
    job = partial(run_outside, method, seed, steps, settings)
    return f"{method}, seed {seed}", _keeping(keep, method, seed, (settings, steps), job)


def _keeping(
    keep: Path | None,
    name: str,
    seed: int,
    made_with: object,
    job: Callable[[], tuple[LevelTwo, ...]],
) -> Callable[[], tuple[LevelTwo, ...]]:
    path = keep and keep / f"{name}-{seed}.json"
    return partial(kept, path, tuple[LevelTwo, ...], made_with, job)


def _level_two(cases: Sequence[Case], iterations: int, processes: int, json: Path | None) -> bool:
    done = _all([job for _, job in cases], [name for name, _ in cases], processes)
    table = level_two_table.Table.of([study for one in done for study in one], iterations)
    _write(json, table.model_dump_json(indent=2))
    console = Console()
    for part in table.rich():
        console.print(part)
    console.print(f"{table.cpu_minutes:.0f} CPU minutes of training on {table.machine}.")
    return table.passed


def _all(jobs: Sequence[Callable[[], Done]], names: Sequence[str], processes: int) -> list[Done]:
    """Runs the jobs; what comes of them does not depend on the number of processes."""
    done: list[Done] = []
    if processes == 1:
        for job, name in zip(jobs, names, strict=True):
            done.append(job())
            progress.print(f"{len(done)} of {len(jobs)}: {name}")
        return done
    # Spawned, not forked: a fork of a process in which torch has threads may hang.
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        waiting = [pool.submit(job) for job in jobs]
        for future, name in zip(waiting, names, strict=True):
            done.append(future.result())
            progress.print(f"{len(done)} of {len(jobs)}: {name}")
    return done


def _numbers(seeds: str) -> list[int]:
    try:
        return parse_seeds(seeds)
    except HanseError as error:
        progress.print(str(error))
        raise typer.Exit(2) from None


def _write(json: Path | None, text: str) -> None:
    if json is not None:
        json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
