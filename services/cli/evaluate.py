"""`hanse evaluate`: a trained policy against the scripted strategies, on equal seeds."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.console import Json, Quiet, Settings, dollars, note, say, say_json, say_table
from services.cli.folders import RUNS
from services.errors import HanseError
from services.strategy_lines import POLICY, policy_folder

if TYPE_CHECKING:
    from policies.training.artefact import Manifest
    from services.cli.comparison import Sweep
    from services.config import RunConfig

RIVALS = {
    "roaster": ("scripted", "repaired", "heuristic", "passive"),
    "farmer": ("scripted", "passive"),
    "retailer": ("scripted", "passive"),
}
"""The strategies that come with Hanse for a role, and need nothing else in the league."""
JUDGED = "policy"
"""What the policy that is judged is called in tables and folders."""
USUAL = "usual"
"""The policy's routine with every lever as the scripted firm has it: what was not learned."""
EXAMPLE = """Examples:

  hanse evaluate trainings/roaster-seed1/policy

  hanse evaluate POLICY --set firms.roaster_B.strategy=repaired
      against another opponent than in training

  hanse evaluate POLICY --set economy.loss_probability=0.2 --seeds 100-139
      in rougher times; seeds below 1000 are never trained on

Exit codes: 0 done, 2 bad input, 4 with --must-win: it does not beat all of them.
"""


