"""DQN with CHAIN on RLlib's new API stack: the values of all actions are kept from churning.

    config.learners(learner_class=ChainDQNLearner, learner_config_dict={"chain_beta": 0.01})

CHAIN, arXiv 2409.04792, section 4.1: value churn reduction. The learner does not see the replay
buffer, so the reference batch is an earlier sample from it (`rows.ReplayRows`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from ray.rllib.algorithms.dqn.dqn_learner import QF_PREDS
from ray.rllib.algorithms.dqn.torch.dqn_torch_learner import DQNTorchLearner
from ray.rllib.core.columns import Columns
from torch import Tensor

from policies.chain import metrics
from policies.chain.coefficient import CoefficientSettings
from policies.chain.learner import ChainMixin
from policies.chain.losses import masked_mean, value_churn
from policies.chain.regulariser import ChurnTerm, ModuleChain
from policies.chain.rows import MASK, count_rows
from policies.chain.settings import ChainSettings


class ChainDQNLearner(ChainMixin, DQNTorchLearner):  # type: ignore[misc]
    """DQN with CHAIN; defaults as in the released code for DQN, except that the weight is bounded.

    With `chain_lambda` 0 and nothing measured, training is the parent's to the bit.
    """

    DEFAULT: ClassVar[ChainSettings] = ChainSettings(
        coefficient=CoefficientSettings(
            beta=0.01, first=50.0, warm_up=10_000, window=50_000, most=100.0
        )
    )
    REPLAY: ClassVar[bool] = True

    def terms(self, settings: ChainSettings) -> dict[str, ChurnTerm]:
        """One term, of the values."""
        return {"value": ChurnTerm(settings.coefficient, settings.weight)}

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """The parent's loss, and the churn of the values in states of an earlier sample."""
        loss: Tensor = super().compute_loss_for_module(
            module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
        )
        chain = self.chain(module_id)
        if not chain.active or not chain.ready:
            return loss
        module = self.module[module_id].unwrapped()
        size = chain.settings.reference_size or count_rows(batch)
        if chain.due():
            _measure(module, chain, size)
        if chain.off:
            return loss
        rows = chain.rows.draw(size)
        with torch.no_grad():
            old = action_values(chain.reference.module(), rows)
        churn = masked_mean(value_churn(old, action_values(module, rows)), rows.get(MASK))
        term = chain.terms["value"].add(loss, churn)
        self.regularisation[module_id] = (loss, term)
        return loss + term


def action_values(module: Any, rows: dict[str, Any]) -> Tensor:
    """Q of all actions (..., A) by the network that is trained, not by its target copy."""
    wanted = {name: rows[name] for name in (Columns.OBS, Columns.STATE_IN) if name in rows}
    values: Tensor = module.compute_q_values(wanted)[QF_PREDS]
    return values


@torch.no_grad()  # type: ignore[untyped-decorator]
def _measure(module: Any, chain: ModuleChain, size: int) -> None:
    rows = chain.watched.draw(size)
    mask = rows.get(MASK)
    now = action_values(module, rows)
    for back in chain.settings.monitor_steps:
        if back > chain.reference.steps:
            continue
        old = action_values(chain.reference.module(back), rows)
        suffix = "" if back == 1 else f"_{back}_back"
        moved = metrics.value_churn(old, now, mask)
        chain.measured(f"value_churn_abs{suffix}", moved.absolute)
        chain.measured(f"value_churn_signed{suffix}", moved.signed)
        chain.measured(f"greedy_flip{suffix}", metrics.greedy_flip(old, now, mask))
        chosen = (old.argmax(-1, keepdim=True), now.argmax(-1, keepdim=True))
        worth = [now.gather(-1, action)[..., 0] for action in chosen]
        value = metrics.value_of_policy_churn(worth[0], worth[1], mask)
        chain.measured(f"value_of_policy_churn{suffix}", value)
