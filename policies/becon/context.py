"""The fused context: what a policy, its critic and its multiplier are conditioned on."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

LEAST_BUDGET = 0.0


@dataclass(frozen=True, slots=True)
class Context:
    """Belief and descriptor, fused; any batch shape."""

    preference: Tensor
    """(..., K): w_bar, sums to 1."""
    budget: Tensor
    """(...): d_bar."""
    safe_budget: Tensor
    """(...): what may be spent if the belief may be wrong."""
    gates: Tensor
    """(..., 2): of w, of d."""
    epistemic: Tensor
    """(..., 2): variance between heads."""
    aleatoric: Tensor
    """(..., 2): variance that heads state."""
    line: Tensor
    """(..., 2): variance of the descriptor's error."""

    @property
    def variance(self) -> Tensor:
        """(..., 2): of the fused context, belief and descriptor erring independently."""
        belief = self.epistemic + self.aleatoric
        return self.gates**2 * belief + (1.0 - self.gates) ** 2 * self.line

    def features(self) -> Tensor:
        """(..., K + 3), for a policy: w_bar, the safe budget, log uncertainty of w and of d.

        The logarithm is brought to about -1..1.
        """
        uncertainty = torch.log(self.variance + 1e-5) / 4.0 + 1.0
        return torch.cat([self.preference, self.safe_budget.unsqueeze(-1), uncertainty], dim=-1)

    def plain(self) -> Tensor:
        """(..., K + 1): w_bar and d_bar, for critic and multiplier."""
        return torch.cat([self.preference, self.budget.unsqueeze(-1)], dim=-1)

    def detached(self) -> Context:
        """Without gradients: the belief stays an estimator, not a hidden action channel."""
        return Context(*(getattr(self, name).detach() for name in self.__slots__))


def conservative_budget(budget: Tensor, variance: Tensor, kappa: float) -> Tensor:
    """d_safe = d_bar - kappa sqrt(variance), not below 0.

    The note (section 3.7) holds back for belief alone: variance = g_d^2 (epi + ale). With that of
    the fused context (`Context.variance`) the descriptor's error counts, too.
    """
    return (budget - kappa * variance.sqrt()).clamp(min=LEAST_BUDGET)
