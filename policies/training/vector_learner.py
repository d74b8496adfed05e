"""PPO with a critic of several values: one for each objective, and one for the cost if it counts.

Advantages are estimated for each value by itself and then weighted: objectives by their weights,
cost by minus its price. For weights that never change that is the advantage of the weighted reward
with a critic of one value, since the estimate is linear in rewards and values
(`tests/policies/training/test_vector_learner.py` holds it); so a training for profit alone has a
critic of one value, and RLlib's own estimate. The price of cost changes from iteration to
iteration, and a critic that had learned the sum of both would be wrong after each change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import VF_LOSS_KEY
from ray.rllib.evaluation.postprocessing import Postprocessing
from torch import Tensor

from policies.chain.ppo import ChainPPOMixin
from policies.training.vector_gae import REWARDS, Array, ColumnFromInfo, VectorGAE, replace_gae

PRICED: Final = "priced"
"""Key of `learner_config_dict`: whether the last value is that of the cost."""
WEIGHTS: Final = "weights"
"""Key of `learner_config_dict`: those of the objectives, in order."""
OBJECTIVE_LOSS: Final = "value_loss_{}"


def reward_column(objectives: int, priced: bool) -> ColumnFromInfo:
    """The column of what a step came to: the objectives and, if it counts, the cost."""

    def read(info: Mapping[str, Any]) -> list[float]:
        return [*info["vector_reward"], *([info["cost"]] if priced else [])]

    return ColumnFromInfo(REWARDS, read, width=objectives + priced)


class PricedGAE(VectorGAE):
    """Weighs the advantages of each module by its own weights, and notes what its steps cost.

    Args:
        gamma: Discount per step.
        lambda_: Weight of later steps.
    """

    def __init__(self, *, gamma: float, lambda_: float) -> None:
        super().__init__(gamma=gamma, lambda_=lambda_, scalarise=self._weigh)
        self.weights: dict[str, list[float]] = {}
        """By module: what each component counts in the policy's advantage."""
        self.last_component: dict[str, float] = {}
        """By module: the mean of the last component over the steps of the last rollout."""
        self._module = ""

    def _weigh(self, batch: Mapping[str, Any], advantages: Array) -> Array:
        del batch
        weighted: Array = advantages @ self.weights[self._module]
        return weighted

    def _add(
        self,
        columns: dict[str, Any],
        predicted: torch.Tensor,
        lengths: list[int],
        stateful: bool,
        module_id: str,
    ) -> None:
        self._module = module_id
        real = torch.as_tensor(columns[Columns.LOSS_MASK]).bool()
        rewards = torch.as_tensor(columns[REWARDS])
        self.last_component[module_id] = float(rewards[real][:, -1].double().mean())
        super()._add(columns, predicted, lengths, stateful, module_id)


class VectorPPOLearner(PPOTorchLearner):  # type: ignore[misc]
    """PPO whose modules' `compute_values` answer several values per step.

    Needs `reward_column` in `learner_connector`, and `PRICED` and `WEIGHTS` in
    `learner_config_dict`.
    """

    def build(self) -> None:
        """Builds the parent, and puts our advantages in the place of RLlib's."""
        super().build()
        self.advantages = PricedGAE(gamma=self.config.gamma, lambda_=self.config.lambda_)
        replace_gae(self, self.advantages)
        self._without_critic: dict[str, Any] = {}
        self.set_prices(dict.fromkeys(self.module.keys(), 0.0))

    def set_prices(self, prices: Mapping[str, float]) -> None:
        """Says what a unit of cost counts, for each module, from the next rollout on."""
        given = self.config.learner_config_dict
        for module_id, price in prices.items():
            priced = [-price] if given[PRICED] else []
            self.advantages.weights[module_id] = [*given[WEIGHTS], *priced]

    @property
    def mean_costs(self) -> dict[str, float]:
        """By module: the mean cost of a step of the last rollout."""
        return dict(self.advantages.last_component)

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """The parent's loss of the policy, and the squared errors of all values."""
        if module_id not in self._without_critic:
            plain = config.copy(copy_frozen=False)
            plain.use_critic = False
            self._without_critic[module_id] = plain
        loss: Tensor = super().compute_loss_for_module(
            module_id=module_id,
            config=self._without_critic[module_id],
            batch=batch,
            fwd_out=fwd_out,
        )
        values = self.module[module_id].unwrapped().compute_values(batch)
        real = batch[Columns.LOSS_MASK]
        errors = ((values - batch[Postprocessing.VALUE_TARGETS])[real] ** 2).mean(dim=0)
        seen = {OBJECTIVE_LOSS.format(place): error for place, error in enumerate(errors)}
        self.metrics.log_dict({VF_LOSS_KEY: errors.sum(), **seen}, key=module_id, window=1)
        return loss + config.vf_loss_coeff * errors.sum()


class ChainVectorPPOLearner(ChainPPOMixin, VectorPPOLearner):
    """The same with CHAIN."""


def fold_values(weights: dict[str, NDArray[Any]], layer: str, objectives: Sequence[float]) -> None:
    """Makes one value of several: that of the weighted reward, as the last layer is linear.

    Args:
        weights: A module's arrays; those of the layer are replaced.
        layer: The critic's last, such as ``value.4``.
        objectives: Their weights; a value of the cost, which comes after theirs, is left out.
    """
    for part in ("weight", "bias"):
        rows = weights[f"{layer}.{part}"][: len(objectives)].astype(np.float64)
        folded = np.tensordot(np.asarray(objectives), rows, axes=1)
        weights[f"{layer}.{part}"] = folded.reshape(1, *rows.shape[1:]).astype(np.float32)
