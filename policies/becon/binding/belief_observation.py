"""The analytic belief as a part of the observation, around any environment of the convention.

With it a module can be stateless, which is the safer default on RLlib: the filters' state never
has to travel through batches, masks and padding.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from policies.becon.belief import BeliefSettings
from policies.becon.observation import Exposed, Feedback, Layout, Observer
from services.errors import HanseError


class BeliefObservation(gymnasium.Wrapper[NDArray[np.float32], Any, NDArray[np.float32], Any]):
    """Rewrites observations as `policies.becon.observation.Layout` has them.

    The environment's own observation must be a flat vector; what its attribute `descriptors` names
    at the end of it (see `policies.environments.corruption`) is taken from `info` instead.

    Args:
        env: An environment with `objectives`, `exposed_preference` and `exposed_budget`; `age`,
            `missing`, `feedback` and `alarm` are used where it reports them.
        window: How many of the last observations are shown, for modules without a state; 1 for
            those with one. Before the first step there were zeros.
        settings: Of the belief.

    Raises:
        HanseError: the environment does not fit.
    """

    def __init__(
        self,
        env: gymnasium.Env[NDArray[np.float32], Any],
        window: int = 1,
        settings: BeliefSettings | None = None,
    ) -> None:
        super().__init__(env)
        self.window = window
        self._described = len(_attribute(env, "descriptors", ()))
        self.layout = layout_of(env)
        self.objectives = tuple(_attribute(env, "objectives", ()))
        self.observer = Observer(self.layout, 1, settings)
        self._frames = np.zeros((window, self.layout.width), np.float32)
        size = window * self.layout.width
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode, without any belief from the last."""
        seen, info = self.env.reset(seed=seed, options=options)
        self._frames[:] = 0.0
        frame = self.observer.first(self._features(seen), _exposed(info), self._mask(info))
        return self._shown(frame), info

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """A step, and what is believed after it."""
        seen, reward, terminated, truncated, info = self.env.step(action)
        feedback = Feedback(
            np.asarray(action).reshape(1, -1),
            np.asarray(info["vector_reward"], dtype=float)[None],
            np.array([float(info["cost"])]),
            np.array([float(info.get("feedback", np.nan))]),
            np.array([float(info.get("alarm", np.nan))]),
        )
        frame = self.observer.next(self._features(seen), _exposed(info), feedback, self._mask(info))
        return self._shown(frame), float(reward), terminated, truncated, info

    def _features(self, seen: Any) -> NDArray[np.float64]:
        own = np.asarray(seen, dtype=float)
        return own[None, : len(own) - self._described]

    def _mask(self, info: dict[str, Any]) -> NDArray[np.bool_] | None:
        return np.asarray(info["action_mask"], bool)[None] if self.layout.masked else None

    def _shown(self, frame: NDArray[np.float32]) -> NDArray[np.float32]:
        self._frames = np.concatenate([self._frames[1:], frame])
        return self._frames.ravel().copy()


def layout_of(env: gymnasium.Env[Any, Any]) -> Layout:
    """Where things will lie in the observations of a `BeliefObservation` around an environment.

    Raises:
        HanseError: it has no objectives, no flat observation or no discrete actions.
    """
    objectives = _attribute(env, "objectives", ())
    if not objectives:
        raise HanseError(
            f"{env.unwrapped!r} has no objectives; use an environment with vector rewards"
        )
    seen, acted = env.observation_space, env.action_space
    if not isinstance(seen, spaces.Box) or len(seen.shape) != 1:
        raise HanseError(
            f"the observation {seen} is no flat vector; put the environment into"
            " gymnasium.wrappers.FlattenObservation first"
        )
    if isinstance(acted, spaces.Discrete):
        levels: tuple[int, ...] = (int(acted.n),)
    elif isinstance(acted, spaces.MultiDiscrete):
        levels = tuple(int(n) for n in acted.nvec)
    else:
        raise HanseError(f"the actions {acted} are not Discrete or MultiDiscrete")
    described = len(_attribute(env, "descriptors", ()))
    masked = _attribute(env, "actions", None) is not None
    return Layout(int(seen.shape[0]) - described, len(objectives), levels, masked)


def _exposed(info: dict[str, Any]) -> Exposed:
    missing = bool(info.get("missing", False))
    return Exposed(
        np.asarray(info["exposed_preference"], dtype=float)[None],
        np.array([float(info["exposed_budget"])]),
        np.array([float(info.get("age", 0.0))]),
        np.array([not missing]),
    )


def _attribute(env: gymnasium.Env[Any, Any], name: str, default: Any) -> Any:
    return env.get_wrapper_attr(name) if env.has_wrapper_attr(name) else default
