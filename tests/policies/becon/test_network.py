import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch

from policies.becon.network import Acted, Agent
from policies.becon.observation import Layout
from policies.becon.scaling import ValueScale
from tests.policies.becon.agents import observations, small_agent, small_form


def test_step_by_step_an_agent_decides_as_over_the_whole_sequence() -> None:
    agent, x = small_agent(), observations()
    whole, acted, _, _ = agent.act(x)
    state = agent.initial_state(len(x))
    for step in range(x.shape[1]):
        logits, one, _, state = agent.act(x[:, step : step + 1], state)
        assert torch.allclose(logits[:, 0], whole[:, step], atol=1e-6)
        assert torch.allclose(one.plain[:, 0], acted.plain[:, step], atol=1e-6)


def test_what_was_acted_on_survives_packing() -> None:
    _, acted, _, _ = small_agent().act(observations())
    again = Acted.unpacked(acted.packed(), 3)
    for name in Acted.__slots__:
        assert torch.equal(getattr(again, name), getattr(acted, name))


def test_stored_contexts_give_the_same_decision_again() -> None:
    agent, x = small_agent(), observations()
    logits, acted, _, _ = agent.act(x)
    assert torch.equal(agent.logits(x, acted.features), logits)


def test_the_policy_teaches_the_belief_nothing() -> None:
    agent = small_agent()
    logits, _, _, _ = agent.act(observations())
    logits.square().sum().backward()
    assert all(p.grad is None for p in agent.estimator.parameters())
    assert any(p.grad is not None for p in agent.policy.parameters())


def test_an_illegal_level_has_no_chance() -> None:
    layout = Layout(features=2, objectives=3, levels=(2, 3), masked=True)
    agent = Agent(layout, small_form())
    x = torch.rand(1, 1, layout.width)
    x[..., layout.part("mask")] = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0])
    chance = agent.act(x)[0][0, 0, 2:].softmax(-1)
    assert agent.act(x)[0][0, 0, :2].softmax(-1)[1] == 0.0
    assert chance[2] == 0.0


def test_without_pricing_lambda_is_zero() -> None:
    agent = small_agent(small_form("exposed", "none"))
    _, acted, _, _ = agent.act(observations())
    assert not acted.price.any()


def test_one_lambda_for_all_contexts_is_one_number() -> None:
    agent = small_agent(small_form("exposed", "scalar"))
    _, acted, _, _ = agent.act(observations())
    assert acted.price.unique().tolist() == pytest.approx([0.001])


def test_the_policy_sees_neither_descriptor_nor_feedback_but_by_its_context() -> None:
    agent, x = small_agent(small_form("fixed")), observations()
    other = x.clone()
    for part in ("exposed", "line", "reward", "feedback", "action", "belief", "quality"):
        other[..., agent.layout.part(part)] = 7.0
    assert torch.equal(agent.act(x)[0], agent.act(other)[0])


def test_an_inferred_preference_reads_neither_descriptor_nor_feedback() -> None:
    agent, x = small_agent(small_form("fixed", "none", inferred=True)), observations()
    other = x.clone()
    for part in ("exposed", "line", "feedback", "belief", "quality"):
        other[..., agent.layout.part(part)] = 7.0
    torch.manual_seed(3)
    one = agent.act(x)[1].plain
    torch.manual_seed(3)
    assert torch.equal(one, agent.act(other)[1].plain)
    assert torch.allclose(one[..., :3].sum(dim=-1), torch.ones(x.shape[:2]))


def test_values_are_learned_in_units_of_their_own_deviation() -> None:
    scale = ValueScale(2)
    targets = torch.tensor([[0.0, 100.0], [2.0, 300.0]])
    scale.update(targets)
    assert scale.normalised(targets).tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    assert torch.allclose(scale.restored(scale.normalised(targets)), targets)


def test_later_rollouts_move_the_scale_slowly() -> None:
    scale = ValueScale(1)
    scale.update(torch.zeros(4, 1))
    scale.update(torch.full((4, 1), 10.0))
    assert float(scale.mean) == pytest.approx(1.0)
