from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

import gymnasium as gym  # noqa: E402
import numpy as np  # noqa: E402
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner  # noqa: E402
from torch import Tensor  # noqa: E402

from policies.chain.losses import categorical_churn  # noqa: E402
from policies.chain.ppo import ChainPPOLearner  # noqa: E402
from services.errors import HanseError  # noqa: E402
from tests.policies.chain.learning import ALONE, episode, parameters, ppo, rollout  # noqa: E402


def trained(learner_class: type[Any], options: dict[str, Any], rollouts: int = 2) -> Tensor:
    learner = ppo(learner_class, options)
    for seed in range(rollouts):
        rollout(learner, seed)
    return parameters(learner)


def test_off_is_the_parent_to_the_bit() -> None:
    parent = trained(PPOTorchLearner, {})
    assert torch.equal(trained(ChainPPOLearner, {"chain_lambda": 0}), parent)
    assert not torch.equal(trained(ChainPPOLearner, {}), parent)


def test_measuring_changes_nothing() -> None:
    measured = {"chain_monitor_every": 1, "chain_monitor_steps": [1, 3]}
    assert torch.equal(
        trained(ChainPPOLearner, {"chain_lambda": 0, **measured}), trained(PPOTorchLearner, {})
    )
    assert torch.equal(trained(ChainPPOLearner, measured), trained(ChainPPOLearner, {}))


class Spied(ChainPPOLearner):
    """Notes the losses of each mini-batch and the network before each step."""

    def build(self) -> None:
        super().build()
        self.noted: list[tuple[float, float]] = []
        self.nets: list[Any] = []

    def compute_loss_for_module(self, *, module_id: str, **rest: Any) -> Any:
        total = super().compute_loss_for_module(module_id=module_id, **rest)
        plain, _ = self.regularisation.get(module_id, (total, None))
        self.noted.append((float(plain.detach()), float(total.detach())))
        return total

    def apply_gradients(self, gradients_dict: dict[Any, Any]) -> None:
        self.nets.append(copy.deepcopy(self.module[ALONE].unwrapped()))
        super().apply_gradients(gradients_dict)


def noting_draws(learner: Any) -> list[Any]:
    """What the learner will draw as its reference batches."""
    rows, drawn = learner.chain(ALONE).rows, []
    draw = rows.draw

    def noted(count: int) -> Any:
        drawn.append(draw(count))
        return drawn[-1]

    rows.draw = noted
    return drawn


def test_the_term_is_the_weighted_churn_of_the_last_step_and_absent_at_the_first() -> None:
    learner = ppo(Spied, {"chain_lambda": 3.0})
    drawn = noting_draws(learner)
    rollout(learner)
    assert learner.noted[0][0] == learner.noted[0][1]
    assert len(learner.noted) == len(learner.nets) == len(drawn) + 1 > 5
    for n, rows in enumerate(drawn, start=1):
        old, new = (learner.nets[k].forward_train(rows)["action_dist_inputs"] for k in (n - 1, n))
        expected = 3.0 * float(categorical_churn(old, new).mean().detach())
        assert learner.noted[n][1] - learner.noted[n][0] == pytest.approx(expected, abs=1e-6)
        assert rows["loss_mask"].all()


def test_the_reference_batch_has_as_many_rows_as_the_mini_batch_unless_told() -> None:
    for options, size in (({}, 32), ({"chain_reference_size": 7}, 7)):
        learner = ppo(ChainPPOLearner, options)
        drawn = noting_draws(learner)
        rollout(learner)
        assert {len(rows["obs"]) for rows in drawn} == {size}


def test_the_weight_is_set_once_per_rollout() -> None:
    learner = ppo(ChainPPOLearner, {"chain_warm_up": 1})
    logged = [rollout(learner, seed)[ALONE]["chain_lambda"] for seed in range(4)]
    assert logged[:2] == [1.0, 1.0]  # what was used in the rollout; set after the second
    assert logged[2] != 1.0
    assert learner.chain(ALONE).save()["terms"]["policy"]["updates"] == 4


