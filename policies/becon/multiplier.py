"""A price of cost that depends on the context: lambda(w_bar, d_bar, s) instead of one number.

One multiplier for all contexts is too dear where the budget is wide and too cheap where it is
narrow. Dual ascent raises the price where cost exceeds the budget and lowers it where there is room
(note, section 3.7). Plain gradient steps are meant: Adam on one number moves it by constant steps,
however small the violation.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

MOST = 20.0


class Multiplier(nn.Module):  # type: ignore[misc]
    """Lambda = softplus(MLP(context, state)), bent so that it stays below 20.

    The bend, 20 (1 - exp(-x / 20)), is smooth: a hard limit has no slope, so a price that had once
    reached it would never come down.

    Args:
        inputs: Width of context and state features.
        width: Of the hidden layer.
        start: What it is about equal to before training.
    """

    def __init__(self, inputs: int, width: int = 16, start: float = 0.1) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, 1))
        last = self.body[-1]
        nn.init.zeros_(last.weight)
        nn.init.constant_(last.bias, math.log(math.expm1(start)))

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) to (...)."""
        price = functional.softplus(self.body(x)).squeeze(-1)
        return MOST * (1.0 - torch.exp(-price / MOST))


def dual_loss(multiplier: Tensor, excess: Tensor, mask: Tensor | None = None) -> Tensor:
    """-E[lambda (c - d)]: lower it to raise lambda where cost exceeds the budget.

    Args:
        multiplier: (...), lambda with its gradient.
        excess: (...), c - d; d is the true budget in a simulator, d_bar in deployment.
        mask: bool (...), which steps count.
    """
    gained = multiplier * excess.detach()
    if mask is None:
        return -gained.mean()
    return -torch.where(mask, gained, 0.0).sum() / mask.sum().clamp(min=1)


class ScalarMultiplier(nn.Module):  # type: ignore[misc]
    """One lambda for all contexts: that of PPO-Lagrangian, for baselines.

    Args:
        start: What it is before training (OmniSafe: 0.001).
    """

    def __init__(self, start: float = 0.001) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.tensor(start))

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) to (...); never negative, at most 20."""
        return self.value.clamp(0.0, MOST).expand(x.shape[:-1])

    def confine(self) -> None:
        """Brings the parameter back to 0..20 after a step, where it could not move any more."""
        with torch.no_grad():
            self.value.clamp_(0.0, MOST)
