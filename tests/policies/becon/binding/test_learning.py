import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="learning needs RLlib: make rl")

import ray
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from policies.becon.acting import BeconPolicy
from policies.becon.binding.belief_observation import BeliefObservation
from policies.becon.binding.columns import EXCESS, LABELS
from policies.becon.binding.config import becon_config, check_cadence
from policies.becon.binding.learner import BeconLearner, read_settings, sequences
from policies.becon.binding.module import ACTED, BeconModule
from policies.becon.losses import LossSettings, total_loss
from policies.becon.observation import Exposed, Feedback
from policies.chain.ppo import ChainPPOMixin
from policies.environments.desk_env import TradeoffDeskEnv
from policies.environments.tradeoff_desk import ACCUMULATING
from services.errors import HanseError
from tests.policies.becon.agents import small_form

pytestmark = pytest.mark.ray
DESK = replace(ACCUMULATING, length=15)
POLICY = "default_policy"


class ChainBecon(ChainPPOMixin, BeconLearner):  # type: ignore[misc]
    """BECON trained with CHAIN."""


class Keeping(BeconLearner):  # type: ignore[misc]
    """Keeps the last whole rollout for tests."""

    def _make_batch_if_necessary(self, training_data: Any) -> Any:
        batch = super()._make_batch_if_necessary(training_data)
        self.rollout = dict(batch.policy_batches[POLICY])
        return batch


@pytest.fixture(scope="module", autouse=True)
def runtime() -> Iterator[None]:
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    if not ray.is_initialized():
        ray.init(
            num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR
        )
    yield
    ray.shutdown()


def make() -> TradeoffDeskEnv:
    return TradeoffDeskEnv(DESK, corruption=("clean", "severe"))


