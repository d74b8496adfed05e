import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch
from torch import Tensor

from policies.becon.critic import VectorCritic
from policies.becon.multiplier import MOST, Multiplier, dual_loss


def ascended(excess: Tensor, steps: int = 200) -> Tensor:
    """Lambda of two contexts after dual ascent by plain gradient steps."""
    torch.manual_seed(0)
    multiplier, contexts = Multiplier(2), torch.eye(2)
    optimiser = torch.optim.SGD(multiplier.parameters(), lr=0.3)
    for _ in range(steps):
        optimiser.zero_grad()
        dual_loss(multiplier(contexts), excess).backward()
        optimiser.step()
    return multiplier(contexts).detach()


def test_before_training_the_price_is_the_same_small_one_everywhere() -> None:
    made = Multiplier(3)(torch.randn(10, 3))
    assert made.tolist() == pytest.approx([0.1] * 10, rel=0.01)


def test_the_price_rises_where_cost_exceeds_the_budget_and_falls_where_there_is_room() -> None:
    dear, cheap = ascended(torch.tensor([0.5, -0.5])).tolist()
    assert dear > 0.3
    assert cheap < 0.1


def test_the_price_is_never_negative_and_stays_below_twenty() -> None:
    multiplier = Multiplier(1)
    with torch.no_grad():
        for bias in (-50.0, 5.0, 50.0, 1000.0):
            multiplier.body[-1].bias.fill_(bias)
            assert 0.0 <= float(multiplier(torch.zeros(1))) <= MOST


def test_a_price_near_its_limit_can_still_come_down() -> None:
    multiplier = Multiplier(1)
    with torch.no_grad():
        multiplier.body[-1].bias.fill_(60.0)
    dual_loss(multiplier(torch.zeros(1, 1)), torch.tensor([-1.0])).backward()
    assert float(multiplier.body[-1].bias.grad) > 0


def test_padding_does_not_move_the_price() -> None:
    price = torch.tensor([1.0, 2.0])
    mask = torch.tensor([True, False])
    assert float(dual_loss(price, torch.tensor([0.5, float("nan")]), mask)) == pytest.approx(-0.5)
    assert float(dual_loss(price, torch.tensor([0.5, 0.5]), mask & False)) == 0.0


def test_the_critic_has_a_value_for_each_objective_and_for_cost() -> None:
    assert VectorCritic(7, 4)(torch.randn(2, 5, 7)).shape == (2, 5, 4)
