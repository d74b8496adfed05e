from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner  # noqa: E402
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModule  # noqa: E402
from torch import Tensor  # noqa: E402

from policies.balanced.learner import (  # noqa: E402
    BalancedPPOLearner,
    ChainBalancedPPOLearner,
)
from policies.balanced.step import gradient_rows  # noqa: E402
from policies.balanced.tasks import TaskFromAgent, halves  # noqa: E402
from services.errors import HanseError  # noqa: E402
from tests.policies.chain.learning import episode, parameters, ppo, rollout  # noqa: E402

AGENTS = ("cafe", "roaster", "farmer")


class OneEncoder(MultiRLModule):  # type: ignore[misc]
    """Both modules see through the encoder of the first."""

    def setup(self) -> None:
        super().setup()
        first, *others = self._rl_modules.values()
        for other in others:
            other.encoder = first.encoder


class Noting:
    """Notes the losses, the gradients and the balanced step of every mini-batch."""

    def build(self) -> None:
        self.noted: list[Any] = []
        super().build()  # type: ignore[misc]

    def compute_gradients(self, loss_per_module: dict[str, Tensor], **kwargs: Any) -> Any:
        parts = {name: dict(found) for name, found in self._parts.items()}  # type: ignore[attr-defined]
        shared = self.shared_parameters(list(loss_per_module))  # type: ignore[attr-defined]
        tasks = [part for found in parts.values() for part in found.values()]
        rows = gradient_rows(tasks or list(loss_per_module.values()), shared)
        terms = [term for _, term in getattr(self, "regularisation", {}).values()]
        extra = gradient_rows(terms, shared).sum(0) if terms else 0 * rows[0]
        total = torch.stack(list(loss_per_module.values())).sum()
        every = list(self._params.values())  # type: ignore[attr-defined]
        ordinary = torch.autograd.grad(total, every, retain_graph=True, allow_unused=True)
        found = super().compute_gradients(loss_per_module, **kwargs)  # type: ignore[misc]
        ids = {id(p) for p in shared}
        self.noted.append(
            {
                "rows": rows,
                "extra": extra,
                "step": torch.cat([found[p].reshape(-1) for p in shared]),
                "heads": [
                    (found[p].clone(), plain)
                    for p, plain in zip(every, ordinary, strict=True)
                    if id(p) not in ids
                ],
                "tasks": [name for one in parts.values() for name in one],
            }
        )
        return found


class NotingBalanced(Noting, BalancedPPOLearner):
    pass


class NotingBoth(Noting, ChainBalancedPPOLearner):
    pass


def of_agents(
    learner_class: type[Any], options: Mapping[str, Any] | None = None, **rest: Any
) -> Any:
    """One module for three agents, each a task."""
    options = {"balanced_decay": 0.0, "balanced_ridge": 1e-10, **(options or {})}
    connectors = [TaskFromAgent(AGENTS)]
    return ppo(learner_class, options, modules={"firm": {}}, connectors=connectors, **rest)


def train(learner: Any, agents: tuple[str, ...] = AGENTS, minibatch: int = 32) -> dict[str, Any]:
    results = learner.update(
        episodes=[
            episode(24, seed, module_id="firm", agent_id=agent) for seed, agent in enumerate(agents)
        ],
        num_epochs=2,
        minibatch_size=minibatch,
        shuffle_batch_per_epoch=True,
        timesteps={},
    )
    return {
        name: float(stats.peek())
        for name, stats in results["__all_modules__"].items()
        if name.startswith("balanced_")
    }


def balanced_step(rows: Tensor) -> Tensor:
    """By hand: the shortest vector in the hull of unit gradients, at the mean length."""
    from policies.balanced.baselines import shortest_weights

    lengths = rows.norm(dim=1, keepdim=True)
    units = (rows / lengths).double().numpy()
    return lengths.mean() * torch.tensor(shortest_weights(units) @ units, dtype=rows.dtype)


def test_agents_that_share_a_trunk_each_get_a_share_of_its_step() -> None:
    learner = of_agents(NotingBalanced)
    train(learner)
    assert any(one["tasks"] == ["0", "1", "2"] for one in learner.noted)
    for one in learner.noted:
        assert torch.allclose(one["step"], balanced_step(one["rows"]), atol=1e-4)
        assert one["heads"]
        for found, ordinary in one["heads"]:
            assert torch.allclose(found, ordinary, atol=1e-6)


def test_an_agent_without_data_is_no_task() -> None:
    learner = of_agents(NotingBalanced)
    train(learner, ("cafe", "farmer"))
    assert {name for one in learner.noted for name in one["tasks"]} == {"0", "2"}


def test_one_task_is_the_parent_to_the_bit() -> None:
    found = []
    for learner_class in (PPOTorchLearner, BalancedPPOLearner):
        learner = ppo(learner_class)
        rollout(learner)
        found.append(parameters(learner))
    assert torch.equal(*found)


