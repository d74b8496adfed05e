"""The same levers as one discrete choice or as a box, for learners that want those."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from policies.environments.action_layout import ActionLayout
from services.errors import HanseError


def _layout_of(env: gymnasium.Env[Any, Any]) -> ActionLayout:
    layout = getattr(env.unwrapped, "actions", None)
    if not isinstance(layout, ActionLayout):
        raise HanseError(f"{env.unwrapped!r} has no levers; use it around a CoffeeFirmEnv")
    return layout


class OneLever(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A discrete action: leave the levers as they are (0), or set one of them to one of its levels.

    The levers keep their levels from step to step and begin at the usual ones. ``action_mask`` has
    an entry for each choice. A kept level that is not legal for a time has no effect.

    Args:
        env: A :class:`~policies.environments.firm_env.CoffeeFirmEnv`, also a wrapped one.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.layout = _layout_of(env)
        self.action_space = spaces.Discrete(1 + self.layout.size)
        self._first = np.cumsum(self.layout.nvec) - self.layout.nvec
        self.levels = self.layout.usual.copy()
        self._legal = np.ones(self.layout.size, dtype=np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode, with the usual levels."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.levels = self.layout.usual.copy()
        return observation, self._told(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Sets at most one lever.

        Raises:
            HanseError: there is no such choice.
        """
        choice = int(action)
        if not 0 <= choice <= len(self._legal):
            raise HanseError(
                f"action: there is no choice {choice}; allowed: 0 to {len(self._legal)}"
            )
        if choice:
            head = int(np.searchsorted(self._first, choice - 1, side="right")) - 1
            self.levels[head] = choice - 1 - self._first[head]
        observation, reward, terminated, truncated, info = self.env.step(self.levels.copy())
        return observation, float(reward), terminated, truncated, self._told(info)

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        self._legal = np.asarray(info["action_mask"])
        return info | {"action_mask": np.concatenate([[True], self._legal])}


class LeverBox(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A continuous action in [-1, 1] for each lever: its lowest to its highest level.

    The nearest legal level is taken.

    Args:
        env: A :class:`~policies.environments.firm_env.CoffeeFirmEnv`, also a wrapped one.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.layout = _layout_of(env)
        heads = len(self.layout.levers)
        self.action_space = spaces.Box(-1.0, 1.0, (heads,), dtype=np.float32)
        self._legal = np.ones(self.layout.size, dtype=np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._legal = np.asarray(info["action_mask"])
        return observation, info

    def step(self, action: NDArray[Any]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Sets every lever.

        Raises:
            HanseError: an entry is not finite, or there are too many or too few.
        """
        levels = self.levels(np.asarray(action, dtype=np.float64))
        observation, reward, terminated, truncated, info = self.env.step(levels)
        self._legal = np.asarray(info["action_mask"])
        return observation, float(reward), terminated, truncated, info

    def levels(self, action: NDArray[np.float64]) -> NDArray[np.int64]:
        """The nearest legal level of each lever.

        Raises:
            HanseError: as :meth:`step`.
        """
        nvec = self.layout.nvec
        if action.shape != nvec.shape or not np.isfinite(action).all():
            raise HanseError(f"action: {action.tolist()}: give {len(nvec)} finite numbers")
        wished = (np.clip(action, -1.0, 1.0) + 1.0) / 2.0 * (nvec - 1)
        found = np.zeros(len(nvec), dtype=np.int64)
        for head, legal in enumerate(self.layout.split(self._legal)):
            levels = np.flatnonzero(legal)
            found[head] = levels[np.argmin(np.abs(levels - wished[head]))]
        return found
