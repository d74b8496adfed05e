"""Preferences and budgets that change while an agent acts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.environments.drift import Drift
from policies.environments.firm_env import CoffeeFirmEnv
from policies.environments.intent import DRIFTS, FROZEN_STEPS, HAZARD, Intent
from services.config import standard
from services.errors import HanseError
from tests.policies.environments.stub import Stub

ONES = np.array([1.0, 3.0])


def _intent(kind: str, seed: int = 0, objectives: int = 3, hazard: float = HAZARD) -> Intent:
    return Intent(kind, objectives, np.random.default_rng(seed), hazard)


@settings(max_examples=40, deadline=None)
@given(kind=st.sampled_from(list(DRIFTS)), seed=st.integers(0, 999), stress=st.floats(0, 1))
def test_whatever_drifts_stays_a_preference_and_a_budget(
    kind: str, seed: int, stress: float
) -> None:
    intent = _intent(kind, seed)
    for _ in range(60):
        intent.step(stress)
        for weights, budget in ((intent.preference, intent.budget), intent.shown):
            assert weights.sum() == pytest.approx(1.0) and (weights >= 0).all()
            assert 0.0 < budget <= 0.9


def test_jumps_come_once_in_24_steps() -> None:
    intent = _intent("jumps")
    jumps = 0
    for _ in range(24_000):
        before = intent.preference
        intent.step()
        assert intent.jumped == (before is not intent.preference)
        jumps += intent.jumped
    assert 900 < jumps < 1_100  # binomial: mean 1,000, sd 31


def test_a_slow_walk_moves_the_weights_by_three_per_cent_a_step() -> None:
    moves = []
    for seed in range(400):
        intent = _intent("slow", seed)
        intent.begin(np.array([0.2, 0.3, 0.5]), 0.5)
        intent.step()
        moves.append(np.log(intent.preference[0] / intent.preference[1]) - np.log(0.2 / 0.3))
    assert np.std(moves) == pytest.approx(0.03 * np.sqrt(2), rel=0.15)


def test_stress_shrinks_the_budget_and_leaves_the_preference_alone() -> None:
    intent = _intent("context")
    intent.begin(np.array([0.2, 0.3, 0.5]), 0.6)
    intent.step(stress=0.5)
    assert intent.budget == pytest.approx(0.45)
    intent.step(stress=0.0)
    assert intent.budget == pytest.approx(0.6)
    assert intent.preference.tolist() == [0.2, 0.3, 0.5]


def test_an_adversary_shows_what_was_true_before_the_jump_for_a_while() -> None:
    intent = _intent("adversarial", hazard=1.0)
    old = intent.preference
    intent.step()
    assert intent.jumped and intent.shown[0] is old
    intent.hazard = 0.0
    for _ in range(FROZEN_STEPS - 1):
        intent.step()
        assert intent.shown[0] is old
    intent.step()
    assert intent.shown[0] is intent.preference


def test_the_reward_is_scored_by_the_preference_of_its_step() -> None:
    env = Drift(Stub(), "jumps", hazard=1.0)
    _, info = env.reset(seed=1)
    for _ in range(20):
        coming = info["next_preference"], info["next_budget"]
        _, reward, _, _, info = env.step(ONES)
        assert info["preference"] is coming[0] and info["budget"] == coming[1]
        assert reward == pytest.approx(float(coming[0] @ ONES))
        assert info["next_preference"] is not info["preference"]
        assert info["exposed_preference"] is info["next_preference"]


def test_its_luck_is_its_own_and_comes_from_the_seed() -> None:
    def course(seed: int, steps: int) -> list[Any]:
        env = Drift(Stub(), "jumps", hazard=0.5)
        _, info = env.reset(seed=seed)
        return [info["preference"].tolist()] + [
            env.step(ONES)[4]["next_preference"].tolist() for _ in range(steps)
        ]

    assert course(3, 20) == course(3, 20) != course(4, 20)
    assert course(3, 5) == course(3, 20)[:6]


def test_it_changes_nothing_in_the_economy() -> None:
    def incomes(wrapped: bool) -> list[float]:
        inner = CoffeeFirmEnv(standard().with_overrides(days=8))
        env: gymnasium.Env[Any, Any] = Drift(inner, "context") if wrapped else inner
        env.reset(seed=5)
        return [env.step(inner.actions.usual)[4]["net_income"] for _ in range(8)]

    assert incomes(True) == incomes(False)


def test_an_episode_may_begin_at_the_environment_s_own_preference() -> None:
    env = Drift(Stub(), "none", drawn=False)
    _, info = env.reset(seed=0)
    assert info["preference"].tolist() == [0.5, 0.5] and info["budget"] == 0.4


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(HanseError, match="no drift 'moody'; allowed: none, jumps, slow"):
        Drift(Stub(), "moody")
    with pytest.raises(HanseError, match=r"hazard: 2\.0 is no probability"):
        Drift(Stub(), hazard=2.0)
    with pytest.raises(HanseError, match="has no objectives"):
        Drift(gymnasium.make("CartPole-v1"))
    with pytest.raises(HanseError, match="make it with descriptors = False"):
        Drift(CoffeeFirmEnv(descriptors=True))
    calm = Drift(Stub(), "context")
    calm.reset(seed=0)
    with pytest.raises(HanseError, match="reports info"):
        calm.step(ONES)
    env = Drift(Stub())
    env.reset(seed=0)
    with pytest.raises(HanseError, match="reward: entry 1 is nan"):
        env.step([1.0, float("nan")])
