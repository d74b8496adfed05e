"""Whole leagues: a controller that keeps its word, against those that hear or remember alone.

Each league is a run of the standard six firms in which a controller does ``roaster_A``'s
purchasing (`collecting.league`), played by hosts, exchange and log as any run. One seed means one
course of the firm's intent and of the town's luck for all that are compared.

**Safe regret** of a run is the mean over its days of u*_t - u_t, as the note has it (section 5):
u_t = w_t . r_t under the true weights w_t of day t if the cost c_t of that day was within the true
budget d_t, and 0 if it was above (a violation). r_t and c_t are what the firm's books say of day t
(`policies.environments.procurement`). u*_t is the same figure of the *oracle's* league on the same
seed: the same values and levers, with a line that tells the truth every day. No planner knows what
a league will do, so that oracle is not an upper bound, and a regret may fall slightly below 0. The
last day of a run is left out, since its outcome is only known on the next morning.

Settings were chosen by looking at `TUNING`; what is claimed stands on `REPORTED`, which nobody had
looked at when they were. Whoever changes a setting because of what `REPORTED` says moves these
seeds to `TUNING` and takes others.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from policies.becon import metrics
from policies.becon.procurement.collecting import FIRM, Played, league, played
from policies.environments.procurement import OBJECTIVES
from policies.environments.procurement_episode import OUTCOME
from policies.environments.tradeoff_desk import CORRUPTIONS
from policies.kept import kept
from services.config import RunConfig
from services.strategy_lines import POLICY

TUNING: Final = tuple(range(500, 508))
REPORTED: Final = tuple(range(200, 212))
REGIMES: Final = tuple(CORRUPTIONS)
DECISION: Final = "purchasing_decision"


@dataclass(frozen=True, slots=True)
class Arm:
    """One of those that are compared."""

    keys: dict[str, Any]
    """Of the controller, beside the policy; without any it is the base-stock rule."""
    perfect: bool = False
    """Whether the firm's line tells the truth."""
    deaf: bool = False
    """Whether what the firm says of its intent makes no difference, so that one run serves for all
    regimes."""


ARMS: Final[dict[str, Arm]] = {
    "oracle": Arm({"source": "exposed", "kappa": 0.0}, perfect=True, deaf=True),
    "base_stock": Arm({}, deaf=True),
    "exposed": Arm({"source": "exposed", "kappa": 0.0}),
    "exposed_safe": Arm({"source": "exposed"}),
    "filter": Arm({"source": "filter", "kappa": 0.0}),
    "history": Arm({"source": "history", "kappa": 0.0}),
    "history_safe": Arm({"source": "history"}),
    "becon_0": Arm({"source": "gated", "kappa": 0.0}),
    "becon": Arm({"source": "gated"}),
}
"""`becon`: the policy as it is, holding back kappa deviations of the fused budget; `becon_0`: the
same with kappa = 0. `exposed`, `history`, `filter`: one source of the context alone, as the note's
baselines; `_safe`: holding back as `becon` does, for what they believe to be off by. `base_stock`:
the (s, S) rule, which knows neither weights nor budgets."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of one arm."""

    arm: str
    regime: str
    seed: int
    safe_regret: float
    violation: float
    """Share of days."""
    excess: float
    utility: float
    post_shift: float
    """Safe regret over the 8 days after a jump; NaN if there was none."""
    preference_error: float
    """Mean of |w_bar - w|^2; NaN for who has no context."""
    budget_error: float
    gate_w: float
    gate_d: float
    price: float
    """Mean lambda."""
    log_sha256: str
    """Of the run, so that anybody can see that it is the same."""


@dataclass(frozen=True, slots=True)
class LeagueRun:
    """What is read from a run."""

    days: Played
    decisions: list[dict[str, Any]]
    """Events ``purchasing_decision``, one a day; none of the base-stock rule."""
    log_sha256: str


def config_of(arm: Arm, policy: Path, regime: str, seed: int, days: int) -> RunConfig:
    """The league of an arm, as a run file would have it."""
    keys = dict(arm.keys)
    if keys:
        keys["policy"] = f"{POLICY}{policy.absolute().as_posix()}"
    made = league(seed, "perfect" if arm.perfect else regime, days, **keys)
    return made.with_overrides(placement="inline")


