"""What is measured of churn: section 5 of CHAIN (arXiv 2409.04792), with our names.

All functions take outputs of an older and of the present network at the same states, (...) or
(..., A), and a mask of the states that count; they return scalars.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from policies.chain.heads import PolicyHead
from policies.chain.losses import masked_mean


@dataclass(frozen=True, slots=True)
class PolicyChurn:
    """How far the policy moved."""

    distance: Tensor
    """Mean of what the regulariser minimises: a divergence or a distance of means."""
    greedy_flip: Tensor
    """Share of states with another greedy action."""


@dataclass(frozen=True, slots=True)
class ValueChurn:
    """How far the values moved."""

    absolute: Tensor
    signed: Tensor
    """Above 0: values rose."""


def policy_churn(
    head: PolicyHead, old: Tensor, new: Tensor, mask: Tensor | None = None
) -> PolicyChurn:
    """Churn of a policy given by its outputs."""
    return PolicyChurn(
        masked_mean(head.churn(old, new), mask),
        masked_mean(head.flips(old, new).float(), mask),
    )


def value_churn(old: Tensor, new: Tensor, mask: Tensor | None = None) -> ValueChurn:
    """Churn of values (...) or of the values of all actions (..., A)."""
    apart = new - old
    return ValueChurn(masked_mean(apart.abs(), mask), masked_mean(apart, mask))


def greedy_flip(old: Tensor, new: Tensor, mask: Tensor | None = None) -> Tensor:
    """Share of states in which another action has the highest value (..., A)."""
    return masked_mean((old.argmax(-1) != new.argmax(-1)).float(), mask)


def value_of_policy_churn(old: Tensor, new: Tensor, mask: Tensor | None = None) -> Tensor:
    """What moving the policy was worth: mean of Q(s, new policy) - Q(s, old policy).

    Args:
        old: The values (...) of what the older policy does, by one and the same critic.
        new: The values of what the present policy does.
        mask: The states that count.
    """
    return masked_mean(new - old, mask)


def outside_clip(
    behaviour: Tensor, present: Tensor, clip: float, mask: Tensor | None = None
) -> Tensor:
    """Share of states in which PPO's ratio has left its trust region.

    Taken at states outside the mini-batch, it shows what clipping does not see.

    Args:
        behaviour: Log-probabilities of the actions taken, when they were taken.
        present: Log-probabilities of the same actions now.
        clip: The ratio's distance from 1 that PPO allows.
        mask: The states that count.
    """
    away = (torch.exp(present - behaviour) - 1).abs() > clip
    return masked_mean(away.float(), mask)
