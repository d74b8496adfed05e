"""What a module's policy outputs mean, as far as churn is concerned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import torch
from torch import Tensor

from policies.chain.losses import gaussian_churn, gaussian_mean_churn, multi_categorical_churn


class PolicyHead(Protocol):
    """Compares policies by their outputs (`action_dist_inputs`)."""

    def churn(self, old: Tensor, new: Tensor) -> Tensor:
        """How far the policy moved in each state, as the regulariser counts it: (...)."""
        ...

    def flips(self, old: Tensor, new: Tensor) -> Tensor:
        """Whether the greedy action changed in each state: (...) of bool."""
        ...


@dataclass(frozen=True, slots=True)
class CategoricalHead:
    """One or more independent choices."""

    sizes: tuple[int, ...]

    def churn(self, old: Tensor, new: Tensor) -> Tensor:
        """KL(old ‖ new), summed over the choices."""
        return multi_categorical_churn(old, new, self.sizes)

    def flips(self, old: Tensor, new: Tensor) -> Tensor:
        """Whether any choice has another favourite."""
        changed = [
            before.argmax(-1) != now.argmax(-1)
            for before, now in zip(
                torch.split(old, list(self.sizes), dim=-1),
                torch.split(new, list(self.sizes), dim=-1),
                strict=True,
            )
        ]
        return torch.stack(changed).any(0)


@dataclass(frozen=True, slots=True)
class GaussianHead:
    """Means, then logarithms of deviations, side by side."""

    dimensions: int
    divergence: bool = False
    """Whether churn is the divergence (SAC) and not the distance of means (PPO)."""

    def churn(self, old: Tensor, new: Tensor) -> Tensor:
        """Squared distance of means, or the divergence."""
        old_mean, old_deviation = old[..., : self.dimensions], old[..., self.dimensions :]
        new_mean, new_deviation = new[..., : self.dimensions], new[..., self.dimensions :]
        if self.divergence:
            return gaussian_churn(old_mean, old_deviation, new_mean, new_deviation)
        return gaussian_mean_churn(old_mean, new_mean)

    def flips(self, old: Tensor, new: Tensor) -> Tensor:
        """Whether any mean changed its sign, the nearest there is to another greedy action."""
        changed = torch.signbit(old[..., : self.dimensions]) != torch.signbit(
            new[..., : self.dimensions]
        )
        return changed.any(-1)


def policy_head(space: gym.Space[Any], module_id: str, *, divergence: bool = False) -> PolicyHead:
    """The head of a module with this action space.

    Args:
        space: Discrete, MultiDiscrete (one axis) or Box.
        module_id: For the error.
        divergence: Whether Gaussian policies are compared with their deviations.

    Raises:
        TypeError: another kind of space.
    """
    if isinstance(space, gym.spaces.Discrete):
        return CategoricalHead((int(space.n),))
    if isinstance(space, gym.spaces.MultiDiscrete) and len(space.nvec.shape) == 1:
        return CategoricalHead(tuple(int(n) for n in space.nvec))
    if isinstance(space, gym.spaces.Box):
        dimensions = 1
        for length in space.shape:
            dimensions *= length
        return GaussianHead(dimensions, divergence)
    raise TypeError(
        f"module {module_id}: churn of actions in {space} is not defined; use a Discrete,"
        " MultiDiscrete or Box space, or set chain_lambda to 0 for this module"
    )
