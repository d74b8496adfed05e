"""The network as it was before the last step, and the steps before that."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import torch
from torch import Tensor, nn


class FrozenReference:
    """A copy of a module that is brought up to date in place.

    Call `keep` right before every step of the optimiser: the copy is then exactly one step old.
    Copying in place takes a hundredth of the time of a deep copy.

    Args:
        kept: How many steps back can be looked; more than 1 only to measure.
    """

    def __init__(self, kept: int = 1) -> None:
        self._kept = kept
        self._module: nn.Module | None = None
        self._followed: nn.Module | None = None
        self._theirs: list[Tensor] = []
        self._ours: list[Tensor] = []
        self._older: deque[list[Tensor]] = deque(maxlen=kept)
        self._shown = 1

    @property
    def steps(self) -> int:
        """How many steps back can be looked by now."""
        return len(self._older) if self._kept > 1 else int(self._module is not None)

    def keep(self, module: nn.Module) -> None:
        """Keeps the module's parameters and buffers as they are now."""
        if self._module is None or module is not self._followed:
            self._module = copy.deepcopy(module).requires_grad_(False)
            self._followed = module
            # Walking through a module takes longer than copying it.
            self._ours, self._theirs = _tensors(self._module), _tensors(module)
        else:
            self._show(self._theirs)
        self._shown = 1
        if self._kept > 1:
            self._older.appendleft([tensor.detach().clone() for tensor in self._theirs])

    def module(self, steps: int = 1) -> Any:
        """The module of so many steps ago; do not keep it, the next `keep` changes it.

        Raises:
            LookupError: that is further back than was kept.
        """
        if self._module is None or steps > max(self.steps, 1) or steps < 1:
            raise LookupError(f"no reference {steps} steps back, only {self.steps}")
        if steps != self._shown:
            self._show(self._older[steps - 1])
            self._shown = steps
        return self._module

    def drop(self) -> None:
        """Forgets everything: the module's parameters were replaced, not stepped."""
        self._module = self._followed = None
        self._ours, self._theirs = [], []
        self._older.clear()

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _show(self, tensors: list[Tensor]) -> None:
        for ours, theirs in zip(self._ours, tensors, strict=True):
            ours.copy_(theirs)


def _tensors(module: nn.Module) -> list[Tensor]:
    return [*module.parameters(), *module.buffers()]
