"""DQN and SAC."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

import gymnasium as gym  # noqa: E402
import numpy as np  # noqa: E402
from ray.rllib.algorithms.dqn import DQNConfig  # noqa: E402
from ray.rllib.algorithms.dqn.torch.dqn_torch_learner import DQNTorchLearner  # noqa: E402
from ray.rllib.algorithms.sac import SACConfig  # noqa: E402
from ray.rllib.algorithms.sac.torch.sac_torch_learner import SACTorchLearner  # noqa: E402

from policies.chain.dqn import ChainDQNLearner, action_values  # noqa: E402
from policies.chain.losses import gaussian_churn  # noqa: E402
from policies.chain.sac import ChainSACLearner, critic_values, policy_outputs  # noqa: E402
from tests.policies.chain.learning import (  # noqa: E402
    ALONE,
    CHOICE,
    off_policy,
    parameters,
    replayed,
)

BOX: Any = gym.spaces.Box(-1, 1, (2,), np.float32)
KINDS: Any = [
    (DQNConfig, ChainDQNLearner, DQNTorchLearner, CHOICE),
    (SACConfig, ChainSACLearner, SACTorchLearner, BOX),
    (SACConfig, ChainSACLearner, SACTorchLearner, CHOICE),
]
OFF = {"chain_lambda": 0, "chain_value_lambda": 0}
AUTO = {"chain_lambda": "auto", "chain_value_lambda": "auto", "chain_warm_up": 1}


def configuration(kind: Any) -> Any:
    config = kind()
    return config.training(target_entropy=-1.0) if kind is SACConfig else config


@pytest.mark.parametrize(("kind", "ours", "parent", "actions"), KINDS)
def test_off_is_the_parent_to_the_bit_and_so_is_measuring(
    kind: Any, ours: Any, parent: Any, actions: Any
) -> None:
    found = []
    for learner_class, options in (
        (parent, {}),
        (ours, OFF),
        (ours, {**OFF, "chain_monitor_every": 1}),
        (ours, {"chain_lambda": 5.0}),
    ):
        learner = off_policy(configuration(kind), learner_class, options, actions)
        replayed(learner, actions)
        found.append(parameters(learner))
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])
    assert not torch.equal(found[0], found[3])


@pytest.mark.parametrize(("kind", "ours", "parent", "actions"), KINDS)
def test_weights_set_themselves_and_come_back_from_a_state(
    kind: Any, ours: Any, parent: Any, actions: Any
) -> None:
    learner = off_policy(configuration(kind), ours, AUTO, actions)
    replayed(learner, actions, updates=7)
    again = off_policy(configuration(kind), ours, AUTO, actions)
    again.set_state(learner.get_state())
    assert torch.equal(parameters(again), parameters(learner))
    assert again.chain(ALONE).save() == learner.chain(ALONE).save()
    for term in learner.chain(ALONE).terms.values():
        assert term.weight != term.coefficient.settings.first


def test_the_term_of_dqn_is_the_change_of_all_values_at_an_earlier_sample() -> None:
    learner = off_policy(DQNConfig(), ChainDQNLearner, {"chain_lambda": 2.0}, CHOICE)
    noted: list[Any] = []
    term_of = learner.chain(ALONE).terms["value"].add

    def noting(loss: Any, churn: Any) -> Any:
        noted.append((float(churn.detach()), float(term_of(loss, churn).detach())))
        return 0.0 * churn

    learner.chain(ALONE).terms["value"].add = noting
    expected: list[float] = []
    draw = learner.chain(ALONE).rows.draw

    def drawing(count: int) -> Any:
        rows = draw(count)
        older = action_values(learner.chain(ALONE).reference.module(), rows)
        now = action_values(learner.module[ALONE].unwrapped(), rows)
        expected.append(float((now - older).square().mean().detach()))
        return rows

    learner.chain(ALONE).rows.draw = drawing
    replayed(learner, CHOICE)
    assert len(noted) == 4  # the third sample is the first with one before the last
    assert [churn for churn, _ in noted] == pytest.approx(expected)
    assert [term for _, term in noted] == pytest.approx([2 * churn for churn in expected])


def test_sac_adds_each_term_to_the_loss_that_trains_it() -> None:
    learner = off_policy(configuration(SACConfig), ChainSACLearner, {"chain_lambda": 7.0}, BOX)
    noted: list[Any] = []
    gradients_of = learner.compute_gradients

    def noting(losses: Any, **rest: Any) -> Any:
        noted.append({key[1]: float(loss.detach()) for key, loss in learner._temp_losses.items()})
        return gradients_of(losses, **rest)

    learner.compute_gradients = noting
    expected: list[Any] = []
    draw = learner.chain(ALONE).rows.draw

    def drawing(count: int) -> Any:
        rows = draw(count)
        older, now = learner.chain(ALONE).reference.module(), learner.module[ALONE].unwrapped()
        with torch.no_grad():
            split = [policy_outputs(net, rows).chunk(2, dim=-1) for net in (older, now)]
            pairs = zip(critic_values(older, rows), critic_values(now, rows), strict=True)
            expected.append(
                (
                    float(gaussian_churn(*split[0], *split[1]).mean()),
                    [float((new - old).square().mean()) for old, new in pairs],
                )
            )
        return rows

    learner.chain(ALONE).rows.draw = drawing
    logged = replayed(learner, BOX)
    policy, critics = expected[-1]
    size = float(
        learner._size_of_actor_loss(
            ALONE, {"q_curr": torch.tensor([2.0, -4.0]), "logp_resampled": torch.zeros(2)}
        )
    )
    assert size == 3.0
    assert len(critics) == 2
    assert logged["chain_policy_churn_loss"] == pytest.approx(policy)
    assert logged["chain_value_churn_loss"] == pytest.approx(sum(critics))
    assert noted[-1]["qf_loss"] - logged["qf_loss"] == pytest.approx(0.1 * critics[0], abs=1e-6)
    twin = noted[-1]["qf_twin_loss"] - logged["qf_twin_loss"]
    assert twin == pytest.approx(0.1 * critics[1], abs=1e-6)
    relative = (noted[-1]["policy_loss"] - logged["policy_loss"]) / (7.0 * policy)
    assert 0.01 < relative < 100  # the size of the actor's loss


def test_what_is_worth_reading_of_values_is_logged() -> None:
    options = {"chain_monitor_every": 1, "chain_monitor_steps": [1, 2]}
    dqn = replayed(off_policy(DQNConfig(), ChainDQNLearner, options, CHOICE), CHOICE)
    wanted = {"value_churn_abs", "value_churn_signed", "greedy_flip", "value_of_policy_churn"}
    assert {f"chain_{name}{tail}" for name in wanted for tail in ("", "_2_back")} <= set(dqn)
    assert dqn["chain_value_of_policy_churn"] >= 0  # the greedy action is the better one now
    sac = replayed(off_policy(configuration(SACConfig), ChainSACLearner, options, BOX), BOX)
    assert {f"chain_{name}" for name in (*wanted, "policy_churn")} <= set(sac)
