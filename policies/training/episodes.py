"""The environment that a training file asks for, and policies that play in it; without torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from policies.environments.firm_env import CoffeeFirmEnv
from policies.environments.league_game import LeagueGame
from policies.environments.leagues import as_config, with_strategies
from policies.environments.routing_env import CoffeeRouterEnv, RoutingSeat
from policies.environments.seat import Seat
from policies.environments.seeds import Seeds
from policies.training.acting import LeversPolicy
from policies.training.settings import EnvironmentConfig, TrainingConfig
from policies.training.tally import Outcome, Tally
from services.config import RunConfig
from services.errors import HanseError

ALONE: Final = "default_policy"
"""What RLlib calls the one module of a training with one firm."""
Environment = CoffeeFirmEnv | CoffeeRouterEnv
World = Environment | LeagueGame


def league_of(config: EnvironmentConfig) -> RunConfig:
    """The league in which is learned, with the strategies that the training file gives others.

    Raises:
        HanseError: something of it does not fit.
    """
    found = None if config.league is None else RunConfig.parse(config.league, "the league")
    return with_strategies(as_config(found), config.strategies)


def make_environment(config: EnvironmentConfig) -> Environment:
    """The environment of a training file with one firm that learns, or a router.

    Raises:
        HanseError: something of it does not fit.
    """
    if config.router is not None:
        return CoffeeRouterEnv(
            league_of(config),
            config.router,
            objectives=config.objectives,
            cost=config.cost,
            budget=config.budget,
        )
    return CoffeeFirmEnv(
        league_of(config),
        config.firm,
        cadence=config.cadence,
        objectives=tuple(config.objectives),
        preference=list(config.objectives.values()),
        cost=config.cost,
        budget=config.budget,
    )


def game_arguments(config: EnvironmentConfig) -> dict[str, Any]:
    """The arguments of the game of a training file with several firms that learn.

    Raises:
        HanseError: something of it does not fit.
    """
    return {
        "config": league_of(config),
        "learners": list(config.learners),
        "objectives": tuple(config.objectives),
        "preference": list(config.objectives.values()),
        "cost": config.cost,
        "budget": config.budget,
    }


def make_world(config: EnvironmentConfig) -> World:
    """The environment, or the game of several firms.

    Raises:
        HanseError: something of it does not fit.
    """
    alone = len(config.learners) == 1
    return make_environment(config) if alone else LeagueGame(**game_arguments(config))


def seats_of(world: World) -> Mapping[str, Seat | RoutingSeat]:
    """The seats of those who learn."""
    if isinstance(world, CoffeeRouterEnv):
        return {world.router: world.seat}
    return {world.firm: world.seat} if isinstance(world, CoffeeFirmEnv) else world.seats


def modules_of(config: EnvironmentConfig, world: World) -> dict[str, str]:
    """Whose networks each firm acts by: RLlib's name of the module, by firm."""
    seats = seats_of(world)
    if len(seats) == 1:
        return dict.fromkeys(seats, ALONE)
    return {name: seat.role if config.share == "role" else name for name, seat in seats.items()}


def check(config: TrainingConfig, source: str = "the training") -> World:
    """The world of a training, if the training can be.

    Args:
        config: The training.
        source: What an error names as the place to mend.

    Raises:
        HanseError: something does not fit the league.
    """
    about = config.environment
    try:
        league = league_of(about)
        known = [firm.name for firm in league.firms]
        for firm in about.learners if known and about.router is None else ():
            if firm not in known:
                raise HanseError(
                    f"{'firms' if about.firms else 'firm'}: there is no firm {firm!r} in the"
                    f" league; allowed: {', '.join(known)}"
                )
        world = make_world(about)
    except HanseError as error:
        named = str(error).startswith(("firm", "router", "strategies", "rules"))
        raise HanseError(f"{source}: environment{'.' if named else ': '}{error}") from None
    ppo, days = config.ppo, world.config.days
    if isinstance(world, CoffeeRouterEnv):
        orders = orders_of(world)
        if ppo.minibatch > ppo.episodes * orders:
            raise HanseError(
                f"{source}: ppo.minibatch: {ppo.minibatch} steps are more than an iteration has:"
                f" {ppo.episodes} episodes of about {orders} orders; allowed: up to"
                f" {ppo.episodes * orders}"
            )
    if about.router is None and about.cadence == "day" and ppo.minibatch > ppo.episodes * days:
        raise HanseError(
            f"{source}: ppo.minibatch: {ppo.minibatch} steps are more than an iteration has:"
            f" {ppo.episodes} episodes of {days} days; allowed: up to {ppo.episodes * days}"
        )
    return world


def orders_of(world: CoffeeRouterEnv) -> int:
    """How many decisions a router has in an episode, if it always asks the cheapest town.

    Raises:
        HanseError: nobody orders anything abroad.
    """
    world.reset(seed=Seeds.TRAINING[0])
    orders, over = 0, False
    while not over:
        _, _, over, _, _ = world.step([0])
        orders += 1
    return orders


def play(world: World, policies: Mapping[str, LeversPolicy], seed: int) -> dict[str, Outcome]:
    """Plays an episode with the likeliest levers.

    Args:
        world: Where.
        policies: By firm, or of the router.
        seed: Of the league.

    Returns:
        What each of them has come to.
    """
    tallies = {
        name: Tally(seat.objectives, world.config.days) for name, seat in seats_of(world).items()
    }
    if isinstance(world, Environment):
        (name,) = tallies
        policy, tally = policies[name], tallies[name]
        observation, info = world.reset(seed=seed)
        over = False
        while not over:
            action = policy.act(observation, info["action_mask"])
            observation, _, terminated, truncated, info = world.step(action)
            tally.add(info)
            over = terminated or truncated
    else:
        observations, infos = world.reset(seed)
        over = False
        while not over:
            actions = {
                name: policies[name].act(seen, infos[name]["action_mask"])
                for name, seen in observations.items()
            }
            observations, _, over, infos = world.step(actions)
            for name, one in tallies.items():
                one.add(infos[name])
    return {name: one.outcome() for name, one in tallies.items()}
