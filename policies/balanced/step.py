"""A balanced step in a plain torch training loop.

step = BalancedStep()
for batch in batches:
    losses = {"profit": ..., "service": ..., "energy": ...}
    report = step(losses, trunk.parameters(), heads.parameters(), optimiser)
    report.rate          # what the worst-served task gets of what it could have had
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from policies.balanced.direction import Balancer, BalanceSettings, Direction


class BalancedStep:
    """Balances one optimiser's steps.

    Args:
        settings: How steps are balanced.
        seed: Of the sampling of tasks, where there are many.
    """

    def __init__(self, settings: BalanceSettings | None = None, seed: int = 0) -> None:
        self.balancer = Balancer(settings, seed)
        self._before: NDArray[np.float64] | None = None

    def __call__(
        self,
        losses: Mapping[str, Tensor],
        shared: Iterable[nn.Parameter],
        heads: Iterable[nn.Parameter],
        optimiser: torch.optim.Optimizer,
    ) -> Direction:
        """Steps once.

        Args:
            losses: By task, with their graphs.
            shared: Parameters that all tasks use: they get the balanced step as their gradient.
            heads: Other parameters: they get the gradient of the sum of the losses.
            optimiser: Of all of them.
        """
        trunk, rest = list(shared), list(heads)
        optimiser.zero_grad(set_to_none=True)
        names = self.balancer.choose(list(losses))
        rows = gradient_rows([losses[name] for name in names], trunk)
        if rest:
            total = torch.stack(list(losses.values())).sum()
            gradients = torch.autograd.grad(total, rest, allow_unused=True)
            for parameter, gradient in zip(rest, gradients, strict=True):
                parameter.grad = gradient
        found = self.balancer.direction(names, _numpy(rows), self._moved(trunk))
        give(trunk, combined(names, rows, found))
        optimiser.step()
        return found

    def _moved(self, trunk: list[nn.Parameter]) -> NDArray[np.float64] | None:
        if self.balancer.settings.mode != "secant":
            return None
        now = _numpy(torch.cat([p.detach().reshape(-1) for p in trunk]))
        before, self._before = self._before, now
        return None if before is None else now - before


def balanced_step(
    losses: Mapping[str, Tensor],
    shared: Iterable[nn.Parameter],
    heads: Iterable[nn.Parameter],
    optimiser: torch.optim.Optimizer,
    settings: BalanceSettings | None = None,
) -> Direction:
    """One balanced step without a memory; see :class:`BalancedStep`."""
    return BalancedStep(settings)(losses, shared, heads, optimiser)


def gradient_rows(losses: Iterable[Tensor], shared: list[nn.Parameter]) -> Tensor:
    """(K, p): the gradients of losses for shared parameters, side by side; graphs are kept."""
    rows = []
    for loss in losses:
        gradients = torch.autograd.grad(loss, shared, retain_graph=True, allow_unused=True)
        rows.append(
            torch.cat(
                [
                    (torch.zeros_like(p) if g is None else g).reshape(-1)
                    for p, g in zip(shared, gradients, strict=True)
                ]
            )
        )
    return torch.stack(rows)


def combined(names: tuple[str, ...], rows: Tensor, found: Direction) -> Tensor:
    """(p,): the step as a gradient."""
    weights = torch.tensor(
        [found.weights.get(name, 0.0) for name in names], dtype=rows.dtype, device=rows.device
    )
    return weights @ rows


def give(shared: list[nn.Parameter], step: Tensor) -> None:
    """Hands a step to parameters as their gradient."""
    start = 0
    for parameter in shared:
        stop = start + parameter.numel()
        parameter.grad = step[start:stop].reshape(parameter.shape).clone()
        start = stop


def _numpy(rows: Tensor) -> NDArray[np.float64]:
    array: NDArray[np.float64] = rows.detach().cpu().numpy().astype(np.float64)
    return array
