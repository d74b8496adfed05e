"""What the learner needs besides what the policy saw: outcomes, labels, advantages.

Labels (the true w and d) come from `info` and go into columns of the train batch, in the learner's
pipeline alone: nothing here exists where a policy acts or is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from ray.rllib.core.columns import Columns
from torch import Tensor

from policies.becon.binding.module import ACTED, BeconModule
from policies.becon.calibration import calibration
from policies.becon.constraint import Constraint, priced
from policies.becon.losses import scalarised
from policies.becon.network import Acted
from policies.training.vector_gae import REWARDS, Array, ColumnFromInfo, VectorGAE

OUTCOME = "becon_outcome"
"""Column (..., K + 3): vector reward, cost, satisfaction score, alarm (NaN: none arrived)."""
LABELS = "becon_labels"
"""Column (..., K + 2): true preference and budget of the step, corruption level."""
EXCESS = "becon_excess"
"""Column (...): what the multiplier answers to."""


def outcome_column(objectives: int) -> ColumnFromInfo:
    """What a step came to, as far as the one who acted is told."""
    return ColumnFromInfo(OUTCOME, _outcome, width=objectives + 3)


def label_column(objectives: int) -> ColumnFromInfo:
    """The truth that a simulator knows."""
    return ColumnFromInfo(LABELS, _labels, width=objectives + 2)


def _outcome(info: Mapping[str, Any]) -> list[float]:
    told = [info.get("feedback", np.nan), info.get("alarm", np.nan)]
    return [*info["vector_reward"], info["cost"], *told]


def _labels(info: Mapping[str, Any]) -> list[float]:
    return [*info["preference"], info["budget"], info.get("level", 0)]


class BeconGAE(VectorGAE):
    """Prices costs, then estimates advantages of rewards and cost and scalarises them.

    Before anything is learned from a rollout, it also brings the scale of values up to date and, on
    request, calibrates the uncertainties of the belief on it.

    Args:
        gamma: Discount per step.
        lambda_: Weight of later steps.
        constraint: How cost is priced.
        budget_from: Whose budget costs are held against, the simulator's or the one acted on.
    """

    def __init__(
        self, *, gamma: float, lambda_: float, constraint: Constraint, budget_from: str
    ) -> None:
        super().__init__(
            gamma=gamma, lambda_=lambda_, scalarise=_by_what_was_acted_on, phantoms=False
        )
        self.constraint = constraint
        self.budget_from = budget_from
        self.calibrate = False
        """Set to calibrate on the next rollout."""

    def __call__(
        self, *, rl_module: Any, batch: dict[str, Any], episodes: list[Any], **kwargs: Any
    ) -> dict[str, Any]:
        """Adds the columns to the batch of every `BeconModule`."""
        for module_id, columns in batch.items():
            module = rl_module[module_id].unwrapped()
            if isinstance(module, BeconModule):
                self._price(module, columns)
                if self.calibrate:
                    calibrate_on(module, columns)
        batch = super().__call__(rl_module=rl_module, batch=batch, episodes=episodes, **kwargs)
        for module_id, columns in batch.items():
            module = rl_module[module_id].unwrapped()
            if isinstance(module, BeconModule):
                real = mask_of(columns)
                module.agent.scale.update(columns[Columns.VALUE_TARGETS][real])
        self.calibrate = False
        return batch

    def _price(self, module: BeconModule, columns: dict[str, Any]) -> None:
        k = module.layout.objectives
        outcome = columns[OUTCOME]
        if self.budget_from == "truth":
            budget = columns[LABELS][..., k]
        else:
            budget = module.acted(columns).plain[..., k]
        cost, excess = priced(outcome[..., k], budget, self.constraint)
        real = mask_of(columns)
        columns[EXCESS] = torch.where(real, excess, 0.0)
        priced_rewards = torch.cat([outcome[..., :k], cost.unsqueeze(-1)], dim=-1)
        columns[REWARDS] = torch.where(real.unsqueeze(-1), priced_rewards, 0.0)


def calibrate_on(module: BeconModule, columns: dict[str, Any]) -> None:
    """Refits the factors of a module's uncertainties on a rollout; needs labels."""
    estimator = module.agent.estimator
    if LABELS not in columns or not estimator.learns:
        return
    x, state = module.frames(columns)
    with torch.no_grad():
        history, _ = estimator.encode(x, state)
        estimate = estimator.estimate(x, history)
    mean = torch.cat([estimate.mean_preference, estimate.mean_budget.unsqueeze(-1)], dim=-1)
    variance = estimate.epistemic + estimate.aleatoric
    if module.window:
        mean, variance = mean[:, -1], variance[:, -1]
    real, k = mask_of(columns), module.layout.objectives
    error = columns[LABELS][..., : k + 1] - mean
    estimator.calibration.copy_(calibration(error[real], variance[real]))


def mask_of(columns: Mapping[str, Any]) -> Tensor:
    """Which steps are real: bool, shaped like the rewards."""
    mask = columns.get(Columns.LOSS_MASK)
    if mask is None:
        return torch.ones(columns[Columns.REWARDS].shape, dtype=torch.bool)
    return torch.as_tensor(mask).bool()


def _by_what_was_acted_on(columns: Mapping[str, Any], advantages: Array) -> Array:
    k = advantages.shape[-1] - 1
    acted = Acted.unpacked(torch.as_tensor(columns[ACTED]).double(), k)
    made = scalarised(torch.as_tensor(advantages), acted.plain[..., :k], acted.price)
    return np.asarray(made.numpy(), dtype=np.float64)
