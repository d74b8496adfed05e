from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")

from torch import nn  # noqa: E402

from policies.chain.losses import value_churn  # noqa: E402
from policies.chain.reference import FrozenReference  # noqa: E402


def step(net: nn.Linear, to: float) -> None:
    with torch.no_grad():
        net.weight.fill_(to)


def weight(module: nn.Linear) -> float:
    return float(module.weight.detach()[0, 0])


def test_the_reference_is_exactly_one_step_old() -> None:
    # A hand-made linear net under plain gradient descent: one step moves the outputs at the
    # reference states by -lr * J g, with g the gradient of the loss and J the Jacobian there.
    torch.manual_seed(0)
    net = nn.Linear(3, 1, bias=False, dtype=torch.float64)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    train, states = torch.randn(4, 3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64)
    reference = FrozenReference()
    for _ in range(3):
        optimiser.zero_grad()
        net(train).square().mean().backward()
        gradient = net.weight.grad.clone()
        reference.keep(net)
        optimiser.step()
        churn = value_churn(reference.module()(states), net(states)).mean()
        expected = (0.1 * states @ gradient.T).square().mean()
        assert float(churn.detach()) == pytest.approx(float(expected), rel=1e-9)


def test_a_reference_just_taken_equals_the_network() -> None:
    net = nn.Linear(2, 2)
    reference = FrozenReference()
    reference.keep(net)
    states = torch.ones(3, 2)
    assert value_churn(reference.module()(states), net(states)).sum() == 0


def test_it_has_no_gradient_and_leaves_the_network_its_own() -> None:
    net = nn.Linear(2, 2)
    reference = FrozenReference()
    reference.keep(net)
    assert not any(p.requires_grad for p in reference.module().parameters())
    assert all(p.requires_grad for p in net.parameters())


def test_it_is_copied_in_place() -> None:
    net = nn.Linear(1, 1)
    reference = FrozenReference()
    reference.keep(net)
    first = reference.module()
    step(net, 7.0)
    reference.keep(net)
    assert reference.module() is first
    assert weight(first) == 7.0


def test_buffers_are_kept_too() -> None:
    net = nn.BatchNorm1d(1)
    reference = FrozenReference()
    reference.keep(net)
    net(torch.full((4, 1), 10.0))
    assert float(reference.module().running_mean) == 0.0
    reference.keep(net)
    assert float(reference.module().running_mean) == pytest.approx(1.0)


def test_it_can_look_several_steps_back() -> None:
    net = nn.Linear(1, 1)
    reference = FrozenReference(kept=3)
    for n in range(5):
        step(net, float(n))
        reference.keep(net)
    assert [weight(reference.module(back)) for back in (3, 1, 2)] == [2.0, 4.0, 3.0]
    step(net, 5.0)
    reference.keep(net)
    assert weight(reference.module()) == 5.0


def test_further_back_than_kept_is_refused() -> None:
    reference = FrozenReference()
    with pytest.raises(LookupError, match="1 steps back, only 0"):
        reference.module()
    reference.keep(nn.Linear(1, 1))
    with pytest.raises(LookupError, match="2 steps back, only 1"):
        reference.module(2)


def test_a_dropped_reference_is_gone() -> None:
    reference = FrozenReference()
    reference.keep(nn.Linear(1, 1))
    reference.drop()
    assert reference.steps == 0
