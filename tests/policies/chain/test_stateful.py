"""Modules with a state: whole rows, the states they begin with, and masks."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner  # noqa: E402
from ray.rllib.core.learner.training_data import TrainingData  # noqa: E402

from policies.chain.ppo import ChainPPOLearner  # noqa: E402
from tests.policies.chain.learning import ALONE, episode, parameters, ppo, rollout  # noqa: E402

CHUNK, CELL = 8, 4


def recurrent(learner_class: type[Any] = ChainPPOLearner, **options: Any) -> Any:
    return ppo(learner_class, options, chunk=CHUNK)


def batch_of(learner: Any) -> dict[str, Any]:
    """A rollout of two episodes, one of them ending within a chunk."""
    data = TrainingData(episodes=[episode(13, cell=CELL), episode(19, end=False, cell=CELL)])
    made = learner._make_batch_if_necessary(data)
    return dict(made.policy_batches[ALONE])


def loss(learner: Any, batch: dict[str, Any]) -> tuple[float, float]:
    """The loss without the term, and the term."""
    learner.compute_loss_for_module(
        module_id=ALONE,
        config=learner.config,
        batch=batch,
        fwd_out=learner.module[ALONE].unwrapped().forward_train(batch),
    )
    plain, term = learner.regularisation[ALONE]
    return float(plain.detach()), float(term.detach())


def moved(learner: Any) -> None:
    """Makes the reference one step older than the network."""
    module = learner.module[ALONE].unwrapped()
    learner.chain(ALONE).reference.keep(module)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.ones_like(parameter))


def scrambled(batch: dict[str, Any]) -> dict[str, Any]:
    """The same steps with other numbers in the padding."""
    mask = batch["loss_mask"].bool()
    other = dict(batch)
    for name in ("obs", "advantages", "value_targets", "action_logp", "action_dist_inputs"):
        column = batch[name].clone()
        column[~mask] = 17.0
        other[name] = column
    return other


def test_rows_are_chunks_with_the_states_that_they_begin_with() -> None:
    learner = recurrent()
    batch = batch_of(learner)
    drawn = learner.chain(ALONE).rows.draw(2)
    assert drawn["obs"].shape == (2, CHUNK, 3)
    assert drawn["state_in"]["actor"]["h"].shape == (2, 1, CELL)
    for row in range(2):
        at = int((batch["obs"] == drawn["obs"][row]).all((1, 2)).nonzero()[0, 0])
        state = batch["state_in"]["actor"]["h"][at]
        assert torch.equal(drawn["state_in"]["actor"]["h"][row], state)


def test_the_loss_does_not_see_the_padding() -> None:
    found = []
    for change in (lambda batch: batch, scrambled):
        learner = recurrent(chain_lambda=1.0)
        batch = change(batch_of(learner))
        learner.chain(ALONE).rows.replace(batch)
        moved(learner)
        found.append(loss(learner, batch))
    assert found[0] == pytest.approx(found[1], rel=1e-5)
    assert found[0][1] > 0


def test_a_mini_batch_without_a_real_step_is_no_loss_and_no_gradient() -> None:
    learner = recurrent()
    batch = batch_of(learner)
    batch["loss_mask"] = torch.zeros_like(batch["loss_mask"])
    out = learner.module[ALONE].unwrapped().forward_train(batch)
    total = learner.compute_loss_for_module(
        module_id=ALONE, config=learner.config, batch=batch, fwd_out=out
    )
    assert float(total.detach()) == 0.0
    gradients = learner.compute_gradients({ALONE: total})
    assert all(bool((gradient == 0).all()) for gradient in gradients.values())


def test_training_survives_chunks_that_hold_nothing_but_the_appended_step() -> None:
    # Episodes of two full chunks: the appended step makes a third that holds nothing else.
    learner = recurrent()
    learner.update(
        episodes=[episode(2 * CHUNK, seed, cell=CELL) for seed in range(4)],
        num_epochs=4,
        minibatch_size=CHUNK,
        shuffle_batch_per_epoch=True,
        timesteps={},
    )
    assert torch.isfinite(parameters(learner)).all()
    assert learner.chain(ALONE).terms["policy"].coefficient.save()["churns"][0] > 0


def test_rllibs_own_loss_of_such_a_mini_batch_is_not_a_number() -> None:
    # If this fails, the guard in ChainPPOMixin is no longer needed.
    learner = recurrent(PPOTorchLearner)
    batch = batch_of(learner)
    batch["loss_mask"] = torch.zeros_like(batch["loss_mask"])
    out = learner.module[ALONE].unwrapped().forward_train(batch)
    total = learner.compute_loss_for_module(
        module_id=ALONE, config=learner.config, batch=batch, fwd_out=out
    )
    assert torch.isnan(total)


def test_a_recurrent_module_trains_and_churns() -> None:
    learner = recurrent(chain_monitor_every=1)
    before = parameters(learner)
    logged = rollout(learner, minibatch=2 * CHUNK, cell=CELL)[ALONE]
    assert logged["chain_churn_loss"] > 0
    assert logged["chain_rollout_kl"] > 0
    assert torch.isfinite(parameters(learner)).all()
    assert not torch.equal(before, parameters(learner))


def test_off_is_the_parent_to_the_bit_with_a_state_too() -> None:
    found = []
    for learner_class, options in ((PPOTorchLearner, {}), (ChainPPOLearner, {"chain_lambda": 0})):
        learner = recurrent(learner_class, **options)
        rollout(learner, minibatch=2 * CHUNK, cell=CELL)
        found.append(parameters(learner))
    assert torch.equal(*found)
