from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner  # noqa: E402

from policies.chain.ppo import ChainPPOMixin  # noqa: E402
from policies.concave.algorithm import vector_reward  # noqa: E402
from policies.concave.losses import vector_ppo_loss  # noqa: E402
from policies.concave.module_weights import ModuleWeights  # noqa: E402
from policies.concave.ppo import WEIGHTS, ConcavePPOLearner, returns_of  # noqa: E402
from policies.concave.returns import episode_return  # noqa: E402
from policies.concave.utilities import Linear, Quadratic, TargetShortfall  # noqa: E402
from policies.training.vector_gae import ADVANTAGES, REWARDS, ColumnFromInfo  # noqa: E402
from services.errors import HanseError  # noqa: E402
from tests.policies.concave.learning import (  # noqa: E402
    ALONE,
    episode,
    learner,
    parameters,
    rollout,
)

PARABOLA = Quadratic((2.0, 2.0), ((1.0, 0.0), (0.0, 1.0)))
"""Its omega is 2 less the mean return: it tells whose returns it comes from."""
SHORTFALL = TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0))
PLAIN = {"concave_scalarisation": PARABOLA}


class Spied(ConcavePPOLearner):  # type: ignore[misc]
    """Keeps the whole rollout as it goes into the loss."""

    def _make_batch_if_necessary(self, training_data: Any) -> Any:
        batch = super()._make_batch_if_necessary(training_data)
        self.rollouts = {name: dict(each) for name, each in batch.policy_batches.items()}
        return batch


def vector_return(one: Any) -> np.ndarray:
    infos = one.get_infos(slice(1, len(one) + 1))
    return episode_return(np.array([info["vector_reward"] for info in infos]), 0.9)


@pytest.mark.parametrize("chunk", [0, 4])
def test_advantages_are_weighted_by_the_omega_of_the_other_half(chunk: int) -> None:
    made = learner(PLAIN, learner_class=Spied, chunk=chunk)
    episodes = [episode(length, seed, cell=chunk) for seed, length in enumerate((9, 6, 7, 11))]
    returns = np.array([vector_return(one) for one in episodes])
    rollout(made, episodes)
    batch = made.rollouts[ALONE]
    mask = batch["loss_mask"].numpy()
    even, odd = 2 - returns[0::2].mean(axis=0), 2 - returns[1::2].mean(axis=0)
    omega = [(odd, even)[each % 2] for each in range(4)]
    wanted = np.repeat([each / each.sum() for each in omega], (9, 6, 7, 11), axis=0)
    assert batch[WEIGHTS].numpy()[mask] == pytest.approx(wanted, abs=1e-5)
    scalar = (wanted * batch[ADVANTAGES].numpy()[mask]).sum(axis=1)
    scalar = (scalar - scalar.mean()) / scalar.std()
    assert batch["advantages"].numpy()[mask] == pytest.approx(scalar, abs=1e-3)


def test_an_episode_that_is_cut_off_has_no_return() -> None:
    made = learner(PLAIN, learner_class=Spied)
    episodes = [episode(6, 0), episode(6, 1), episode(9, 2, end=False), episode(7, 3)]
    returns = [vector_return(one) for one in episodes]
    rollout(made, episodes)
    first = made.rollouts[ALONE][WEIGHTS][0].numpy()
    omega = 2 - (returns[1] + returns[3]) / 2
    assert first == pytest.approx(omega / omega.sum(), abs=1e-5)
    second = made.rollouts[ALONE][WEIGHTS][8].numpy()
    assert second == pytest.approx((2 - returns[0]) / (2 - returns[0]).sum(), abs=1e-5)


def test_with_one_objective_the_loss_is_rllibs() -> None:
    made = learner({"concave_scalarisation": Linear((1.0,))}, objectives=1, vf_clip_param=0.2)
    made.config = made.config.copy(copy_frozen=False)
    rng = np.random.default_rng(0)

    def tensor(*shape: int) -> Any:
        return torch.tensor(rng.normal(size=shape), dtype=torch.float32)

    batch = {
        "obs": tensor(12, 2),
        "actions": torch.tensor(rng.integers(4, size=12)),
        "action_logp": -1.386 + 0.3 * tensor(12),
        "action_dist_inputs": tensor(12, 4),
        "advantages": tensor(12),
        "value_targets": tensor(12, 1),
        "loss_mask": torch.tensor([True] * 9 + [False] * 3),
    }
    module = made.module[ALONE].unwrapped()
    outputs = module.forward_train(batch)
    ours, _ = vector_ppo_loss(
        module, batch, outputs, config=made.config, entropy=0.0, divergence=0.2
    )
    module.compute_values = lambda *args, **rest: (
        type(module).compute_values(module, *args, **rest).squeeze(-1)
    )
    theirs = PPOTorchLearner.compute_loss_for_module(
        made,
        module_id=ALONE,
        config=made.config,
        batch={**batch, "value_targets": batch["value_targets"].squeeze(-1)},
        fwd_out=outputs,
    )
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)


