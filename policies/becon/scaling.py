"""The scale of value targets: each component is learned in units of its own deviation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

LEAST = 1e-3


class ValueScale(nn.Module):  # type: ignore[misc]
    """Running mean and deviation of each component of the targets; saved with the weights.

    Args:
        components: K + 1.
        memory: What an update keeps of the old figures.
    """

    def __init__(self, components: int, memory: float = 0.9) -> None:
        super().__init__()
        self.memory = memory
        self.register_buffer("mean", torch.zeros(components))
        self.register_buffer("square", torch.ones(components))
        self.register_buffer("updates", torch.zeros(()))

    @property
    def deviation(self) -> Tensor:
        """(K + 1,)."""
        return (self.square - self.mean**2).clamp(min=LEAST**2).sqrt()

    def update(self, targets: Tensor) -> None:
        """Takes in the targets (M, K + 1) of a rollout; the first sets the figures."""
        memory = self.memory if float(self.updates) else 0.0
        self.mean.mul_(memory).add_((1 - memory) * targets.mean(dim=0))
        self.square.mul_(memory).add_((1 - memory) * (targets**2).mean(dim=0))
        self.updates.add_(1.0)

    def normalised(self, targets: Tensor) -> Tensor:
        """In units of the deviation, (..., K + 1)."""
        return (targets - self.mean) / self.deviation

    def restored(self, values: Tensor) -> Tensor:
        """The inverse of `normalised`."""
        return values * self.deviation + self.mean
