from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")

from torch import Tensor, nn  # noqa: E402

from policies.balanced.direction import BalanceSettings  # noqa: E402
from policies.balanced.step import BalancedStep, balanced_step, gradient_rows  # noqa: E402


class Net(nn.Module):  # type: ignore[misc]
    """A shared layer and a head for each of two tasks."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.trunk = nn.Linear(3, 4)
        self.heads = nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)])

    def losses(self, units: tuple[float, float] = (1.0, 1.0)) -> dict[str, Tensor]:
        seen = torch.linspace(-1, 1, 24).reshape(8, 3)
        hidden = torch.tanh(self.trunk(seen))
        wanted = (seen[:, :1] > 0).float(), (seen[:, 1:2] < 0.3).float()
        return {
            str(n): unit * (head(hidden) - target).square().mean()
            for n, (head, target, unit) in enumerate(zip(self.heads, wanted, units, strict=True))
        }


def test_shared_parameters_get_the_balanced_step_and_heads_their_own_gradient() -> None:
    net = Net()
    shared, heads = list(net.trunk.parameters()), list(net.heads.parameters())
    rows = gradient_rows(net.losses().values(), shared)
    own = torch.autograd.grad(torch.stack(list(net.losses().values())).sum(), heads)
    before = [p.detach().clone() for p in (*shared, *heads)]
    found = balanced_step(net.losses(), shared, heads, torch.optim.SGD(net.parameters(), lr=1.0))
    moved = [a - p.detach() for a, p in zip(before, (*shared, *heads), strict=True)]
    expected = found.weights["0"] * rows[0] + found.weights["1"] * rows[1]
    assert torch.allclose(torch.cat([m.reshape(-1) for m in moved[:2]]), expected, atol=1e-6)
    for step, gradient in zip(moved[2:], own, strict=True):
        assert torch.allclose(step, gradient, atol=1e-6)


def test_the_reported_rate_is_what_the_worst_task_gets() -> None:
    net = Net()
    rows = gradient_rows(net.losses().values(), list(net.trunk.parameters())).double()
    found = balanced_step(
        net.losses(),
        net.trunk.parameters(),
        net.heads.parameters(),
        torch.optim.SGD(net.parameters(), lr=0.0),
        BalanceSettings(ridge=1e-10),
    )
    weights = torch.tensor([found.weights["0"], found.weights["1"]]).double() / found.scale
    units = rows / rows.norm(dim=1, keepdim=True)
    step = weights @ rows
    rates = 2 * units @ step - step @ step
    assert float(rates.min()) == pytest.approx(found.rate, abs=1e-6)


def test_both_tasks_learn_although_one_loss_is_a_million_times_smaller() -> None:
    net = Net()
    units = (1.0, 1e-6)
    first = [float(loss.detach()) for loss in net.losses(units).values()]
    heads = torch.optim.SGD(net.heads.parameters(), lr=0.0)  # the shared layer alone
    optimiser = torch.optim.Adam(net.trunk.parameters(), lr=0.03)
    step = BalancedStep()
    for _ in range(60):
        step(net.losses(units), net.trunk.parameters(), [], optimiser)
    last = [float(loss.detach()) for loss in net.losses(units).values()]
    assert all(after < 0.7 * before for after, before in zip(last, first, strict=True))
    del heads


def test_a_secant_step_needs_no_learning_rate() -> None:
    net = Net()
    first = [float(loss.detach()) for loss in net.losses().values()]
    step = BalancedStep(BalanceSettings(mode="secant", most_length=0.5))
    optimiser = torch.optim.SGD(net.trunk.parameters(), lr=1.0)
    for _ in range(40):
        step(net.losses(), net.trunk.parameters(), [], optimiser)
    last = [float(loss.detach()) for loss in net.losses().values()]
    assert all(after < before for after, before in zip(last, first, strict=True))


def test_a_task_that_does_not_use_a_shared_parameter_has_no_gradient_for_it() -> None:
    one, two = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))
    rows = gradient_rows([one.sum(), two.sum()], [one, two])
    assert rows.tolist() == [[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]
