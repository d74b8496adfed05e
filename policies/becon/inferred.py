"""The baseline DPI: a preference inferred from returns alone (arXiv 2603.22813; note, section 1).

A posterior over a latent z, w = softmax(z), is fitted so that w goes with returns that come in
(ELBO), several candidates are drawn at each step, and that with the largest <w, V(s, w)> is acted
on. No descriptor, no feedback, no constraint. The note's reading: it raises the weight of whatever
pays, so it can talk itself into easy objectives.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.becon.context import Context
from policies.becon.estimator import FIXED_BUDGET
from policies.becon.history import HistoryEncoder
from policies.becon.observation import Layout

CANDIDATES = 8
LEAST_LOG_DEVIATION, MOST_LOG_DEVIATION = -4.0, 2.0
KL_WEIGHT, DIRECTION_WEIGHT, CONSISTENCY_WEIGHT = 0.1, 0.1, 0.01


class PreferenceInference(nn.Module):  # type: ignore[misc]
    """A posterior over preferences from the history of states, rewards and actions.

    Args:
        layout: What lies where.
        hidden: H, of its encoder.
    """

    def __init__(self, layout: Layout, hidden: int) -> None:
        super().__init__()
        self.layout = layout
        columns = [torch.arange(layout.width)[layout.part(p)] for p in self.sees]
        self.register_buffer("columns", torch.cat(columns), persistent=False)
        self.encoder = HistoryEncoder(len(self.columns), hidden)
        self.head = nn.Linear(hidden, 2 * layout.objectives)

    @property
    def sees(self) -> tuple[str, ...]:
        """The parts of the observation that it reads: neither descriptor nor feedback."""
        return ("features", "reward", "action")

    def posterior(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Mean and log deviation of z, (B, T, K) each, and the next state (B, H)."""
        encoded, last = self.encoder(x[..., self.columns], state)
        mean, log_deviation = self.head(encoded).chunk(2, dim=-1)
        return mean, log_deviation.clamp(LEAST_LOG_DEVIATION, MOST_LOG_DEVIATION), last

    def infer(
        self, x: Tensor, state: Tensor | None, worth: Callable[[Tensor, Tensor], Tensor]
    ) -> tuple[Context, Tensor]:
        """The candidate that promises most, as a context with a budget of one half.

        Args:
            x: Observations (B, T, D).
            state: (B, H).
            worth: From observations (..., D) and w, d (..., K + 1) to <w, V(s, w)> (...).
        """
        mean, log_deviation, last = self.posterior(x, state)
        noise = torch.randn(CANDIDATES, *mean.shape)
        drawn = torch.softmax(mean + noise * log_deviation.exp(), dim=-1)
        plain = torch.cat([drawn, torch.full_like(drawn[..., :1], FIXED_BUDGET)], dim=-1)
        best = worth(x.expand(CANDIDATES, *x.shape), plain).argmax(dim=0)
        chosen = plain.gather(0, best[None, ..., None].expand(1, *plain.shape[1:]))[0]
        nothing = torch.zeros(*chosen.shape[:-1], 2)
        budget = chosen[..., -1]
        return Context(chosen[..., :-1], budget, budget, nothing, nothing, nothing, nothing), last

    def loss(
        self, x: Tensor, state: Tensor, returns: Tensor, acted: Tensor, mask: Tensor
    ) -> Tensor:
        """Negative ELBO, direction and self-consistency, per step that counts.

        Args:
            x: (B, T, D).
            state: (B, H).
            returns: (B, T, K), vector returns in units of their deviation.
            acted: (B, T, K), the preference that was acted on.
            mask: bool (B, T).
        """
        mean, log_deviation, _ = self.posterior(x, state)
        w = torch.softmax(mean + torch.randn_like(mean) * log_deviation.exp(), dim=-1)
        kl = 0.5 * (mean**2 + (2 * log_deviation).exp() - 2 * log_deviation - 1).sum(dim=-1)
        direction = 1.0 - functional.cosine_similarity(w, returns, dim=-1)
        each = -(w * returns).sum(dim=-1) + KL_WEIGHT * kl + DIRECTION_WEIGHT * direction
        each = each + CONSISTENCY_WEIGHT * ((w - acted) ** 2).sum(dim=-1)
        return torch.where(mask, each, 0.0).sum() / mask.sum().clamp(min=1)
