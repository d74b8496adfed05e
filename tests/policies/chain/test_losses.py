from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")

from torch import Tensor  # noqa: E402

from policies.chain.losses import (  # noqa: E402
    categorical_churn,
    cross_entropy_churn,
    gaussian_churn,
    gaussian_mean_churn,
    masked_mean,
    multi_categorical_churn,
    value_churn,
)


def logits(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_nothing_churns_where_nothing_moved() -> None:
    same = logits(0, 7, 6)
    assert categorical_churn(same, same).abs().max() == 0
    assert multi_categorical_churn(same, same, (2, 4)).abs().max() == 0
    assert gaussian_mean_churn(same, same).abs().max() == 0
    assert gaussian_churn(same, same, same, same).abs().max() == 0
    assert value_churn(same, same).abs().max() == 0


def test_the_divergence_of_a_coin_by_hand() -> None:
    old = torch.tensor([0.5, 0.5]).log()
    new = torch.tensor([0.25, 0.75]).log()
    expected = 0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)
    assert float(categorical_churn(old, new)) == pytest.approx(expected)


def test_heads_add_up() -> None:
    old, new = logits(1, 5, 5), logits(2, 5, 5)
    apart = categorical_churn(old[:, :2], new[:, :2]) + categorical_churn(old[:, 2:], new[:, 2:])
    assert torch.allclose(multi_categorical_churn(old, new, (2, 3)), apart)


def test_gaussian_means_by_hand() -> None:
    old, new = torch.tensor([[1.0, 2.0]]), torch.tensor([[2.0, 5.0]])
    assert gaussian_mean_churn(old, new).tolist() == [5.0]  # (1 + 9) / 2


@given(st.integers(0, 100))
def test_the_gaussian_divergence_is_that_of_torch(seed: int) -> None:
    one, two, three, four = (0.3 * logits(seed + n, 4, 3) for n in range(4))
    normal = torch.distributions.Normal
    expected = torch.distributions.kl_divergence(
        normal(three, four.exp()), normal(one, two.exp())
    ).sum(-1)
    assert torch.allclose(gaussian_churn(one, two, three, four), expected)


def test_a_gaussian_divergence_counts_a_hundred_at_most() -> None:
    zero = torch.zeros(1, 1)
    assert gaussian_churn(zero, zero, zero + 1000, zero).tolist() == [100.0]


@given(st.integers(0, 100), st.integers(2, 6))
def test_the_gradient_is_that_of_the_cross_entropy(seed: int, actions: int) -> None:
    old = logits(seed, 8, actions)
    gradients = []
    for form in (categorical_churn, cross_entropy_churn):
        new = logits(seed + 1, 8, actions).requires_grad_()
        (3.0 * form(old, new).mean()).backward()
        gradients.append(new.grad)
    assert torch.allclose(*gradients, atol=1e-6)


@given(st.integers(0, 100))
def test_a_divergence_is_never_below_zero(seed: int) -> None:
    assert categorical_churn(logits(seed, 9, 4), logits(seed + 1, 9, 4)).min() >= -1e-12


def test_no_gradient_reaches_the_older_network() -> None:
    old, new = logits(0, 3, 4).requires_grad_(), logits(1, 3, 4).requires_grad_()
    for churn in (
        categorical_churn(old, new),
        gaussian_mean_churn(old, new),
        gaussian_churn(old, old, new, new),
        value_churn(old, new),
    ):
        churn.sum().backward()
    assert old.grad is None
    assert new.grad is not None


def test_forbidden_actions_give_finite_churn_and_gradient() -> None:
    old = torch.tensor([[0.0, 1.0, -math.inf]])
    new = torch.tensor([[1.0, 0.0, -math.inf]], requires_grad=True)
    (categorical_churn(old, new).sum() + value_churn(old, new).sum()).backward()
    assert torch.isfinite(categorical_churn(old, new)).all()
    assert torch.isfinite(new.grad).all()
    assert value_churn(old, new).tolist() == [[1.0, 1.0, 0.0]]


def test_steps_that_do_not_count_do_not_count() -> None:
    values = torch.tensor([[1.0, 3.0], [100.0, math.nan]])
    mask = torch.tensor([[True, True], [False, False]])
    assert float(masked_mean(values, mask)) == 2.0
    assert float(masked_mean(values[:1], None)) == 2.0


def test_a_mean_of_nothing_is_zero_with_a_gradient() -> None:
    values = torch.ones(2, 3, requires_grad=True)
    mean = masked_mean(values, torch.zeros(2, 3))
    mean.backward()
    assert float(mean.detach()) == 0.0
    assert values.grad.abs().max() == 0


def test_a_step_counts_with_all_its_components() -> None:
    values = torch.tensor([[1.0, 3.0], [5.0, 5.0]])
    assert float(masked_mean(values, torch.tensor([True, False]))) == 2.0
