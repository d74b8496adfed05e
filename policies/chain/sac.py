"""SAC with CHAIN on RLlib's new API stack: critics and policy are each kept from churning.

    config.learners(
        learner_class=ChainSACLearner,
        learner_config_dict={"chain_lambda": 5e-4, "chain_value_lambda": 0.1},
    )

CHAIN, arXiv 2409.04792, section 4.3. A fixed weight of the policy's term is relative: it is
multiplied by the mean of |min Q - alpha log pi|, as in the released code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import gymnasium as gym
import torch
from ray.rllib.algorithms.sac.sac_learner import (
    ACTION_LOG_PROBS,
    ACTION_PROBS,
    QF_LOSS_KEY,
    QF_PREDS,
    QF_TWIN_LOSS_KEY,
    QF_TWIN_PREDS,
)
from ray.rllib.algorithms.sac.torch.sac_torch_learner import SACTorchLearner
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import POLICY_LOSS_KEY
from ray.rllib.core.models.base import ENCODER_OUT
from ray.rllib.utils.numpy import MAX_LOG_NN_OUTPUT, MIN_LOG_NN_OUTPUT
from torch import Tensor

from policies.chain import metrics
from policies.chain.coefficient import CoefficientSettings
from policies.chain.heads import policy_head
from policies.chain.learner import ChainMixin
from policies.chain.losses import value_churn
from policies.chain.regulariser import ChurnTerm, ModuleChain
from policies.chain.rows import count_rows
from policies.chain.settings import ChainSettings


class ChainSACLearner(ChainMixin, SACTorchLearner):  # type: ignore[misc]
    """SAC with CHAIN, by default with the fixed weights of the paper.

    `chain_lambda` and `chain_value_lambda` may each be "auto". With both 0 and nothing measured,
    training is the parent's to the bit.
    """

    DEFAULT: ClassVar[ChainSettings] = ChainSettings(
        weight=5e-4,
        value_weight=0.1,
        coefficient=CoefficientSettings(
            beta=5e-5, first=1.0, warm_up=10_000, window=50_000, most=100.0
        ),
    )
    REPLAY: ClassVar[bool] = True

    def terms(self, settings: ChainSettings) -> dict[str, ChurnTerm]:
        """Two terms: of the policy, and of the critics together."""
        critic = replace(settings.coefficient, beta=settings.value_beta)
        return {
            "policy": ChurnTerm(settings.coefficient, settings.weight, relative=True),
            "value": ChurnTerm(critic, settings.value_weight),
        }

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """The parent's losses, each with the churn of what it trains."""
        loss: Tensor = super().compute_loss_for_module(
            module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
        )
        chain = self.chain(module_id)
        if not chain.active or not chain.ready:
            return loss
        module = self.module[module_id].unwrapped()
        size = chain.settings.reference_size or count_rows(batch)
        if chain.due():
            _measure(module, chain, size, module_id)
        if chain.off:
            return loss
        rows = chain.rows.draw(size)
        older = chain.reference.module()
        losses = self._temp_losses
        # The parent trains by these separate losses; what is returned is only logged.
        term = torch.zeros_like(loss)
        if chain.terms["policy"].fixed != 0:
            head = policy_head(module.action_space, module_id, divergence=True)
            with torch.no_grad():
                old = policy_outputs(older, rows)
            churn = head.churn(old, policy_outputs(module, rows)).mean()
            size_of_loss = self._size_of_actor_loss(module_id, fwd_out)
            part = chain.terms["policy"].add(size_of_loss, churn)
            losses[(module_id, POLICY_LOSS_KEY)] = losses[(module_id, POLICY_LOSS_KEY)] + part
            term = term + part
        if chain.terms["value"].fixed != 0:
            with torch.no_grad():
                before = critic_values(older, rows)
            churns = [
                value_churn(old, new).mean()
                for old, new in zip(before, critic_values(module, rows), strict=True)
            ]
            keys = [(module_id, QF_LOSS_KEY), (module_id, QF_TWIN_LOSS_KEY)][: len(churns)]
            size_of_loss = torch.stack([losses[key].detach() for key in keys]).sum()
            part = chain.terms["value"].add(size_of_loss, torch.stack(churns).sum())
            weight = chain.terms["value"].weight
            for key, one in zip(keys, churns, strict=True):
                losses[key] = losses[key] + weight * one
            term = term + part
        self.regularisation[module_id] = (loss, term)
        return loss + term

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _size_of_actor_loss(self, module_id: str, fwd_out: dict[str, Any]) -> Tensor:
        """Mean of |min Q - alpha log pi| of the mini-batch."""
        alpha = torch.exp(self.curr_log_alpha[module_id])
        if ACTION_PROBS in fwd_out:
            values = fwd_out[QF_PREDS]
            if QF_TWIN_PREDS in fwd_out:
                values = torch.minimum(values, fwd_out[QF_TWIN_PREDS])
            each = (fwd_out[ACTION_PROBS] * (values - alpha * fwd_out[ACTION_LOG_PROBS])).sum(-1)
        else:
            each = fwd_out["q_curr"] - alpha * fwd_out["logp_resampled"]
        size: Tensor = each.abs().mean()
        return size


