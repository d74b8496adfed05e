"""PPO with CHAIN on RLlib's new API stack.

    config.learners(learner_class=ChainPPOLearner, learner_config_dict={"chain_beta": 0.1})

CHAIN, arXiv 2409.04792, section 4.2 and algorithm 2; categorical policies as in C-CHAIN,
arXiv 2506.00592, with the divergence in place of the cross-entropy.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, ClassVar

import torch
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.columns import Columns
from ray.rllib.core.models.base import ENCODER_OUT
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from torch import Tensor

from policies.chain import metrics
from policies.chain.heads import PolicyHead, policy_head
from policies.chain.learner import ChainMixin, all_masked, zero_loss
from policies.chain.losses import masked_mean
from policies.chain.regulariser import ModuleChain
from policies.chain.rows import MASK, RolloutRows, count_rows


class ChainPPOMixin(ChainMixin):
    """CHAIN for any learner with PPO's policy loss; put it before that learner's class.

    With `chain_lambda` 0 and nothing measured, training is the parent's to the bit. A mini-batch
    without a real step gives a loss of 0, where RLlib's own would be NaN. A module must be able to
    run by itself: one that reads what an encoder in another module has made of the batch cannot be
    run on a reference batch.
    """

    POLICY_COLUMNS: ClassVar[tuple[str, ...]] = (
        Columns.ACTIONS,
        Columns.ACTION_LOGP,
        Columns.ADVANTAGES,
        MASK,
    )
    """What `policy_loss` reads of a batch."""

    def build(self) -> None:
        """Builds the parent."""
        self._noted: dict[str, list[dict[str, Any]]] = defaultdict(list)
        super().build()

    def policy_loss(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """The part of the loss that the weight is set in proportion to, without its gradient.

        It is computed once per rollout, over all its mini-batches, from `POLICY_COLUMNS` and the
        policy's outputs.

        That is the clipped surrogate less the mean advantage, which has no gradient and need not be
        0 over the steps that count. Override it where the policy loss is not PPO's.
        """
        module = self.module[module_id].unwrapped()  # type: ignore[attr-defined]
        inputs = fwd_out[Columns.ACTION_DIST_INPUTS].detach()
        policy = module.get_train_action_dist_cls().from_logits(inputs)
        ratio = torch.exp(policy.logp(batch[Columns.ACTIONS]) - batch[Columns.ACTION_LOGP])
        clipped = ratio.clamp(1 - config.clip_param, 1 + config.clip_param)
        advantages = batch[Columns.ADVANTAGES]
        surrogate = torch.minimum(advantages * ratio, advantages * clipped)
        return masked_mean(advantages - surrogate, batch.get(MASK))

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """The parent's loss, and the churn of the policy at other states of the rollout."""
        module = self.module[module_id].unwrapped()  # type: ignore[attr-defined]
        if all_masked(batch):
            return zero_loss(module)
        loss: Tensor = super().compute_loss_for_module(  # type: ignore[misc]
            module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
        )
        chain = self.chain(module_id)
        if not chain.active or not chain.ready:
            return loss
        head = policy_head(module.action_space, module_id)
        size = chain.settings.reference_size or count_rows(batch)
        if chain.due():
            self._measure(module, head, chain, size, config)
        if chain.off:
            return loss
        rows = chain.rows.draw(size)
        with torch.no_grad():
            old = policy_outputs(chain.reference.module(), rows)
        new = policy_outputs(module, rows)
        churn = masked_mean(head.churn(old, new), _mask(module, rows))
        term = chain.terms["policy"].add(None, churn)
        if chain.settings.weight is None:
            note = {name: batch[name] for name in self.POLICY_COLUMNS if name in batch}
            outputs = fwd_out[Columns.ACTION_DIST_INPUTS].detach()
            self._noted[module_id].append({**note, Columns.ACTION_DIST_INPUTS: outputs})
        self.regularisation[module_id] = (loss, term)
        return loss + term

    def after_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Also logs how far the policy has come from the one that acted."""
        for module_id, noted in self._noted.items():
            batch = {name: torch.cat([one[name] for one in noted]) for name in noted[0]}
            outputs = {Columns.ACTION_DIST_INPUTS: batch.pop(Columns.ACTION_DIST_INPUTS)}
            config = self.config.get_config_for_module(module_id)  # type: ignore[attr-defined]
            with torch.no_grad():
                loss = self.policy_loss(
                    module_id=module_id, config=config, batch=batch, fwd_out=outputs
                )
            self.chain(module_id).terms["policy"].compare(loss)
        self._noted.clear()
        for module_id, chain in self.chains.items():
            if chain.active and isinstance(chain.rows, RolloutRows) and len(chain.rows):
                module = self.module[module_id].unwrapped()  # type: ignore[attr-defined]
                chain.measured("rollout_kl", rollout_divergence(module, chain.rows.rollout))
        super().after_gradient_based_update(timesteps=timesteps)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _measure(
        self, module: Any, head: PolicyHead, chain: ModuleChain, size: int, config: Any
    ) -> None:
        rows = chain.watched.draw(size)
        mask = _mask(module, rows)
        new = module.forward_train(rows)
        now = new[Columns.ACTION_DIST_INPUTS]
        valued = isinstance(module, ValueFunctionAPI)
        for back in chain.settings.monitor_steps:
            if back > chain.reference.steps:
                continue
            older = chain.reference.module(back)
            old = older.forward_train(rows)
            suffix = "" if back == 1 else f"_{back}_back"
            moved = metrics.policy_churn(head, old[Columns.ACTION_DIST_INPUTS], now, mask)
            chain.measured(f"policy_churn{suffix}", moved.distance)
            chain.measured(f"greedy_flip{suffix}", moved.greedy_flip)
            if valued:
                before, after = (
                    which.compute_values(rows, embeddings=out.get(Columns.EMBEDDINGS))
                    for which, out in ((older, old), (module, new))
                )
                value = metrics.value_churn(before, after, mask)
                chain.measured(f"value_churn_abs{suffix}", value.absolute)
                chain.measured(f"value_churn_signed{suffix}", value.signed)
        policy = module.get_train_action_dist_cls().from_logits(now)
        present = policy.logp(rows[Columns.ACTIONS])
        clip = metrics.outside_clip(rows[Columns.ACTION_LOGP], present, config.clip_param, mask)
        chain.measured("outside_clip", clip)


class ChainPPOLearner(ChainPPOMixin, PPOTorchLearner):  # type: ignore[misc]
    """PPO with CHAIN."""


def policy_outputs(module: Any, rows: dict[str, Any]) -> Tensor:
    """The policy's outputs; `forward_train` without what only a loss or a first call needs."""
    encoder: Any = getattr(module, "encoder", None)
    if (
        type(module)._forward_train is DefaultPPOTorchRLModule._forward_train
        and hasattr(encoder, "actor_encoder")
        and not module.is_stateful()
    ):
        outputs: Tensor = module.pi(encoder.actor_encoder(rows)[ENCODER_OUT])
        return outputs
    outputs = module._forward_train(rows)[Columns.ACTION_DIST_INPUTS]
    return outputs


def _mask(module: Any, rows: dict[str, Any]) -> Tensor | None:
    """Of rows that were drawn: only chunks of episodes hold steps that do not count."""
    return rows.get(MASK) if module.is_stateful() else None


@torch.no_grad()  # type: ignore[untyped-decorator]
def rollout_divergence(module: Any, rollout: dict[str, Any]) -> Tensor:
    """Mean KL(policy that acted ‖ policy now) over a rollout: has it left its trust region?"""
    now = module.forward_train(rollout)[Columns.ACTION_DIST_INPUTS]
    acted = module.get_exploration_action_dist_cls().from_logits(
        rollout[Columns.ACTION_DIST_INPUTS]
    )
    present = module.get_train_action_dist_cls().from_logits(now)
    return masked_mean(acted.kl(present), rollout.get(MASK))
