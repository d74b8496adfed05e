"""Environments of mo-gymnasium under our convention."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mo_gymnasium")

import gymnasium

from policies.environments.corruption import Corruption
from policies.environments.drift import Drift
from policies.environments.multi_objective import MultiObjective
from services.errors import HanseError


def test_an_id_of_mo_gymnasium_becomes_an_environment_of_the_convention() -> None:
    env = MultiObjective(
        "deep-sea-treasure-v0", objectives=("treasure", "time"), preference=(0.75, 0.25)
    )
    _, info = env.reset(seed=0)
    assert info["vector_reward"].tolist() == [0.0, 0.0]
    _, reward, _, _, info = env.step(1)  # down, to the nearest treasure
    assert info["vector_reward"].tolist() == pytest.approx([0.7, -1.0], abs=1e-6)
    assert reward == pytest.approx(0.75 * 0.7 - 0.25, abs=1e-6)
    assert (info["cost"], info["budget"]) == (0.0, 0.5)


def test_a_cost_is_made_of_rewards_and_info() -> None:
    env = MultiObjective("deep-sea-treasure-v0", cost=lambda r, _: -r[1] / 2, budget=0.2)
    env.reset(seed=0)
    assert env.step(1)[4]["cost"] == pytest.approx(0.5)
    assert env.objectives == ("objective_1", "objective_2")


def test_drift_and_corruption_go_around_it() -> None:
    inner = MultiObjective("deep-sea-treasure-v0")
    env = Corruption(Drift(inner, "jumps"), "moderate")
    seen, _ = env.reset(seed=0)
    assert seen.shape == (2 + len(env.descriptors),)
    _, reward, _, _, info = env.step(1)
    assert reward == pytest.approx(float(info["preference"] @ info["vector_reward"]))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(HanseError, match="no-such-sea-v0: mo-gymnasium cannot make it"):
        MultiObjective("no-such-sea-v0")
    with pytest.raises(HanseError, match="its reward is no vector"):
        MultiObjective(gymnasium.make("CartPole-v1"))
    with pytest.raises(HanseError, match="1 names for 2 rewards"):
        MultiObjective("deep-sea-treasure-v0", objectives=("treasure",))
    with pytest.raises(HanseError, match="weights must sum to 1"):
        MultiObjective("deep-sea-treasure-v0", preference=(1.0, 1.0))


def test_a_reward_that_is_no_number_is_refused() -> None:
    env = MultiObjective("deep-sea-treasure-v0", cost=lambda r, _: float(np.nan))
    env.reset(seed=0)
    with pytest.raises(HanseError, match="cost: entry 0 is nan"):
        env.step(1)
