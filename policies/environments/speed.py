"""How many steps a second the environments make, and where the time goes.

    python -m policies.environments.speed [--envs 8] [--seconds 5] [--json]

Everything runs in this process; a second is one of CPU time, so what else the machine does matters
little. A step of the cadence ``turn`` is one call of the learned firm (the looks of its mornings
come on top), a step of ``day`` all those of a day; either way the town's other firms make their
own calls meanwhile, and those cost as much as in a league without its hosts, log and store. So
"commands", which is all firms' calls over the cost of one, bounds what a runner can reach. Random
levers are drawn beforehand: a learner has them from its policy.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policies.environments.conduct import CADENCES, Cadence
from policies.environments.episode import Episode
from policies.environments.firm_env import CoffeeFirmEnv
from policies.environments.league_game import LeagueGame
from services.config import standard

PARTS: Final = (
    ("services/economy", "economy: commands, clock, deliveries, consumers"),
    ("actors/strategies", "strategies of the other firms"),
    ("policies/environments/episode", "episode: turns and rounds"),
    ("policies/environments", "view, mirror, levers, observation, mask, reward"),
    ("pydantic", "making commands"),
    ("services/messages", "making commands"),
    ("numpy", "numpy"),
)
"""Where a function's file belongs; the first that fits counts."""
OTHER: Final = "Python itself (built-in functions)"


class Rates(NamedTuple):
    """What a runner does in a second."""

    steps: float
    commands: float
    """Calls of all firms of the towns."""
    own: float
    """Calls of the learned firms."""


def firm_steps(envs: int, cadence: Cadence, seconds: float) -> Rates:
    """How fast environments are stepped in turn, with random levers.

    Args:
        envs: Environments that are stepped in turn.
        cadence: That of the steps.
        seconds: How long it is measured.
    """
    step, calls = _runner(envs, cadence)
    return _rates(step, calls, seconds)


def league_steps(envs: int, seconds: float) -> float:
    """Decisions of agents a second with all six firms learned; ``envs`` leagues in turn."""
    games = [LeagueGame(standard()) for _ in range(envs)]
    rng = np.random.default_rng(0)
    turn = iter(_rounds(games))
    for game in games:
        game.reset(seed=int(rng.integers(1_000, 10_000)))

    def step() -> None:
        game = next(turn)
        actions = {n: rng.integers(seat.actions.nvec) for n, seat in game.seats.items()}
        if game.step(actions)[2]:
            game.reset(None)

    return 6 * _rates(step, lambda: (0, 0), seconds).steps


def economy_days(seconds: float) -> tuple[float, float]:
    """Days and commands a second of the standard league's town, nobody learned."""
    days = commands = 0
    began = time.process_time()
    seed = 1_000
    while time.process_time() - began < seconds:
        episode = Episode(standard().with_overrides(seed=seed))
        episode.proceed()
        days += episode.config.days
        commands += episode.town.state.actions
        seed += 1
    took = time.process_time() - began
    return days / took, commands / took


def shares(cadence: Cadence, seconds: float) -> dict[str, float]:
    """The share of each part in the time of one environment's steps, by a profile."""
    step, _ = _runner(1, cadence)
    profile = cProfile.Profile()
    profile.enable()
    began = time.process_time()
    while time.process_time() - began < seconds:
        step()
    profile.disable()
    found: dict[str, float] = {}
    stats: Any = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    for (file, _line, _name), (_, _, own, _, _) in stats.items():
        path = Path(file).as_posix()
        part = next((what for where, what in PARTS if where in path), OTHER)
        found[part] = found.get(part, 0.0) + own
    total = sum(found.values())
    return {k: v / total for k, v in sorted(found.items(), key=lambda row: -row[1])}


def _runner(envs: int, cadence: Cadence) -> tuple[Callable[[], None], Callable[[], _Calls]]:
    """A step of the next environment, and the calls so far."""
    made = [CoffeeFirmEnv(cadence=cadence) for _ in range(envs)]
    rng = np.random.default_rng(0)
    for nth, env in enumerate(made):
        env.reset(seed=1_000 + nth)
    nvec = made[0].actions.nvec
    turn = zip(_rounds(made), _rounds(rng.integers(nvec, size=(_DRAWS, len(nvec)))), strict=True)
    past: list[_Calls] = []

    def step() -> None:
        env, action = next(turn)
        if env.step(action)[2]:
            past.append(_calls(env))
            env.reset()

    def calls() -> _Calls:
        town, own = zip(*past, *map(_calls, made), strict=True)
        return sum(town), sum(own)

    return step, calls


_Calls = tuple[int, int]
"""Of all firms, and of the learned one."""
_DRAWS: Final = 4_099


def _calls(env: CoffeeFirmEnv) -> _Calls:
    return env.episode.town.state.actions, env.episode.commands[env.firm]


def _rounds(things: Sequence[Any] | NDArray[Any]) -> Iterator[Any]:
    while True:
        yield from things


def _rates(step: Callable[[], None], calls: Callable[[], _Calls], seconds: float) -> Rates:
    done, before = 0, calls()
    began = time.process_time()
    while (took := time.process_time() - began) < seconds:
        step()
        done += 1
    town, own = (now - then for now, then in zip(calls(), before, strict=True))
    return Rates(done / took, town / took, own / took)


def main(arguments: list[str] | None = None) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m policies.environments.speed")
    parser.add_argument("--envs", type=int, default=8, help="environments in a runner (8)")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each figure (5)")
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    given = parser.parse_args(arguments)
    days, alone = economy_days(given.seconds)
    found: dict[str, Any] = {"economy": {"days": days, "commands": alone}}
    for cadence in CADENCES:
        rates = firm_steps(given.envs, cadence, given.seconds)
        found[cadence] = {**rates._asdict(), "shares": shares(cadence, given.seconds)}
    found["league"] = {"decisions": league_steps(given.envs, given.seconds)}
    if given.json:
        print(json.dumps(found))
        return 0
    print(f"one core, {given.envs} environments in a runner; per second")
    print(f"  economy alone (six strategies)   {days:8,.0f} days      {alone:8,.0f} commands")
    for cadence in CADENCES:
        row = found[cadence]
        print(
            f"  CoffeeFirmEnv, cadence {cadence:<5}     {row['steps']:8,.0f} steps"
            f"     {row['commands']:8,.0f} commands     {row['own']:8,.0f} own calls a second"
        )
    print(f"  league of six learners           {found['league']['decisions']:8,.0f} decisions")
    for cadence in CADENCES:
        print(f"where the time goes, cadence {cadence} (profiled, which makes small calls dearer)")
        for part, share in found[cadence]["shares"].items():
            print(f"  {share:6.1%}  {part}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