def policy_outputs(module: Any, rows: dict[str, Any]) -> Tensor:
    """Logits, or means and bounded logarithms of deviations, in the rows' states."""
    encoded = module.pi_encoder({Columns.OBS: rows[Columns.OBS]})[ENCODER_OUT]
    outputs: Tensor = module.pi(encoded)
    if isinstance(module.action_space, gym.spaces.Discrete):
        return outputs
    means, deviations = outputs.chunk(2, dim=-1)
    return torch.cat([means, deviations.clamp(MIN_LOG_NN_OUTPUT, MAX_LOG_NN_OUTPUT)], dim=-1)


def critic_values(module: Any, rows: dict[str, Any], actions: Tensor | None = None) -> list[Tensor]:
    """Q of the rows' actions (N,), or of all actions (N, A) if they are discrete, by each critic.

    Args:
        module: With one critic or two.
        rows: With observations and actions.
        actions: Taken in place of the rows' actions.
    """
    discrete = isinstance(module.action_space, gym.spaces.Discrete)
    batch = {Columns.OBS: rows[Columns.OBS]}
    if not discrete:
        batch[Columns.ACTIONS] = rows[Columns.ACTIONS] if actions is None else actions
    critics = [(module.qf_encoder, module.qf)]
    if module.twin_q:
        critics.append((module.qf_twin_encoder, module.qf_twin))
    return [
        module._qf_forward_train_helper(dict(batch), encoder, head, squeeze=not discrete)
        for encoder, head in critics
    ]


@torch.no_grad()  # type: ignore[untyped-decorator]
def _measure(module: Any, chain: ModuleChain, size: int, module_id: str) -> None:
    rows = chain.watched.draw(size)
    head = policy_head(module.action_space, module_id, divergence=True)
    now, values = policy_outputs(module, rows), critic_values(module, rows)
    for back in chain.settings.monitor_steps:
        if back > chain.reference.steps:
            continue
        older = chain.reference.module(back)
        suffix = "" if back == 1 else f"_{back}_back"
        before = policy_outputs(older, rows)
        moved = metrics.policy_churn(head, before, now)
        chain.measured(f"policy_churn{suffix}", moved.distance)
        chain.measured(f"greedy_flip{suffix}", moved.greedy_flip)
        value = metrics.value_churn(critic_values(older, rows)[0], values[0])
        chain.measured(f"value_churn_abs{suffix}", value.absolute)
        chain.measured(f"value_churn_signed{suffix}", value.signed)
        worth = [_worth(module, rows, outputs) for outputs in (before, now)]
        worth_of_move = metrics.value_of_policy_churn(worth[0], worth[1])
        chain.measured(f"value_of_policy_churn{suffix}", worth_of_move)


def _worth(module: Any, rows: dict[str, Any], outputs: Tensor) -> Tensor:
    """The lower critic's value of what a policy does: its mean action, or its mixture."""
    if isinstance(module.action_space, gym.spaces.Discrete):
        lower = torch.stack(critic_values(module, rows)).amin(0)
        return (torch.softmax(outputs, dim=-1) * lower).sum(-1)
    squashed = torch.tanh(outputs.chunk(2, dim=-1)[0])
    return torch.stack(critic_values(module, rows, squashed)).amin(0)
