"""How far belief is trusted over the exposed descriptor: one gate for w, one for d.

g = sigmoid(MLP(quality) - softplus(k) (log(4 epi + ale + 1e-5) + 4)), note section 3.5: 1 is all
belief, 0 all descriptor. softplus(k) > 0, so a gate falls strictly as the belief grows uncertain,
whatever was learned; how good the line seems to be shifts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.becon.fitting import fit
from policies.becon.quality import QUALITIES

EPISTEMIC_WEIGHT = 4.0
"""Disagreement of five heads understates how far they may all be wrong."""
FLOOR_W, FLOOR_D = 2e-3, 1e-3
"""Errors below these count no further in the gate loss."""
ALERT_SHIFT = 2.0


class Gates(nn.Module):  # type: ignore[misc]
    """Two gates.

    Args:
        width: Of the hidden layer.
    """

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(len(QUALITIES), width), nn.Tanh(), nn.Linear(width, 2))
        self.steepness = nn.Parameter(torch.zeros(2))

    def forward(
        self, quality: Tensor, epistemic: Tensor, aleatoric: Tensor, alert: Tensor | None = None
    ) -> Tensor:
        """The gates (..., 2): of w, of d.

        Args:
            quality: (..., 6), of `policies.becon.quality.QualityTracker`.
            epistemic: (..., 2).
            aleatoric: (..., 2).
            alert: (...), 0 to 1: how surely the traffic that brings descriptors is anomalous (a
                `CascadeAlert`); it raises both gates, by a fixed amount since nothing is trained
                on it.
        """
        uncertainty = torch.log(EPISTEMIC_WEIGHT * epistemic + aleatoric + 1e-5) + 4.0
        logit = self.body(quality) - functional.softplus(self.steepness) * uncertainty
        if alert is not None:
            logit = logit + ALERT_SHIFT * alert.unsqueeze(-1)
        return torch.sigmoid(logit)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Recorded steps of one corruption level, from which gates learn; (M, ...), no gradient."""

    quality: Tensor
    """(M, 6)."""
    epistemic: Tensor
    """(M, 2)."""
    aleatoric: Tensor
    """(M, 2)."""
    belief: Tensor
    """(M, K + 1): w and d as believed."""
    exposed: Tensor
    """(M, K + 1): w and d as exposed."""
    truth: Tensor
    """(M, K + 1)."""

    def detached(self) -> Evidence:
        """Without gradients: the belief stays an estimator, it does not help its gate."""
        return Evidence(*(getattr(self, name).detach() for name in self.__slots__))


def fuse(gates: Tensor, belief: Tensor, exposed: Tensor) -> Tensor:
    """Sum of g belief and (1 - g) exposed: (..., K + 1), with gates (..., 2) for w and for d."""
    spread = torch.cat([gates[..., :1].expand_as(belief[..., :-1]), gates[..., 1:]], dim=-1)
    return spread * belief + (1.0 - spread) * exposed


def gate_loss(gates: Gates, levels: Sequence[Evidence]) -> Tensor:
    """Sum over corruption levels of log(MSE_w + 2e-3) + log(MSE_d + 1e-3).

    The logarithm keeps a clean level, whose errors are small, from being ignored. Belief and
    uncertainty carry no gradient. A level without steps counts nothing.
    """
    total = torch.zeros(())
    for level in (each.detached() for each in levels if len(each.truth)):
        opened = gates(level.quality, level.epistemic, level.aleatoric)
        error = (fuse(opened, level.belief, level.exposed) - level.truth) ** 2
        total = total + torch.log(error[:, :-1].sum(dim=-1).mean() + FLOOR_W)
        total = total + torch.log(error[:, -1].mean() + FLOOR_D)
    return total


def fit_gates(
    gates: Gates, levels: Sequence[Evidence], *, steps: int = 500, learning_rate: float = 1e-2
) -> tuple[float, ...]:
    """Fits gates to recorded steps by Adam; returns the loss before each update.

    Raises:
        ValueError: nothing was recorded.
    """
    if not any(len(each.truth) for each in levels):
        raise ValueError("no recorded steps to fit gates to")
    loss = partial(gate_loss, gates, levels)
    return fit(gates, loss, steps=steps, learning_rate=learning_rate)
