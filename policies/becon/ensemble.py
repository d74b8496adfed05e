"""Several heads that correct the filters and say how far they can be trusted.

Each head moves the filters' estimate by a residual, starts at zero, and carries a fixed random net
of its own (a randomised prior, arXiv 1806.03335), which training can only cancel where there are
data: elsewhere heads disagree. Two uncertainties come out and are kept apart: *epistemic*, how far
heads disagree (more data would help), and *aleatoric*, the variance that heads themselves state.
Measured by the note (section 8): on the tasks trained for, the second carries nearly all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

LEAST_LOG_VARIANCE, MOST_LOG_VARIANCE = -8.0, 0.0
SMALL = 1e-4


@dataclass(frozen=True, slots=True)
class EnsembleForm:
    """The shape of the ensemble."""

    heads: int = 5
    """E."""
    width: int = 32
    """Of a head's hidden layer."""
    prior_width: int = 16
    """Of a prior's hidden layer."""
    prior_scale: float = 0.1
    """What a prior net's output counts."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the heads say: a leading axis E, then any batch shape."""

    preference: Tensor
    """(E, ..., K): each head's mean of w."""
    budget: Tensor
    """(E, ...): each head's mean of d."""
    log_variance: Tensor
    """(E, ..., 2): of a weight of w, and of d."""

    @property
    def mean_preference(self) -> Tensor:
        """(..., K): what the ensemble believes of w; sums to 1."""
        return self.preference.mean(dim=0)

    @property
    def mean_budget(self) -> Tensor:
        """(...): what the ensemble believes of d."""
        return self.budget.mean(dim=0)

    @property
    def epistemic(self) -> Tensor:
        """(..., 2): variance between heads, of w (mean over objectives) and of d."""
        of_preference = self.preference.var(dim=0, unbiased=False).mean(dim=-1)
        return torch.stack([of_preference, self.budget.var(dim=0, unbiased=False)], dim=-1)

    @property
    def aleatoric(self) -> Tensor:
        """(..., 2): the mean of the variances that heads state, of w and of d."""
        return self.log_variance.exp().mean(dim=0)


class Ensemble(nn.Module):  # type: ignore[misc]
    """E heads over [h, f].

    Args:
        hidden: H, width of the encoded history.
        objectives: K.
        form: The shape.
    """

    def __init__(self, hidden: int, objectives: int, form: EnsembleForm = EnsembleForm()) -> None:
        super().__init__()
        self.objectives, self.form = objectives, form
        inputs, outputs = hidden + 2 * objectives + 2, objectives + 3
        self.inner = nn.Parameter(_drawn(form.heads, inputs, form.width))
        self.inner_bias = nn.Parameter(torch.zeros(form.heads, form.width))
        self.outer = nn.Parameter(torch.zeros(form.heads, form.width, outputs))
        self.outer_bias = nn.Parameter(torch.zeros(form.heads, outputs))
        self.register_buffer("prior_inner", _drawn(form.heads, hidden, form.prior_width) * 3.0)
        self.register_buffer("prior_outer", _drawn(form.heads, form.prior_width, objectives + 1))

    def forward(self, history: Tensor, features: Tensor) -> Estimate:
        """What the heads say.

        Args:
            history: (..., H).
            features: (..., 2 K + 2), of `policies.becon.belief.Belief`.
        """
        k = self.objectives
        x = torch.cat([history, features], dim=-1)
        inner = torch.einsum("...i,eij->e...j", x, self.inner)
        inner = torch.tanh(inner + _lifted(self.inner_bias, x.dim()))
        moved = torch.einsum("e...i,eij->e...j", inner, self.outer)
        moved = moved + _lifted(self.outer_bias, x.dim())
        prior = torch.tanh(torch.einsum("...i,eij->e...j", history, self.prior_inner))
        prior = torch.einsum("e...i,eij->e...j", prior, self.prior_outer)
        moved_means = moved[..., : k + 1] + self.form.prior_scale * prior
        mean_w, deviation_w = features[..., :k], features[..., k : 2 * k]
        mean_d, deviation_d = features[..., 2 * k], features[..., 2 * k + 1]
        preference = torch.softmax(mean_w.clamp(min=SMALL).log() + moved_means[..., :k], dim=-1)
        inside = mean_d.clamp(SMALL, 1.0 - SMALL)
        budget = torch.sigmoid(torch.logit(inside) + moved_means[..., k])
        variance = torch.stack([(deviation_w**2).mean(dim=-1), deviation_d**2], dim=-1)
        log_variance = variance.clamp(min=SMALL).log() + moved[..., k + 1 :]
        return Estimate(
            preference, budget, log_variance.clamp(LEAST_LOG_VARIANCE, MOST_LOG_VARIANCE)
        )


