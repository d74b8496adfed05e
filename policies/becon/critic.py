"""The vector critic: what each objective, and cost, will still come to in a context."""

from __future__ import annotations

from torch import Tensor, nn


class VectorCritic(nn.Module):  # type: ignore[misc]
    """V(s, w_bar, d_bar) in R^{K+1}: K discounted rewards and the discounted cost.

    Targets are trained in units of their own running deviation elsewhere (`scaling`), so one weight
    suits every component.

    Args:
        inputs: Width of state features and context.
        outputs: K + 1.
        width: Of the two hidden layers.
    """

    def __init__(self, inputs: int, outputs: int, width: int = 64) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(inputs, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, outputs),
        )

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) to (..., K + 1)."""
        values: Tensor = self.body(x)
        return values
