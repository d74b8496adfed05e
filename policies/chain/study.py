"""What CHAIN does to churn and return on CartPole with drifting observations.

    run = run_mode(MODES["CHAIN auto 0.1"], seed=0)
    run.policy_churn, run.mean_return

Which seeds and rows are reported was laid down before they were run: see `SEEDS` and
:func:`policies.chain.table.demands`.

It trains with :class:`policies.chain.ppo.ChainPPOLearner` in an RLlib algorithm; the mode without
CHAIN is the same learner with the term off, so that churn can be measured there, too.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from pydantic import BaseModel, ConfigDict

TASKS: Final = 3
ITERATIONS: Final = 15
"""Of each task."""
WORLDS: Final = 8
STEPS: Final = 128
"""Of each world per iteration."""
MONITOR_EVERY: Final = 4
TUNING: Final = (0, 1, 2)
"""Seeds on which the weight of CHAIN was made what it is (it follows the part of PPO's loss that
the policy can change). No claim stands on them."""
SEEDS: Final = tuple(range(10, 22))
"""Seeds of the modes that demands are about. Laid down before any was run, and twelve because
returns of single seeds scatter by a quarter. Nothing may be changed because of what they say;
whoever does so moves them to `TUNING` and takes others."""
SHOWN_SEEDS: Final = SEEDS[:3]
"""Of the other modes, which are only shown."""
RATES: Final = (0.5e-3, 1e-3, 2e-3, 4e-3, 8e-3)
RATE_SEEDS: Final = (30, 31, 32, 33)
"""Of PPO at these learning rates: where is the best one? No demand is about them."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One row of the table."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    """`learner_config_dict`."""
    learning_rate: float = 2e-3


MODES: Final = {
    mode.name: mode
    for mode in (
        Mode("PPO", {"chain_lambda": 0}),
        Mode("CHAIN auto 0.1", {"chain_beta": 0.1}),
        Mode("CHAIN auto 0.02", {"chain_beta": 0.02}),
        Mode("CHAIN fixed 3", {"chain_lambda": 3.0}),
        Mode("CHAIN auto 1.0", {"chain_beta": 1.0}),
        Mode("PPO, half rate", {"chain_lambda": 0}, learning_rate=1e-3),
    )
}


def at_rate(rate: float) -> Mode:
    """PPO at a learning rate."""
    return Mode(f"PPO, rate {1e3 * rate:g}e-3", {"chain_lambda": 0}, learning_rate=rate)


class Run(BaseModel):
    """One training run: means over its iterations."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    mode: str
    seed: int
    mean_return: float
    policy_churn: float
    """Mean KL(before ‖ after) of a step, at states outside its mini-batch."""
    greedy_flip: float
    """Share of those states with another favourite action."""
    rollout_kl: float
    """KL from the policy that acted to the one that was learned from it."""
    weights: tuple[float, ...]
    """Lambda, by iteration; empty without CHAIN."""
    returns: tuple[float, ...]
    """By iteration: mean of the last eight episodes that ended."""
    cpu_seconds: float


def run_mode(
    mode: Mode,
    seed: int,
    *,
    tasks: int = TASKS,
    iterations: int = ITERATIONS,
    on_iteration: Callable[[int], None] | None = None,
) -> Run:
    """Trains through the sequence of tasks. Starts Ray if it does not run.

    Args:
        mode: What is trained.
        seed: Of the network, the worlds and their offsets.
        tasks: How many offsets come one after the other.
        iterations: Rollouts of each task.
        on_iteration: Told how many rollouts are done.
    """
    from policies.chain.learner import announce_regime_change

    began = time.process_time()
    algorithm = algorithm_of(mode, seed)
    rows: list[dict[str, float]] = []
    try:
        for task in range(tasks):
            if task:
                algorithm.env_runner.env.unwrapped.call("set_task", task)
                announce_regime_change(algorithm)
            for _ in range(iterations):
                result = algorithm.train()
                logged = result["learners"]["default_policy"]
                row = {
                    name.removeprefix("chain_"): float(value)
                    for name, value in logged.items()
                    if name.startswith("chain_")
                }
                found = float(result["env_runners"].get("episode_return_mean", np.nan))
                # Where worlds run long, an iteration may see none end: the last figure stands.
                row["return"] = found if np.isfinite(found) or not rows else rows[-1]["return"]
                rows.append(row)
                if on_iteration is not None:
                    on_iteration(len(rows))
    finally:
        algorithm.stop()

    def mean(name: str) -> float:
        return float(np.nanmean([row[name] for row in rows if name in row]))

    from policies.chain.drifting import REWARD_SCALE

    return Run(
        mode=mode.name,
        seed=seed,
        mean_return=mean("return") / REWARD_SCALE,
        policy_churn=mean("policy_churn"),
        greedy_flip=mean("greedy_flip"),
        rollout_kl=mean("rollout_kl"),
        weights=tuple(row["lambda"] for row in rows if "lambda" in row),
        returns=tuple(row["return"] / REWARD_SCALE for row in rows),
        cpu_seconds=time.process_time() - began,
    )


def algorithm_of(mode: Mode, seed: int) -> Any:
    """The RLlib algorithm of section 8: its sizes, CleanRL's usual values for the rest."""
    from policies.chain.drifting import OffsetCartPole

    config = (
        quiet_ppo(seed)
        .environment(OffsetCartPole, env_config={"seed": seed})
        .training(
            lr=mode.learning_rate,
            train_batch_size_per_learner=WORLDS * STEPS,
            minibatch_size=64,
            num_epochs=6,
        )
        .learners(learner_config_dict={"chain_monitor_every": MONITOR_EVERY, **mode.options})
        .env_runners(num_envs_per_env_runner=WORLDS, rollout_fragment_length=STEPS)
    )
    return config.build_algo()


def cartpole(seed: int, iterations: int = 10) -> list[float]:
    """Returns by iteration of 2048 steps of plain CartPole with CHAIN (acceptance (f))."""
    config = (
        quiet_ppo(seed)
        .environment("CartPole-v1")
        .training(lr=1e-3, train_batch_size_per_learner=2048, minibatch_size=128, num_epochs=6)
        .env_runners(num_envs_per_env_runner=WORLDS)
    )
    algorithm = config.build_algo()
    try:
        return [
            float(algorithm.train()["env_runners"]["episode_return_mean"])
            for _ in range(iterations)
        ]
    finally:
        algorithm.stop()


def quiet_ppo(seed: int) -> Any:
    """A configuration of PPO with CHAIN for one process, without RLlib's notices."""
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig

    from policies.chain.ppo import ChainPPOLearner

    if not ray.is_initialized():
        ray.init(
            num_cpus=1,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    for name in ("ray.rllib", "ray._common.deprecation", "ray.tune"):
        logging.getLogger(name).setLevel(logging.ERROR)
    # RLlib registers an environment under the same name for each algorithm.
    warnings.filterwarnings("ignore", message=".*Overriding environment rllib")
    return (
        PPOConfig()
        .training(
            gamma=0.99,
            lambda_=0.95,
            clip_param=0.2,
            entropy_coeff=0.01,
            vf_loss_coeff=0.5,
            vf_clip_param=float("inf"),
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .env_runners(num_env_runners=0)
        .rl_module(
            model_config={
                "fcnet_hiddens": [64, 64],
                "fcnet_activation": "tanh",
                "vf_share_layers": False,
            }
        )
        .learners(num_learners=0, learner_class=ChainPPOLearner)
        .reporting(metrics_num_episodes_for_smoothing=8)
        .debugging(seed=seed, log_level="ERROR")
    )
