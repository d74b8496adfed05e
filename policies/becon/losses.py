"""What a BECON agent is trained on: the parts of one mini-batch's loss (note, section 4).

Everything is per step, over whole sequences (B, T), and every mean leaves padding out. The policy
is scored by the context that was stored when it acted; estimator, gates, line error and multiplier
have losses of their own, which share no gradient with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.distributions import Categorical

from policies.becon.ensemble import Estimate, feedback_loss, label_loss
from policies.becon.gates import Evidence, gate_loss
from policies.becon.line_error import line_error_loss
from policies.becon.multiplier import dual_loss
from policies.becon.network import Acted, Agent


@dataclass(frozen=True, slots=True)
class LossSettings:
    """Weights and constants."""

    clip: float = 0.2
    value: float = 0.5
    entropy: float = 0.01
    belief: float = 0.5
    gates: float = 0.1
    line: float = 0.1
    dual: float = 0.1
    """Of -lambda (c - d); with an optimiser of its own it only scales that one's rate."""
    joint: bool = False
    """Whether the policy's gradient flows into the estimator (an ablation)."""


@dataclass(frozen=True, slots=True)
class Sequences:
    """A mini-batch of whole sequences: (B, T, ...)."""

    x: Tensor
    """(B, T, D), observations."""
    state: Tensor
    """(B, H), before the first step."""
    actions: Tensor
    """int (B, T, levers)."""
    logp: Tensor
    """(B, T), of the actions when they were taken."""
    acted: Tensor
    """(B, T, 2 K + 11), packed `Acted`."""
    advantages: Tensor
    """(B, T), scalarised and standardised."""
    targets: Tensor
    """(B, T, K + 1)."""
    excess: Tensor
    """(B, T): what the multiplier answers to, c - d."""
    truth: Tensor | None
    """(B, T, K + 1): labels, w and d; None in deployment, where nobody knows them: the heads then
    learn from feedback, and the gates stay as they are."""
    level: Tensor
    """int (B, T): the corruption level, which the gate loss treats apart."""
    mask: Tensor
    """bool (B, T): which steps are real."""
    head_weight: Tensor
    """(E, B): which heads learn from which sequence."""
    outcome: Tensor | None = None
    """(B, T, K + 3): reward, cost, score, alarm; needed without labels."""

    def without_padding(self) -> Sequences:
        """The same with zeros where nothing is real, so that no gradient meets what was there."""

        def zeroed(values: Tensor) -> Tensor:
            mask = self.mask.reshape(*self.mask.shape, *[1] * (values.dim() - 2))
            return torch.where(mask, values, 0)

        names = ("actions", "logp", "acted", "advantages", "targets", "excess")
        changed = {name: zeroed(getattr(self, name)) for name in names}
        for name in ("truth", "outcome"):
            values = getattr(self, name)
            changed[name] = None if values is None else zeroed(values)
        return replace(self, **changed)


