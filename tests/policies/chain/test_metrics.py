from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
gym = pytest.importorskip("gymnasium", reason="learning needs torch and RLlib: make rl")

from policies.chain.heads import policy_head  # noqa: E402
from policies.chain.metrics import (  # noqa: E402
    greedy_flip,
    outside_clip,
    policy_churn,
    value_churn,
    value_of_policy_churn,
)

REAL = torch.tensor([True, True, False])


def test_churn_of_choices_by_hand() -> None:
    head = policy_head(gym.spaces.Discrete(2), "m")
    old = torch.tensor([[1.0, 0.0], [0.0, 1.0], [5.0, 0.0]])
    new = torch.tensor([[0.0, 1.0], [0.0, 1.0], [0.0, 5.0]])
    moved = policy_churn(head, old, new, REAL)
    assert float(moved.greedy_flip) == 0.5
    # The first state's KL of sigmoid(1) against sigmoid(-1) is 2 * sigmoid(1) - 1.
    assert float(moved.distance) == pytest.approx((2 * 0.7310586 - 1) / 2, abs=1e-6)


def test_several_choices_flip_if_one_does() -> None:
    head = policy_head(gym.spaces.MultiDiscrete([2, 2]), "m")
    old = torch.tensor([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    new = torch.tensor([[1.0, 0.0, 0.0, 1.0], [2.0, 0.0, 1.0, 0.0]])
    assert head.flips(old, new).tolist() == [True, False]


def test_means_are_compared_without_deviations_unless_asked() -> None:
    old = torch.tensor([[1.0, -1.0, 0.0, 0.0]])
    new = torch.tensor([[3.0, 1.0, 1.0, 1.0]])
    box = gym.spaces.Box(-1, 1, (2,))
    assert policy_head(box, "m").churn(old, new).tolist() == [4.0]
    assert policy_head(box, "m").flips(old, new).tolist() == [True]
    divergence = policy_head(box, "m", divergence=True).churn(old, new)
    assert float(divergence) == pytest.approx(0.5 * (2 * 2.718281828**2 + 8 - 2) - 2, rel=1e-5)


def test_values_churn_both_ways() -> None:
    moved = value_churn(torch.tensor([1.0, 1.0, 9.0]), torch.tensor([2.0, -1.0, 0.0]), REAL)
    assert float(moved.absolute) == 1.5
    assert float(moved.signed) == -0.5


def test_greedy_actions_by_value() -> None:
    old = torch.tensor([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    new = torch.tensor([[2.0, 1.0], [2.0, 1.0], [2.0, 1.0]])
    assert float(greedy_flip(old, new, REAL)) == 0.5


def test_what_moving_was_worth() -> None:
    worth = value_of_policy_churn(
        torch.tensor([1.0, 1.0, 0.0]), torch.tensor([3.0, 1.0, 9.0]), REAL
    )
    assert float(worth) == 1.0


def test_states_that_left_the_trust_region() -> None:
    ratio = torch.tensor([1.3, 0.9, 5.0])
    assert float(outside_clip(torch.zeros(3), ratio.log(), 0.2, REAL)) == 0.5


def test_other_actions_are_refused_with_a_way_out() -> None:
    with pytest.raises(TypeError, match=r"module m: .*set chain_lambda to 0 for this module"):
        policy_head(gym.spaces.Tuple([gym.spaces.Discrete(2)]), "m")
