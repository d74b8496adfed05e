"""PPO on many desks at once, in one process and without RLlib: the loop of the note, section 4.

It calls the same agent and the same loss as the binding to RLlib (`policies.becon.binding`); what
it saves is the bookkeeping of episodes, so that nine configurations can be compared on one core.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from policies.becon.calibration import calibration
from policies.becon.constraint import Constraint, priced
from policies.becon.ensemble import bootstrap
from policies.becon.losses import LossSettings, Sequences, scalarised, standardised, total_loss
from policies.becon.multiplier import ScalarMultiplier
from policies.becon.network import Acted, Agent
from policies.becon.study.desk_watch import Watch, desk_layout
from policies.becon.variants import Variant
from policies.environments.tradeoff_desk import (
    ACCUMULATING,
    CORRUPTIONS,
    PERFECT,
    DeskSettings,
    Drift,
)


@dataclass(frozen=True, slots=True)
class PPOSettings:
    """How an agent is trained."""

    desk: DeskSettings = ACCUMULATING
    drift: Drift = "jumps"
    iterations: int = 80
    desks: int = 64
    """Episodes of an iteration; with 64 steps each, 4096 steps."""
    epochs: int = 4
    minibatch: int = 8
    """Sequences of a mini-batch."""
    gamma: float = 0.95
    lambda_: float = 0.9
    learning_rate: float = 3e-3
    """Of policy and critic; falls linearly to a tenth."""
    estimator_rate: float = 3e-3
    gate_rate: float = 1e-2
    dual_rate: float = 4.0
    """Of plain gradient steps of the multiplier."""
    scalar_dual_rate: float = 0.035
    """Of Adam, for the one lambda of PPO-Lagrangian (OmniSafe's value)."""
    clip_norm: float = 0.5
    curriculum: float = 0.3
    """Share of iterations at the start in which half of the episodes have a perfect descriptor."""
    calibrate_every: int = 10
    constraint: Constraint = "hinge"
    belief_epochs: int = 1
    """Of the epochs, how many teach the estimator, too."""
    loss: LossSettings = field(default_factory=lambda: LossSettings(entropy=0.003))


@dataclass(frozen=True, slots=True)
class Rollout:
    """N episodes of T steps, time on the second axis."""

    x: Tensor
    actions: Tensor
    logp: Tensor
    acted: Tensor
    reward: np.ndarray
    """(N, T, K + 1): rewards, then cost."""
    truth: Tensor
    level: Tensor
    belief: Tensor
    """(N, T, K + 1); NaN where the agent has no heads."""
    variance: Tensor
    """(N, T, 2), uncalibrated; likewise."""


@dataclass(slots=True)
class Progress:
    """How training went, one entry per iteration."""

    utility: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    budget: list[float] = field(default_factory=list)
    violation: list[float] = field(default_factory=list)
    price: list[float] = field(default_factory=list)
    seconds: float = 0.0
    """CPU seconds in all."""


def train(variant: Variant, seed: int, settings: PPOSettings) -> tuple[Agent, Progress]:
    """Trains an agent of a variant; a function of the seed."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    began = time.process_time()
    rng = np.random.default_rng([seed, 11])
    agent = Agent(desk_layout(settings.desk), variant.form)
    optimisers = _optimisers(agent, settings)
    progress = Progress()
    for iteration in range(settings.iterations):
        early = iteration < settings.curriculum * settings.iterations
        names = list(rng.choice(list(CORRUPTIONS), settings.desks))
        perfect = rng.uniform(size=settings.desks) < (0.5 if early and variant.curriculum else 0.0)
        level = np.where(perfect, -1, [list(CORRUPTIONS).index(name) for name in names])
        watch = desks_of(variant, list(np.where(perfect, "perfect", names)), settings)
        rolled = roll_out(agent, watch, [seed, 12, iteration], level)
        if (iteration + 1) % settings.calibrate_every == 0 and not rolled.belief.isnan().any():
            # Nothing has been learned from this rollout yet.
            error = (rolled.truth - rolled.belief).flatten(0, 1)
            factors = calibration(error, rolled.variance.flatten(0, 1))
            agent.estimator.calibration.copy_(factors)
        _learn(agent, optimisers, rolled, variant, settings, iteration / settings.iterations)
        _note(progress, rolled, agent.layout.objectives)
    progress.seconds = time.process_time() - began
    return agent, progress


def desks_of(variant: Variant, lines: Sequence[str], settings: PPOSettings) -> Watch:
    """A desk for each line: a level of `CORRUPTIONS`, or `perfect`; an oracle's are all perfect."""
    desk = replace(settings.desk, freeze=0) if variant.told_truth else settings.desk
    known = {**CORRUPTIONS, "perfect": PERFECT}
    made = [PERFECT if variant.told_truth else known[line] for line in lines]
    return Watch(desk, made, [settings.drift] * len(made))


def roll_out(
    agent: Agent,
    watch: Watch,
    seed: Sequence[int],
    level: np.ndarray,
    *,
    greedy: bool = False,
    held: tuple[np.ndarray, np.ndarray] | None = None,
) -> Rollout:
    """One episode on every desk.

    Args:
        agent: Who acts.
        watch: The desks.
        seed: Of the course of events; actions are drawn from torch's generator.
        level: int (N,), corruption levels, stored for the gate loss.
        greedy: Whether the likeliest deal is taken instead of a drawn one.
        held: As for `Desks.reset`.
    """
    x, desks = watch.reset(seed, held), watch.desks
    state: Tensor | None = None
    rows: dict[str, list[Tensor]] = {}
    rewards = []
    while not desks.done:
        seen = torch.as_tensor(x)
        with torch.no_grad():
            logits, acted, estimate, state = agent.act(seen.unsqueeze(1), state)
            chance = torch.log_softmax(logits[:, 0], dim=-1)
            action = chance.argmax(dim=-1) if greedy else torch.multinomial(chance.exp(), 1)[:, 0]
        truth = np.column_stack(desks.truth())
        x, outcome = watch.step(action.numpy())
        k = agent.layout.objectives
        belief = torch.full((len(seen), k + 1), torch.nan)
        variance = torch.full((len(seen), 2), torch.nan)
        if estimate is not None:
            means = [estimate.mean_preference, estimate.mean_budget.unsqueeze(-1)]
            belief = torch.cat(means, dim=-1)[:, 0]
            variance = (estimate.epistemic + estimate.aleatoric)[:, 0]
        step = {
            "x": seen,
            "actions": action.unsqueeze(-1),
            "logp": chance.gather(1, action[:, None])[:, 0],
            "acted": acted.packed()[:, 0],
            "truth": torch.as_tensor(truth, dtype=torch.float32),
            "belief": belief,
            "variance": variance,
        }
        for name, value in step.items():
            rows.setdefault(name, []).append(value)
        rewards.append(np.column_stack([outcome.reward, outcome.cost]))
    made = {name: torch.stack(values, dim=1) for name, values in rows.items()}
    reward = np.stack(rewards, axis=1)
    levels = torch.as_tensor(level)[:, None].expand(len(level), reward.shape[1])
    return Rollout(reward=reward, level=levels, **made)


def _learn(
    agent: Agent,
    optimisers: Mapping[str, torch.optim.Optimizer],
    rolled: Rollout,
    variant: Variant,
    settings: PPOSettings,
    done: float,
) -> None:
    number, steps = rolled.x.shape[:2]
    k = agent.layout.objectives
    acted = Acted.unpacked(rolled.acted, k)
    budget = rolled.truth[..., -1] if variant.budget_label == "truth" else acted.plain[..., -1]
    cost = torch.as_tensor(rolled.reward[..., -1], dtype=torch.float32)
    costs, excess = priced(cost, budget, settings.constraint)
    signal = np.concatenate([rolled.reward[..., :-1], costs[..., None].numpy()], axis=-1)
    with torch.no_grad():
        values = agent.values(rolled.x, acted.plain).double().numpy()
    advantages, targets = _advantages(values, signal, settings)
    scalar = scalarised(torch.as_tensor(advantages).float(), acted.plain[..., :k], acted.price)
    real = torch.ones(number, steps, dtype=torch.bool)
    scalar = standardised(scalar, real)
    target = torch.as_tensor(targets).float()
    agent.scale.update(target.flatten(0, 1))
    heads = agent.form.estimator.ensemble.heads
    head_weight = bootstrap(heads, number)
    rate = settings.learning_rate * (1.0 - 0.9 * done)
    for group in optimisers["policy"].param_groups:
        group["lr"] = rate
    for epoch in range(settings.epochs):
        for rows in torch.randperm(number).split(settings.minibatch):
            batch = Sequences(
                rolled.x[rows],
                agent.initial_state(len(rows)),
                rolled.actions[rows],
                rolled.logp[rows],
                rolled.acted[rows],
                scalar[rows],
                target[rows],
                excess[rows],
                rolled.truth[rows],
                rolled.level[rows],
                real[rows],
                head_weight[:, rows],
            )
            estimating = epoch < settings.belief_epochs
            loss, _ = total_loss(agent, batch, settings.loss, estimating=estimating)
            for optimiser in optimisers.values():
                optimiser.zero_grad(set_to_none=True)
            loss.backward()
            for name, optimiser in optimisers.items():
                if name != "dual":
                    for group in optimiser.param_groups:
                        torch.nn.utils.clip_grad_norm_(group["params"], settings.clip_norm)
                optimiser.step()
            if isinstance(agent.multiplier, ScalarMultiplier):
                agent.multiplier.confine()


def _advantages(
    values: np.ndarray, rewards: np.ndarray, settings: PPOSettings
) -> tuple[np.ndarray, np.ndarray]:
    from policies.training.vector_gae import generalised_advantages

    number, steps, width = rewards.shape
    after = np.zeros((number, 1, width))  # episodes end for good: nothing follows them
    last = np.zeros((number, steps + 1), dtype=bool)
    last[:, -2] = True
    flat = generalised_advantages(
        np.concatenate([values, after], axis=1).reshape(-1, width),
        np.concatenate([rewards, after], axis=1).reshape(-1, width),
        last.ravel(),
        (np.arange(steps + 1)[None, :] == steps).repeat(number, axis=0).ravel(),
        settings.gamma,
        settings.lambda_,
    )
    advantages = flat.reshape(number, steps + 1, width)[:, :-1]
    return advantages, advantages + values


def _optimisers(agent: Agent, settings: PPOSettings) -> dict[str, torch.optim.Optimizer]:
    acting = [*agent.policy.parameters(), *agent.critic.parameters()]
    estimating = [*agent.estimator.encoder.parameters(), *agent.estimator.heads.parameters()]
    if agent.inference is not None:
        estimating = list(agent.inference.parameters())
    gating = [*agent.estimator.gates.parameters(), *agent.estimator.line.parameters()]
    made: dict[str, torch.optim.Optimizer] = {
        "policy": torch.optim.Adam(acting, lr=settings.learning_rate, eps=1e-5),
        "estimator": torch.optim.Adam(estimating, lr=settings.estimator_rate),
        "gates": torch.optim.Adam(gating, lr=settings.gate_rate),
    }
    if isinstance(agent.multiplier, ScalarMultiplier):
        made["dual"] = torch.optim.Adam(agent.multiplier.parameters(), lr=settings.scalar_dual_rate)
    elif agent.multiplier is not None:
        made["dual"] = torch.optim.SGD(agent.multiplier.parameters(), lr=settings.dual_rate)
    return made


def _note(progress: Progress, rolled: Rollout, k: int) -> None:
    truth = rolled.truth.numpy()
    cost = rolled.reward[..., -1]
    progress.utility.append(float((rolled.reward[..., :-1] * truth[..., :-1]).sum(-1).mean()))
    progress.cost.append(float(cost.mean()))
    progress.budget.append(float(truth[..., -1].mean()))
    progress.violation.append(float((cost > truth[..., -1]).mean()))
    progress.price.append(float(Acted.unpacked(rolled.acted, k).price.mean()))
