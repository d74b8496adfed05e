"""The same league as a PettingZoo parallel environment."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from pettingzoo import ParallelEnv

from policies.environments.league_game import LeagueGame
from policies.environments.seat import Vector


class CoffeeParallelEnv(ParallelEnv):  # type: ignore[misc] # PettingZoo has no hints
    """A thin view of :class:`LeagueGame`, whose arguments it takes."""

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo's own declaration)
        "name": "coffee_league_v1",
        "render_modes": [],
    }
    render_mode = None

    def __init__(self, **arguments: Any) -> None:
        self.game = LeagueGame(**arguments)
        self.objectives = self.game.objectives
        self.possible_agents = list(self.game.learners)
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Box:
        """What an agent observes."""
        return self.game.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.MultiDiscrete:
        """What an agent decides."""
        return self.game.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Vector], dict[str, Any]]:
        """Begins an episode."""
        self.agents = list(self.possible_agents)
        return self.game.reset(seed, options)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, Vector], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]
    ]:
        """A day. Everybody is terminated together, when the run is over."""
        agents = self.agents
        observations, rewards, over, infos = self.game.step(actions)
        if over:
            self.agents = []
        terminated, truncated = dict.fromkeys(agents, over), dict.fromkeys(agents, False)
        return observations, rewards, terminated, truncated, infos
