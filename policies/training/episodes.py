"""The environment that a training file asks for, and a policy that plays in it; without torch."""

from __future__ import annotations

from policies.environments.firm_env import CoffeeFirmEnv
from policies.training.acting import LeversPolicy
from policies.training.settings import EnvironmentConfig, TrainingConfig
from services.config import RunConfig
from services.errors import HanseError


def make_environment(config: EnvironmentConfig) -> CoffeeFirmEnv:
    """The environment of a training file.

    Raises:
        HanseError: something of it does not fit.
    """
    league = None if config.league is None else RunConfig.parse(config.league, "the league")
    return CoffeeFirmEnv(
        league,
        config.firm,
        strategies=config.strategies,
        cadence=config.cadence,
        objectives=tuple(config.objectives),
        preference=list(config.objectives.values()),
        cost=config.cost,
        budget=config.budget,
    )


def check(config: TrainingConfig) -> CoffeeFirmEnv:
    """The environment of a training, if the training can be.

    Raises:
        HanseError: something does not fit the league.
    """
    environment = make_environment(config.environment)
    ppo, days = config.ppo, environment.config.days
    if config.environment.cadence == "day" and ppo.minibatch > ppo.episodes * days:
        raise HanseError(
            f"ppo.minibatch: {ppo.minibatch} steps are more than an iteration has:"
            f" {ppo.episodes} episodes of {days} days; allowed: up to {ppo.episodes * days}"
        )
    return environment


def play(environment: CoffeeFirmEnv, policy: LeversPolicy, seed: int) -> float:
    """Plays an episode with the likeliest levers; what the firm has earned, dollars."""
    observation, info = environment.reset(seed=seed)
    over = False
    while not over:
        action = policy.act(observation, info["action_mask"])
        observation, _, terminated, truncated, info = environment.step(action)
        over = terminated or truncated
    return float(info["net_income"])
