"""A league in which many firms learn: the game that the multi-agent environments share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from policies.environments.episode import Episode
from policies.environments.leagues import as_config, with_strategies
from policies.environments.rewards import OBJECTIVES, Weighted, names_and_weights
from policies.environments.seat import Seat, Vector
from policies.environments.seeds import Seeds
from services.config import RunConfig
from services.errors import HanseError


class LeagueGame:
    """All learners decide once a day, at the same minute; the other firms play their strategies.

    A bankrupt firm keeps its seat (see :class:`Seat`), so the agents of an episode never change.

    Args:
        config: A run file, its path, or ``None`` for the standard league.
        learners: The firms that are learned; ``None``: all.
        strategies: Strategies for other firms in place of those of the run file.
        seed: The seed of the first episode where ``reset`` names none; ``None``: drawn.
        seeds: Where seeds are drawn from, first and last.
        objectives: Names from :data:`~policies.environments.rewards.OBJECTIVES`, or their weights
            by name.
        preference: Their weights, for all learners, or for each by its name.
        cost: A name from :data:`~policies.environments.rewards.COSTS`.
        budget: What the mean cost of a step may be; for all learners, or for each by its name.
        descriptors: Whether preference and budget are appended to observations.

    Raises:
        HanseError: something of that does not fit, or the rules give firms turns of their own.
    """

    def __init__(
        self,
        config: RunConfig | str | Path | None = None,
        *,
        learners: Sequence[str] | None = None,
        strategies: Mapping[str, str] | None = None,
        seed: int | None = None,
        seeds: tuple[int, int] = Seeds.TRAINING,
        objectives: Weighted = tuple(OBJECTIVES),
        preference: Mapping[str, Sequence[float]] | Sequence[float] | None = None,
        cost: str = "stock_out",
        budget: Mapping[str, float] | float = 0.5,
        descriptors: bool = False,
    ) -> None:
        self.config = with_strategies(as_config(config), strategies or {})
        if learners is None:
            learners = list(Episode(self.config).town.firms)
        if not learners or len(set(learners)) != len(learners):
            raise HanseError("learners: name each firm once, and at least one")
        self.learners = list(learners)
        episode = Episode(self.config, self.learners)
        if episode.setup.rules.extra_turns:
            raise HanseError(
                f"rules: {self.config.rules!r} gives firms turns of their own, so that they do not"
                ' decide together; allowed with several learners: rules = "hanse"'
            )
        weights: Any
        names, weights = names_and_weights(objectives, preference)
        self.seats = {
            name: Seat(
                episode,
                name,
                objectives=names,
                preference=weights.get(name) if isinstance(weights, Mapping) else weights,
                cost=cost,
                budget=budget.get(name, 0.5) if isinstance(budget, Mapping) else budget,
                descriptors=descriptors,
            )
            for name in self.learners
        }
        self.objectives = self.seats[self.learners[0]].objectives
        self.observation_spaces = {
            name: spaces.Box(seat.layout.low, seat.layout.high, dtype=np.float32)
            for name, seat in self.seats.items()
        }
        self.action_spaces = {
            name: spaces.MultiDiscrete(seat.actions.nvec) for name, seat in self.seats.items()
        }
        self._seeds = Seeds(seed, seeds)
        self._rng = np.random.default_rng()
        self._going = False

    def reset(
        self, seed: int | None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Vector], dict[str, dict[str, Any]]]:
        """Begins an episode; observations and infos by firm.

        Raises:
            HanseError: an option that does not fit.
        """
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        config = self.config.model_copy(update={"seed": self._seeds.next(seed, self._rng)})
        episode = Episode(config, self.learners)
        for seat in self.seats.values():
            seat.wish(options)
            seat.sit(episode)
        self._going = bool(episode.proceed())
        for seat in self.seats.values():
            seat.look()
        return self._observations(), {name: seat.info() for name, seat in self.seats.items()}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Vector], dict[str, float], bool, dict[str, dict[str, Any]]]:
        """A day: observations, rewards, whether the run is over, infos.

        Args:
            actions: One for each learner; those of bankrupt firms are not looked at.

        Raises:
            HanseError: no day has begun, an action is missing or does not fit.
        """
        if not self._going:
            raise HanseError("the league has not begun, or is over; call reset first")
        episode = self.seats[self.learners[0]].episode
        for name, seat in self.seats.items():
            if seat.waits:
                if name not in actions:
                    raise HanseError(f"actions: {name} is in business and has none; give it one")
                seat.act(actions[name])
        self._going = bool(episode.proceed())
        rewards, infos = {}, {}
        for name, seat in self.seats.items():
            seat.look()
            rewards[name], infos[name] = seat.result()
        return self._observations(), rewards, not self._going, infos

    def _observations(self) -> dict[str, Vector]:
        return {name: seat.observation for name, seat in self.seats.items()}
