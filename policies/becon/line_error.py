"""How far off the descriptor probably is, told from how good its line seems to be.

Without it a budget can only be held back for what belief does not know, and not for what the
descriptor gets wrong. Measured at the desk (level 1): holding back for both at kappa = 0.35 cuts
violations by a third or more in every regime but the clean one; for belief alone, as in the note,
by a quarter under moderate corruption and a tenth without feedback.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from policies.becon.fitting import fit
from policies.becon.gates import Evidence
from policies.becon.quality import QUALITIES

LEAST, MOST = -9.0, 0.0
"""Of the logarithm of the variance."""


class LineError(nn.Module):  # type: ignore[misc]
    """Variance of the descriptor's error, of a weight of w and of d.

    Args:
        width: Of the hidden layer.
    """

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(len(QUALITIES), width), nn.Tanh(), nn.Linear(width, 2))
        nn.init.constant_(self.body[-1].bias, -4.0)

    def forward(self, quality: Tensor) -> Tensor:
        """Quality (..., 6) to variances (..., 2)."""
        return self.body(quality).clamp(LEAST, MOST).exp()


def line_error_loss(line: LineError, levels: Sequence[Evidence]) -> Tensor:
    """Gaussian negative log-likelihood of the descriptor's errors; the mean over levels."""
    losses = []
    for level in (each for each in levels if len(each.truth)):
        log_variance = line(level.quality).log()
        error = (level.exposed - level.truth).detach() ** 2
        squared = torch.stack([error[..., :-1].mean(dim=-1), error[..., -1]], dim=-1)
        losses.append(0.5 * (squared / log_variance.exp() + log_variance).sum(dim=-1).mean())
    return torch.stack(losses).mean() if losses else torch.zeros(())


def fit_line_error(
    line: LineError, levels: Sequence[Evidence], *, steps: int = 300, learning_rate: float = 1e-2
) -> tuple[float, ...]:
    """Fits by Adam to recorded steps; returns the loss before each update.

    Raises:
        ValueError: nothing was recorded.
    """
    if not any(len(each.truth) for each in levels):
        raise ValueError("no recorded steps to learn the descriptor's errors from")
    loss = partial(line_error_loss, line, levels)
    return fit(line, loss, steps=steps, learning_rate=learning_rate)
