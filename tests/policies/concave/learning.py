"""A little world for concave PPO: a bandit with two rewards, as an environment of gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

SEEN = gym.spaces.Box(-1, 1, (2,), np.float32)
ARMS = np.array([[1.0, 0.0], [0.75, 0.45], [0.4, 0.75], [0.0, 0.9]])


class Arms(gym.Env[Any, Any]):
    """Two pulls an episode; the reward of gymnasium is the first one, which is the wrong one."""

    observation_space = SEEN
    action_space = gym.spaces.Discrete(4)

    def __init__(self, config: Any = None) -> None:
        self.noise = float((config or {}).get("noise", 0.1))
        self.pulled = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.pulled = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.pulled += 1
        reward = ARMS[int(action)] + self.noise * self.np_random.normal(size=2)
        seen = np.array([self.pulled, 0], np.float32) / 2
        done = self.pulled == 2
        return seen, float(reward[0]), done, False, {"vector_reward": reward}


ALONE = "default_policy"


def learner(
    options: dict[str, Any],
    *,
    learner_class: Any = None,
    objectives: int = 2,
    chunk: int = 0,
    modules: dict[str, dict[str, Any]] | None = None,
    **training: Any,
) -> Any:
    """A built learner without an algorithm.

    Args:
        options: `learner_config_dict`.
        learner_class: None: `ConcavePPOLearner`.
        objectives: M.
        chunk: 0: no memory; otherwise an LSTM and the length of its chunks.
        modules: Names and options of several modules; None: one.
        training: Settings of PPO.
    """
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    from policies.concave.algorithm import vector_reward
    from policies.concave.module import VectorPPOModule
    from policies.concave.ppo import ConcavePPOLearner
    from policies.training.vector_gae import REWARDS, ColumnFromInfo

    torch.manual_seed(0)
    np.random.seed(0)
    network: dict[str, Any] = {"fcnet_hiddens": [8], "objectives": objectives}
    if chunk:
        network |= {"use_lstm": True, "lstm_cell_size": 4, "max_seq_len": chunk}

    def spec() -> Any:
        return RLModuleSpec(VectorPPOModule, SEEN, Arms.action_space, model_config=network)

    several = MultiRLModuleSpec(rl_module_specs={name: spec() for name in modules or ()})
    config = (
        PPOConfig()
        .environment(observation_space=SEEN, action_space=Arms.action_space)
        .training(**{"lr": 1e-2, "gamma": 0.9, "lambda_": 0.8, **training})
        .rl_module(rl_module_spec=several if modules else spec())
        .learners(
            learner_class=learner_class or ConcavePPOLearner,
            learner_config_dict=options,
            learner_connector=lambda observations, actions: [
                ColumnFromInfo(REWARDS, vector_reward, width=objectives)
            ],
        )
        .debugging(seed=0)
    )
    if modules is None:
        return config.build_learner()
    config.multi_agent(
        policies=set(modules),
        policy_mapping_fn=lambda agent, episode, **rest: agent,
        algorithm_config_overrides_per_module={
            name: {"learner_config_dict": {**options, **own}} for name, own in modules.items()
        },
    )
    return config.build_learner(spaces=dict.fromkeys(modules, (SEEN, Arms.action_space)))


def episode(
    length: int, seed: int = 0, *, end: bool = True, cell: int = 0, module_id: str | None = None
) -> Any:
    """A recording of random behaviour, with vector rewards."""
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode

    rng = np.random.default_rng([seed, length])
    extra: dict[str, Any] = {
        "action_logp": list(np.full(length, -1.386, np.float32)),
        "action_dist_inputs": list(np.zeros((length, 4), np.float32)),
    }
    if cell:
        zero = np.zeros((1, cell), np.float32)  # layers first
        extra["state_out"] = [
            {"actor": {"h": zero, "c": zero}, "critic": {"h": zero, "c": zero}}
        ] * length
    rewards = rng.uniform(0, 1, (length, 2))
    return SingleAgentEpisode(
        observations=list(rng.normal(size=(length + 1, 2)).astype(np.float32)),
        actions=list(rng.integers(4, size=length)),
        rewards=rewards[:, 0].tolist(),
        infos=[{}, *({"vector_reward": each} for each in rewards)],
        extra_model_outputs=extra,
        terminated=end,
        len_lookback_buffer=0,
        observation_space=SEEN,
        action_space=Arms.action_space,
        agent_id=module_id,
        module_id=module_id,
    ).to_numpy()


def rollout(made: Any, episodes: list[Any], *, minibatch: int = 32) -> dict[str, Any]:
    """Trains on a rollout, twice through; answers what was logged, by module."""
    results = made.update(
        episodes=episodes,
        num_epochs=2,
        minibatch_size=minibatch,
        shuffle_batch_per_epoch=True,
        timesteps={},
    )
    return {
        module_id: {name: float(stats.peek()) for name, stats in logged.items()}
        for module_id, logged in results.items()
        if module_id != "__all_modules__"
    }


def parameters(made: Any, module_id: str = ALONE) -> Any:
    """All parameters of a module in one row."""
    import torch

    return torch.cat([p.detach().reshape(-1) for p in made.module[module_id].parameters()])