def play_league(config: RunConfig, folder: Path) -> LeagueRun:
    """Plays a whole league into a folder and reads what the firm and its controller noted."""
    from actors.league import League
    from actors.tracing import Telemetry
    from services.runs import Run

    with League.create(config, folder, telemetry=Telemetry(traced=False)) as running:
        result = running.run()
    events = Run(folder).rows("events", f"kind IN ('{OUTCOME}', '{DECISION}')")
    found: dict[str, list[dict[str, Any]]] = {OUTCOME: [], DECISION: []}
    for row in events:
        if FIRM in row:
            kind = OUTCOME if OUTCOME in row else DECISION
            found[kind].append(json.loads(row[-1]))
    return LeagueRun(played(found[OUTCOME]), found[DECISION], result.log_sha256)


def judged(arm: str, regime: str, seed: int, run: LeagueRun, oracle: LeagueRun) -> Cell:
    """A run beside the oracle's."""
    days, decisions = run.days, run.decisions[: len(run.days.cost)]
    best = _safe_utility(oracle.days)
    context = np.full((len(days.cost), len(OBJECTIVES) + 1), np.nan)
    if decisions:
        context = np.array(
            [[*(each["weights"][k] for k in OBJECTIVES), each["budget"]] for each in decisions]
        )
    record = metrics.Record(
        (days.preference * days.reward).sum(axis=1)[None],
        best[None],
        days.cost[None],
        days.budget[None],
        days.jumped[None],
        days.preference[None],
        context[None, :, :-1],
        context[None, :, -1],
    )

    def mean(name: str) -> float:
        return float(np.mean([each[name] for each in decisions])) if decisions else float("nan")

    return Cell(
        arm,
        regime,
        seed,
        metrics.safe_regret(record),
        metrics.violation_rate(record),
        metrics.mean_excess(record),
        metrics.expected_utility(record),
        metrics.post_shift_regret(record, metrics.POST_SHIFT[1]),
        metrics.preference_error(record),
        metrics.budget_error(record),
        mean("becon.gate_w"),
        mean("becon.gate_d"),
        mean("becon.lambda"),
        run.log_sha256,
    )


def run_study(
    policy: Path,
    seeds: Sequence[int],
    *,
    arms: Sequence[str] = tuple(ARMS),
    days: int = 90,
    keep: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> list[Cell]:
    """Plays all arms in all regimes on the seeds.

    Args:
        policy: The folder of the policy.
        seeds: One league each, and for each regime.
        arms: Which of :data:`ARMS`; the oracle is played in any case.
        days: Of a league.
        keep: Where what is finished is kept, so that a stopped study goes on, and one with more
            arms takes over what there is; ``None``: nowhere.
        say: Is told how far it is.
    """
    from policies.becon.procurement.artefact import read_manifest

    digest = read_manifest(policy).model_dump_json()
    cells: list[Cell] = []
    for place, seed in enumerate(seeds, 1):
        with tempfile.TemporaryDirectory(prefix="procurement-") as scratch:
            leagues = _Leagues(policy, seed, days, Path(scratch))
            for name in arms:
                path = None if keep is None else keep / f"seed{seed}-{name}.json"
                made_with = (digest, ARMS[name], days)
                cells += kept(path, list[Cell], made_with, partial(leagues.cells, name))
        say(f"{place} of {len(seeds)}: seed {seed}")
    return cells


class _Leagues:
    """The leagues of one seed, each played when it is asked for."""

    def __init__(self, policy: Path, seed: int, days: int, scratch: Path) -> None:
        self._policy, self._seed, self._days, self._scratch = policy, seed, days, scratch
        self._played = 0
        self._oracle: LeagueRun | None = None

    def cells(self, name: str) -> list[Cell]:
        """An arm in all regimes."""
        if self._oracle is None:
            self._oracle = self._play(ARMS["oracle"], REGIMES[0])
        arm, oracle = ARMS[name], self._oracle
        if name == "oracle":
            runs = [oracle] * len(REGIMES)
        elif arm.deaf:
            runs = [self._play(arm, REGIMES[0])] * len(REGIMES)
        else:
            runs = [self._play(arm, regime) for regime in REGIMES]
        return [
            judged(name, regime, self._seed, run, oracle)
            for regime, run in zip(REGIMES, runs, strict=True)
        ]

    def _play(self, arm: Arm, regime: str) -> LeagueRun:
        self._played += 1
        config = config_of(arm, self._policy, regime, self._seed, self._days)
        return play_league(config, self._scratch / str(self._played))


def _safe_utility(days: Played) -> np.ndarray:
    utility = (days.preference * days.reward).sum(axis=1)
    return np.where(days.cost > days.budget, 0.0, utility)
