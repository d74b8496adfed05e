"""PPO's loss with a critic of K values; padding and a mini-batch without a real step do no harm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from ray.rllib.core.columns import Columns
from torch import Tensor

from policies.chain.losses import masked_mean


def vector_ppo_loss(
    module: Any,
    batch: Mapping[str, Any],
    outputs: Mapping[str, Any],
    *,
    config: Any,
    entropy: float,
    divergence: float,
) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss and its parts (arXiv 1707.06347, equation 9, and the KL term of RLlib).

    The squared error of the critic is clipped for each component and averaged over components.

    Args:
        module: The network, unwrapped.
        batch: With scalar `advantages` (...) and `value_targets` (..., K).
        outputs: Of `forward_train`.
        config: RLlib's, of the module.
        entropy: The coefficient of entropy now.
        divergence: The coefficient of the KL term now; 0 leaves it out.
    """
    mask = batch.get(Columns.LOSS_MASK)
    now = module.get_train_action_dist_cls().from_logits(outputs[Columns.ACTION_DIST_INPUTS])
    shift = now.logp(batch[Columns.ACTIONS]) - batch[Columns.ACTION_LOGP]
    if mask is not None:
        # Padding may hold anything: its ratio must not overflow into the gradient of real steps.
        shift = torch.where(mask, shift, 0.0)
    ratio = torch.exp(shift)
    worth = batch[Columns.ADVANTAGES]
    clipped = ratio.clamp(1 - config.clip_param, 1 + config.clip_param)
    parts = {
        "policy": -masked_mean(torch.minimum(worth * ratio, worth * clipped), mask),
        "entropy": masked_mean(now.entropy(), mask),
    }
    values = module.compute_values(batch, embeddings=outputs.get(Columns.EMBEDDINGS))
    squared = (values - batch[Columns.VALUE_TARGETS]) ** 2
    if squared.dim() > worth.dim():
        parts["value"] = masked_mean(squared.clamp(max=config.vf_clip_param).mean(dim=-1), mask)
        parts["value_unclipped"] = masked_mean(squared.mean(dim=-1), mask)
    else:
        parts["value"] = masked_mean(squared.clamp(max=config.vf_clip_param), mask)
        parts["value_unclipped"] = masked_mean(squared, mask)
    total = parts["policy"] + config.vf_loss_coeff * parts["value"] - entropy * parts["entropy"]
    if config.use_kl_loss:
        before = module.get_exploration_action_dist_cls().from_logits(
            batch[Columns.ACTION_DIST_INPUTS]
        )
        parts["kl"] = masked_mean(before.kl(now), mask)
        total = total + divergence * parts["kl"]
    return total, {name: part.detach() for name, part in parts.items()}