def built(
    window: int = 0,
    learner: type[BeconLearner] = Keeping,
    settings: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    config = becon_config(
        make,
        small_form(),
        window=window,
        sequence=16,
        settings=settings,
        learner_class=learner,
        **options,
    )
    config = config.training(
        train_batch_size_per_learner=120, minibatch_size=64, num_epochs=2
    ).env_runners(num_envs_per_env_runner=4)
    return config.debugging(seed=0, log_level="ERROR").build_algo()


def learner_of(algorithm: Any) -> Any:
    return algorithm.learner_group._learner


def weights(algorithm: Any) -> dict[str, torch.Tensor]:
    state = learner_of(algorithm).module[POLICY].state_dict()
    return {name: value.clone() for name, value in state.items()}


@dataclass(frozen=True)
class Trained:
    """What one iteration came to."""

    before: dict[str, torch.Tensor]
    after: dict[str, torch.Tensor]
    result: dict[str, Any]
    rollout: dict[str, Any]
    module: BeconModule


@pytest.fixture(scope="module", params=[0, 4], ids=["with a state", "stateless"])
def trained(request: pytest.FixtureRequest) -> Trained:
    algorithm = built(request.param)
    try:
        before = weights(algorithm)
        result = algorithm.train()["learners"][POLICY]
        learner = learner_of(algorithm)
        module = learner.module[POLICY].unwrapped()
        return Trained(before, weights(algorithm), result, learner.rollout, module)
    finally:
        algorithm.stop()


def test_an_iteration_moves_every_part_and_stays_finite(trained: Trained) -> None:
    moved = {n for n, value in trained.after.items() if not torch.equal(value, trained.before[n])}
    for part in ("policy", "critic", "multiplier", "estimator.encoder", "estimator.gates", "scale"):
        assert any(name.startswith(f"agent.{part}") for name in moved), part
    assert all(torch.isfinite(value).all() for value in trained.after.values())
    for name in ("policy_loss", "vf_loss", "becon_belief_loss", "becon_lambda", "becon_gate_w"):
        assert np.isfinite(float(trained.result[name])), name


def test_labels_are_those_of_the_step_and_what_was_acted_on_is_stored(trained: Trained) -> None:
    batch, module = trained.rollout, trained.module
    real = batch[Columns.LOSS_MASK].bool()
    labels = batch[LABELS]
    assert labels[real][:, :3].sum(dim=-1).tolist() == pytest.approx([1.0] * int(real.sum()))
    assert not labels[~real].any()
    plain = module.acted(batch).plain[real]
    assert plain[:, :3].sum(dim=-1).tolist() == pytest.approx([1.0] * int(real.sum()))
    clean = real & (labels[..., 4] == 0)
    exposed = module.last_frame(batch)[..., module.layout.part("exposed")]
    assert bool(clean.any())
    assert torch.allclose(exposed[clean][:, 3], labels[clean][:, 3], atol=0.05)


def test_advantages_are_scalarised_by_what_was_acted_on_and_standardised(trained: Trained) -> None:
    batch = trained.rollout
    real, acted = batch[Columns.LOSS_MASK].bool(), trained.module.acted(batch)
    vector = batch["vector_advantages"]
    scalar = (acted.plain[..., :3] * vector[..., :3]).sum(-1) - acted.price * vector[..., 3]
    scalar = (scalar / (1 + acted.price))[real]
    by_hand = (scalar - scalar.mean()) / scalar.std(unbiased=False)
    assert torch.allclose(batch[Columns.ADVANTAGES][real], by_hand, atol=1e-3)


def test_what_padding_holds_does_not_change_the_loss(trained: Trained) -> None:
    batch, module = trained.rollout, trained.module
    pad = ~batch[Columns.LOSS_MASK].bool()
    assert bool(pad.any())
    losses = []
    for filler in (0.0, 1e3):
        filled = dict(batch)
        for name in (LABELS, ACTED, Columns.ADVANTAGES, Columns.VALUE_TARGETS, EXCESS):
            values = batch[name].clone()
            values[pad] = filler
            filled[name] = values
        generator = torch.Generator().manual_seed(0)
        made = sequences(module, filled, 3, generator)
        losses.append(float(total_loss(module.agent, made, LossSettings())[0].detach()))
    assert losses[0] == losses[1]


def test_a_checkpoint_restores_networks_multiplier_calibration_and_random_numbers(
    tmp_path: Path,
) -> None:
    algorithm = built(settings={"becon_calibrate_every": 1})
    try:
        algorithm.train()
        algorithm.save_to_path(tmp_path / "checkpoint")
        before, learner = weights(algorithm), learner_of(algorithm)
        kept = learner.generator.get_state()
    finally:
        algorithm.stop()
    assert not torch.equal(before["agent.estimator.calibration"], torch.ones(2))
    again = built(settings={"becon_calibrate_every": 1})
    try:
        again.restore_from_path(tmp_path / "checkpoint")
        after, learner = weights(again), learner_of(again)
        assert all(torch.equal(before[name], after[name]) for name in before)
        assert torch.equal(learner.generator.get_state(), kept)
        assert learner.iterations_done == 1
        again.train()
    finally:
        again.stop()


def test_chain_composes_as_a_mix_in() -> None:
    algorithm = built(learner=ChainBecon, settings={"chain_lambda": 1.0})
    try:
        algorithm.train()
        result = algorithm.train()["learners"][POLICY]
        told = {name for name in result if name.startswith("chain_")}
        after = weights(algorithm)
    finally:
        algorithm.stop()
    assert told
    assert "becon_belief_loss" in result
    assert all(torch.isfinite(value).all() for value in after.values())


def test_without_labels_training_goes_on_from_feedback() -> None:
    algorithm = built(settings={"becon_labels": False, "becon_budget_from": "context"})
    try:
        before = weights(algorithm)
        result = algorithm.train()["learners"][POLICY]
        after = weights(algorithm)
        assert LABELS not in learner_of(algorithm).rollout
    finally:
        algorithm.stop()
    assert "becon_gates_loss" not in result
    gates, heads = "agent.estimator.gates.steepness", "agent.estimator.heads.outer"
    assert torch.equal(before[gates], after[gates])
    assert not torch.equal(before[heads], after[heads])


def test_a_curriculum_makes_descriptors_perfect_only_at_the_start() -> None:
    algorithm = built(iterations=4)
    shares = []
    try:
        for _ in range(3):
            envs = algorithm.env_runner.env.unwrapped.envs
            shares.append({env.get_wrapper_attr("perfect_share") for env in envs})
            algorithm.train()
    finally:
        algorithm.stop()
    assert shares == [{0.5}, {0.5}, {0.0}]


class TwoDesks(MultiAgentEnv):  # type: ignore[misc]
    """A router and a controller, each at a desk of its own; the router's is half as long."""

    def __init__(self, config: Any = None) -> None:
        super().__init__()
        self.desks = {
            name: BeliefObservation(TradeoffDeskEnv(replace(DESK, length=length)))
            for name, length in (("router", 7), ("controller", 15))
        }
        self.possible_agents = list(self.desks)
        self.agents = list(self.desks)
        self.observation_spaces = {n: desk.observation_space for n, desk in self.desks.items()}
        self.action_spaces = {n: desk.action_space for n, desk in self.desks.items()}

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, Any]:
        self.agents = list(self.desks)
        made = {name: desk.reset(seed=seed) for name, desk in self.desks.items()}
        return {n: seen for n, (seen, _) in made.items()}, {
            n: info for n, (_, info) in made.items()
        }

    def step(self, actions: Any) -> Any:
        made = {name: self.desks[name].step(action) for name, action in actions.items()}
        seen, rewards, ended, cut, infos = (
            {name: each[place] for name, each in made.items()} for place in range(5)
        )
        self.agents = [name for name in self.agents if not ended.get(name, False)]
        over = not self.agents
        return seen, rewards, ended | {"__all__": over}, cut | {"__all__": False}, infos


