"""A league in which several firms learn, with their masks behind their observations."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from policies.environments.league_env import CoffeeLeagueEnv
from policies.environments.seat import Vector
from policies.training.levers_module import joined, kept, with_mask
from policies.training.tally import Tally


class MaskedLeague(CoffeeLeagueEnv):
    """For each firm what :class:`~policies.training.levers_module.WithMask` is for one.

    Args:
        config: The arguments of :class:`~policies.environments.league_game.LeagueGame`.
        steps: Whether every step's infos have the vector reward and the cost.
    """

    def __init__(self, config: dict[str, Any], steps: bool = False) -> None:
        super().__init__(config)
        self._steps = steps
        self.observation_spaces: dict[str, spaces.Box] = {
            name: with_mask(seen, self.game.action_spaces[name])
            for name, seen in self.game.observation_spaces.items()
        }
        days = self.game.config.days
        self._tallies = {name: Tally(self.objectives, days) for name in self.possible_agents}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Vector], dict[str, Any]]:
        """Begins an episode."""
        observations, infos = super().reset(seed=seed, options=options)
        for tally in self._tallies.values():
            tally.begin()
        seen = {name: joined(one, infos[name]) for name, one in observations.items()}
        return seen, {name: {} for name in infos}

    def step(
        self, action_dict: dict[str, Any]
    ) -> tuple[
        dict[str, Vector], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]
    ]:
        """A day; infos are whole with the last one only, to spare the runners."""
        observations, rewards, terminated, truncated, infos = super().step(action_dict)
        told = {}
        for name, info in infos.items():
            self._tallies[name].add(info)
            told[name] = kept(info, self._tallies[name], terminated[name], self._steps)
        seen = {name: joined(one, infos[name]) for name, one in observations.items()}
        return seen, rewards, terminated, truncated, told
