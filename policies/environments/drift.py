"""Preferences and budgets that change while an agent acts, around any vector-reward environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from policies.environments.checks import finite
from policies.environments.convention import objectives_of, own_stream
from policies.environments.intent import HAZARD, Intent
from services.errors import HanseError


class Drift(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Sets the true preference and budget of every step, and the scalar reward by them.

    ``info["preference"]`` and ``info["budget"]`` are those by which the step was scored (in a
    reset: those of the first step); ``next_preference`` and ``next_budget`` are those of the step
    to come, ``exposed_preference`` and ``exposed_budget`` what of it is shown, and ``jumped`` says
    whether they were just drawn anew.

    Args:
        env: An environment whose ``info`` holds ``vector_reward`` and, for the kind ``context``,
            ``stress``.
        kind: ``none``, ``jumps``, ``slow``, ``context`` or ``adversarial``
            (:data:`~policies.environments.intent.DRIFTS`).
        drawn: Whether an episode begins at a drawn preference and budget; otherwise at the
            environment's own.
        hazard: The chance of a jump in a step.

    Raises:
        HanseError: an unknown kind, or an environment that is none of that.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        kind: str = "jumps",
        *,
        drawn: bool = True,
        hazard: float = HAZARD,
    ) -> None:
        super().__init__(env)
        self.objectives = objectives_of(env)
        self.drawn = drawn
        self.intent = Intent(kind, len(self.objectives), np.random.default_rng(), hazard)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self.intent = Intent(
                self.intent.kind,
                len(self.objectives),
                own_stream(seed, "drift"),
                self.intent.hazard,
            )
        if self.drawn:
            self.intent.begin()
        else:
            self.intent.begin(np.asarray(info["preference"], dtype=np.float64), info["budget"])
        return observation, self._tell(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """A step, scored by the preference of the time.

        Raises:
            HanseError: the reward is not finite, or no stress is reported where it is needed.
        """
        observation, _, terminated, truncated, info = self.env.step(action)
        intent = self.intent
        vector = finite(np.asarray(info["vector_reward"], dtype=np.float64), "reward")
        scored = {"preference": intent.preference, "budget": intent.budget}
        reward = float(intent.preference @ vector)
        if intent.kind == "context" and "stress" not in info:
            raise HanseError(
                "drift: the kind 'context' needs an environment that reports info['stress'];"
                " choose another kind"
            )
        intent.step(float(info.get("stress", 0.0)))
        return observation, reward, terminated, truncated, self._tell(info) | scored

    def _tell(self, info: dict[str, Any]) -> dict[str, Any]:
        intent = self.intent
        preference, budget = intent.shown
        return info | {
            "preference": intent.preference,
            "budget": intent.budget,
            "next_preference": intent.preference,
            "next_budget": intent.budget,
            "exposed_preference": preference,
            "exposed_budget": budget,
            "jumped": intent.jumped,
        }
