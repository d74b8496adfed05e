import math

import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch

from policies.becon.ensemble import (
    Ensemble,
    EnsembleForm,
    Estimate,
    bootstrap,
    feedback_loss,
    label_loss,
)

FEATURES = torch.tensor([[0.2, 0.3, 0.5, 0.1, 0.2, 0.2, 0.6, 0.15]])
"""w = (.2, .3, .5) with deviations (.1, .2, .2); d = .6 with deviation .15."""


def ensemble(prior_scale: float = 0.1) -> Ensemble:
    torch.manual_seed(0)
    return Ensemble(6, 3, EnsembleForm(prior_scale=prior_scale))


def one(preference: list[float], budget: float, log_variance: float = 0.0) -> Estimate:
    """A single head's estimate of a single step."""
    return Estimate(
        torch.tensor([[preference]]),
        torch.tensor([[budget]]),
        torch.full((1, 1, 2), log_variance),
    )


def test_before_training_the_belief_is_the_filter() -> None:
    made = ensemble(prior_scale=0.0)(torch.randn(1, 6), FEATURES)
    assert torch.allclose(made.mean_preference, FEATURES[:, :3], atol=1e-6)
    assert torch.allclose(made.mean_budget, FEATURES[:, 6], atol=1e-6)
    assert not made.epistemic.any()


def test_before_training_the_stated_variance_is_that_of_the_filter() -> None:
    made = ensemble()(torch.randn(1, 6), FEATURES)
    assert made.aleatoric[0].tolist() == pytest.approx([0.03, 0.0225])


def test_randomised_priors_make_untrained_heads_disagree() -> None:
    made = ensemble()(torch.randn(1, 6), FEATURES)
    assert (made.epistemic > 0).all()


def test_disagreement_is_larger_far_from_the_data() -> None:
    heads = ensemble(prior_scale=0.5)
    near = 0.3 * torch.randn(256, 6)
    features = FEATURES.expand(256, -1)
    optimiser = torch.optim.Adam(heads.parameters(), lr=1e-2)
    for _ in range(200):
        optimiser.zero_grad()
        made = heads(near, features)
        label_loss(made, features[:, :3], features[:, 6]).backward()
        optimiser.step()
    with torch.no_grad():
        seen = heads(near, features).epistemic.mean(dim=0)
        unseen = heads(near + 4.0, features).epistemic.mean(dim=0)
    assert (unseen > 3.0 * seen).all()


def test_the_priors_never_learn() -> None:
    names = {name for name, _ in ensemble().named_parameters()}
    assert not any("prior" in name for name in names)
    assert {"prior_inner", "prior_outer"} <= set(ensemble().state_dict())


def test_every_head_keeps_the_preference_on_the_simplex() -> None:
    made = ensemble()(torch.randn(4, 7, 6), FEATURES.expand(4, 7, 8))
    assert made.preference.shape == (5, 4, 7, 3)
    assert torch.allclose(made.preference.sum(dim=-1), torch.ones(5, 4, 7))
    assert ((made.budget > 0) & (made.budget < 1)).all()


def test_epistemic_variance_is_that_between_heads() -> None:
    made = Estimate(
        torch.tensor([[[0.2, 0.8]], [[0.4, 0.6]]]),
        torch.tensor([[0.1], [0.5]]),
        torch.zeros(2, 1, 2),
    )
    assert made.epistemic[0].tolist() == pytest.approx([0.01, 0.04])
    assert made.aleatoric[0].tolist() == pytest.approx([1.0, 1.0])


def test_the_label_loss_is_the_gaussian_likelihood() -> None:
    made = one([0.2, 0.8], 0.5, log_variance=-2.0)
    loss = label_loss(made, torch.tensor([[0.3, 0.7]]), torch.tensor([0.9]))
    by_hand = 0.5 * (0.02 * math.exp(2) - 4.0 + 0.16 * math.exp(2) - 2.0)
    assert float(loss) == pytest.approx(by_hand, rel=1e-5)


def test_what_is_masked_does_not_count_whatever_it_holds() -> None:
    heads, weight = ensemble(), torch.tensor([1.0, 0.0])
    h, f = torch.randn(2, 6), FEATURES.expand(2, -1)
    truth = torch.tensor([[0.1, 0.1, 0.8], [0.3, 0.3, 0.4]])
    wild = torch.tensor([[0.1, 0.1, 0.8], [9.0, math.nan, 9.0]])
    budget = torch.tensor([0.2, 0.3])
    made = heads(h, f)
    assert torch.equal(
        label_loss(made, truth, budget, weight), label_loss(made, wild, budget, weight)
    )


def test_a_batch_of_padding_alone_loses_nothing() -> None:
    made = one([0.5, 0.5], 0.5)
    loss = label_loss(made, torch.tensor([[0.5, 0.5]]), torch.tensor([0.5]), torch.zeros(1))
    assert float(loss) == 0.0


def test_a_head_learns_only_from_its_own_sequences() -> None:
    heads = ensemble()
    weight = torch.zeros(5, 2)
    weight[3] = 1.0
    made = heads(torch.randn(2, 6), FEATURES.expand(2, -1))
    label_loss(made, FEATURES[:, :3].expand(2, -1), torch.tensor([0.1, 0.2]), weight).backward()
    assert [bool(each.any()) for each in heads.outer.grad] == [False, False, False, True, False]


def test_bootstrap_gives_each_head_about_four_sequences_of_five() -> None:
    share = bootstrap(5, 2000, torch.Generator().manual_seed(0)).mean(dim=1)
    assert share.tolist() == pytest.approx([0.8] * 5, abs=0.04)


def test_feedback_is_likelier_under_the_right_context() -> None:
    reward, cost = torch.tensor([[1.0, 0.0]]), torch.tensor([0.5])
    y, b = torch.tensor([0.7]), torch.tensor([1.0])
    right, wrong = one([0.7, 0.3], 0.3, -6.0), one([0.3, 0.7], 0.8, -6.0)
    assert feedback_loss(right, reward, cost, y, b) < feedback_loss(wrong, reward, cost, y, b)


def test_feedback_that_did_not_come_does_not_count() -> None:
    reward, cost, nan = torch.tensor([[1.0, 0.0]]), torch.tensor([0.5]), torch.tensor([math.nan])
    assert float(feedback_loss(one([0.7, 0.3], 0.3), reward, cost, nan, nan)) == 0.0
