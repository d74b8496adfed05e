"""`hanse evaluate`: a trained policy against the scripted strategies, on equal seeds."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.console import Json, Quiet, Settings, note
from services.cli.evaluation_names import JUDGED, USUAL, named
from services.cli.folders import RUNS
from services.errors import HanseError
from services.strategy_lines import POLICY, policy_folder

if TYPE_CHECKING:
    from policies.training.artefact import Manifest
    from services.cli.comparison import Sweep
    from services.cli.judged_policies import Judged
    from services.config import RunConfig

RIVALS = {
    "roaster": ("scripted", "repaired", "heuristic", "passive"),
    "farmer": ("scripted", "passive"),
    "retailer": ("scripted", "passive"),
}
"""The strategies that come with Hanse for a role, and need nothing else in the league."""
EXAMPLE = """Examples:

  hanse evaluate trainings/roaster-seed1
      its best policy; of firms that learned together all, in one league

  hanse evaluate trainings/market-seed1/policy/roaster
      a policy by its folder

  hanse evaluate POLICY --set firms.roaster_B.strategy=repaired
      against another opponent than in training

  hanse evaluate trainings/buyer-seed1
      a purchasing policy against controllers that hear or remember alone

  hanse evaluate trainings/router-seed1
      a router's policy against the rules for routers; nothing is kept

  hanse evaluate POLICY --set economy.loss_probability=0.2 --seeds 100-139
      in rougher times; seeds below 1000 are never trained on

Exit codes: 0 done, 2 bad input, 4 with --must-win: it does not beat all of them.
"""


def evaluate(
    policy: Annotated[
        Path, typer.Argument(metavar="POLICY", help="The folder of a policy, or of a training.")
    ],
    file: Annotated[
        Path | None,
        typer.Option("--run", metavar="FILE", help="A run file; by default that of the training."),
    ] = None,
    firm: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose place it takes; as in training.")
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="SEEDS", help="100-119, or 200-211 of a purchasing policy."),
    ] = None,
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
    earns more than that is what was learned. A policy that learned by several objectives, or within
    a budget, is measured by these, too. Policies that learned together are played together, and
    each strategy in the places of all of them.

    A purchasing policy is played as the controller of a roaster whose wishes and budget drift, over
    lines from clean to none at all, beside the (s, S) rule, one that goes by the roaster's word and
    one that goes by what it remembers.

    A router's policy is measured against the rules for routers, by what buyers save and get.

    The same seed means the same luck, so differences are taken seed by seed. The runs of firms are
    kept and can be opened, traced and reported as any other; a stopped evaluation is taken up again
    by the same command.
    """
    from services.cli.evaluate_buyer import evaluate_buyer, purchasing_policy
    from services.cli.evaluate_router import evaluate_router
    from services.cli.evaluation_tables import Evaluation, tell
    from services.cli.judged_policies import judged
    from services.seeds import parse_seeds

    if (buyer := purchasing_policy(policy)) is not None:
        for option, given in (("--run", file), ("--firm", firm), ("--set", settings)):
            if given:
                raise HanseError(
                    f"{option}: {buyer} is a purchasing policy, which is measured in the standard"
                    " league as the purchaser of roaster_A; leave it out"
                )
        chosen = None if seeds is None else parse_seeds(seeds)
        if must_win and against is not None:
            raise HanseError("--must-win: asks for exposed and history; leave out --against")
        if not evaluate_buyer(buyer, chosen, against, out, quiet, as_json) and must_win:
            raise typer.Exit(4)
        return
    found = judged(policy, firm)
    if found.training.environment.router is not None:
        if firm is not None:
            raise HanseError(f"--firm: {policy} is a router's policy; leave it out")
        for option, is_given in (("--out", out is not None), ("--workers", workers is not None)):
            if is_given:
                raise HanseError(
                    f"{option}: a router's policy is measured in this process, and nothing is kept;"
                    " leave it out"
                )
        config, source = _league(found, file, settings or [])
        chosen = parse_seeds(seeds or "100-119")
        league = config, f"{source}, {config.days} days"
        try:
            won = evaluate_router(found, league, chosen, against, quiet, as_json)
        except KeyboardInterrupt:
            note("stopped; nothing of it is kept: type the same again")
            raise typer.Exit(130) from None
        if must_win and not won:
            raise typer.Exit(4)
        return
    config, source = _league(found, file, settings or [])
    chosen = parse_seeds(seeds or "100-119")
    places = {
        each: f"{POLICY}{folder.absolute().as_posix()}" for each, folder in found.folders.items()
    }
    # Checked whole before the first league is played.
    seats = {
        JUDGED: _seated(config, places),
        USUAL: _seated(config, places, {"usual": True}),
    }
    names = _names(_rivals(found.manifests, against))
    for strategy, name in names.items():
        seats[name] = _seated(config, dict.fromkeys(places, strategy))
    folder = out or RUNS / f"{config.name}-evaluation-{_digest(found, config)}"
    with ExitStack() as session:
        sweeps = {
            name: _play(seat, chosen, folder / name, workers, quiet, session)
            for name, seat in seats.items()
        }
    evaluation = Evaluation(found, config, source, folder, seats, sweeps)
    if not tell(evaluation, quiet, as_json) and must_win:
        raise typer.Exit(4)