def test_what_is_worth_reading_is_logged() -> None:
    logged = rollout(ppo(ChainPPOLearner, {"chain_monitor_every": 1}))[ALONE]
    wanted = "lambda churn_loss loss_share rollout_kl policy_churn greedy_flip value_churn_abs"
    wanted += " value_churn_signed outside_clip"
    assert {name.removeprefix("chain_") for name in logged if name.startswith("chain_")} == set(
        wanted.split()
    )
    assert logged["chain_policy_churn"] > 0
    assert abs(logged["chain_value_churn_signed"]) <= logged["chain_value_churn_abs"]


def test_a_state_brings_back_weights_windows_and_generators() -> None:
    learner = ppo(ChainPPOLearner, {"chain_warm_up": 1})
    for seed in range(3):
        rollout(learner, seed)
    state = learner.get_state()
    again = ppo(ChainPPOLearner, {"chain_warm_up": 1})
    again.set_state(state)
    assert torch.equal(parameters(again), parameters(learner))
    assert again.chain(ALONE).save() == learner.chain(ALONE).save()
    assert again.chain(ALONE).terms["policy"].weight != 1.0
    # The first step after a restore has no reference, and so no term; then it goes on.
    assert rollout(again, 3)[ALONE]["chain_lambda"] == learner.chain(ALONE).terms["policy"].weight


def test_a_state_of_the_network_alone_leaves_the_weight_but_drops_the_reference() -> None:
    learner = ppo(ChainPPOLearner, {"chain_warm_up": 0})
    rollout(learner)
    weight = learner.chain(ALONE).terms["policy"].weight
    state = learner.get_state(components="rl_module")
    assert "chain" not in state
    learner.set_state(state)
    assert learner.chain(ALONE).terms["policy"].weight == weight
    assert learner.chain(ALONE).reference.steps == 0


def test_modules_have_weights_of_their_own_and_a_new_regime_may_concern_one() -> None:
    learner = ppo(
        ChainPPOLearner,
        {"chain_warm_up": 0},
        modules={"near": {}, "far": {"chain_lambda": 2.0}, "plain": {"chain_lambda": 0}},
    )
    learner.chain("near").terms["policy"].coefficient.update(1.0, 0.1)
    assert learner.chain("near").terms["policy"].weight != 1.0
    assert learner.chain("far").terms["policy"].weight == 2.0
    assert not learner.chain("plain").active
    learner.regime_changed("far")
    assert learner.chain("near").terms["policy"].weight != 1.0
    learner.regime_changed()
    assert learner.chain("near").terms["policy"].weight == 1.0


@pytest.mark.parametrize(
    "actions", [gym.spaces.MultiDiscrete([2, 3]), gym.spaces.Box(-1, 1, (2,), np.float32)]
)
def test_other_kinds_of_actions_train(actions: Any) -> None:
    learner = ppo(ChainPPOLearner, {"chain_monitor_every": 2}, actions=actions)
    logged = rollout(learner, actions=actions)[ALONE]
    assert logged["chain_churn_loss"] > 0
    assert torch.isfinite(parameters(learner)).all()


def test_an_unknown_setting_is_refused_when_the_learner_is_built() -> None:
    with pytest.raises(HanseError, match="'chain_betta' is unknown"):
        ppo(ChainPPOLearner, {"chain_betta": 1})


def test_a_learner_trains_on_from_one_step_episodes() -> None:
    learner = ppo(ChainPPOLearner, {"chain_monitor_every": 1})
    learner.update(
        episodes=[episode(1, seed) for seed in range(8)],
        num_epochs=2,
        minibatch_size=4,
        shuffle_batch_per_epoch=True,
        timesteps={},
    )
    assert torch.isfinite(parameters(learner)).all()
