"""A league in which many firms learn, for RLlib's new API stack."""

from __future__ import annotations

from typing import Any

from ray.rllib.env.multi_agent_env import MultiAgentEnv

from policies.environments.league_game import LeagueGame
from policies.environments.seat import Vector

ALL = "__all__"
"""RLlib's name for all agents together."""


class CoffeeLeagueEnv(MultiAgentEnv):  # type: ignore[misc] # Ray counts as Any
    """Every firm a learner or a strategy; a step is a day, and every learner acts in each.

    Whether learners share a module is for the trainer's ``policy_mapping_fn``; spaces are equal
    among firms of a role.

    Args:
        config: The arguments of :class:`LeagueGame` by name; RLlib's ``env_config``. Those that
            RLlib adds itself are not looked at.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        # An EnvContext has RLlib's own entries as attributes, not as keys.
        self.game = LeagueGame(**dict(config or {}))
        self.objectives = self.game.objectives
        self.possible_agents = list(self.game.learners)
        self.agents = list(self.game.learners)
        self.observation_spaces = self.game.observation_spaces
        self.action_spaces = self.game.action_spaces

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Vector], dict[str, Any]]:
        """Begins an episode."""
        return self.game.reset(seed, options)

    def step(
        self, action_dict: dict[str, Any]
    ) -> tuple[
        dict[str, Vector], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]
    ]:
        """A day. Everybody is terminated together, when the run is over."""
        observations, rewards, over, infos = self.game.step(action_dict)
        terminated = dict.fromkeys([*self.possible_agents, ALL], over)
        truncated = dict.fromkeys([*self.possible_agents, ALL], False)
        return observations, rewards, terminated, truncated, infos