def _league(found: Judged, file: Path | None, settings: list[str]) -> tuple[RunConfig, str]:
    """The league to play, and where it is from."""
    from actors.cast import Cast
    from actors.machines import check_names
    from policies.environments.leagues import as_config, with_strategies
    from services.config import RunConfig, apply_settings, load

    about = found.training.environment
    called = "standard league"
    if file is not None:
        config, source = load(file), str(file)
        called = source
    elif about.league is not None:
        called = f"{found.path}: manifest.json: the league"
        config = RunConfig.parse(about.league, called)
        source = "that of the training" + (f" ({about.run})" if about.run else "")
    else:
        config, source = as_config(None), "the standard league"
    if file is None:
        config = with_strategies(config, about.strategies)
    if any(setting.partition("=")[0].strip() == "seed" for setting in settings):
        raise HanseError("--set seed: an evaluation has many seeds; use --seeds")
    if settings:
        source += ", with " + ", ".join(settings)
    config = apply_settings(config, settings)
    # What a league would say of its machines comes before the first, and names the file.
    check_names(Cast(config, called), "inline", config.hosts)
    return config, source


def _rivals(manifests: Mapping[str, Manifest], against: str | None) -> tuple[str, ...]:
    from actors.strategies import find_strategy

    if against is None:
        roles = [manifest.role for manifest in manifests.values()]
        return tuple(one for one in RIVALS[roles[0]] if all(one in RIVALS[r] for r in roles))
    given = named(against)
    if not given:
        raise HanseError("--against: names no strategy; allowed: such as scripted,repaired")
    for strategy in given:
        find_strategy(_whole(strategy), "--against")
    return tuple(_whole(strategy) for strategy in given)


def _whole(strategy: str) -> str:
    """A policy's folder as seen from anywhere."""
    from services.config.reading import whole_strategy

    return strategy if policy_folder(strategy) is None else whole_strategy(strategy, Path.cwd())


def _names(strategies: Iterable[str]) -> dict[str, str]:
    """Short names that serve as folders, no two alike, and none that of a policy that is judged."""
    names: dict[str, str] = {}
    for strategy in strategies:
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", strategy)
        if name in (JUDGED, USUAL, *names.values()) or len(name) > 60:
            name = f"{name[-50:]}-{hashlib.sha256(strategy.encode()).hexdigest()[:6]}"
        names[strategy] = name
    return names


def _seated(
    config: RunConfig, places: Mapping[str, str], options: dict[str, Any] | None = None
) -> RunConfig:
    from actors.cast import Cast
    from policies.environments.leagues import with_strategies
    from services.config import RunConfig

    seated = with_strategies(config, places)
    if options:
        values = seated.dump()
        for seat in values["firms"]:
            if seat["name"] in places:
                seat["options"] = options
        seated = RunConfig.parse(values, "evaluate")
    cast = Cast(seated, "evaluate")
    cast.check()
    for human in cast.needs_terminal():
        raise HanseError(f"evaluate: {human} is played by a human; choose another strategy for it")
    return seated


def _digest(found: Judged, config: RunConfig) -> str:
    weights = [manifest.weights_sha256 for manifest in found.manifests.values()]
    firms = list(found.folders)
    alone = len(firms) == 1
    key = [weights[0] if alone else weights, config.dump(), firms[0] if alone else firms]
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:8]


def _play(
    config: RunConfig,
    seeds: list[int],
    folder: Path,
    workers: int | None,
    quiet: bool,
    session: ExitStack,
) -> Sweep:
    from services.cli.replicas import run_replicas

    if not quiet:
        note(f"{folder.name}: {len(seeds)} leagues")
    sweep = run_replicas(config, seeds, folder, workers, show=not quiet, session=session)
    if sweep.failures:
        seed, message = next(iter(sweep.failures.items()))
        raise HanseError(f"{len(sweep.failures)} leagues failed; seed {seed}: {message}")
    return sweep
