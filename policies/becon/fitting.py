"""Fits what has a loss over recorded steps, all of them at once."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


def fit(
    module: nn.Module, loss_of: Callable[[], Tensor], *, steps: int, learning_rate: float
) -> tuple[float, ...]:
    """Lowers a loss by Adam; returns the loss before each update.

    Args:
        module: Whose parameters are fitted.
        loss_of: Gives the loss as the module is now.
        steps: Updates.
        learning_rate: Of Adam.
    """
    optimiser = torch.optim.Adam(module.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    return tuple(losses)
