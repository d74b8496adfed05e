"""The replicas of a sweep: one Ray task each, with an inline league in a run folder of its own."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from actors.local_ray import local_ray
from services.cli.comparison import Sweep
from services.cli.console import note, typed
from services.cli.folders import RUNS
from services.errors import HanseError

if TYPE_CHECKING:
    from services.config import RunConfig
    from services.runs.result import RunResult

_NOT_COMPARED = frozenset({"seed", "placement", "hosts", "machines", "turn_timeout"})
"""Where and when a league runs does not change what happens in it."""


def run_replicas(
    config: RunConfig,
    seeds: list[int],
    out: Path | None,
    workers: int | None,
    *,
    show: bool,
    session: ExitStack | None = None,
) -> Sweep:
    """Run the league under each seed, except where that is done already.

    Args:
        config: the league; its seed and placement are not used.
        seeds: in ascending order.
        out: the sweep's folder; by default one that the configuration determines, so that the
            same command finds what it did before.
        workers: replicas at the same time; one for each processor if left out.
        show: whether to show progress.
        session: keeps Ray's processes, once they are there, for sweeps that follow.
    """
    config = config.with_overrides(placement="inline", hosts=1)
    folder = out or RUNS / f"{config.name}-sweep-{_digest(config)}"
    if folder.exists() and not folder.is_dir():
        raise HanseError(f"{folder}: this is a file; choose another folder with --out")
    results: dict[int, RunResult] = {}
    todo: dict[int, Path] = {}
    for seed in seeds:
        replica = folder / f"seed-{seed}"
        done = _finished(replica, config.with_overrides(seed=seed))
        if done is None:
            todo[seed] = replica
        else:
            results[seed] = done
    sweep = Sweep(folder, results, skipped=list(results))
    if todo:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HanseError(
                f"{folder}: cannot be made: {error.strerror or error}; choose another with --out"
            ) from None
        at_once = workers or os.cpu_count() or 1
        with ExitStack() as own:
            processes = min(at_once, len(todo)) if session is None else at_once
            _run(sweep, config, todo, session or own, processes, show=show)
    sweep.results = dict(sorted(sweep.results.items()))
    return sweep


def _digest(config: RunConfig) -> str:
    """Names the folder of a configuration, whatever its seed."""
    text = json.dumps(_compared(config.dump()), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _compared(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in _NOT_COMPARED}


def _finished(replica: Path, config: RunConfig) -> RunResult | None:
    """The result of a replica that is finished; an error if the folder is not this replica's."""
    from actors.strategies.fingerprint import changed
    from services.config import RunConfig
    from services.runs import Run

    if not (replica / "manifest.json").exists():
        return None
    run = Run(replica)
    there = RunConfig.parse(run.manifest.config, str(replica)).dump()
    difference = _first_difference(_compared(there), _compared(config.dump()))
    if difference or there["seed"] != config.seed:
        raise HanseError(
            f"{replica}: was run with another configuration ({difference or 'seed'}); "
            "choose another folder with --out"
        )
    moved = changed(run.manifest.strategies, run.manifest.strategies)
    if moved:
        raise HanseError(
            f"{replica}: {moved[0]} is not what it was when this was run; choose another folder"
            " with --out"
        )
    if run.state == "running":
        raise HanseError(f"{replica}: is being run at this moment; wait for it, or stop it first")
    return run.result


def _first_difference(there: Any, here: Any, path: str = "") -> str:
    """The first key in which two configurations differ, with both values; "" if there is none."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        for key in {**there, **here}:
            found = _first_difference(there.get(key), here.get(key), f"{path}.{key}".lstrip("."))
            if found:
                return found
        return ""
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for index, (one, other) in enumerate(zip(there, here, strict=True)):
            name = one.get("name", index) if isinstance(one, Mapping) else index
            found = _first_difference(one, other, f"{path}.{name}")
            if found:
                return found
        return ""
    return "" if there == here else f"{path}: {_short(there)} there, {_short(here)} here"


def _short(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return f"{len(value)} entries"
    return "the default" if value is None else json.dumps(value)


def _started(session: ExitStack, processes: int, sweep: Sweep) -> Any:
    """Ray, with the processes that will run the replicas."""
    began = time.perf_counter()
    ray = session.enter_context(local_ray(processes))
    ready = ray.remote(num_cpus=1)(_get_ready)
    ray.get([ready.remote() for _ in range(processes)])
    sweep.ray_start_seconds = time.perf_counter() - began
    return ray


def _run(
    sweep: Sweep,
    config: RunConfig,
    todo: Mapping[int, Path],
    session: ExitStack,
    processes: int,
    *,
    show: bool,
) -> None:
    from services.runs.result import RunResult

    try:
        ray = _started(session, processes, sweep)
        started = time.perf_counter()
        with _bar(len(todo), show) as advance:
            task = ray.remote(num_cpus=1)(run_replica)
            pending = {
                task.remote({**config.dump(), "seed": seed}, str(replica), os.getcwd()): seed
                for seed, replica in todo.items()
            }
            while pending:
                for reference in ray.wait(list(pending), num_returns=1)[0]:
                    seed = pending.pop(reference)
                    try:
                        outcome = ray.get(reference)
                    except ray.exceptions.RayError as error:
                        outcome = {"error": f"its process died ({type(error).__name__})"}
                    if "error" in outcome:
                        sweep.failures[seed] = outcome["error"]
                        if "traceback" in outcome:
                            note(f"seed {seed}:\n{outcome['traceback']}")
                    else:
                        sweep.results[seed] = RunResult.model_validate(outcome["result"])
                    advance(seed)
            sweep.seconds = time.perf_counter() - started
    except KeyboardInterrupt:
        done = len(sweep.results) - len(sweep.skipped)
        note(
            f"stopped with {done} of {len(todo)} replicas done in {sweep.folder}; "
            f"the same command goes on: {typed('hanse', *sys.argv[1:])}"
        )
        raise typer.Exit(130) from None


def _get_ready() -> None:
    """Imports what a replica needs."""
    import actors.league  # noqa: F401

    time.sleep(0.05)  # so that no process does the work of two


def run_replica(values: dict[str, Any], folder: str, working_directory: str) -> dict[str, Any]:
    """Run or resume one replica; the body of a Ray task.

    Errors are returned: one replica that fails must not end the others.
    """
    os.chdir(working_directory)
    replica = Path(folder)
    try:
        from actors.league import League
        from services.config import RunConfig

        config = RunConfig.parse(values, folder)
        begun = (replica / "manifest.json").exists()
        replica.parent.mkdir(parents=True, exist_ok=True)
        with (
            League.resume(replica, placement="inline") if begun else League.create(config, replica)
        ) as league:
            return {"result": league.run().model_dump(mode="json")}
    except HanseError as error:
        return {"error": str(error)}
    except Exception as error:
        return {
            "error": f"{type(error).__name__}: {error}",
            "traceback": traceback.format_exc(),
        }


@contextmanager
def _bar(total: int, show: bool) -> Iterator[Any]:
    """Calls with the seed that is done: a bar on a terminal, lines elsewhere."""
    if not show:
        yield lambda seed: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = (TextColumn("replicas"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            row = progress.add_task("", total=total)
            yield lambda seed: progress.advance(row)
    else:
        count = iter(range(1, total + 1))
        yield lambda seed: note(f"seed {seed} done ({next(count)} of {total})")
