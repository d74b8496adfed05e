"""What CHAIN costs a training iteration.

    cost = measure_cost()
    cost.share          # of an iteration without CHAIN

The same rollouts are learned from with and without CHAIN, turn by turn in one process, so that a
busy machine slows both alike; CPU time counts.
"""

from __future__ import annotations

import copy
import statistics
import time

import numpy as np
from pydantic import BaseModel, ConfigDict

MOST: float = 0.15
"""Share of an iteration that CHAIN may cost."""


class Cost(BaseModel):
    """CPU seconds of an iteration of 2048 steps, six times through in mini-batches of 128."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sampling: float
    """Median."""
    learning: float
    """Median, without CHAIN."""
    chain: float
    """Median of what CHAIN adds."""
    least: float
    most: float
    """Range of what CHAIN adds, over the repetitions."""
    repetitions: int

    @property
    def share(self) -> float:
        """What CHAIN adds, of an iteration without it."""
        return self.chain / (self.sampling + self.learning)

    @property
    def passed(self) -> bool:
        """Whether that is little enough."""
        return self.share <= MOST


def measure_cost(repetitions: int = 12) -> Cost:
    """Measures it on CartPole; starts Ray if it does not run.

    Args:
        repetitions: Pairs of updates; two more go before to warm up.
    """
    from policies.chain.study import WORLDS, quiet_ppo

    algorithms = []
    for options in ({"chain_lambda": 0}, {}):
        config = (
            quiet_ppo(0)
            .environment("CartPole-v1")
            .training(lr=1e-3, train_batch_size_per_learner=2048, minibatch_size=128, num_epochs=6)
            .env_runners(num_envs_per_env_runner=WORLDS)
            .learners(learner_config_dict=options)
        )
        algorithms.append(config.build_algo())
    plain, with_chain = algorithms
    times: dict[str, list[float]] = {"sampling": [], "learning": [], "chain": []}
    try:
        for turn in range(repetitions + 2):
            began = time.process_time()
            episodes = plain.env_runner.sample(num_timesteps=2048, random_actions=False)
            sampled = time.process_time() - began
            spent = {}
            pair = [("plain", plain), ("chain", with_chain)]
            for name, algorithm in pair if turn % 2 else reversed(pair):
                given = copy.deepcopy(episodes)
                learner = algorithm.learner_group._learner
                began = time.process_time()
                learner.update(
                    episodes=given,
                    num_epochs=6,
                    minibatch_size=128,
                    shuffle_batch_per_epoch=True,
                    timesteps={},
                )
                spent[name] = time.process_time() - began
            if turn >= 2:
                times["sampling"].append(sampled)
                times["learning"].append(spent["plain"])
                times["chain"].append(spent["chain"] - spent["plain"])
    finally:
        for algorithm in algorithms:
            algorithm.stop()
    return Cost(
        sampling=statistics.median(times["sampling"]),
        learning=statistics.median(times["learning"]),
        chain=statistics.median(times["chain"]),
        least=float(np.min(times["chain"])),
        most=float(np.max(times["chain"])),
        repetitions=repetitions,
    )
