"""Concave PPO with RLlib's runners, on the smallest world there is."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

from ray.rllib.algorithms.ppo import PPO  # noqa: E402

from policies.concave.algorithm import (  # noqa: E402
    ConcavePPO,
    ConcavePPOConfig,
    measure_weights,
    play_here,
)
from policies.concave.utilities import TargetShortfall  # noqa: E402
from tests.actors.ray_session import ray_session  # noqa: E402
from tests.policies.concave.learning import ALONE, ARMS, Arms, parameters  # noqa: E402

__all__ = ["ray_session"]

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_session")]

SHORTFALL = TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0))


def configured(algo_class: Any = None, **settings: Any) -> ConcavePPOConfig:
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    config = (
        ConcavePPOConfig(algo_class)
        .environment(Arms, env_config={"noise": 0.1})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8, batch_mode="complete_episodes")
        .training(
            train_batch_size_per_learner=256,
            minibatch_size=64,
            num_epochs=4,
            lr=3e-3,
            gamma=1.0,
            lambda_=1.0,
            use_kl_loss=False,
        )
        .debugging(seed=0)
    )
    made: ConcavePPOConfig = config.concave(
        2,
        model={"fcnet_hiddens": [16]},
        **{"scalarisation": SHORTFALL, "levels": 4, "repetitions": 2, "returns": "mean"} | settings,
    )
    return made


@pytest.fixture
def algorithm() -> Iterator[Any]:
    torch.manual_seed(0)
    made = configured().build_algo()
    yield made
    made.stop()


def expected(made: Any) -> np.ndarray:
    """J of the policy, exact."""
    module = made.get_module(ALONE)
    seen = torch.tensor([[0.0, 0.0], [0.5, 0.0]])
    with torch.no_grad():
        chance = torch.softmax(module.forward_inference({"obs": seen})["action_dist_inputs"], -1)
    return np.asarray(chance.numpy().mean(axis=0) @ ARMS)


def test_it_raises_the_utility_and_goes_on_from_a_checkpoint(
    algorithm: Any, tmp_path: Path
) -> None:
    assert isinstance(algorithm, ConcavePPO)
    spent = 0.0
    for _ in range(12):
        logged = algorithm.train()["learners"][ALONE]
        spent += logged["concave_episodes_spent"]
        assert 1 <= logged["concave_level_mean"] <= 4
    assert logged["concave_episodes_spent_lifetime"] == spent
    # From .415 for the uniform policy; the best is .543, and the first reward alone ends at -.96.
    assert SHORTFALL.value(expected(algorithm)) > 0.48
    algorithm.save_to_path(str(tmp_path / "kept"))
    again = ConcavePPO.from_checkpoint(str(tmp_path / "kept"))
    try:
        ours, theirs = (each.learner_group._learner for each in (algorithm, again))
        assert theirs.concave[ALONE].save() == ours.concave[ALONE].save()
        assert theirs.concave[ALONE].number == 12
        assert torch.equal(parameters(theirs), parameters(ours))
        assert again.train()["learners"][ALONE]["concave_episodes_spent_lifetime"] > spent
    finally:
        again.stop()


def test_an_episode_for_omega_depends_on_its_number_alone(algorithm: Any) -> None:
    measure_weights(algorithm)
    runner = algorithm._measuring.local_env_runner

    def rewards(numbers: list[int]) -> list[Any]:
        episodes = play_here(runner, numbers, (5, 1))
        return [
            [info["vector_reward"].tolist() for info in one.get_infos()[1:]] for one in episodes
        ]

    before, state = torch.get_rng_state(), np.random.get_state(legacy=False)["state"]["key"]
    together = rewards([0, 1, 2, 3])
    assert rewards([2]) + rewards([0]) == [together[2], together[0]]
    assert len({str(each) for each in together}) == 4
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state(legacy=False)["state"]["key"] == state).all()


def test_episodes_for_omega_are_those_of_the_present_policy(algorithm: Any) -> None:
    measure_weights(algorithm)
    learner = algorithm.learner_group._learner
    with torch.no_grad():
        bias = list(learner.module[ALONE].pi.parameters())[-1]
        bias[2] += 50.0
    measure_weights(algorithm)
    mean = learner.concave[ALONE].seen[0].f.mean
    assert mean == pytest.approx(ARMS[2], abs=0.15)


def test_rllibs_own_ppo_trains_when_the_rollout_gives_omega() -> None:
    made = configured(
        PPO, scalarisation={"utility": "soft_min", "beta": 5.0}, returns="discounted"
    ).build_algo()
    try:
        logged = made.train()["learners"][ALONE]
        assert logged["concave_episodes_spent"] == 0
        assert logged["concave_omega_0"] + logged["concave_omega_1"] == pytest.approx(1)
        assert measure_weights(made) == 0
    finally:
        made.stop()