def test_padding_may_hold_anything() -> None:
    made = learner(PLAIN)
    module = made.module[ALONE].unwrapped()

    def loss(junk: float) -> Any:
        torch.manual_seed(1)
        batch = {
            "obs": torch.randn(4, 2),
            "actions": torch.zeros(4, dtype=torch.long),
            "action_logp": torch.tensor([-1.0, -1.0, junk, junk]),
            "action_dist_inputs": torch.randn(4, 4),
            "advantages": torch.tensor([1.0, -1.0, junk, junk]),
            "value_targets": torch.tensor([[1.0, 0.0], [0.5, 2.0], [junk, junk], [junk, junk]]),
            "loss_mask": torch.tensor([True, True, False, False]),
        }
        outputs = module.forward_train(batch)
        total, _ = vector_ppo_loss(
            module, batch, outputs, config=made.config, entropy=0.01, divergence=0.2
        )
        return torch.autograd.grad(total, list(module.pi.parameters()), retain_graph=True)

    for one, two in zip(loss(0.0), loss(-900.0), strict=True):
        assert torch.equal(one, two)
        assert torch.isfinite(one).all()


def test_what_is_worth_reading_is_logged() -> None:
    made = learner({**PLAIN, "concave_constraint": {"g": Linear((0.0, 1.0)), "threshold": 0.9}})
    logged = rollout(made, [episode(8, seed) for seed in range(4)])[ALONE]
    wanted = "omega_0 omega_1 return_0 return_1 value plug_in_value price constraint"
    wanted += " episodes_spent episodes_spent_lifetime"
    assert {name[8:] for name in logged if name.startswith("concave_")} == set(wanted.split())
    assert logged["concave_price"] > 0
    assert {"policy_loss", "vf_loss", "entropy", "mean_kl_loss", "curr_kl_coeff"} <= set(logged)


def test_a_learner_that_needs_fresh_episodes_does_not_train_without() -> None:
    made = learner({"concave_scalarisation": SHORTFALL, "concave_levels": 2})
    rolled = [episode(8, seed) for seed in range(4)]
    with pytest.raises(HanseError, match="train with ConcavePPO, or call"):
        rollout(made, rolled)
    (wanted, _, number), *_ = made.episodes_wanted().values()
    assert number == 0
    fresh = [episode(8, 100 + seed) for seed in range(wanted)]
    made.take_episodes(fresh)
    mean = np.mean([vector_return(one) for one in fresh], axis=0)
    logged = rollout(made, [episode(8, seed) for seed in range(4)])[ALONE]
    assert logged["concave_return_0"] == pytest.approx(mean[0])
    assert logged["concave_episodes_spent"] == wanted
    assert 1 <= logged["concave_level_mean"] <= 2


def test_the_return_of_a_module_is_the_mean_over_its_agents_in_an_episode() -> None:
    reader = ColumnFromInfo(REWARDS, vector_reward, width=2)
    two = [episode(6, 0, module_id="near"), episode(8, 1, module_id="near")]
    other = episode(7, 2, module_id="far")
    together = SimpleNamespace(agent_episodes=dict(enumerate([*two, other])))
    got = returns_of([together, together], "near", reader, 0.9, "discounted")
    assert got.shape == (2, 2)
    assert got[0] == pytest.approx((vector_return(two[0]) + vector_return(two[1])) / 2, abs=1e-6)


def test_a_state_brings_back_prices_and_plans() -> None:
    options = {**PLAIN, "concave_constraint": {"g": Linear((0.0, 1.0)), "threshold": 0.9}}
    made, again = learner(options), learner(options)
    rollout(made, [episode(8, seed) for seed in range(4)])
    again.set_state(made.get_state())
    assert again.concave[ALONE].save() == made.concave[ALONE].save()
    assert again.concave[ALONE].objective.price > 0
    assert torch.equal(parameters(again), parameters(made))
    assert "concave" not in made.get_state(components="rl_module")


def test_modules_have_utilities_of_their_own() -> None:
    made = learner(
        PLAIN, modules={"near": {}, "far": {"concave_scalarisation": Linear((3.0, 1.0))}}
    )
    episodes = [episode(8, seed, module_id=name) for seed in range(4) for name in ("near", "far")]
    logged = rollout(made, episodes)
    assert logged["far"]["concave_omega_0"] == 3.0
    assert logged["near"]["concave_omega_0"] == pytest.approx(
        2 - np.mean([vector_return(episode(8, seed))[0] for seed in range(4)]), abs=1e-6
    )


def test_it_goes_with_chain() -> None:
    class Both(ChainPPOMixin, ConcavePPOLearner):  # type: ignore[misc]
        pass

    made = learner(PLAIN, learner_class=Both)
    before = parameters(made)
    logged = rollout(made, [episode(20, seed) for seed in range(4)])[ALONE]
    assert logged["chain_churn_loss"] > 0 and "concave_omega_0" in logged
    after = parameters(made)
    assert torch.isfinite(after).all() and not torch.equal(before, after)


def test_one_omega_for_several_learners_needs_fresh_episodes() -> None:
    made = learner(PLAIN)
    made.config = made.config.copy(copy_frozen=False)
    made.config.num_learners = 2
    made.concave.clear()
    with pytest.raises(HanseError, match="2 learners would each measure omega"):
        made.weights_of(ALONE)


def test_wrong_settings_are_told_when_the_learner_is_built() -> None:
    with pytest.raises(HanseError, match="'concave_scalarisation' is missing"):
        learner({})
    with pytest.raises(HanseError, match="'objectives' must say how many"):
        learner(PLAIN, objectives=0)


def test_weights_are_plain_data_in_a_checkpoint() -> None:
    made = learner(PLAIN)
    rollout(made, [episode(8, seed) for seed in range(4)])
    state = json.loads(json.dumps(made.get_state()["concave"]))
    again = ModuleWeights(made.concave[ALONE].settings)
    again.load(state[ALONE])
    assert again.save() == made.concave[ALONE].save()