def total_loss(
    agent: Agent, batch: Sequences, settings: LossSettings, *, estimating: bool = True
) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss of a mini-batch and its parts, unweighted, by name; 0 if all steps are padding.

    Args:
        agent: Whose.
        batch: The steps.
        settings: Weights.
        estimating: Whether the estimator learns from this mini-batch, too; the policy does without
            (unless `joint`), and back-propagation through time is what costs most.
    """
    batch = batch.without_padding()
    acted = Acted.unpacked(batch.acted, agent.layout.objectives)
    context = acted.features
    parts: dict[str, Tensor] = {}
    total = torch.zeros(())
    estimating = estimating or settings.joint
    if estimating and agent.estimator.learns and agent.inference is None:
        history, _ = agent.estimator.encode(batch.x, batch.state)
        estimate = agent.estimator.estimate(batch.x, history)
        parts["belief"] = _belief_loss(estimate, batch)
        total = total + settings.belief * parts["belief"]
        if agent.form.estimator.source == "gated" and batch.truth is not None:
            levels = _by_level(agent.estimator.evidence(batch.x, estimate, batch.truth), batch)
            parts["gates"] = gate_loss(agent.estimator.gates, levels)
            parts["line"] = line_error_loss(agent.estimator.line, levels)
            total = total + settings.gates * parts["gates"] + settings.line * parts["line"]
        if settings.joint:
            context = agent.estimator.context(batch.x, estimate).features()
    if estimating and agent.inference is not None:
        k = agent.layout.objectives
        parts["inference"] = agent.inference.loss(
            batch.x,
            batch.state,
            agent.scale.normalised(batch.targets)[..., :k],
            acted.plain[..., :k],
            batch.mask,
        )
        total = total + parts["inference"]
    logits = agent.logits(batch.x, context)
    logp, entropy = log_probability(logits, batch.actions, agent.layout.levels)
    parts["policy"] = clipped_surrogate(
        logp, batch.logp, batch.advantages, batch.mask, settings.clip
    )
    parts["entropy"] = masked_mean(entropy, batch.mask)
    predicted = agent.normalised_values(batch.x, acted.plain)
    error = (predicted - agent.scale.normalised(batch.targets)) ** 2
    parts["value"] = masked_mean(error.mean(dim=-1), batch.mask)
    if agent.multiplier is not None:
        price = agent.price(batch.x, acted.plain)
        parts["dual"] = dual_loss(price, batch.excess, batch.mask)
        total = total + settings.dual * parts["dual"]
    total = total + parts["policy"] + settings.value * parts["value"]
    total = total - settings.entropy * parts["entropy"]
    return total, {name: value.detach() for name, value in parts.items()}


def _belief_loss(estimate: Estimate, batch: Sequences) -> Tensor:
    weight = batch.head_weight.unsqueeze(-1) * batch.mask
    if batch.truth is not None:
        return label_loss(estimate, batch.truth[..., :-1], batch.truth[..., -1], weight)
    assert batch.outcome is not None, "without labels the heads learn from outcomes"
    *reward, cost, score, alarm = batch.outcome.unbind(dim=-1)
    return feedback_loss(estimate, torch.stack(reward, dim=-1), cost, score, alarm, weight)


def _by_level(evidence: Evidence, batch: Sequences) -> list[Evidence]:
    real = batch.mask
    return [
        Evidence(
            *(getattr(evidence, name)[real & (batch.level == n)] for name in Evidence.__slots__)
        )
        for n in batch.level[real].unique()
    ]


def log_probability(
    logits: Tensor, actions: Tensor, levels: tuple[int, ...]
) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy of independent levers.

    Args:
        logits: (..., sum(levels)).
        actions: int (..., levers).
        levels: Of each lever.

    Returns:
        (...) each, summed over levers.
    """
    logp = torch.zeros(logits.shape[:-1])
    entropy = torch.zeros(logits.shape[:-1])
    for place, part in enumerate(logits.split(list(levels), dim=-1)):
        lever = Categorical(logits=part)
        logp = logp + lever.log_prob(actions[..., place])
        entropy = entropy + lever.entropy()
    return logp, entropy


def clipped_surrogate(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, mask: Tensor, clip: float
) -> Tensor:
    """The loss of PPO (arXiv 1707.06347, equation 7), to be lowered."""
    # Padding may hold anything: its ratio must not overflow into the gradient of real steps.
    ratio = torch.exp(torch.where(mask, logp - old_logp, 0.0))
    bounded = ratio.clamp(1.0 - clip, 1.0 + clip)
    return -masked_mean(torch.min(ratio * advantages, bounded * advantages), mask)


def scalarised(advantages: Tensor, preference: Tensor, price: Tensor) -> Tensor:
    """A = (w_bar . A_r - lambda A_c) / (1 + lambda) (note, section 4).

    Args:
        advantages: (..., K + 1), of rewards and cost.
        preference: (..., K), as acted on.
        price: (...), lambda as acted on.
    """
    worth = (preference * advantages[..., :-1]).sum(dim=-1)
    return (worth - price * advantages[..., -1]) / (1.0 + price)


def standardised(advantages: Tensor, mask: Tensor) -> Tensor:
    """Mean 0 and deviation 1 over the steps that count; unscaled if fewer than two do."""
    real = advantages[mask]
    if real.numel() < 2:
        return advantages
    return (advantages - real.mean()) / real.std().clamp(min=1e-4)


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean over the steps that count; 0 if none does."""
    return torch.where(mask, values, 0.0).sum() / mask.sum().clamp(min=1)
