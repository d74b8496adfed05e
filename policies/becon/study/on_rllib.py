"""Level 2 once more through RLlib: the same agent and losses, trained by `policies.becon.binding`.

It shows that the binding learns what the plain loop (`ppo`) learns. It is about six times slower,
which is RLlib's bookkeeping of episodes.
"""

from __future__ import annotations

import logging
import time
import warnings
from dataclasses import replace
from typing import Any

import ray

from policies.becon.binding.config import becon_config
from policies.becon.study.level_two import LevelTwo, judge_all
from policies.becon.study.ppo import PPOSettings, Progress
from policies.becon.variants import VARIANTS
from policies.environments.desk_env import TradeoffDeskEnv
from policies.environments.tradeoff_desk import CORRUPTIONS


def run_on_rllib(name: str, seed: int, settings: PPOSettings | None = None) -> tuple[LevelTwo, ...]:
    """Trains a variant with RLlib's PPO, in this process, and judges it as `run_level_two` does."""
    settings = settings or PPOSettings()
    variant = VARIANTS[name]
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    started = not ray.is_initialized()
    if started:
        ray.init(
            num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR
        )
    desk = replace(settings.desk, freeze=0) if variant.told_truth else settings.desk

    def make() -> TradeoffDeskEnv:
        env = TradeoffDeskEnv(desk, corruption=tuple(CORRUPTIONS), drift=settings.drift)
        env.perfect_share = 1.0 if variant.told_truth else 0.0
        return env

    length = settings.desk.length
    config = becon_config(
        make,
        variant.form,
        window=0,
        sequence=length + 1,
        iterations=settings.iterations if variant.curriculum else None,
        settings={
            "becon_dual_rate": settings.dual_rate,
            "becon_constraint": settings.constraint,
            "becon_budget_from": variant.budget_label,
        },
        name=f"hanse-becon-{name}-{seed}",
    )
    config = config.training(
        train_batch_size_per_learner=settings.desks * length,
        minibatch_size=settings.minibatch * length,
        num_epochs=settings.epochs,
        lr=[[0, settings.learning_rate], _last_step(settings, length)],
        gamma=settings.gamma,
        lambda_=settings.lambda_,
        entropy_coeff=settings.loss.entropy,
    ).env_runners(num_envs_per_env_runner=settings.desks)
    began = time.process_time()
    algorithm: Any = config.debugging(seed=seed, log_level="ERROR").build_algo()
    try:
        for _ in range(settings.iterations):
            algorithm.train()
        agent = algorithm.learner_group._learner.module["default_policy"].unwrapped().agent
        progress = Progress(seconds=time.process_time() - began)
        return judge_all(agent, name, seed, settings, progress)
    finally:
        algorithm.stop()
        if started:
            ray.shutdown()


def _last_step(settings: PPOSettings, length: int) -> list[float]:
    """Where the learning rate has fallen to a tenth."""
    steps = settings.iterations * settings.desks * length
    return [steps, 0.1 * settings.learning_rate]
