"""The trade-off desk as a gymnasium environment, by the convention of vector rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from policies.environments.convention import exposed_names
from policies.environments.tradeoff_desk import (
    CORRUPTIONS,
    DRIFTS,
    PERFECT,
    Desks,
    DeskSettings,
    Outcome,
)
from services.errors import HanseError

AGE_SCALE: Final = 16.0
"""Steps of age that count as one in the observation."""


class TradeoffDeskEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """One desk.

    The observation is the situation (one-hot), stress and backlog, then what :attr:`descriptors`
    names: the descriptor as it is held, and what the last step has told. It never holds the truth;
    ``info`` does: ``preference`` and ``budget`` are those under which the step was scored,
    ``next_preference`` and ``next_budget`` those of the step to come.

    Args:
        settings: The desk; a mapping is taken for the fields of `DeskSettings`.
        corruption: A level of `CORRUPTIONS`, or several, of which each episode draws one.
        drift: A kind of `DRIFTS`, or several, likewise.

    Raises:
        HanseError: an unknown level, kind or field.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's own convention)

    def __init__(
        self,
        settings: DeskSettings | Mapping[str, Any] | None = None,
        *,
        corruption: str | Sequence[str] = tuple(CORRUPTIONS),
        drift: str | Sequence[str] = "jumps",
    ) -> None:
        self.settings = _settings(settings)
        self.corruptions = _known(corruption, list(CORRUPTIONS), "corruption")
        self.drifts = _known(drift, list(DRIFTS), "drift")
        self.perfect_share = 0.0
        """Share of episodes whose descriptor tells the truth; a curriculum sets it."""
        k, actions = self.settings.objectives, self.settings.actions
        self.objectives = tuple(f"objective_{place}" for place in range(k))
        self.descriptors = exposed_names(self.objectives)
        size = self.settings.states + 2 + len(self.descriptors)
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = spaces.Discrete(actions)
        self.level = 0
        """The corruption of this episode, its place in `CORRUPTIONS`; -1: none."""
        self._desks: Desks | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode; one seed brings one course of events."""
        super().reset(seed=seed)
        rng = self.np_random
        name = self.corruptions[int(rng.integers(len(self.corruptions)))]
        perfect = rng.random() < self.perfect_share
        drift = self.drifts[int(rng.integers(len(self.drifts)))]
        self.level = -1 if perfect else list(CORRUPTIONS).index(name)
        line = PERFECT if perfect else CORRUPTIONS[name]
        self._desks = Desks(self.settings, [line], [drift])  # type: ignore[list-item]
        self._desks.reset(int(rng.integers(2**31)))
        return self._see(None)

    def step(
        self, action: np.int64 | int
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """A deal; the episode ends by termination.

        Raises:
            RuntimeError: `reset` was not called, or the episode is over.
        """
        if self._desks is None:
            raise RuntimeError("call reset before step")
        outcome = self._desks.step(np.array([int(action)]))
        seen, info = self._see(outcome)
        reward = float(outcome.preference[0] @ outcome.reward[0])
        return seen, reward, self._desks.done, False, info

    def _see(self, outcome: Outcome | None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        assert self._desks is not None
        desks, k = self._desks, self.settings.objectives
        sight, (preference, budget) = desks.sight(), desks.truth()
        reward = outcome.reward[0] if outcome else np.zeros(k)
        cost = float(outcome.cost[0]) if outcome else 0.0
        score = float(outcome.satisfaction[0]) if outcome else np.nan
        alarm = float(outcome.alarm[0]) if outcome else np.nan
        seen = np.concatenate(
            [
                np.eye(self.settings.states)[sight.state[0]],
                [sight.stress[0], sight.backlog[0]],
                sight.exposed_preference[0],
                [sight.exposed_budget[0], sight.age[0] / AGE_SCALE, not sight.fresh[0]],
                reward,
                [cost, np.nan_to_num(score), np.nan_to_num(alarm), not np.isnan(score)],
            ]
        ).astype(np.float32)
        info = {
            "vector_reward": reward,
            "cost": cost,
            "preference": outcome.preference[0] if outcome else preference[0],
            "budget": float(outcome.budget[0]) if outcome else float(budget[0]),
            "next_preference": preference[0],
            "next_budget": float(budget[0]),
            "exposed_preference": sight.exposed_preference[0],
            "exposed_budget": float(sight.exposed_budget[0]),
            "age": float(sight.age[0]),
            "missing": not bool(sight.fresh[0]),
            "feedback": score,
            "alarm": alarm,
            "stress": float(sight.stress[0]),
            "jumped": bool(desks.course.jumped[0, desks.now]),
            "level": self.level,
        }
        return seen, info


def _settings(given: DeskSettings | Mapping[str, Any] | None) -> DeskSettings:
    if given is None:
        return DeskSettings()
    if isinstance(given, DeskSettings):
        return given
    unknown = set(given) - set(DeskSettings.__slots__)
    if unknown:
        raise HanseError(
            f"desk: there is no setting {sorted(unknown)[0]!r};"
            f" allowed: {', '.join(DeskSettings.__slots__)}"
        )
    return DeskSettings(**given)


def _known(given: str | Sequence[str], allowed: list[str], key: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in allowed:
            raise HanseError(f"{key}: there is no {name!r}; allowed: {', '.join(allowed)}")
    if not names:
        raise HanseError(f"{key}: is empty; name one or more of {', '.join(allowed)}")
    return names
