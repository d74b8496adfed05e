"""Sampling that depends on nothing but the iteration: so a training can be stopped anywhere.

RLlib seeds the environments once and lets random states run on, which no checkpoint holds. Here
every iteration begins with new episodes under seeds of its own.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import numpy as np
import torch
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

from policies.environments.seeds import Seeds

_FIRST, _LAST = Seeds.TRAINING
_SEEDS: Final = _LAST - _FIRST - 4_096
"""Each environment of a runner takes the next seed, so the last ones are left for them."""


def derived(*parts: object) -> int:
    """A number of 63 bits that depends on the parts alone."""
    text = " ".join(map(str, parts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def seed_everything(*parts: object) -> None:
    """Seeds the random generators of torch and numpy that RLlib draws from in this process."""
    seed = derived(*parts) % 2**32
    torch.manual_seed(seed)
    np.random.seed(seed)


class _Seeded:
    """Samples that follow from seed, iteration, and own number; put it before a runner's class."""

    worker_index: int
    _training = 0
    _calls = 0
    iteration: int | None = None
    """That of the last `begin`; None in a process that has just started."""

    def begin(self, seed: int, iteration: int) -> None:
        """To be called before each iteration."""
        self._training, self.iteration, self._calls = seed, iteration, 0
        seed_everything("runner", seed, iteration, self.worker_index)

    def go_back(self) -> None:
        """To be called before older networks are handed over, which RLlib would refuse."""
        self._weights_seq_no = 0

    def _reset_envs(self, *arguments: Any, **options: Any) -> Any:
        where = self._training, self.iteration, self.worker_index, self._calls
        self._calls += 1
        self._seed = _FIRST + derived("episodes", *where) % _SEEDS
        self._needs_initial_reset = True  # only then does RLlib hand the seed to the environments
        return super()._reset_envs(*arguments, **options)  # type: ignore[misc]


class SeededRunner(_Seeded, SingleAgentEnvRunner):  # type: ignore[misc]
    """An environment runner for one firm whose samples can be had again."""


class SeededLeagueRunner(_Seeded, MultiAgentEnvRunner):  # type: ignore[misc]
    """The same for several firms."""
