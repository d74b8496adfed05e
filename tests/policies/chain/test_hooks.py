"""RLlib's hooks that CHAIN overrides or reads; two are private, so a new ray may move them."""

from __future__ import annotations

import inspect

import pytest

pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

from ray.rllib.algorithms.dqn.torch.dqn_torch_learner import DQNTorchLearner  # noqa: E402
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner  # noqa: E402
from ray.rllib.algorithms.sac.torch.sac_torch_learner import SACTorchLearner  # noqa: E402
from ray.rllib.policy.sample_batch import MultiAgentBatch  # noqa: E402

HOOKS = {
    "build": (["self"], []),
    "_make_batch_if_necessary": (["self", "training_data"], []),
    "compute_loss_for_module": (["self"], ["module_id", "config", "batch", "fwd_out"]),
    "compute_gradients": (["self", "loss_per_module"], []),
    "apply_gradients": (["self", "gradients_dict"], []),
    "after_gradient_based_update": (["self"], ["timesteps"]),
    "get_state": (["self", "components"], ["not_components"]),
    "set_state": (["self", "state"], []),
    "_check_component": (["self", "name", "components", "not_components"], []),
    "_get_optimizer_lr": (["optimizer"], []),
}
"""Name: the parameters by place, and those by keyword only."""


def test_ray_is_the_one_that_was_looked_at() -> None:
    assert ray.__version__.startswith("2.60.")


@pytest.mark.parametrize("learner", [PPOTorchLearner, DQNTorchLearner, SACTorchLearner])
@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_is_there_with_its_parameters(learner: type, name: str) -> None:
    parameters = inspect.signature(getattr(learner, name)).parameters.values()
    by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    by_keyword = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    assert (by_place, by_keyword) == HOOKS[name]


def test_a_batch_of_several_modules_has_its_parts() -> None:
    assert MultiAgentBatch({}, 0).policy_batches == {}


def test_sac_still_trains_by_the_losses_it_sets_aside() -> None:
    assert "self._temp_losses.pop" in inspect.getsource(SACTorchLearner.compute_gradients)
    assert inspect.signature(SACTorchLearner.build).parameters.keys() == {"self"}