def evaluate(
    policy: Annotated[
        Path, typer.Argument(metavar="POLICY", help="The folder of a trained policy.")
    ],
    file: Annotated[
        Path | None,
        typer.Option("--run", metavar="FILE", help="A run file; by default that of the training."),
    ] = None,
    firm: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose place it takes; as in training.")
    ] = None,
    seeds: Annotated[str, typer.Option(metavar="SEEDS", help="Such as 100-119.")] = "100-119",
    against: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Strategies, as scripted,repaired; by default all."),
    ] = None,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the runs go (runs/<name>-evaluation-...)."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at the same time (one for each processor).")
    ] = None,
    must_win: Annotated[
        bool,
        typer.Option("--must-win", help="Exit with 4 unless it beats each: interval above 0."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play whole leagues with the policy, and with each strategy in its place, on equal seeds.

    "usual" is the policy's own routine with its levers left as the scripted firm has them: what it
    earns more than that is what was learned.

    The same seed means the same luck, so differences are taken seed by seed. The runs are kept and
    can be opened, traced and reported as any other; a stopped evaluation is taken up again by the
    same command.
    """
    from policies.training.artefact import read_manifest
    from services.cli.seeds import parse_seeds

    manifest = read_manifest(policy)
    config, name = _league(manifest, policy, file, firm, settings or [])
    chosen = parse_seeds(seeds)
    place = f"{POLICY}{policy.absolute().as_posix()}"
    # Checked whole before the first league is played.
    rivals = {s: _seated(config, name, s) for s in _rivals(manifest, against)}
    seats = {
        place: _seated(config, name, place),
        USUAL: _seated(config, name, place, {"usual": True}),
        **rivals,
    }
    folder = out or RUNS / f"{config.name}-evaluation-{_digest(manifest, config, name)}"
    names = _names(seats)
    found = {
        names[strategy]: _play(seat, chosen, folder / names[strategy], workers, quiet)
        for strategy, seat in seats.items()
    }
    _tell(found, name, policy, manifest, folder, must_win, as_json)


def _league(
    manifest: Manifest, policy: Path, file: Path | None, firm: str | None, settings: list[str]
) -> tuple[RunConfig, str]:
    from policies.environments.leagues import as_config, with_strategies
    from policies.training.settings import TrainingConfig
    from services.config import RunConfig, apply_settings, load

    trained = TrainingConfig.parse(manifest.training, f"{policy}: manifest.json: training")
    about = trained.environment
    if file is not None:
        config = load(file)
    elif about.league is not None:
        config = RunConfig.parse(about.league, f"{policy}: manifest.json: the league")
    else:
        config = as_config(None)
    if file is None:
        config = with_strategies(config, about.strategies)
    if any(setting.partition("=")[0].strip() == "seed" for setting in settings):
        raise HanseError("--set seed: an evaluation has many seeds; use --seeds")
    return apply_settings(config, settings), firm or about.firm


def _rivals(manifest: Manifest, against: str | None) -> tuple[str, ...]:
    if against is None:
        return RIVALS[manifest.role]
    given = dict.fromkeys(part.strip() for part in against.split(",") if part.strip())
    if not given:
        raise HanseError("--against: names no strategy; allowed: such as scripted,repaired")
    return tuple(_whole(strategy) for strategy in given)


def _whole(strategy: str) -> str:
    """A policy's folder as seen from anywhere."""
    from services.config.reading import whole_strategy

    return strategy if policy_folder(strategy) is None else whole_strategy(strategy, Path.cwd())


def _names(strategies: Iterable[str]) -> dict[str, str]:
    """Short names that serve as folders, no two alike; the policy that is judged comes first."""
    names: dict[str, str] = {}
    for strategy in strategies:
        name = JUDGED if not names else re.sub(r"[^A-Za-z0-9_.-]+", "_", strategy)
        if name in names.values() or len(name) > 60:
            name = f"{name[-50:]}-{hashlib.sha256(strategy.encode()).hexdigest()[:6]}"
        names[strategy] = name
    return names


def _seated(
    config: RunConfig, firm: str, strategy: str, options: dict[str, Any] | None = None
) -> RunConfig:
    from actors.cast import Cast
    from policies.environments.leagues import with_strategies
    from services.config import RunConfig

    seated = with_strategies(config, {firm: strategy})
    if options:
        values = seated.dump()
        [seat] = [one for one in values["firms"] if one["name"] == firm]
        seat["options"] = options
        seated = RunConfig.parse(values, "evaluate")
    cast = Cast(seated, "evaluate")
    cast.check()
    for human in cast.needs_terminal():
        raise HanseError(f"evaluate: {human} is played by a human; choose another strategy for it")
    return seated


def _digest(manifest: Manifest, config: RunConfig, firm: str) -> str:
    text = json.dumps([manifest.weights_sha256, config.dump(), firm], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _play(
    config: RunConfig,
    seeds: list[int],
    folder: Path,
    workers: int | None,
    quiet: bool,
) -> Sweep:
    from services.cli.replicas import run_replicas

    if not quiet:
        note(f"{folder.name}: {len(seeds)} leagues")
    sweep = run_replicas(config, seeds, folder, workers, show=not quiet)
    if sweep.failures:
        seed, message = next(iter(sweep.failures.items()))
        raise HanseError(f"{len(sweep.failures)} leagues failed; seed {seed}: {message}")
    return sweep


def _tell(
    found: dict[str, Sweep],
    firm: str,
    policy: Path,
    manifest: Manifest,
    folder: Path,
    must_win: bool,
    as_json: bool,
) -> None:
    from services.cli.business import average, business, lines
    from services.cli.comparison import numbers
    from services.cli.statistics import estimate, paired

    incomes = {strategy: sweep.net_income()[firm] for strategy, sweep in found.items()}
    means = {strategy: estimate(list(values.values())) for strategy, values in incomes.items()}
    differences = {
        strategy: difference
        for strategy, values in incomes.items()
        if strategy != JUDGED and (difference := paired(incomes[JUDGED], values)) is not None
    }
    deeds = {
        strategy: average(business(sweep.folder / f"seed-{seed}", firm) for seed in sweep.results)
        for strategy, sweep in found.items()
    }
    won = all(d.excludes_zero and d.mean > 0 for d in differences.values())
    if as_json:
        say_json(
            {
                "policy": str(policy),
                "firm": firm,
                "folder": str(folder),
                "net_income": {s: {**numbers(means[s]), "by_seed": incomes[s]} for s in found},
                "policy_minus": {s: numbers(d) for s, d in differences.items()},
                "business": deeds,
                "beats_all": won,
            }
        )
    else:
        rows = []
        for strategy, mean in means.items():
            difference = differences.get(strategy)
            cells = ["", "", ""]
            if difference is not None:
                verdict = "better" if difference.mean > 0 else "worse"
                verdict = verdict if difference.excludes_zero else ""
                cells = [dollars(difference.mean), dollars(difference.half_width), verdict]
            rows.append(
                [strategy, str(mean.count), dollars(mean.mean), dollars(mean.half_width),
                 dollars(mean.low), dollars(mean.high), *cells]
            )  # fmt: skip
        say_table(
            ["strategy", ">seeds", ">net income $", ">± 95 %", ">lowest", ">highest",
             ">policy less this $", ">± 95 %", "policy is"],
            rows,
            title=f"{firm} by policy {manifest.name!r} (iteration {manifest.iteration}),"
            " and by others in its place",
        )  # fmt: skip
        names = lines(name for one in deeds.values() for name in one)
        say_table(
            ["", *(f">{strategy}" for strategy in found)],
            [
                [name.replace("_kg ", " "), *(_amount(one.get(name)) for one in deeds.values())]
                for name in names
            ],
            title="its business in a run, means of all seeds",
        )
        say(f"runs {folder}")
    if must_win and not won:
        raise typer.Exit(4)


def _amount(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
