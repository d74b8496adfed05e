"""Level 1: is the context known better than from the descriptor or from history alone?

The best deal is computed from (s, w, d), so a method is nothing but a source of (w, d); it is acted
on through the known tables, with 5 % random deals (note, section 7). What is lost against the
oracle is then the price of not knowing the task.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from policies.becon import metrics
from policies.becon.calibration import calibration
from policies.becon.context import conservative_budget
from policies.becon.ensemble import bootstrap, label_loss
from policies.becon.estimator import Estimator, EstimatorForm
from policies.becon.gates import Evidence, Gates, fit_gates
from policies.becon.line_error import fit_line_error
from policies.becon.study.desk_watch import Watch, desk_layout
from policies.becon.study.holding_back import KAPPA, noted_variance
from policies.environments.tradeoff_desk import CORRUPTIONS, Corruption, DeskSettings, Drift

Method = Literal["oracle", "exposed", "filter", "history", "becon", "becon_note", "becon_safe"]
"""`becon_note` holds back kappa deviations of the belief, `becon_safe` of the fused context."""
METHODS: Final[tuple[Method, ...]] = get_args(Method)
LATE: Final = "late"
LINES: Final[Mapping[str, Corruption]] = MappingProxyType(
    {**CORRUPTIONS, LATE: Corruption(0.05, 12, 0.0, 0.0)}
)
"""The regimes, and a line that is late and nothing else: it looks as clean as any, and nobody is
trained on it (the note, section 8, asks to test delay alone)."""


@dataclass(frozen=True, slots=True)
class LevelOneSettings:
    """The size of the study; the defaults are the note's."""

    desk: DeskSettings = field(default_factory=DeskSettings)
    drift: Drift = "jumps"
    updates: int = 150
    """Of encoder and heads."""
    sequences: int = 64
    """Per update."""
    learning_rate: float = 3e-3
    gate_updates: int = 500
    line_updates: int = 300
    """Of what is known of the descriptor's errors."""
    gate_episodes: int = 64
    """Recorded per corruption level."""
    episodes: int = 192
    """Evaluated per cell."""
    random_share: float = 0.05
    """Of deals in evaluation; in training it is `training_random_share`."""
    training_random_share: float = 0.2
    form: EstimatorForm = field(default_factory=EstimatorForm)


QUICK: Final = LevelOneSettings(updates=60, gate_updates=300, gate_episodes=32, episodes=96)
"""For a first look: a third of the time, the same ordering."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One method in one regime."""

    safe_regret: float
    violation: float
    excess: float
    utility: float
    post_shift: tuple[float, ...]
    """Over 4, 8 and 16 steps."""
    recovery: float
    preference_error: float
    budget_error: float


@dataclass(frozen=True, slots=True)
class Regime:
    """All methods in one regime, and what the gates did there."""

    cells: Mapping[Method, Cell]
    gate_w: float
    gate_d: float
    agreement: float
    """How often the gate of w was on the side of the nearer of belief and descriptor."""
    coverage_w: float
    """Of 80 % intervals of the belief."""
    coverage_d: float
    epistemic: float
    """Mean variance between heads, of w."""
    aleatoric: float
    """Mean variance that heads state, of w."""


@dataclass(frozen=True, slots=True)
class LevelOne:
    """What one seed came to."""

    seed: int
    regimes: Mapping[str, Regime]
    late: Regime
    """The line that is late only; no part of the means."""
    belief_losses: tuple[float, ...]
    gate_losses: tuple[float, ...]
    gate_rises: int
    """Recorded steps where more disagreement opened a gate; the gates are built so that it is 0."""
    seconds: float
    """CPU seconds."""

    def mean_regret(self, method: Method) -> float:
        """Safe regret, mean over regimes."""
        return float(np.mean([each.cells[method].safe_regret for each in self.regimes.values()]))


def run_level_one(seed: int, settings: LevelOneSettings = LevelOneSettings()) -> LevelOne:
    """Trains an estimator, fits its gates and evaluates all methods; a function of the seed."""
    torch.set_num_threads(1)
    began = time.process_time()
    estimator, belief_losses = train_estimator(seed, settings)
    held_out = [record_evidence(estimator, name, [seed, 4], settings) for name in CORRUPTIONS]
    estimator.calibration.copy_(
        calibration(
            torch.cat([each.truth - each.belief for each in held_out]),
            torch.cat([each.epistemic + each.aleatoric for each in held_out]),
        )
    )
    evidence = [record_evidence(estimator, name, [seed, 2], settings) for name in CORRUPTIONS]
    gate_losses = fit_gates(estimator.gates, evidence, steps=settings.gate_updates)
    fit_line_error(estimator.line, evidence, steps=settings.line_updates)
    regimes = {name: evaluate(estimator, name, [seed, 3], settings) for name in CORRUPTIONS}
    return LevelOne(
        seed,
        regimes,
        evaluate(estimator, LATE, [seed, 3], settings),
        belief_losses,
        gate_losses,
        sum(_rises(estimator.gates, each) for each in evidence),
        time.process_time() - began,
    )


