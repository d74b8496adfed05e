"""The encoder of history: a GRU over what an actor sees, step by step.

It adds to the filters what they do not model: drift that is slow or follows the state, habits of
the line, the link between preference and budget.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class HistoryEncoder(nn.Module):  # type: ignore[misc]
    """x_1..x_t to h_t.

    Args:
        inputs: D, width of x.
        hidden: H.
    """

    def __init__(self, inputs: int, hidden: int = 48) -> None:
        super().__init__()
        self.hidden = hidden
        self.gru = nn.GRU(inputs, hidden, batch_first=True)

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Encodes T further steps.

        Args:
            x: (B, T, D).
            state: (B, H), from the steps before; None: there were none.

        Returns:
            (B, T, H), and the state after the last step (B, H).
        """
        first = None if state is None else state.unsqueeze(0).contiguous()
        encoded, last = self.gru(x, first)
        return encoded, last.squeeze(0)

    def window(self, x: Tensor) -> Tensor:
        """Encodes each window by itself, for modules without a state: (..., T, D) to (..., H)."""
        flat = x.reshape(-1, *x.shape[-2:])
        _, last = self.forward(flat)
        return last.reshape(*x.shape[:-2], self.hidden)

    def initial_state(self, batch: int) -> Tensor:
        """(B, H): before the first step."""
        return torch.zeros(batch, self.hidden)
