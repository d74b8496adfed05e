"""Agents that act one after the other and see what those before them have committed to.

    env = SerialActions(env, order=["farmer", "roaster", "cafe"], serial=True)

In a supply chain the roaster then knows what the farmer has decided when it decides itself (as in
agent-chained policy optimisation, arXiv 2606.30072, without that paper's beliefs). Off by default:
this belongs to another reading of the name CHAIN, and is no part of the churn regulariser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from ray.rllib.env.multi_agent_env import MultiAgentEnv

Vector = NDArray[np.float32]


class SerialActions(MultiAgentEnv):  # type: ignore[misc]
    """Turns one step of an environment, in which all agents act, into a turn for each agent.

    The observation of an agent is its own, then for every agent upstream a 1 if it has acted in
    this round and its action (choices one-hot). The environment steps when all have acted; rewards
    come then. Agents act at different times, so sample complete episodes (`batch_mode=
    "complete_episodes"`): with fragments, recurrent modules fail in ray 2.60 (ray issue 60205).

    Args:
        env: Its observation spaces are Box with one axis; in each of its steps, all agents that
            have not finished act.
        order: All agents, upstream first.
        serial: If not, this is the environment itself.
    """

    def __init__(
        self, env: MultiAgentEnv, order: Sequence[str] | None = None, *, serial: bool = False
    ) -> None:
        super().__init__()
        self.env = env
        self.order = list(order if order is not None else env.possible_agents)
        self.serial = serial
        self.possible_agents = list(env.possible_agents)
        self.agents = list(env.agents)
        self.action_spaces = dict(env.action_spaces)
        self.observation_spaces = dict(env.observation_spaces)
        self._seen: dict[str, Any] = {}
        self._infos: dict[str, Any] = {}
        self._committed: dict[str, Any] = {}
        self._waiting: list[str] = []
        if not serial:
            return
        if sorted(self.order) != sorted(self.possible_agents):
            raise ValueError(
                f"order {self.order} must hold each of {self.possible_agents} just once"
            )
        for name, space in env.observation_spaces.items():
            if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
                raise TypeError(
                    f"agent {name}: serial actions need a Box with one axis to add to, not {space};"
                    " flatten the observation first"
                )
            low, high = [space.low], [space.high]
            for other in self._upstream(name):
                width = 1 + _width(env.action_spaces[other])
                low.append(np.full(width, -np.inf, np.float32))
                high.append(np.full(width, np.inf, np.float32))
            self.observation_spaces[name] = gym.spaces.Box(
                np.concatenate(low), np.concatenate(high), dtype=np.float32
            )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begins an episode; in serial mode only the first agent observes."""
        seen, infos = self.env.reset(seed=seed, options=options)
        self.agents = list(self.env.agents)
        if not self.serial:
            return seen, infos
        self._begin(seen, infos)
        return self._turn()

    def step(self, action_dict: dict[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
        """One agent's turn, or, not in serial mode, everybody's.

        Raises:
            ValueError: another agent acts than the one whose turn it is.
        """
        if not self.serial:
            result: tuple[Any, Any, Any, Any, Any] = self.env.step(action_dict)
            self.agents = list(self.env.agents)
            return result
        turn = self._waiting[0]
        if list(action_dict) != [turn]:
            raise ValueError(f"it is the turn of {turn}, not of {list(action_dict)}")
        self._committed[turn] = action_dict[turn]
        self._waiting.pop(0)
        if self._waiting:
            seen, infos = self._turn()
            none = {"__all__": False}
            return seen, {}, dict(none), dict(none), infos
        acted = set(self._committed)
        seen, rewards, terminated, truncated, infos = self.env.step(self._committed)
        self.agents = list(self.env.agents)
        over = {name for name in acted if terminated.get(name) or truncated.get(name)}
        self._begin({k: v for k, v in seen.items() if k not in over}, infos)
        if terminated.get("__all__") or truncated.get("__all__"):
            self._waiting = []
            over = acted
        first, first_infos = self._turn() if self._waiting else ({}, {})
        # Who has finished gets a last observation, beside the one whose turn is next.
        for name in over & set(seen):
            first[name] = self._observation(name, seen[name])
            first_infos[name] = infos.get(name, {})
        return first, rewards, terminated, truncated, first_infos

    def close(self) -> None:
        """Closes the environment."""
        self.env.close()

    def _begin(self, seen: dict[str, Any], infos: dict[str, Any]) -> None:
        self._seen, self._infos, self._committed = dict(seen), dict(infos), {}
        self._waiting = [name for name in self.order if name in seen]

    def _turn(self) -> tuple[dict[str, Any], dict[str, Any]]:
        turn = self._waiting[0]
        seen = {turn: self._observation(turn, self._seen[turn])}
        return seen, {turn: self._infos.get(turn, {})}

    def _upstream(self, name: str) -> list[str]:
        return self.order[: self.order.index(name)]

    def _observation(self, name: str, own: Any) -> Vector:
        parts = [np.asarray(own, np.float32)]
        for other in self._upstream(name):
            space = self.action_spaces[other]
            if other in self._committed:
                parts += [np.ones(1, np.float32), _encoded(space, self._committed[other])]
            else:
                parts.append(np.zeros(1 + _width(space), np.float32))
        return np.concatenate(parts)


def _width(space: gym.Space[Any]) -> int:
    return int(gym.spaces.flatdim(space))


def _encoded(space: gym.Space[Any], action: Any) -> Vector:
    return np.asarray(gym.spaces.flatten(space, action), np.float32)
