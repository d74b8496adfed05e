"""An agent that is told its task badly."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from policies.environments.corruption import Corruption
from policies.environments.drift import Drift
from policies.environments.exposed_signal import LEVELS, ExposedSignal, Level
from policies.environments.firm_env import CoffeeFirmEnv
from services.config import standard
from services.errors import HanseError
from tests.policies.environments.stub import Stub

W = np.array([0.2, 0.3, 0.5])
ONES = np.array([1.0, 3.0])


def _signal(level: Level, seed: int = 0) -> ExposedSignal:
    return ExposedSignal(level, 3, np.random.default_rng(seed))


def test_the_levels_are_those_of_the_note() -> None:
    numbers = {n: (x.noise, x.delay, x.missing, x.bias, x.feedback) for n, x in LEVELS.items()}
    assert numbers == {
        "clean": (0.05, 0, 0.0, 0.0, True),
        "moderate": (0.5, 2, 0.3, 0.2, True),
        "severe": (1.0, 6, 0.6, 0.5, True),
        "no_feedback": (0.3, 1, 0.1, 0.0, False),
    }


def test_without_corruption_the_truth_is_shown() -> None:
    signal = _signal(Level(0.0, 0, 0.0, 0.0))
    signal.begin(W, 0.3)
    signal.step(W[::-1], 0.7)
    assert signal.preference.tolist() == pytest.approx(W[::-1].tolist())
    assert signal.budget == pytest.approx(0.7)


def test_noise_lies_on_the_logarithm_and_less_on_the_budget() -> None:
    signal = _signal(Level(0.5, 0, 0.0, 0.0))
    logs, budgets = [], []
    for _ in range(3_000):
        signal.begin(W, 0.5)
        logs.append(np.log(signal.preference[0] / signal.preference[1]) - np.log(0.2 / 0.3))
        budgets.append(signal.budget)
    assert np.std(logs) == pytest.approx(0.5 * np.sqrt(2), rel=0.06)
    assert np.std(budgets) == pytest.approx(0.15 * 0.5, rel=0.06)


def test_a_delay_shows_what_was_true_so_many_steps_ago() -> None:
    signal = _signal(Level(0.0, 2, 0.0, 0.0))
    signal.begin(W, 0.1)
    shown = []
    for budget in (0.2, 0.3, 0.4, 0.5):
        signal.step(W, budget)
        shown.append(round(signal.budget, 9))
    assert shown == [0.1, 0.1, 0.2, 0.3]


def test_what_is_missing_is_held_and_grows_old() -> None:
    signal = _signal(Level(0.0, 0, 1.0, 0.0))
    signal.begin(W, 0.1)
    assert (signal.age, signal.missing) == (0, False)
    for age in (1, 2, 3):
        signal.step(W, 0.9)
        assert (signal.age, signal.missing, signal.budget) == (age, True, pytest.approx(0.1))


def test_a_bias_stays_for_an_episode() -> None:
    signal = _signal(Level(0.0, 0, 0.0, 0.5))
    signal.begin(W, 0.5)
    first = signal.preference.tolist()
    assert first != pytest.approx(W.tolist())
    signal.step(W, 0.5)
    assert signal.preference.tolist() == pytest.approx(first)
    signal.begin(W, 0.5)
    assert signal.preference.tolist() != pytest.approx(first)


def test_the_score_is_the_weighted_reward_with_a_noise_of_three_hundredths() -> None:
    signal = _signal(LEVELS["clean"])
    scores = [signal.score(W, np.array([1.0, 2.0, 3.0])) for _ in range(3_000)]
    assert np.mean(scores) == pytest.approx(0.2 + 0.6 + 1.5, abs=0.003)
    assert np.std(scores) == pytest.approx(0.03, rel=0.06)


@pytest.mark.parametrize(("over", "chance"), [(-0.2, 0.0067), (0.0, 0.5), (0.08, 0.8808)])
def test_alarms_follow_a_logistic_of_the_excess(over: float, chance: float) -> None:
    signal = _signal(LEVELS["clean"])
    alarms = [signal.alarm(0.4 + over, 0.4) for _ in range(4_000)]
    assert np.mean(alarms) == pytest.approx(chance, abs=0.025)  # sigmoid(25 * over)


def test_without_feedback_neither_score_nor_alarm_arrives() -> None:
    env = Corruption(Drift(Stub()), "no_feedback")
    env.reset(seed=0)
    seen, _, _, _, info = env.step(ONES)
    assert np.isnan(info["feedback"]) and np.isnan(info["alarm"])
    assert seen[-3:].tolist() == [0.0, 0.0, 0.0]


def test_the_block_says_what_is_shown_and_what_the_last_step_has_told() -> None:
    env = Corruption(Drift(Stub(cost=0.5)), "moderate")
    seen, info = env.reset(seed=3)
    assert len(seen) == 1 + len(env.descriptors)
    for _ in range(30):
        seen, _, _, _, info = env.step(ONES)
        named = dict(zip(env.descriptors, map(float, seen[1:]), strict=True))
        shown = [named["exposed_weight.speed"], named["exposed_weight.care"]]
        assert shown == pytest.approx(info["exposed_preference"].tolist(), abs=1e-6)
        assert named["exposed_budget"] == pytest.approx(info["exposed_budget"], abs=1e-6)
        assert named["age"] == info["age"] / 16 and named["missing"] == info["missing"]
        assert [named["last_reward.speed"], named["last_reward.care"]] == ONES.tolist()
        assert named["last_cost"] == 0.5 and named["feedback"] == 1.0
        assert named["score"] == pytest.approx(info["feedback"], abs=1e-6)
        assert named["alarm"] == info["alarm"]


def test_the_truth_stays_where_it_is() -> None:
    def truths(level: str | None) -> list[Any]:
        drifting = Drift(Stub(), "jumps", hazard=0.5)
        env: Any = drifting if level is None else Corruption(drifting, level)
        env.reset(seed=8)
        found = []
        for _ in range(10):
            _, reward, _, _, info = env.step(ONES)
            found.append((reward, info["preference"].tolist(), info["budget"]))
        return found

    assert truths(None) == truths("severe")


def test_its_luck_is_its_own_and_comes_from_the_seed() -> None:
    def course(seed: int) -> list[Any]:
        env = Corruption(Drift(Stub()), "severe")
        first, _ = env.reset(seed=seed)
        return [first.tolist()] + [env.step(ONES)[0].tolist() for _ in range(10)]

    assert course(1) == course(1) != course(2)


def test_gymnasium_finds_nothing_to_complain_about_around_a_firm() -> None:
    inner = CoffeeFirmEnv(standard().with_overrides(days=6))
    env = Corruption(Drift(inner, "context"), "severe")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*render modes.*")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        warnings.filterwarnings("ignore", message=".*(minimum|maximum) value.*infinity.*")
        check_env(env)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(HanseError, match="no level 'awful'; allowed: clean, moderate"):
        Corruption(Stub(), "awful")
    with pytest.raises(HanseError, match=r"noise = -1\.0"):
        Corruption(Stub(), Level(-1.0, 0, 0.0, 0.0))
    with pytest.raises(HanseError, match=r"missing = 2\.0"):
        Corruption(Stub(), Level(0.0, 0, 2.0, 0.0))
    square = Stub()
    square.observation_space = spaces.Box(0.0, 1.0, (2, 2))
    with pytest.raises(HanseError, match="no flat vector"):
        Corruption(square)
    env = Corruption(Stub())
    env.reset(seed=0)
    with pytest.raises(HanseError, match="reward: entry 0 is nan"):
        env.step([float("nan"), 1.0])
    broken = Corruption(Stub(cost=float("inf")))
    broken.reset(seed=0)
    with pytest.raises(HanseError, match="cost: entry 0 is inf"):
        broken.step(ONES)
