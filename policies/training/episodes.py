"""The environment that a training file asks for, and a policy that plays in it; without torch."""

from __future__ import annotations

from policies.environments.firm_env import CoffeeFirmEnv
from policies.training.acting import LeversPolicy
from policies.training.settings import EnvironmentConfig


def make_environment(config: EnvironmentConfig) -> CoffeeFirmEnv:
    """The environment of a training file.

    Raises:
        HanseError: something of it does not fit.
    """
    return CoffeeFirmEnv(
        config.run,
        config.firm,
        strategies=config.strategies,
        cadence=config.cadence,
        objectives=tuple(config.objectives),
        preference=list(config.objectives.values()),
        cost=config.cost,
        budget=config.budget,
    )


def play(environment: CoffeeFirmEnv, policy: LeversPolicy, seed: int) -> float:
    """Plays an episode with the likeliest levers; what the firm has earned, dollars."""
    observation, info = environment.reset(seed=seed)
    over = False
    while not over:
        action = policy.act(observation, info["action_mask"])
        observation, _, terminated, truncated, info = environment.step(action)
        over = terminated or truncated
    return float(info["net_income"])