def label_loss(
    estimate: Estimate, preference: Tensor, budget: Tensor, weight: Tensor | None = None
) -> Tensor:
    """Gaussian negative log-likelihood of the true (w, d) per step, for training in a simulator.

    Args:
        estimate: Of any batch shape.
        preference: (..., K), the truth.
        budget: (...), the truth.
        weight: (E, ...) or what broadcasts to it: which heads learn from which steps, with 0 for
            padding; None: all from all.

    Returns:
        A scalar: the mean over steps that count.
    """
    log_w, log_d = estimate.log_variance[..., 0], estimate.log_variance[..., 1]
    k = preference.shape[-1]
    error_w = ((estimate.preference - preference) ** 2).sum(dim=-1)
    error_d = (estimate.budget - budget) ** 2
    loss = 0.5 * (error_w / log_w.exp() + k * log_w + error_d / log_d.exp() + log_d)
    return _weighted_mean(loss, weight)


def feedback_loss(
    estimate: Estimate,
    reward: Tensor,
    cost: Tensor,
    satisfaction: Tensor,
    alarm: Tensor,
    weight: Tensor | None = None,
    *,
    noise: float = 0.03,
    slope: float = 25.0,
) -> Tensor:
    """What deployment can learn from, where no one knows (w, d): how likely the feedback was.

    y ~ N(w . r, noise^2 + var |r|^2), alarm ~ Bernoulli(sigmoid(slope (c - d))); the estimate is
    that before the step whose feedback this is.

    Args:
        estimate: Of any batch shape.
        reward: (..., K).
        cost: (...).
        satisfaction: (...); NaN where there is none.
        alarm: (...), 1 or 0; NaN where there is none.
        weight: As in `label_loss`.
        noise: Standard deviation of a score.
        slope: Of the alarm's probability.
    """
    scored, audited = ~satisfaction.isnan(), ~alarm.isnan()
    expected = (estimate.preference * reward).sum(dim=-1)
    stated = estimate.log_variance[..., 0].exp() * (reward**2).sum(dim=-1)
    variance = stated + noise**2
    error = (torch.nan_to_num(satisfaction) - expected) ** 2
    of_scores = torch.where(scored, 0.5 * (error / variance + variance.log()), 0.0)
    logit = slope * (cost - estimate.budget)
    target = torch.nan_to_num(alarm).expand_as(logit)
    of_alarms = functional.binary_cross_entropy_with_logits(logit, target, reduction="none")
    return _weighted_mean(of_scores + torch.where(audited, of_alarms, 0.0), weight)


def bootstrap(
    heads: int, sequences: int, generator: torch.Generator | None = None, share: float = 0.8
) -> Tensor:
    """Which head learns from which sequence: (E, sequences), 1 with probability `share`, else 0."""
    return (torch.rand(heads, sequences, generator=generator) < share).float()


def _weighted_mean(loss: Tensor, weight: Tensor | None) -> Tensor:
    if weight is None:
        return loss.mean()
    weight = weight.expand_as(loss)
    return torch.where(weight > 0, loss * weight, 0.0).sum() / weight.sum().clamp(min=1.0)


def _drawn(heads: int, inputs: int, outputs: int) -> Tensor:
    return torch.randn(heads, inputs, outputs) / math.sqrt(max(inputs, 1))


def _lifted(bias: Tensor, dimensions: int) -> Tensor:
    """(E, J) to (E, 1, ..., 1, J), to be added to (E, ..., J)."""
    return bias.reshape(bias.shape[0], *[1] * (dimensions - 1), bias.shape[1])
