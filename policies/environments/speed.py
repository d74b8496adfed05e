"""How many steps a second the environments make, and where the time goes.

    python -m policies.environments.speed [--envs 8] [--seconds 5] [--json]

Everything runs in this process; a second is one of CPU time, so what else the machine does matters
little. A step of the cadence ``turn`` is one call of the
learned firm, a step of ``day`` about fifteen of them; either way the town's other firms make their
own calls meanwhile, and those cost as much as in a league without its hosts, log and store.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

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


def firm_steps(envs: int, cadence: Cadence, seconds: float) -> tuple[float, float]:
    """Steps and commands of the whole town a second, with random levers.

    Args:
        envs: Environments that are stepped in turn.
        cadence: That of the steps.
        seconds: How long it is measured.
    """
    step, commands = _runner(envs, cadence)
    return _rate(step, commands, seconds)


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

    return 6 * _rate(step, lambda: 0, seconds)[0]


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


def _runner(envs: int, cadence: Cadence) -> tuple[Callable[[], None], Callable[[], int]]:
    made = [CoffeeFirmEnv(cadence=cadence) for _ in range(envs)]
    rng = np.random.default_rng(0)
    for nth, env in enumerate(made):
        env.reset(seed=1_000 + nth)
    turn = iter(_rounds(made))
    past = 0

    def step() -> None:
        nonlocal past
        env = next(turn)
        if env.step(rng.integers(env.actions.nvec))[2]:
            past += env.episode.town.state.actions
            env.reset()

    return step, lambda: past + sum(env.episode.town.state.actions for env in made)


def _rounds(things: list[Any]) -> Iterator[Any]:
    while True:
        yield from things


def _rate(
    step: Callable[[], None], commands: Callable[[], int], seconds: float
) -> tuple[float, float]:
    done, before = 0, commands()
    began = time.process_time()
    while (took := time.process_time() - began) < seconds:
        step()
        done += 1
    return done / took, (commands() - before) / took


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
        steps, commands = firm_steps(given.envs, cadence, given.seconds)
        found[cadence] = {
            "steps": steps,
            "commands": commands,
            "shares": shares(cadence, given.seconds),
        }
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
            f"     {row['commands']:8,.0f} commands"
        )
    print(f"  league of six learners           {found['league']['decisions']:8,.0f} decisions")
    for cadence in CADENCES:
        print(f"where the time goes, cadence {cadence} (profiled, which makes small calls dearer)")
        for part, share in found[cadence]["shares"].items():
            print(f"  {share:6.1%}  {part}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
