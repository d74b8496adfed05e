"""PPO whose iterations begin with omega: fresh episodes, played for the purpose where needed.

    algorithm = (
        ConcavePPOConfig()
        .environment(...)
        .concave(objectives=2, scalarisation={"utility": "soft_min", "beta": 5.0})
        .build_algo()
    )

Each episode has a seed of its own and is played from its beginning to its end by runners that have
one environment each: with several at a time, those that end first would be too many. So it does not
matter how many processes play them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core import COMPONENT_ENV_TO_MODULE_CONNECTOR, COMPONENT_MODULE_TO_ENV_CONNECTOR
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.env_runner_group import EnvRunnerGroup

from policies.concave.draws import generator
from policies.concave.module import VectorPPOModule
from policies.concave.ppo import ConcavePPOLearner
from policies.training.vector_gae import REWARDS, ColumnFromInfo
from services.errors import HanseError

_CONNECTORS: Final = [COMPONENT_ENV_TO_MODULE_CONNECTOR, COMPONENT_MODULE_TO_ENV_CONNECTOR]


class ConcavePPO(PPO):  # type: ignore[misc]
    """PPO that measures omega before it samples."""

    @classmethod
    def get_default_config(cls) -> AlgorithmConfig:
        """Of this algorithm."""
        return ConcavePPOConfig()

    def training_step(self) -> None:
        """An omega, then an iteration of PPO."""
        measure_weights(self)
        super().training_step()

    def cleanup(self) -> None:
        """Also ends the processes that play for omega."""
        group = getattr(self, "_measuring", None)
        if group is not None:
            group.stop()
        super().cleanup()


class ConcavePPOConfig(PPOConfig):  # type: ignore[misc]
    """PPO's configuration; `concave` sets what is needed for one module."""

    def __init__(self, algo_class: Any = None) -> None:
        super().__init__(algo_class=algo_class or ConcavePPO)

    def concave(
        self, objectives: int, *, model: dict[str, Any] | None = None, **settings: Any
    ) -> ConcavePPOConfig:
        """Learner, network and vector rewards (from `info["vector_reward"]`) in one call.

        Args:
            objectives: M.
            model: RLlib's settings of the network.
            settings: Of :class:`policies.concave.settings.ConcaveSettings`, without `concave_`.
        """

        def pieces(observations: Any, actions: Any) -> list[ColumnFromInfo]:
            return [ColumnFromInfo(REWARDS, vector_reward, width=objectives)]

        self.learners(
            learner_class=ConcavePPOLearner,
            learner_connector=pieces,
            learner_config_dict={f"concave_{name}": each for name, each in settings.items()},
        )
        self.rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=VectorPPOModule,
                model_config={**(model or {}), "objectives": objectives},
            )
        )
        return self


def vector_reward(info: Any) -> Any:
    """Where environments say it."""
    return info["vector_reward"]


def measure_weights(algorithm: Any) -> int:
    """Measures omega of all modules that need fresh episodes; answers how many were played.

    For algorithms other than `ConcavePPO`: call it before each `train()`.

    Raises:
        HanseError: a process that played was lost.
    """
    asked = algorithm.learner_group.foreach_learner(lambda learner: learner.episodes_wanted())
    wanted = next(iter(asked)).get()
    count = max((each[0] for each in wanted.values()), default=0)
    if count == 0:
        return 0
    _, seed, number = max(wanted.values())
    episodes = play(_measuring_group(algorithm), count, (seed, number))
    answers = algorithm.learner_group.foreach_learner(
        lambda learner, episodes: learner.take_episodes(episodes), episodes=episodes
    )
    for answer in answers:
        answer.get()
    return count


def play(group: Any, count: int, seed: tuple[int, int]) -> list[Any]:
    """Plays whole episodes on the runners of a group; the same on one or on several.

    Args:
        group: Of runners with one environment each.
        count: How many.
        seed: Of all; each episode adds its own number.

    Raises:
        HanseError: a runner was lost.
    """
    workers = group.healthy_worker_ids()
    if not workers:
        return play_here(group.local_env_runner, list(range(count)), seed)
    shares = [list(range(count))[place :: len(workers)] for place in range(len(workers))]
    tasks = [_Playing(share, seed) for share in shares]
    answers = group.foreach_env_runner(
        tasks, remote_worker_ids=workers, local_env_runner=False, timeout_seconds=None
    )
    if len(answers) < len(workers):
        raise HanseError(
            f"{len(workers) - len(answers)} of {len(workers)} runners that play for omega were"
            " lost; see Ray's log, and start the iteration again from a checkpoint"
        )
    by_number = {
        number: one
        for share, answer in zip(shares, answers, strict=True)
        for number, one in zip(share, answer, strict=True)
    }
    return [by_number[number] for number in range(count)]


class _Playing:
    """What one runner is to play."""

    def __init__(self, numbers: list[int], seed: tuple[int, int]) -> None:
        self.numbers = numbers
        self.seed = seed

    def __call__(self, runner: Any) -> list[Any]:
        return play_here(runner, self.numbers, self.seed)


def play_here(runner: Any, numbers: list[int], seed: tuple[int, int]) -> list[Any]:
    """Plays the episodes of these numbers on one runner, and leaves global generators alone."""
    before = np.random.get_state()
    episodes = []
    with torch.random.fork_rng(devices=[]):
        for number in numbers:
            drawn = generator((*seed, number)).integers(2**31 - 1, size=3)
            torch.manual_seed(int(drawn[0]))
            np.random.seed(int(drawn[1]))
            # RLlib hands a seed to the environments at the first reset only.
            runner._seed, runner._needs_initial_reset = int(drawn[2]), True
            episodes += runner.sample(num_episodes=1)
    np.random.set_state(before)
    runner.get_metrics()  # else the runner keeps every episode for a report nobody asks for
    return episodes


def _measuring_group(algorithm: Any) -> Any:
    """Runners of the algorithm's own for omega, with its present networks and filters."""
    group = getattr(algorithm, "_measuring", None)
    if group is None:
        config = algorithm.config.copy(copy_frozen=False)
        # They play while the others wait, so they ask for no processors of their own; if they did,
        # they would wait for ever on a machine that the others fill.
        config.env_runners(num_envs_per_env_runner=1, num_cpus_per_env_runner=0)
        group = EnvRunnerGroup(
            env_creator=None, config=config, local_env_runner=config.num_env_runners == 0
        )
        algorithm._measuring = group
    group.sync_weights(from_worker_or_learner_group=algorithm.learner_group, inference_only=True)
    if algorithm.env_runner is not None:
        state = algorithm.env_runner.get_state(components=_CONNECTORS)
        group.foreach_env_runner(lambda runner: runner.set_state(state))
    return group
