from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium: make rl")

import gymnasium
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from policies.becon.binding.belief_observation import BeliefObservation, layout_of
from policies.environments.corruption import Corruption
from policies.environments.desk_env import TradeoffDeskEnv
from policies.environments.drift import Drift
from policies.environments.tradeoff_desk import ACCUMULATING
from services.errors import HanseError

SHORT = replace(ACCUMULATING, length=10)


def desk(corruption: str = "moderate") -> TradeoffDeskEnv:
    return TradeoffDeskEnv(SHORT, corruption=corruption)


class Bandit(gymnasium.Env[Any, Any]):
    """Two objectives, two levers, a mask; no line and no feedback of its own."""

    objectives = ("profit", "service")
    actions = "levers"
    observation_space = spaces.Box(0.0, 1.0, (2,), np.float32)
    action_space = spaces.MultiDiscrete([2, 3])

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(2, np.float32), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.ones(2, np.float32), 0.5, False, False, self._info()

    def _info(self) -> dict[str, Any]:
        return {
            "vector_reward": np.array([0.2, 0.8]),
            "cost": 0.3,
            "preference": np.array([0.5, 0.5]),
            "budget": 0.5,
            "exposed_preference": np.array([0.4, 0.6]),
            "exposed_budget": 0.6,
            "action_mask": np.array([True, True, True, False, True]),
        }


def test_it_is_a_sound_gymnasium_environment() -> None:
    check_env(BeliefObservation(desk()), skip_render_check=True)


def test_state_features_hold_no_descriptor() -> None:
    env = BeliefObservation(desk())
    seen, info = env.reset(seed=0)
    features = seen[env.layout.part("features")]
    assert env.layout.features == 5
    assert features[:3].sum() == 1.0
    assert seen[env.layout.part("exposed")][:3] == pytest.approx(
        info["exposed_preference"], rel=1e-5
    )


def test_what_the_step_came_to_is_written_down_and_believed() -> None:
    env = BeliefObservation(desk())
    before, _ = env.reset(seed=0)
    after, _, _, _, info = env.step(4)
    part = env.layout.part
    assert after[part("reward")] == pytest.approx(info["vector_reward"], rel=1e-5)
    assert after[part("feedback")] == pytest.approx(
        [info["cost"], info["feedback"], info["alarm"], 1.0], rel=1e-5
    )
    assert after[part("action")].argmax() == 4
    assert not np.array_equal(after[part("belief")], before[part("belief")])


def test_the_truth_changes_nothing_that_is_seen() -> None:
    class Lying(gymnasium.Wrapper[Any, Any, Any, Any]):
        def reset(self, **options: Any) -> Any:
            seen, info = self.env.reset(**options)
            return seen, info | self.lie

        def step(self, action: Any) -> Any:
            *rest, info = self.env.step(action)
            return (*rest, info | self.lie)

        lie = {"preference": np.full(3, 9.0), "budget": 9.0, "next_budget": 9.0, "level": 9}  # noqa: RUF012

    true, lying = BeliefObservation(desk()), BeliefObservation(Lying(desk()))
    assert np.array_equal(true.reset(seed=4)[0], lying.reset(seed=4)[0])
    for action in (3, 1, 7):
        assert np.array_equal(true.step(action)[0], lying.step(action)[0])


def test_a_new_episode_forgets() -> None:
    env = BeliefObservation(desk(), window=3)
    first, _ = env.reset(seed=2)
    env.step(3)
    assert np.array_equal(env.reset(seed=2)[0], first)


def test_a_window_holds_the_last_frames_with_zeros_before_the_first() -> None:
    env, one = BeliefObservation(desk(), window=3), BeliefObservation(desk())
    width = env.layout.width
    shown, _ = env.reset(seed=2)
    single, _ = one.reset(seed=2)
    assert not shown[: 2 * width].any()
    assert np.array_equal(shown[2 * width :], single)
    shown, second = env.step(3)[0], one.step(3)[0]
    assert np.array_equal(shown[width : 2 * width], single)
    assert np.array_equal(shown[2 * width :], second)


def test_it_fits_around_drift_and_corruption_of_any_vector_reward() -> None:
    env = BeliefObservation(Corruption(Drift(Bandit()), "severe"))
    assert env.layout.features == 2
    env.reset(seed=0)
    seen = env.step(np.array([1, 2]))[0]
    assert seen[env.layout.part("action")].tolist() == [0, 1, 0, 0, 1]
    assert seen[env.layout.part("mask")].tolist() == [1, 1, 1, 0, 1]
    assert seen[env.layout.part("feedback")][3] == 1.0


def test_without_a_line_and_feedback_of_its_own_an_environment_fits_too() -> None:
    env = BeliefObservation(Bandit())
    env.reset(seed=0)
    seen = env.step(np.array([0, 0]))[0]
    assert seen[env.layout.part("line")].tolist() == [0.0, 1.0]
    assert seen[env.layout.part("feedback")] == pytest.approx([0.3, 0.0, 0.0, 0.0])


def test_an_environment_without_objectives_is_refused() -> None:
    with pytest.raises(HanseError, match="has no objectives"):
        layout_of(gymnasium.make("CartPole-v1"))
