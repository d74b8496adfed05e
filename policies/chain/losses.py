"""Churn as a loss: how far one step of the optimiser moved the outputs at states it did not see.

Every function takes outputs of the network one step old and of the network now, and returns one
number per state (the value and Q forms: per entry). `old` carries no gradient. Section and table
numbers refer to CHAIN, arXiv 2409.04792, and C-CHAIN, arXiv 2506.00592.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

MOST_GAUSSIAN_KL = 100.0
"""A sample's KL divergence in SAC counts at most that much (released code of 2409.04792)."""


def categorical_churn(old: Tensor, new: Tensor) -> Tensor:
    """KL(old ‖ new) of categorical policies.

    The released code of C-CHAIN minimises the cross-entropy, which has the same gradient; the
    divergence is 0 where nothing moved, so that its size can be compared with a loss.

    Args:
        old: Logits (..., A); minus infinity forbids an action.
        new: Logits (..., A), with the same actions forbidden.

    Returns:
        (...), at least 0 but for rounding.
    """
    before = torch.log_softmax(old.detach(), dim=-1)
    now = torch.log_softmax(new, dim=-1)
    chance = before.exp()
    return torch.where(chance > 0, chance * (before - now), 0.0).sum(-1)


def multi_categorical_churn(old: Tensor, new: Tensor, sizes: Sequence[int]) -> Tensor:
    """The sum over independent categorical heads whose logits lie side by side.

    Args:
        old: Logits (..., sum of sizes).
        new: Likewise.
        sizes: Actions of each head.
    """
    if len(sizes) == 1:
        return categorical_churn(old, new)
    pieces = zip(
        torch.split(old, list(sizes), dim=-1), torch.split(new, list(sizes), dim=-1), strict=True
    )
    return torch.stack([categorical_churn(*piece) for piece in pieces]).sum(0)


def cross_entropy_churn(old: Tensor, new: Tensor) -> Tensor:
    """The form of C-CHAIN: the cross-entropy of old and new, which includes old's entropy."""
    before = torch.log_softmax(old.detach(), dim=-1)
    now = torch.log_softmax(new, dim=-1)
    chance = before.exp()
    return -torch.where(chance > 0, chance * now, 0.0).sum(-1)


def gaussian_mean_churn(old: Tensor, new: Tensor) -> Tensor:
    """Squared distance of means, mean over action dimensions; deviations are left free (PPO).

    Args:
        old: Means (..., D).
        new: Means (..., D).
    """
    return (new - old.detach()).square().mean(-1)


def gaussian_churn(
    old_mean: Tensor, old_log_deviation: Tensor, new_mean: Tensor, new_log_deviation: Tensor
) -> Tensor:
    """KL(new ‖ old) of Gaussians before they are squashed, at most `MOST_GAUSSIAN_KL` each (SAC).

    Args:
        old_mean: (..., D), as are the others.
        old_log_deviation: Natural logarithm of the standard deviations.
        new_mean: Of the network now.
        new_log_deviation: Of the network now.

    Returns:
        (...): the sum over dimensions, clamped to [0, 100].
    """
    old_mean, old_log_deviation = old_mean.detach(), old_log_deviation.detach()
    variance = torch.exp(2 * (new_log_deviation - old_log_deviation))
    apart = ((new_mean - old_mean) / torch.exp(old_log_deviation)).square()
    each = 0.5 * (variance + apart - 1) - (new_log_deviation - old_log_deviation)
    return each.sum(-1).clamp(0.0, MOST_GAUSSIAN_KL)


def value_churn(old: Tensor, new: Tensor) -> Tensor:
    """Squared change of values, entry by entry; entries that are not finite (forbidden) count 0.

    For twin critics, take the sum of both. For DQN the entries are all actions of a state.
    """
    old = old.detach()
    there = torch.isfinite(old) & torch.isfinite(new)
    return torch.where(there, torch.where(there, new - old, 0.0).square(), 0.0)


def masked_mean(values: Tensor, mask: Tensor | None) -> Tensor:
    """The mean over entries that count; 0, not NaN, if none does.

    Args:
        values: (...), or (..., K), of which all K of an entry count or none.
        mask: (...) of bool; None: all count.
    """
    if mask is None:
        return values.mean()
    mask = mask.bool()
    chosen = values[mask]
    return chosen.sum() / max(chosen.numel(), 1)
