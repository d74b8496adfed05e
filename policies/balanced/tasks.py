"""Which task each step of a train batch belongs to, and the parts of a loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from ray.rllib.connectors.connector_v2 import ConnectorV2
from torch import Tensor

MASK = "loss_mask"
LossOf = Callable[[dict[str, Any]], Tensor]
"""From a module's batch to its loss, with everything else as it is."""


class TaskFromAgent(ConnectorV2):  # type: ignore[misc]
    """Adds the column `task`: the place of the step's agent in a list.

    For agents that share one policy: `config.learners(learner_connector=lambda observations,
    actions: [TaskFromAgent(["roaster", "cafe"])])`.

    Args:
        agents: All that may act, in an order that stays.
        column: Its name.
    """

    def __init__(self, agents: Sequence[str], column: str = "task") -> None:
        super().__init__()
        self.agents = list(agents)
        self.column = column

    def __call__(
        self, *, rl_module: Any, batch: dict[str, Any], episodes: list[Any], **kwargs: Any
    ) -> dict[str, Any]:
        """Adds the column.

        Raises:
            KeyError: an agent is not in the list.
        """
        for one in self.single_agent_episode_iterator(episodes, agents_that_stepped_only=False):
            if one.agent_id not in self.agents:
                raise KeyError(
                    f"agent {one.agent_id!r} is not among those of TaskFromAgent: {self.agents}"
                )
            place = self.agents.index(one.agent_id)
            self.add_n_batch_items(batch, self.column, [place] * len(one), len(one), one)
        return batch


def losses_by_column(batch: dict[str, Any], column: str, loss_of: LossOf) -> dict[str, Tensor]:
    """A loss for every task with a real step in the batch.

    Args:
        batch: With the column and a mask, each (N,) or (B, T).
        column: Whole numbers.
        loss_of: The loss of a batch, a mean over the steps that its mask leaves.
    """
    mask = batch[MASK].bool()
    task = batch[column].reshape(mask.shape).long()
    return {
        str(int(name)): loss_of({**batch, MASK: mask & (task == name)})
        for name in torch.unique(task[mask])
    }


def losses_by_objective(
    batch: dict[str, Any], advantages: str, scalar: str, loss_of: LossOf
) -> dict[str, Tensor]:
    """A loss for every component of the advantages, each standardised over the real steps.

    Args:
        batch: With vector advantages (..., K) and a mask (...).
        advantages: The column of the vector.
        scalar: The column that the loss takes its advantages from.
        loss_of: The loss of a batch.
    """
    mask = batch[MASK].bool()
    parts = {}
    for k in range(batch[advantages].shape[-1]):
        one = batch[advantages][..., k]
        real = one[mask]
        deviation = real.std(correction=0).clamp_min(1e-4) if real.numel() else 1.0
        middle = real.mean() if real.numel() else 0.0
        parts[str(k)] = loss_of({**batch, scalar: (one - middle) / deviation})
    return parts


def halves(batch: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The batch with every other row masked, and with the rest; None if a half has no step."""
    if MASK not in batch:
        return None
    mask = batch[MASK].bool()
    even = torch.zeros_like(mask)
    even[::2] = True
    pair = ({**batch, MASK: mask & even}, {**batch, MASK: mask & ~even})
    return pair if all(bool(half[MASK].any()) for half in pair) else None