def _rises(gates: Gates, level: Evidence) -> int:
    """Steps where a gate opens although heads disagree ten times as much, or at all."""
    with torch.no_grad():
        before = gates(level.quality, level.epistemic, level.aleatoric)
        after = gates(level.quality, 10.0 * level.epistemic + 1e-3, level.aleatoric)
    return int((after > before).any(dim=-1).sum())


def train_estimator(seed: int, settings: LevelOneSettings) -> tuple[Estimator, tuple[float, ...]]:
    """Encoder and heads, by the likelihood of the true context on fresh episodes of all regimes.

    Deals are picked as if the filter (every second episode) or the descriptor (the others) were
    right, so that the belief is trained on what acting on either brings.
    """
    torch.manual_seed(seed)
    estimator = Estimator(desk_layout(settings.desk), settings.form)
    learned = [*estimator.encoder.parameters(), *estimator.heads.parameters()]
    optimiser = torch.optim.Adam(learned, lr=settings.learning_rate)
    heads = settings.form.ensemble.heads
    losses = []
    for update in range(settings.updates):
        x, truth = _training_episodes([seed, 1, update], settings)
        weight = bootstrap(heads, len(x)).unsqueeze(-1)
        estimate = estimator.estimate(x, estimator.encode(x)[0])
        loss = label_loss(estimate, truth[..., :-1], truth[..., -1], weight)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
    return estimator, tuple(losses)


def record_evidence(
    estimator: Estimator, regime: str, seed: Sequence[int], settings: LevelOneSettings
) -> Evidence:
    """Steps of one regime, from which gates are fitted."""
    x, truth = _episodes([*seed, _place(regime)], [regime] * settings.gate_episodes, settings)
    with torch.no_grad():
        estimate = estimator.estimate(x, estimator.encode(x)[0])
        evidence = estimator.evidence(x, estimate, truth)
    return Evidence(*(getattr(evidence, name).flatten(0, 1) for name in Evidence.__slots__))


def evaluate(
    estimator: Estimator, regime: str, seed: Sequence[int], settings: LevelOneSettings
) -> Regime:
    """All methods on the same course of events. Truth is used for the oracle and to judge only."""
    cells: dict[Method, Cell] = {}
    gates = np.zeros((0, 2))
    watched: dict[str, np.ndarray] = {}
    for method in METHODS:
        record, seen = _run(estimator, method, regime, seed, settings)
        cells[method] = Cell(
            metrics.safe_regret(record),
            metrics.violation_rate(record),
            metrics.mean_excess(record),
            metrics.expected_utility(record),
            tuple(metrics.post_shift_regret(record, n) for n in metrics.POST_SHIFT),
            metrics.recovery_time(record),
            metrics.preference_error(record),
            metrics.budget_error(record),
        )
        if method == "becon":
            watched, gates = seen, seen["gates"]
    error = watched["belief"] - watched["truth"]
    variance = watched["epistemic"] + watched["aleatoric"]
    wrong = ((watched["exposed"] - watched["truth"])[..., :-1] ** 2).sum(axis=-1)
    deviation_w = np.sqrt(np.repeat(variance[..., :1], error.shape[-1] - 1, axis=-1))
    return Regime(
        cells,
        gate_w=float(gates[..., 0].mean()),
        gate_d=float(gates[..., 1].mean()),
        agreement=metrics.gate_agreement(gates[..., 0], (error[..., :-1] ** 2).sum(axis=-1), wrong),
        coverage_w=metrics.coverage(error[..., :-1], deviation_w),
        coverage_d=metrics.coverage(error[..., -1], np.sqrt(variance[..., 1])),
        epistemic=float(watched["epistemic"][..., 0].mean()),
        aleatoric=float(watched["aleatoric"][..., 0].mean()),
    )


