"""Envelope Q-learning (arXiv 1908.08342) and CAPQL (openreview TjEzIsyEsQ6) as outside baselines.

They are called from morl-baselines, an optional extra, and not rewritten. Neither knows a budget:
both are conditioned on the exposed preference, as `unconstrained` is. CAPQL acts by vectors, so
each deal gets a score from -1 to 1 and the one with the highest is made.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal, get_args

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from policies.becon.study.desk_watch import Watch
from policies.becon.study.level_two import (
    EPISODES,
    SWEEP_REGIME,
    LevelTwo,
    course_of,
    covered,
    judged,
    oracle_of,
    swept_contexts,
)
from policies.becon.study.ppo import PPOSettings
from policies.environments.tradeoff_desk import CORRUPTIONS

Outside = Literal["envelope", "capql"]
OUTSIDE: Final[tuple[Outside, ...]] = get_args(Outside)
PARTS: Final = ("features", "exposed", "line", "reward", "feedback", "action")
"""What they see of an observation: all of it but what BECON's own filters make of it."""
Act = Callable[[NDArray[np.float32], NDArray[np.float32]], int]
"""From what is seen of a desk (D,) and a preference (K,) to a deal."""


def missing() -> str | None:
    """Why morl-baselines cannot be called, in one line; None if it can."""
    if find_spec("morl_baselines") is not None:
        return None
    return (
        f"{' and '.join(OUTSIDE)} left out: morl-baselines is missing"
        " (pip install -c requirements.lock -r requirements-morl.lock)"
    )


def run_outside(method: Outside, seed: int, steps: int, settings: PPOSettings) -> tuple[LevelTwo]:
    """Trains a method on desks of all regimes and judges it as the variants are judged.

    Args:
        method: Which.
        seed: Of training and of what it is judged on.
        steps: Of training; one gradient step each, as is these methods' way.
        settings: The desk and its drift; the rest is for PPO.

    Raises:
        ImportError: morl-baselines is not installed.
    """
    began = time.process_time()
    torch.set_num_threads(1)
    # Both methods draw from the generators of the process, whatever seed they are given.
    random.seed(seed)
    torch.manual_seed(seed)
    desk = VectorDesk(settings, seed, scored=method == "capql")
    act = _envelope(desk, seed, steps) if method == "envelope" else _capql(desk, seed, steps)
    seconds = time.process_time() - began
    regimes = {}
    for regime in CORRUPTIONS:
        watch, reward, truth, context = play(
            act, [regime] * EPISODES, course_of(regime, seed), settings
        )
        oracle = oracle_of(regime, seed, settings)
        regimes[regime] = judged(watch, reward, truth, context, oracle)
    held = swept_contexts(settings)
    _, reward, _, _ = play(act, [SWEEP_REGIME] * len(held[0]), [seed, 22], settings, held)
    volume, feasible = covered(reward)
    return (LevelTwo(method, seed, regimes, volume, feasible, seconds),)


def play(
    act: Act,
    regimes: Sequence[str],
    course: Sequence[int],
    settings: PPOSettings,
    held: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[Watch, np.ndarray, np.ndarray, np.ndarray]:
    """One episode on a desk of each of N regimes.

    Args:
        act: Who acts; it is told the exposed preference.
        regimes: Levels of corruption.
        course: The seed of the course of events.
        settings: The desk and its drift.
        held: As for `Desks.reset`.

    Returns:
        The desks, and (N, T, K + 1) each: rewards then cost, the truth, the descriptor.
    """
    watch = Watch(
        settings.desk, [CORRUPTIONS[name] for name in regimes], [settings.drift] * len(regimes)
    )
    layout = watch.observer.layout
    x = watch.reset(course, held)
    rewards, truths, contexts = [], [], []
    while not watch.desks.done:
        exposed = x[:, layout.part("exposed")]
        truths.append(np.column_stack(watch.desks.truth()))
        contexts.append(exposed)
        shown = seen(watch, x)
        pairs = zip(shown, exposed[:, :-1], strict=True)
        x, outcome = watch.step(np.array([act(*pair) for pair in pairs]))
        rewards.append(np.column_stack([outcome.reward, outcome.cost]))
    reward, truth, context = (np.stack(each, axis=1) for each in (rewards, truths, contexts))
    return watch, reward, truth, context


def seen(watch: Watch, x: NDArray[np.float32]) -> NDArray[np.float32]:
    """What an outside method sees of observations (N, D)."""
    layout = watch.observer.layout
    return np.concatenate([x[:, layout.part(name)] for name in PARTS], axis=1)


class VectorDesk(gymnasium.Env[NDArray[np.float32], Any]):
    """A desk whose reward is the vector, as mo-gymnasium has it; each episode in another regime.

    Args:
        settings: The desk and its drift.
        seed: Of all its episodes.
        scored: Whether an action is a score for each deal, in place of a deal.
    """

    def __init__(self, settings: PPOSettings, seed: int, *, scored: bool = False) -> None:
        desk = settings.desk
        self.settings, self.scored = settings, scored
        self.rng = np.random.default_rng([seed, 41])
        self.reward_dim = desk.objectives
        self.reward_space = spaces.Box(0.0, 2.0, (desk.objectives,), np.float32)
        self.action_space = (
            spaces.Box(-1.0, 1.0, (desk.actions,), np.float32, seed=seed)
            if scored
            else spaces.Discrete(desk.actions, seed=seed)
        )
        first, _ = self.reset()
        self.observation_space = spaces.Box(-np.inf, np.inf, first.shape, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins the next episode; a seed begins the row of episodes anew."""
        if seed is not None:
            self.rng = np.random.default_rng([seed, 41])
        line = CORRUPTIONS[str(self.rng.choice(list(CORRUPTIONS)))]
        self.watch = Watch(self.settings.desk, [line], [self.settings.drift])
        x = self.watch.reset(int(self.rng.integers(2**31)))
        return seen(self.watch, x)[0], {}

    def step(
        self, action: Any
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], bool, bool, dict[str, Any]]:
        """A deal; the episode ends by termination."""
        deal = int(np.argmax(action)) if self.scored else int(action)
        x, outcome = self.watch.step(np.array([deal]))
        reward = outcome.reward[0].astype(np.float32)
        return seen(self.watch, x)[0], reward, self.watch.desks.done, False, {}


def _envelope(desk: VectorDesk, seed: int, steps: int) -> Act:
    module = import_module("morl_baselines.multi_policy.envelope.envelope")
    half = max(steps // 2, 1)
    agent = module.Envelope(
        desk,
        initial_epsilon=1.0,
        final_epsilon=0.05,
        epsilon_decay_steps=half,
        homotopy_decay_steps=half,
        gamma=0.95,
        net_arch=[64, 64],
        batch_size=64,
        buffer_size=steps,
        learning_starts=min(1000, half),
        log=False,
        seed=seed,
    )
    agent.train(total_timesteps=steps)
    return lambda shown, preference: int(agent.eval(shown, preference))


def _capql(desk: VectorDesk, seed: int, steps: int) -> Act:
    module = import_module("morl_baselines.multi_policy.capql.capql")
    agent = module.CAPQL(
        desk,
        gamma=0.95,
        net_arch=[64, 64],
        buffer_size=steps,
        learning_starts=min(1000, max(steps // 2, 1)),
        log=False,
        seed=seed,
    )
    agent.train(total_timesteps=steps, eval_env=None, ref_point=None)
    return lambda shown, preference: int(np.argmax(agent.eval(shown, preference)))