def test_modules_that_share_an_encoder_are_tasks_and_one_optimiser_moves_it() -> None:
    learner = ppo(
        NotingBalanced,
        {"balanced_decay": 0.0, "balanced_ridge": 1e-10},
        modules={"a": {}, "b": {}},
        multi_module=OneEncoder,
    )
    shared = learner.shared_parameters(["a", "b"])
    assert {id(p) for p in shared} == {id(p) for p in learner.module["b"].encoder.parameters()}
    for parameter in shared:
        owners = [
            name
            for name, optimiser in learner._named_optimizers.items()
            if any(p is parameter for group in optimiser.param_groups for p in group["params"])
        ]
        assert len(owners) == 1
    before = [p.detach().clone() for p in shared]
    learner.update(
        episodes=[episode(30, seed, module_id=name) for seed, name in enumerate("ab")],
        num_epochs=1,
        minibatch_size=31,
        shuffle_batch_per_epoch=True,
        timesteps={},
    )
    one = learner.noted[0]
    assert len(one["rows"]) == 2
    assert torch.allclose(one["step"], balanced_step(one["rows"]), atol=1e-4)
    assert all(not torch.equal(a, p) for a, p in zip(before, shared, strict=True))


def test_chain_pushes_beside_the_balanced_step() -> None:
    learner = of_agents(NotingBoth, {"chain_lambda": 20.0})
    train(learner)
    assert float(learner.noted[0]["extra"].abs().sum()) == 0.0  # no step before the first
    for one in learner.noted[1:]:
        assert float(one["extra"].abs().sum()) > 0
        expected = balanced_step(one["rows"]) + one["extra"]
        assert torch.allclose(one["step"], expected, atol=1e-4)


def test_rates_are_logged() -> None:
    logged = train(of_agents(BalancedPPOLearner))
    assert 0 <= logged["balanced_rate"] <= 1
    assert 1 <= logged["balanced_binding"] <= 3
    assert {f"balanced_rate_firm/{n}" for n in range(3)} <= set(logged)
    assert logged["balanced_frozen"] == 0


def test_noise_is_estimated_from_halves_and_may_freeze_a_task() -> None:
    options = {"balanced_noise_every": 1, "balanced_noise_factor": 1e-6}
    learner = of_agents(BalancedPPOLearner, options)
    train(learner)
    noise = learner.balancer.save()["noise"]
    assert set(noise) == {"firm/0", "firm/1", "firm/2"}
    assert min(noise.values()) > 0
    learner.balancer.heard(dict.fromkeys(["firm/0"], 1e9))
    assert train(learner)["balanced_frozen"] > 0


def test_where_all_gradients_are_noise_none_is_set_aside() -> None:
    learner = of_agents(
        BalancedPPOLearner, {"balanced_noise_every": 1, "balanced_noise_factor": 1e6}
    )
    assert train(learner)["balanced_frozen"] == 0


def test_halves_share_no_step_and_leave_none_out() -> None:
    mask = torch.tensor([True, True, False, True])
    one, other = halves({"loss_mask": mask}) or ({}, {})
    assert torch.equal(one["loss_mask"] | other["loss_mask"], mask)
    assert not (one["loss_mask"] & other["loss_mask"]).any()
    assert halves({"loss_mask": torch.tensor([True, False])}) is None
    assert halves({}) is None


def test_objectives_are_tasks_by_their_own_advantages() -> None:
    learner = of_agents(BalancedPPOLearner, {"balanced_tasks": "objectives"})
    with pytest.raises(HanseError, match="the batch has no 'vector_advantages'"):
        train(learner)
    given: list[Any] = []

    def parent(self: Any, *, batch: dict[str, Any], **rest: Any) -> Any:
        given.append(batch["advantages"])
        return batch["advantages"].sum()

    vector = torch.tensor([[1.0, 10.0], [3.0, 30.0], [500.0, 500.0]])
    mask = torch.tensor([True, True, False])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PPOTorchLearner, "compute_loss_for_module", parent)
        parts = learner.task_losses(
            module_id="firm",
            config=None,
            batch={"vector_advantages": vector, "loss_mask": mask, "advantages": vector[:, 0]},
            fwd_out={},
        )
    assert set(parts) == {"0", "1"}
    for advantages in given:
        assert advantages[:2].tolist() == pytest.approx([-1.0, 1.0])


def test_a_state_comes_back() -> None:
    learner = of_agents(BalancedPPOLearner, {"balanced_decay": 0.9})
    train(learner)
    again = of_agents(BalancedPPOLearner, {"balanced_decay": 0.9})
    again.set_state(learner.get_state())
    assert again.get_state()["balanced"] == learner.get_state()["balanced"]
    assert torch.equal(parameters(again, "firm"), parameters(learner, "firm"))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"balanced_mood": 1}, "'balanced_mood' is unknown; known are balanced_column"),
        ({"balanced_mode": "secant"}, "'balanced_mode' is 'secant'"),
        ({"balanced_decay": 1.0}, "'balanced_decay' is 1.0: Input should be less than 1"),
    ],
)
def test_what_cannot_be_is_refused_with_its_key(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(HanseError, match=complaint):
        of_agents(BalancedPPOLearner, options)


def test_a_module_without_a_trunk_of_that_name_is_refused() -> None:
    learner = of_agents(BalancedPPOLearner, {"balanced_shared": ["torso"]})
    with pytest.raises(HanseError, match=r"module firm: no parameter's name begins .*torso"):
        train(learner)


def test_an_agent_that_was_not_listed_is_refused() -> None:
    with pytest.raises(KeyError, match="agent 'miller' is not among those"):
        train(of_agents(BalancedPPOLearner), ("cafe", "miller"))
