from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

from policies.chain.serial import SerialActions
from tests.policies.chain.two_agents import LENGTH, TwoAgents, TwoInTurn


def test_it_is_off_unless_asked_for() -> None:
    env, plain = SerialActions(TwoAgents()), TwoAgents()
    assert env.observation_spaces == plain.observation_spaces
    one, other = env.reset(seed=0)[0], plain.reset(seed=0)[0]
    assert all(np.array_equal(one[name], other[name]) for name in "ab")
    _, rewards, _, _, _ = env.step({"a": 0, "b": 0})
    assert rewards["b"] == 1.0


def test_who_comes_later_sees_what_was_committed() -> None:
    env = TwoInTurn()
    seen, _ = env.reset(seed=0)
    assert list(seen) == ["a"]
    assert env.observation_spaces["a"].contains(seen["a"])
    seen, rewards, *_ = env.step({"a": 2})
    assert list(seen) == ["b"]
    assert rewards == {}
    assert seen["b"].tolist() == [0, 0, 0, 1, 0, 0, 1]  # own, "has acted", choice 2
    assert env.observation_spaces["b"].contains(seen["b"])
    seen, rewards, *_ = env.step({"b": 2})
    assert list(seen) == ["a"]
    assert rewards["b"] == 1.0


def test_the_last_step_is_observed_by_everybody() -> None:
    env = TwoInTurn()
    env.reset(seed=0)
    for n in range(LENGTH):
        env.step({"a": 0})
        seen, rewards, terminated, truncated, _ = env.step({"b": 0})
        assert truncated["__all__"] == (n == LENGTH - 1)
    assert set(seen) == set(rewards) == {"a", "b"}
    assert seen["b"].tolist() == [0] * 7  # nobody has acted in a round that does not come
    assert not terminated["__all__"]


def test_who_acts_out_of_turn_is_told_so() -> None:
    env = TwoInTurn()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"it is the turn of a, not of \['b'\]"):
        env.step({"b": 0})


def test_an_order_must_name_everybody() -> None:
    with pytest.raises(ValueError, match=r"order \['a'\] must hold each of \['a', 'b'\]"):
        SerialActions(TwoAgents(), ["a"], serial=True)


def test_observations_that_nothing_can_be_added_to_are_refused() -> None:
    env = TwoAgents()
    env.observation_spaces = dict(env.action_spaces)
    with pytest.raises(TypeError, match="agent a: serial actions need a Box with one axis"):
        SerialActions(env, serial=True)
