"""The network of a firm's policy: two perceptrons, and masks that leave illegal levels no chance.

The observation of the environment comes with the mask behind it (:class:`WithMask`), so that one
vector is all that RLlib's runners and connectors have to carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import TorchMultiCategorical
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor, nn

FORBIDDEN: Final = -1e9
"""The logit of an illegal level: its probability is 0, and no gradient passes."""
_KEPT: Final = ("net_income", "refused", "seed", "cost", "vector_reward")
"""What of an info RLlib is to carry."""


class WithMask(gymnasium.Wrapper[NDArray[np.float32], Any, NDArray[np.float32], Any]):
    """Puts the action mask behind the observation, and keeps infos to what trainers read.

    The space is ``(size + sum(nvec),)``, float32; the last entries are 1 where a level is legal.
    """

    def __init__(self, env: gymnasium.Env[NDArray[np.float32], Any]) -> None:
        super().__init__(env)
        seen, acted = env.observation_space, env.action_space
        assert isinstance(seen, spaces.Box) and isinstance(acted, spaces.MultiDiscrete)
        levels = int(acted.nvec.sum())
        self.observation_space = spaces.Box(
            np.concatenate([seen.low, np.zeros(levels, np.float32)]),
            np.concatenate([seen.high, np.ones(levels, np.float32)]),
            dtype=np.float32,
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """As the environment's."""
        observation, info = self.env.reset(seed=seed, options=options)
        return _joined(observation, info), {}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """As the environment's; infos come with the last step only, to spare the runners."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        kept = {key: info[key] for key in _KEPT} if terminated or truncated else {}
        return _joined(observation, info), float(reward), terminated, truncated, kept


def _joined(observation: NDArray[np.float32], info: dict[str, Any]) -> NDArray[np.float32]:
    return np.concatenate([observation, info["action_mask"]]).astype(np.float32)


class LeversModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Policy and value of a firm, two perceptrons with tanh.

    ``model_config``: ``size`` (length of the observation without the mask), ``levels`` (those of
    each lever), ``hidden`` (widths), ``usual`` (the level that the untrained policy prefers, for
    each lever) and ``preference`` (by how much, as a logit).
    """

    def setup(self) -> None:
        """Builds the networks; RLlib calls it."""
        config: dict[str, Any] = self.model_config
        self.size = int(config["size"])
        self.levels = [int(count) for count in config["levels"]]
        hidden = list(config["hidden"])
        self.policy = perceptron(self.size, hidden, sum(self.levels))
        self.value = perceptron(self.size, hidden, 1)
        last = self.policy[-1]
        assert isinstance(last, nn.Linear)
        with torch.no_grad():
            # A policy that begins near the scripted firm has something to improve on.
            last.weight.mul_(0.01)
            last.bias.zero_()
            start = 0
            for count, level in zip(self.levels, config["usual"], strict=True):
                last.bias[start + int(level)] = float(config["preference"])
                start += count

    def _forward(self, batch: dict[str, Any], **options: Any) -> dict[str, Any]:
        seen: Tensor = batch[Columns.OBS]
        logits = self.policy(seen[..., : self.size])
        legal = seen[..., self.size :] > 0.5
        return {Columns.ACTION_DIST_INPUTS: torch.where(legal, logits, FORBIDDEN)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """The value of each observation, (B,)."""
        values: Tensor = self.value(batch[Columns.OBS][..., : self.size])
        return values.squeeze(-1)

    def get_train_action_dist_cls(self) -> Any:
        """One categorical distribution for each lever."""
        return TorchMultiCategorical.get_partial_dist_cls(input_lens=self.levels)

    get_exploration_action_dist_cls = get_train_action_dist_cls
    get_inference_action_dist_cls = get_train_action_dist_cls


def perceptron(size: int, hidden: Sequence[int], out: int) -> nn.Sequential:
    """Linear layers with tanh between them; orthogonal weights, biases 0."""
    widths = [size, *hidden, out]
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(widths):
        linear = nn.Linear(fan_in, fan_out)
        nn.init.orthogonal_(linear.weight)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.Tanh()]
    return nn.Sequential(*layers[:-1])
