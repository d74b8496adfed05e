"""CHAIN in whole RLlib algorithms: the smoke test of the training layer, and its checkpoints."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

from ray.rllib.algorithms.algorithm import Algorithm  # noqa: E402
from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402

from policies.chain.learner import announce_regime_change  # noqa: E402
from policies.chain.ppo import ChainPPOLearner  # noqa: E402
from policies.chain.study import MODES, run_mode  # noqa: E402
from tests.actors.ray_session import ray_session  # noqa: E402, F401
from tests.policies.chain.learning import parameters  # noqa: E402
from tests.policies.chain.two_agents import LENGTH, TwoAgents, TwoInTurn  # noqa: E402

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_session")]


def algorithm(env: Any, steps: int = 512) -> Any:
    for name in ("ray.rllib", "ray._common.deprecation"):
        logging.getLogger(name).setLevel(logging.ERROR)
    config = (
        PPOConfig()
        .environment(env)
        .env_runners(num_env_runners=0, batch_mode="complete_episodes")
        .multi_agent(
            policies={"a", "b"}, policy_mapping_fn=lambda agent, episode, **rest: str(agent)
        )
        .training(
            lr=3e-3,
            lambda_=0.95,
            train_batch_size_per_learner=steps,
            minibatch_size=128,
            num_epochs=4,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .rl_module(model_config={"fcnet_hiddens": [32], "fcnet_activation": "tanh"})
        .learners(
            num_learners=0,
            learner_class=ChainPPOLearner,
            learner_config_dict={"chain_monitor_every": 4, "chain_warm_up": 1},
        )
        .debugging(seed=0, log_level="ERROR")
    )
    return config.build_algo()


def learner_of(algorithm: Any) -> Any:
    return algorithm.learner_group._learner


def test_two_modules_train_smoothly_and_come_back_from_a_checkpoint(tmp_path: Path) -> None:
    began = time.process_time()
    built = algorithm(TwoAgents)
    try:
        before = {name: parameters(learner_of(built), name) for name in "ab"}
        for _ in range(3):
            result = built.train()
            for name in "ab":
                logged = result["learners"][name]
                assert torch.isfinite(torch.tensor(float(logged["total_loss"])))
                assert float(logged["chain_policy_churn"]) > 0
        assert time.process_time() - began < 25
        for name in "ab":
            assert not torch.equal(before[name], parameters(learner_of(built), name))
        saved = {name: learner_of(built).chain(name).save() for name in "ab"}
        assert saved["a"]["terms"]["policy"]["value"] != 1.0
        built.save_to_path(str(tmp_path / "checkpoint"))
        after = {name: parameters(learner_of(built), name) for name in "ab"}
    finally:
        built.stop()
    again = Algorithm.from_checkpoint(str(tmp_path / "checkpoint"))
    try:
        for name in "ab":
            assert torch.equal(after[name], parameters(learner_of(again), name))
            assert learner_of(again).chain(name).save() == saved[name]
        again.train()
        announce_regime_change(again, "a")
        assert learner_of(again).chain("a").terms["policy"].weight == 1.0
        assert learner_of(again).chain("b").terms["policy"].weight != 1.0
    finally:
        again.stop()


def test_agents_in_turn_train() -> None:
    built = algorithm(TwoInTurn, steps=8 * LENGTH)
    try:
        logged = built.train()["env_runners"]
        after = [built.train()["learners"][name]["chain_churn_loss"] for name in "ab"]
    finally:
        built.stop()
    assert logged["episode_len_mean"] == 2 * LENGTH  # a round takes two turns
    assert set(logged["agent_episode_returns_mean"]) == {"a", "b"}
    assert min(after) > 0


def test_the_study_measures_what_its_table_shows() -> None:
    run = run_mode(MODES["CHAIN auto 0.1"], seed=0, tasks=2, iterations=1)
    assert len(run.returns) == len(run.weights) == 2
    assert run.weights == (1.0, 1.0)
    assert run.policy_churn > 0
    assert 0 <= run.greedy_flip <= 1
    assert run.mean_return > 5
