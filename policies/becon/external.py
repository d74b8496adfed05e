"""Envelope Q-learning (arXiv 1908.08342) as a baseline, by morl-baselines if that is installed.

It is called, not rewritten. It knows no constraint and no drift: it is conditioned on the exposed
preference, as `unconstrained` is. CAPQL, the other value-based method of the note, needs continuous
actions and so has nothing to do at a desk.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from policies.environments.tradeoff_desk import ACCUMULATING, CORRUPTIONS

MISSING: Final = "Envelope left out: morl-baselines is missing (pip install morl-baselines)."
REGIME: Final = "severe"
EPISODES: Final = 32


@dataclass(frozen=True, slots=True)
class External:
    """What an outside method came to under severe corruption."""

    method: str
    utility: float
    violation: float
    """Share of steps."""
    safe_utility: float
    """Utility, counted 0 where the budget was violated."""

    def line(self) -> str:
        """For a terminal."""
        return (
            f"{self.method} (morl-baselines), {REGIME}: utility {self.utility:.3f},"
            f" safe utility {self.safe_utility:.3f}, violations {100 * self.violation:.1f} %"
        )


def morl_baselines_is_there() -> bool:
    """Whether morl-baselines is installed; it is not imported."""
    return find_spec("morl_baselines") is not None


def run_envelope(seed: int, steps: int) -> External:
    """Trains Envelope on the accumulating desk and judges it as the variants are judged.

    Args:
        seed: Of training and evaluation.
        steps: Of training.

    Raises:
        ImportError: morl-baselines is not installed.
    """
    module = import_module("morl_baselines.multi_policy.envelope.envelope")
    agent = module.Envelope(
        vector_desk(tuple(CORRUPTIONS)),
        initial_epsilon=1.0,
        final_epsilon=0.05,
        epsilon_decay_steps=max(steps // 2, 1),
        gamma=0.95,
        net_arch=[64, 64],
        batch_size=64,
        learning_starts=min(1000, max(steps // 2, 1)),
        homotopy_decay_steps=max(steps // 2, 1),
        log=False,
        seed=seed,
    )
    agent.train(total_timesteps=steps)
    return judge(agent, seed)


def judge(agent: Any, seed: int) -> External:
    """Runs an agent with `eval(observation, weights)` on episodes that it was not trained on."""
    env = vector_desk((REGIME,))
    utility, safe, violated = [], [], []
    for episode in range(EPISODES):
        seen, info = env.reset(seed=1_000_000 + 1_000 * seed + episode)
        over = False
        while not over:
            action = int(agent.eval(seen, np.asarray(info["exposed_preference"], np.float32)))
            seen, reward, terminated, truncated, info = env.step(action)
            gained = float(info["preference"] @ reward)
            too_dear = info["cost"] > info["budget"]
            utility.append(gained)
            safe.append(0.0 if too_dear else gained)
            violated.append(too_dear)
            over = terminated or truncated
    return External(
        "Envelope", float(np.mean(utility)), float(np.mean(violated)), float(np.mean(safe))
    )


def vector_desk(corruption: tuple[str, ...]) -> Any:
    """A desk whose reward is the vector, as mo-gymnasium has it."""
    import gymnasium
    from gymnasium import spaces

    from policies.environments.desk_env import TradeoffDeskEnv

    class VectorDesk(gymnasium.Wrapper[Any, Any, Any, Any]):
        def __init__(self) -> None:
            super().__init__(TradeoffDeskEnv(ACCUMULATING, corruption=corruption))
            k = ACCUMULATING.objectives
            self.reward_space = spaces.Box(0.0, 2.0, (k,), np.float32)
            self.unwrapped.reward_space = self.reward_space  # type: ignore[attr-defined]

        def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
            seen, _, terminated, truncated, info = self.env.step(action)
            return seen, info["vector_reward"].astype(np.float32), terminated, truncated, info

    return VectorDesk()