def _run(
    estimator: Estimator,
    method: Method,
    regime: str,
    seed: Sequence[int],
    settings: LevelOneSettings,
) -> tuple[metrics.Record, dict[str, np.ndarray]]:
    watch = Watch(
        settings.desk,
        [LINES[regime]] * settings.episodes,
        [settings.drift] * settings.episodes,
    )
    desks, layout = watch.desks, watch.observer.layout
    rng = np.random.default_rng([*seed, 99])
    x = watch.reset([*seed, _place(regime)])
    state: Tensor | None = None
    rows: dict[str, list[np.ndarray]] = {}
    while not desks.done:
        truth_w, truth_d = desks.truth()
        exposed, features = x[:, layout.part("exposed")], x[:, layout.part("belief")]
        k = layout.objectives
        learned: dict[str, np.ndarray] = {}
        if method == "oracle":
            w, d = truth_w, truth_d
        elif method == "exposed":
            w, d = exposed[:, :k], exposed[:, k]
        elif method == "filter":
            w, d = features[:, :k], features[:, 2 * k]
        else:
            learned, state = _asked(estimator, x, state)
            context = learned["belief" if method == "history" else "fused"]
            w, d = context[:, :k], context[:, k]
        spent = learned[f"{method} budget"] if method in ("becon_note", "becon_safe") else d
        situation = desks.sight().state
        best = desks.tables.best(situation, truth_w, truth_d)
        oracle = (truth_w * desks.tables.reward[situation, best]).sum(axis=1)
        action = desks.tables.best(situation, w, spent)
        random = rng.uniform(size=len(x)) < settings.random_share
        action = np.where(random, rng.integers(layout.actions, size=len(x)), action)
        jumped = desks.course.jumped[:, desks.now]
        x, outcome = watch.step(action)
        step = {
            "utility": (truth_w * outcome.reward).sum(axis=1),
            "oracle": oracle,
            "cost": outcome.cost,
            "jumped": jumped,
            "w": w,
            "d": d,
            "truth": np.column_stack([truth_w, truth_d]),
            "exposed": exposed,
            **learned,
        }
        for name, value in step.items():
            rows.setdefault(name, []).append(np.array(value))
    made = {name: np.stack(values, axis=1) for name, values in rows.items()}
    record = metrics.Record(
        made["utility"],
        made["oracle"],
        made["cost"],
        made["truth"][..., -1],
        made["jumped"],
        made["truth"][..., :-1],
        made["w"],
        made["d"],
    )
    return record, made


def _asked(
    estimator: Estimator, x: np.ndarray, state: Tensor | None
) -> tuple[dict[str, np.ndarray], Tensor]:
    """What the estimator says of one step's observations (N, D), and its next state."""
    with torch.no_grad():
        seen = torch.as_tensor(x)
        history, state = estimator.encode(seen.unsqueeze(1), state)
        estimate = estimator.estimate(seen, history[:, 0])
        context = estimator.context(seen, estimate)
    noted = noted_variance(context)[:, 1]
    made = {
        "belief": torch.cat([estimate.mean_preference, estimate.mean_budget[:, None]], dim=1),
        "fused": context.plain(),
        "becon_note budget": conservative_budget(context.budget, noted, KAPPA),
        "becon_safe budget": conservative_budget(context.budget, context.variance[:, 1], KAPPA),
        "gates": context.gates,
        "epistemic": context.epistemic,
        "aleatoric": context.aleatoric,
    }
    return {name: value.numpy() for name, value in made.items()}, state


def _training_episodes(seed: Sequence[int], settings: LevelOneSettings) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng([*seed, 98])
    return _episodes(seed, list(rng.choice(list(CORRUPTIONS), settings.sequences)), settings)


def _episodes(
    seed: Sequence[int], regimes: Sequence[str], settings: LevelOneSettings
) -> tuple[Tensor, Tensor]:
    """Observations (N, T, D) and truth (N, T, K + 1)."""
    watch = Watch(
        settings.desk, [CORRUPTIONS[each] for each in regimes], [settings.drift] * len(regimes)
    )
    desks, layout = watch.desks, watch.observer.layout
    rng = np.random.default_rng([*seed, 97])
    x, k = watch.reset(seed), layout.objectives
    trusting = (np.arange(len(regimes)) % 2 == 0)[:, None]
    observations, truths = [], []
    while not desks.done:
        observations.append(x)
        truths.append(np.column_stack(desks.truth()))
        features, exposed = x[:, layout.part("belief")], x[:, layout.part("exposed")]
        filtered = np.column_stack([features[:, :k], features[:, 2 * k]])
        context = np.where(trusting, filtered, exposed)
        action = desks.tables.best(desks.sight().state, context[:, :k], context[:, k])
        random = rng.uniform(size=len(x)) < settings.training_random_share
        x, _ = watch.step(np.where(random, rng.integers(layout.actions, size=len(x)), action))
    return (
        torch.as_tensor(np.stack(observations, axis=1)),
        torch.as_tensor(np.stack(truths, axis=1), dtype=torch.float32),
    )


def _place(regime: str) -> int:
    return list(LINES).index(regime)
