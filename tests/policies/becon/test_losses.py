from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch

from policies.becon.constraint import TOLERATED, priced
from policies.becon.losses import (
    LossSettings,
    clipped_surrogate,
    log_probability,
    masked_mean,
    scalarised,
    standardised,
    total_loss,
)
from tests.policies.becon.agents import sequences, small_agent, small_form

YES = torch.tensor([True])


def gradients(agent: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {n: p.grad.clone() for n, p in agent.named_parameters() if p.grad is not None}


def test_advantages_are_scalarised_by_preference_and_price() -> None:
    made = scalarised(
        torch.tensor([[1.0, 2.0, 4.0]]), torch.tensor([[0.25, 0.75]]), torch.tensor([3.0])
    )
    assert float(made) == pytest.approx((0.25 + 1.5 - 12.0) / 4.0)


def test_standardising_leaves_padding_out() -> None:
    values = torch.tensor([1.0, 3.0, 999.0])
    made = standardised(values, torch.tensor([True, True, False]))
    assert made[:2].tolist() == pytest.approx([-0.7071, 0.7071], abs=1e-3)


def test_fewer_than_two_steps_are_not_standardised() -> None:
    assert standardised(torch.tensor([5.0, 9.0]), torch.tensor([True, False]))[0] == 5.0


def test_a_ratio_beyond_the_clip_gains_nothing_more() -> None:
    far = clipped_surrogate(torch.tensor([1.0]), torch.zeros(1), torch.ones(1), YES, 0.2)
    assert float(far) == pytest.approx(-1.2)


def test_log_probability_sums_over_levers() -> None:
    logits = torch.tensor([[0.0, 0.0, 1.0, 2.0, 3.0]])
    logp, entropy = log_probability(logits, torch.tensor([[1, 2]]), (2, 3))
    second = torch.tensor([1.0, 2.0, 3.0]).log_softmax(-1)
    assert float(logp) == pytest.approx(float(-torch.log(torch.tensor(2.0)) + second[2]))
    assert float(entropy) == pytest.approx(0.6931 + float(-(second.exp() * second).sum()), abs=1e-3)


def test_a_hinge_prices_only_what_is_above_the_budget() -> None:
    cost, budget = torch.tensor([0.7, 0.2]), torch.tensor([0.5, 0.5])
    signal, excess = priced(cost, budget, "hinge")
    assert signal.tolist() == pytest.approx([0.2, 0.0])
    assert excess.tolist() == pytest.approx([0.2 - TOLERATED, -TOLERATED])


def test_a_mean_constraint_prices_cost_against_the_budget() -> None:
    signal, excess = priced(torch.tensor([0.7]), torch.tensor([0.5]), "mean")
    assert (float(signal), float(excess)) == pytest.approx((0.7, 0.2))


@pytest.mark.parametrize("filler", [1e6, float("nan")])
def test_what_padding_holds_changes_neither_loss_nor_gradient(filler: float) -> None:
    results = []
    for value in (0.0, filler):
        agent = small_agent()
        loss, parts = total_loss(agent, sequences(agent, padded=2, filler=value), LossSettings())
        loss.backward()
        results.append((float(loss.detach()), parts, gradients(agent)))
    (one, parts, slopes), (other, _, again) = results
    assert one == other
    assert set(parts) >= {"belief", "gates", "line", "policy", "value", "dual", "entropy"}
    assert all(torch.equal(slopes[name], again[name]) for name in slopes)


def test_a_mini_batch_of_padding_alone_gives_zero_and_no_nan() -> None:
    agent = small_agent()
    loss, _ = total_loss(agent, sequences(agent, padded=6), LossSettings())
    loss.backward()
    assert float(loss.detach()) == 0.0
    assert all(torch.isfinite(slope).all() for slope in gradients(agent).values())


def test_each_part_of_the_agent_learns_from_its_own_loss() -> None:
    agent = small_agent()
    total_loss(agent, sequences(agent), LossSettings())[0].backward()
    taught = {name.split(".")[0] + "." + name.split(".")[1] for name in gradients(agent)}
    assert taught >= {"estimator.encoder", "estimator.heads", "estimator.gates", "estimator.line"}
    assert {name.split(".")[0] for name in gradients(agent)} >= {"policy", "critic", "multiplier"}


def test_what_does_not_estimate_spares_the_estimator() -> None:
    agent = small_agent()
    loss, parts = total_loss(agent, sequences(agent), LossSettings(), estimating=False)
    loss.backward()
    assert "belief" not in parts
    assert not any(name.startswith("estimator") for name in gradients(agent))


def test_jointly_the_policy_teaches_the_estimator_too() -> None:
    quiet = LossSettings(belief=0.0, gates=0.0, line=0.0)
    reached = []
    for settings in (quiet, replace(quiet, joint=True)):
        agent = small_agent()
        batch = sequences(agent)
        with torch.no_grad():
            agent.policy[-1].weight.normal_()
        total_loss(agent, batch, settings)[0].backward()
        slope = agent.estimator.heads.outer.grad
        reached.append(slope is not None and bool(slope.any()))
    assert reached == [False, True]


def test_without_labels_the_heads_learn_from_feedback_and_the_gates_stay() -> None:
    agent = small_agent()
    loss, parts = total_loss(agent, replace(sequences(agent), truth=None), LossSettings())
    loss.backward()
    assert "gates" not in parts
    assert agent.estimator.heads.outer.grad.any()
    assert agent.estimator.gates.steepness.grad is None


def test_labels_reach_neither_policy_nor_critic() -> None:
    results = []
    for shift in (0.0, 0.3):
        agent = small_agent()
        batch = sequences(agent)
        assert batch.truth is not None
        total_loss(agent, replace(batch, truth=batch.truth + shift), LossSettings())[0].backward()
        slopes = gradients(agent)
        results.append({n: s for n, s in slopes.items() if n.startswith(("policy", "critic"))})
    assert all(torch.equal(results[0][name], results[1][name]) for name in results[0])


def test_a_source_without_heads_has_no_belief_to_teach() -> None:
    agent = small_agent(small_form("exposed"))
    _, parts = total_loss(agent, sequences(agent), LossSettings())
    assert not {"belief", "gates", "line"} & set(parts)


def test_an_inferred_preference_learns_from_returns() -> None:
    agent = small_agent(small_form("fixed", "none", inferred=True))
    total_loss(agent, sequences(agent), LossSettings())[0].backward()
    assert agent.inference is not None
    assert agent.inference.head.weight.grad.any()


def test_the_mean_of_nothing_is_zero() -> None:
    assert float(masked_mean(torch.tensor([float("nan")]), ~YES)) == 0.0
