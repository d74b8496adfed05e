"""A small world in which two agents act: each shall do what the observation says."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from policies.chain.serial import SerialActions

LENGTH = 31


class TwoAgents(MultiAgentEnv):  # type: ignore[misc]
    """Agent b sees nothing of what it should do, which is what agent a does."""

    def __init__(self, config: Any = None) -> None:
        super().__init__()
        self.possible_agents = ["a", "b"]
        self.agents = ["a", "b"]
        space = gym.spaces.Box(0, 1, (3,), np.float32)
        self.observation_spaces: dict[str, Any] = {"a": space, "b": space}
        self.action_spaces: dict[str, Any] = {
            "a": gym.spaces.Discrete(3),
            "b": gym.spaces.Discrete(3),
        }
        self.at = 0

    def _seen(self) -> dict[str, Any]:
        self.wanted = int(self.rng.integers(3))
        return {"a": np.eye(3, dtype=np.float32)[self.wanted], "b": np.zeros(3, np.float32)}

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self.rng = np.random.default_rng(seed)
        self.at = 0
        return self._seen(), {"a": {}, "b": {}}

    def step(self, action_dict: dict[str, Any]) -> Any:
        assert sorted(action_dict) == ["a", "b"]
        rewards = {
            "a": float(action_dict["a"] == self.wanted),
            "b": float(action_dict["b"] == action_dict["a"]),
        }
        self.at += 1
        over = self.at == LENGTH
        done = {"a": over, "b": over, "__all__": over}
        return self._seen(), rewards, dict.fromkeys(done, False), done, {"a": {}, "b": {}}


class TwoInTurn(SerialActions):
    """The same, one after the other."""

    def __init__(self, config: Any = None) -> None:
        super().__init__(TwoAgents(), ["a", "b"], serial=True)
