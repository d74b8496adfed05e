from __future__ import annotations

import numpy as np
import pytest

from policies.concave.softmax import SoftmaxTask, fitted_values, softmax, vector_advantages
from policies.concave.tabular import Rollouts, TabularWorld, bandit, random_world
from policies.concave.utilities import Linear, TargetShortfall
from services.errors import HanseError

WORLD = random_world(3)
POLICY = softmax(np.random.default_rng(0).normal(size=(4, 3)))


def test_expected_returns_are_normalised_rewards_weighted_by_occupancy() -> None:
    occupancy = WORLD.occupancy(POLICY)
    assert occupancy.sum() == pytest.approx(1)
    J = np.einsum("sa,sam->m", occupancy, WORLD.rewards)
    assert WORLD.expected(POLICY) == pytest.approx(J)
    assert (J > 0).all() and (J < 1).all()


def test_advantages_have_mean_zero_under_the_policy() -> None:
    mean = np.einsum("sa,sam->sm", POLICY, WORLD.advantages(POLICY))
    assert mean == pytest.approx(np.zeros((4, 2)), abs=1e-12)


def test_several_policies_at_once_are_each_by_itself() -> None:
    several = softmax(np.random.default_rng(1).normal(size=(5, 4, 3)))
    for name in ("expected", "values", "advantages", "occupancy"):
        together = getattr(WORLD, name)(several)
        assert together[2] == pytest.approx(getattr(WORLD, name)(several[2]))


def test_the_policy_of_an_occupancy_is_the_one_that_has_it() -> None:
    assert WORLD.policy_of(WORLD.occupancy(POLICY)) == pytest.approx(POLICY)
    assert WORLD.policy_of(np.zeros((4, 3))) == pytest.approx(np.full((4, 3), 1 / 3))


@pytest.mark.parametrize("stopping", [False, True])
def test_trajectories_have_the_exact_expected_return(stopping: bool) -> None:
    rollouts = WORLD.roll_out(POLICY, 20_000, np.random.default_rng(2), stopping=stopping)
    returns = rollouts.returns
    error = returns.std(axis=0) / np.sqrt(len(returns))
    assert (np.abs(returns.mean(axis=0) - WORLD.expected(POLICY)) < 4 * error + 1e-4).all()
    assert (error < 0.004).all()


def test_a_trajectory_follows_the_policy_of_its_owner() -> None:
    never, always = np.eye(3)[[0] * 4], np.eye(3)[[2] * 4]
    made = WORLD.roll_out(
        np.stack([never, always]),
        6,
        np.random.default_rng(0),
        owner=np.array([0, 1, 1, 0, 1, 0]),
    )
    assert made.actions.max(axis=1).tolist() == [0, 2, 2, 0, 2, 0]
    assert made.actions.min(axis=1).tolist() == [0, 2, 2, 0, 2, 0]


def test_a_pull_of_a_bandit_is_the_mean_of_an_arm_and_noise() -> None:
    world = bandit(np.array([[1.0, 0.0], [0.0, 0.9]]), noise=0.5)
    made = world.roll_out(np.array([[0.25, 0.75]]), 40_000, np.random.default_rng(0))
    assert made.rewards.shape == (40_000, 1, 2)
    assert made.returns.mean(axis=0) == pytest.approx([0.25, 0.675], abs=0.02)
    second = made.returns[made.actions[:, 0] == 1]
    assert second.std(axis=0) == pytest.approx([0.5, 0.5], abs=0.02)


def test_the_optimum_of_the_notes_bandit_is_found() -> None:
    world = bandit(np.array([[1, 0], [0.75, 0.45], [0.4, 0.75], [0, 0.9]]), noise=0.5)
    best, policy = world.optimum(TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0)))
    assert best == pytest.approx(0.5434, abs=5e-5)
    assert policy[0] == pytest.approx([0, 0.6528, 0.3472, 0], abs=1e-3)


def test_the_optimum_of_a_linear_utility_is_that_of_one_reward() -> None:
    best, _ = WORLD.optimum(Linear((1.0, 0.0)))
    values = np.zeros(4)
    for _ in range(500):
        values = (0.1 * WORLD.rewards[..., 0] + 0.9 * WORLD.transitions @ values).max(axis=1)
    assert best == pytest.approx(values.mean(), abs=1e-6)


def test_fitted_values_come_near_the_exact_ones() -> None:
    rollouts = WORLD.roll_out(POLICY, 1000, np.random.default_rng(5))
    assert fitted_values(rollouts) == pytest.approx(WORLD.values(POLICY), abs=0.01)


def test_advantages_are_gae_by_hand_and_nothing_after_a_stop() -> None:
    rollouts = Rollouts(
        states=np.array([[0, 1, 0]]),
        actions=np.zeros((1, 2), dtype=int),
        rewards=np.array([[[1.0], [3.0]]]),
        taken=np.array([[True, True]]),
        weight=np.array([1.0, 0.5]),
        gamma=0.5,
    )
    # V_0 = .5 * 1 + .5 V_1, V_1 = .5 * 3 + .5 V_0: 5/3 and 7/3, so nothing is a surprise.
    assert fitted_values(rollouts)[:, 0] == pytest.approx([5 / 3, 7 / 3])
    assert vector_advantages(rollouts, 0.9) == pytest.approx(np.zeros((1, 2, 1)), abs=1e-8)
    assert rollouts.returns.tolist() == [[0.5 * (1.0 + 0.5 * 3.0)]]
    # Another one from state 0, stopped after a reward of 2; the 9 was not taken.
    two = Rollouts(
        states=np.array([[0, 1, 0], [0, 1, 0]]),
        actions=np.zeros((2, 2), dtype=int),
        rewards=np.array([[[1.0], [3.0]], [[2.0], [9.0]]]),
        taken=np.array([[True, True], [True, False]]),
        weight=np.ones(2),
        gamma=0.5,
    )
    made = vector_advantages(two, 0.9)
    v0 = (0.5 * (1.0 + 2.0) / 2 + 0.5 * 1.5) / 0.75
    v1 = 1.5 + 0.5 * v0
    first, second = 0.5 + 0.5 * v1 - v0, 0.0
    assert made[0, :, 0] == pytest.approx([first + 0.45 * second, second], abs=1e-8)
    assert made[1, :, 0] == pytest.approx([1.0 + 0.5 * v1 - v0, 0.0])


def test_a_horizon_that_would_bias_returns_is_refused() -> None:
    assert WORLD.horizon == 88
    with pytest.raises(HanseError, match="take 88 or more, or stopping=True"):
        SoftmaxTask(WORLD, horizon=40)


def test_worlds_and_features_that_do_not_fit_are_refused() -> None:
    ones = np.ones((1, 2, 1))
    with pytest.raises(HanseError, match=r"must be \(S, A, S\)"):
        TabularWorld(ones, np.ones((1, 3, 2)), np.ones(1), 0.9)
    with pytest.raises(HanseError, match="transitions must be distributions"):
        TabularWorld(0.5 * ones, np.ones((1, 2, 2)), np.ones(1), 0.9)
    with pytest.raises(HanseError, match=r"gamma must be in \[0, 1\)"):
        TabularWorld(ones, np.ones((1, 2, 2)), np.ones(1), 1.0)
    with pytest.raises(HanseError, match="features must be"):
        SoftmaxTask(WORLD, np.ones((2, 2, 5)))
