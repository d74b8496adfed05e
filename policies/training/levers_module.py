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

from policies.training.tally import Tally

FORBIDDEN: Final = -1e9
"""The logit of an illegal level: its probability is 0, and no gradient passes."""
_KEPT: Final = ("net_income", "refused", "seed", "cost", "vector_reward")
"""What of an info RLlib is to carry from the last step of an episode."""
STEPS: Final = ("vector_reward", "cost")
"""What a critic of several values needs of every step."""
OBJECTIVES: Final = "objectives"
MEAN_COST: Final = "mean_cost"
"""Names in the last info for what an episode has come to, as in :class:`Outcome`."""


class WithMask(gymnasium.Wrapper[NDArray[np.float32], Any, NDArray[np.float32], Any]):
    """Puts the action mask behind the observation, and keeps infos to what trainers read.

    The space is ``(size + sum(nvec),)``, float32; the last entries are 1 where a level is legal.

    Args:
        env: A :class:`~policies.environments.firm_env.CoffeeFirmEnv`.
        steps: Whether every step's info has the vector reward and the cost.
    """

    def __init__(self, env: gymnasium.Env[NDArray[np.float32], Any], steps: bool = False) -> None:
        super().__init__(env)
        acted = env.action_space
        assert isinstance(acted, spaces.MultiDiscrete)
        self.observation_space = with_mask(env.observation_space, acted)
        self._steps = steps
        inner: Any = env.unwrapped
        self._tally = Tally(inner.objectives, inner.config.days)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """As the environment's."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._tally.begin()
        return joined(observation, info), {}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """As the environment's; infos are whole with the last step only, to spare the runners."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._tally.add(info)
        told = kept(info, self._tally, terminated or truncated, self._steps)
        return joined(observation, info), float(reward), terminated, truncated, told


def with_mask(seen: gymnasium.Space[Any], acted: spaces.MultiDiscrete) -> spaces.Box:
    """The space of observations with the mask behind them."""
    assert isinstance(seen, spaces.Box)
    levels = int(acted.nvec.sum())
    return spaces.Box(
        np.concatenate([seen.low, np.zeros(levels, np.float32)]),
        np.concatenate([seen.high, np.ones(levels, np.float32)]),
        dtype=np.float32,
    )


def kept(info: dict[str, Any], tally: Tally, over: bool, steps: bool) -> dict[str, Any]:
    """What RLlib is to carry of a step's info.

    Args:
        info: The environment's.
        tally: What the episode has come to, this step included.
        over: Whether it was the last step.
        steps: Whether a critic needs every step.
    """
    if not over:
        return {key: info[key] for key in STEPS} if steps else {}
    found = tally.outcome()
    return {key: info[key] for key in _KEPT} | {
        OBJECTIVES: found.objectives,
        MEAN_COST: found.cost,
    }


def joined(observation: NDArray[np.float32], info: dict[str, Any]) -> NDArray[np.float32]:
    """An observation with the mask of its info behind it."""
    return np.concatenate([observation, info["action_mask"]]).astype(np.float32)


class LeversModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Policy and value of a firm, two perceptrons with tanh.

    ``model_config``: ``size`` (length of the observation without the mask), ``levels`` (those of
    each lever), ``hidden`` (widths), ``usual`` (the level that the untrained policy prefers, for
    each lever), ``preference`` (by how much, as a logit) and ``values`` (how many values the critic
    has; 1 without).
    """

    def setup(self) -> None:
        """Builds the networks; RLlib calls it."""
        config: dict[str, Any] = self.model_config
        self.size = int(config["size"])
        self.levels = [int(count) for count in config["levels"]]
        hidden = list(config["hidden"])
        self.policy = perceptron(self.size, hidden, sum(self.levels))
        self.values = int(config.get("values", 1))
        self.value = perceptron(self.size, hidden, self.values)
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
        """The value of each observation, (B,), or its several values, (B, K)."""
        values: Tensor = self.value(batch[Columns.OBS][..., : self.size])
        return values.squeeze(-1) if self.values == 1 else values

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