def test_a_router_and_a_controller_learn_side_by_side() -> None:
    spec = becon_config(make, small_form(), window=0, sequence=16).rl_module_spec
    config = (
        becon_config(make, small_form(), window=0, sequence=16)
        .environment(TwoDesks, disable_env_checking=True)
        .multi_agent(
            policies={"router", "controller"},
            policy_mapping_fn=lambda agent, *rest, **more: agent,
        )
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={
                    name: RLModuleSpec(module_class=BeconModule, model_config=spec.model_config)
                    for name in ("router", "controller")
                }
            )
        )
        .training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1)
        .env_runners(num_envs_per_env_runner=1)
        .debugging(seed=0, log_level="ERROR")
    )
    algorithm = config.build_algo()
    try:
        learner = learner_of(algorithm)
        before = {n: learner.module[n].agent.policy[0].weight.clone() for n in TwoDesks().desks}
        results = algorithm.train()["learners"]
        for name, weight in before.items():
            assert not torch.equal(learner.module[name].agent.policy[0].weight, weight)
            assert np.isfinite(float(results[name]["becon_belief_loss"]))
    finally:
        algorithm.stop()


def module(window: int) -> BeconModule:
    env = BeliefObservation(make(), max(window, 1))
    spec = becon_config(make, small_form(), window=window).rl_module_spec
    made = BeconModule(
        observation_space=env.observation_space,
        action_space=env.action_space,
        model_config=spec.model_config,
    )
    with torch.no_grad():
        made.agent.policy[-1].weight.normal_()
    return made


def test_labels_in_a_batch_change_nothing_where_a_policy_acts() -> None:
    acting = module(0)
    seen = torch.randn(1, 3, acting.layout.width)
    batch = {Columns.OBS: seen, Columns.STATE_IN: {"h": torch.zeros(1, 8)}}
    told = {**batch, LABELS: torch.full((1, 3, 5), 9.0), "infos": [{"budget": 9.0}]}
    for forward in (acting.forward_inference, acting.forward_exploration):
        one, other = forward(dict(batch)), forward(told)
        for name in (Columns.ACTION_DIST_INPUTS, ACTED):
            assert torch.equal(one[name], other[name])


def test_a_stateless_module_decides_by_its_window_alone() -> None:
    acting = module(4)
    assert not acting.is_stateful()
    seen = torch.randn(5, 4 * acting.layout.width)
    whole = acting.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
    single = acting.forward_inference({Columns.OBS: seen[2:3]})[Columns.ACTION_DIST_INPUTS]
    assert torch.allclose(whole[2:3], single, atol=1e-6)
    assert acting.compute_values({Columns.OBS: seen}).shape == (5, 4)


@pytest.mark.parametrize("window", [0, 4])
def test_what_was_trained_on_rllib_decides_alike_without_it(window: int) -> None:
    acting, env = module(window), BeliefObservation(make(), max(window, 1))
    policy = BeconPolicy(acting.agent, 1, window)
    seen, info = env.reset(seed=3)
    state, feedback = torch.zeros(1, 8), None
    for _ in range(6):
        batch: dict[str, Any] = {Columns.OBS: torch.as_tensor(seen)[None]}
        if not window:
            batch = {
                Columns.OBS: torch.as_tensor(seen)[None, None],
                Columns.STATE_IN: {"h": state},
            }
        out = acting.forward_inference(batch)
        state = out[Columns.STATE_OUT]["h"] if not window else state
        likeliest = int(out[Columns.ACTION_DIST_INPUTS].reshape(-1).argmax())
        exposed = Exposed(
            info["exposed_preference"][None],
            np.array([info["exposed_budget"]]),
            np.array([info["age"]]),
            np.array([not info["missing"]]),
        )
        features = seen[-env.layout.width :][env.layout.part("features")][None]
        decided = policy.decide(features, exposed, feedback)
        assert int(decided.action[0, 0]) == likeliest
        packed = out[ACTED].reshape(1, -1)
        assert torch.allclose(
            torch.as_tensor(decided.preference), packed[:, 6:9].detach(), atol=1e-6
        )
        seen, _, _, _, info = env.step(likeliest)
        feedback = Feedback(
            np.array([likeliest]),
            info["vector_reward"][None],
            np.array([info["cost"]]),
            np.array([info["feedback"]]),
            np.array([info["alarm"]]),
        )


def test_a_saved_module_decides_as_before(tmp_path: Path) -> None:
    acting = module(0)
    acting.save_to_path(tmp_path / "module")
    again = RLModule.from_checkpoint(tmp_path / "module")
    batch = {
        Columns.OBS: torch.randn(1, 3, acting.layout.width),
        Columns.STATE_IN: {"h": torch.zeros(1, 8)},
    }
    assert torch.equal(
        acting.forward_inference(batch)[Columns.ACTION_DIST_INPUTS],
        again.forward_inference(batch)[Columns.ACTION_DIST_INPUTS],
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"becon_gate": 1}, "there is no becon_gate; allowed: becon_estimator_rate"),
        ({"becon_constraint": "soft"}, "becon_constraint = 'soft'; allowed: hinge, mean"),
        ({"becon_labels": False}, "without becon_labels no true budget is known"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(HanseError, match=message):
        read_settings(given)


def test_mixed_cadence_with_cut_fragments_is_refused_for_modules_with_a_state() -> None:
    cut = becon_config(make, small_form(), window=0).env_runners(batch_mode="truncate_episodes")
    with pytest.raises(HanseError, match="60205"):
        check_cadence(cut, mixed_cadence=True)
    check_cadence(cut, mixed_cadence=False)
    check_cadence(becon_config(make, small_form(), window=0), mixed_cadence=True)
