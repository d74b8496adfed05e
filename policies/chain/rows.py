"""The reference batch: rows that have nothing to do with the mini-batch that is trained on.

Rows are whole: a step of a module without a state, or a chunk (T, ...) of an episode together with
the state that it begins with.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

MASK = "loss_mask"
"""Column that says which steps are real."""
Columns = dict[str, Any]
"""Columns of a batch: tensors with rows on the first axis, or nested mappings of such."""


class _Drawing:
    """A random generator of its own: drawing rows changes nothing else about a training run."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def save(self) -> list[int]:
        """The state of the generator, as bytes."""
        return [int(byte) for byte in self._generator.get_state()]

    def load(self, saved: list[int]) -> None:
        """Continues the generator where `save` was called."""
        self._generator.set_state(torch.tensor(saved, dtype=torch.uint8))


class RolloutRows(_Drawing):
    """Draws rows of a rollout in an order of its own, each once before any comes again.

    Args:
        seed: Of its random generator.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.rollout: Columns = {}
        """All rows, as they came."""
        self._real = torch.zeros(0, dtype=torch.long)
        self._shuffled: Columns = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._real)

    @property
    def seen(self) -> bool:
        """Whether there was ever a rollout."""
        return bool(self.rollout)

    def replace(self, batch: Mapping[str, Any]) -> None:
        """Takes a new rollout; rows without a real step are never drawn."""
        self.rollout = columns_of(batch)
        count = count_rows(self.rollout)
        mask = self.rollout.get(MASK)
        if mask is None:
            self._real = torch.arange(count)
        else:
            self._real = mask.bool().reshape(count, -1).any(1).nonzero()[:, 0].cpu()
        self._shuffled = {}
        self._next = 0

    def draw(self, count: int) -> Columns:
        """The next so many rows, or all, if there are not so many. Do not write into them."""
        count = min(count, len(self))
        if not self._shuffled or self._next + count > len(self):
            order = self._real[torch.randperm(len(self), generator=self._generator)]
            self._shuffled = _each(self.rollout, lambda column: column[order.to(column.device)])
            self._next = 0
        start, self._next = self._next, self._next + count
        stop = self._next
        return _each(self._shuffled, lambda column: column[start:stop])


class ReplayRows(_Drawing):
    """Draws rows of earlier replay batches.

    A learner does not see the replay buffer, only what was sampled from it. Each sample is drawn
    independently of the others, so an earlier one serves as a reference batch. Not the one before,
    though: the last step trained on it, so what moved there was meant to move.

    Args:
        seed: Of its random generator.
        kept: How many batches it draws from.
    """

    def __init__(self, seed: int, kept: int = 8) -> None:
        super().__init__(seed)
        self._batches: deque[Columns] = deque(maxlen=kept + 2)

    def __len__(self) -> int:
        return count_rows(self._batches[0]) if len(self._batches) > 2 else 0

    @property
    def seen(self) -> bool:
        """Whether there was ever a batch."""
        return bool(self._batches)

    def replace(self, batch: Mapping[str, Any]) -> None:
        """Takes the batch that is trained on next."""
        self._batches.append(columns_of(batch))

    def draw(self, count: int) -> Columns:
        """So many rows of one earlier batch, or all, if it has not so many."""
        choice = int(torch.randint(len(self._batches) - 2, (), generator=self._generator))
        return _each(self._batches[choice], lambda column: column[:count])


def columns_of(batch: Mapping[str, Any]) -> Columns:
    """The columns that are tensors; a column of anything else (infos) has no place in a network."""
    kept: dict[str, Any] = {}
    for name, column in batch.items():
        if isinstance(column, Mapping):
            kept[name] = columns_of(column)
        elif isinstance(column, Tensor):
            kept[name] = column
    return kept


def count_rows(columns: Mapping[str, Any]) -> int:
    """Rows of a batch."""
    for column in columns.values():
        count = count_rows(column) if isinstance(column, Mapping) else len(column)
        if count:
            return count
    return 0


def _each(columns: Mapping[str, Any], act: Callable[[Tensor], Tensor]) -> Columns:
    return {
        name: _each(column, act) if isinstance(column, Mapping) else act(column)
        for name, column in columns.items()
    }
