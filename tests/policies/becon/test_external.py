import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium: make rl")

from policies.becon.external import judge, vector_desk


class Idle:
    """An agent that never deals."""

    def eval(self, seen: np.ndarray, weights: np.ndarray) -> int:
        assert weights.shape == (3,)
        return 0


class Greedy:
    """One that always takes the same dear deal."""

    def eval(self, seen: np.ndarray, weights: np.ndarray) -> int:
        return 5


def test_the_reward_of_a_vector_desk_is_the_vector() -> None:
    env = vector_desk(("clean",))
    env.reset(seed=0)
    reward = env.step(4)[1]
    assert reward.shape == env.unwrapped.reward_space.shape == (3,)


def test_who_never_deals_earns_nothing_and_violates_nothing() -> None:
    idle = judge(Idle(), 0)
    assert (idle.utility, idle.safe_utility, idle.violation) == (0.0, 0.0, 0.0)


def test_what_is_earned_above_the_budget_counts_nothing() -> None:
    greedy = judge(Greedy(), 0)
    assert greedy.violation > 0.0
    assert greedy.safe_utility < greedy.utility
