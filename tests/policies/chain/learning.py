"""Small RLlib learners and what they learn from, without Ray and without an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.single_agent_episode import SingleAgentEpisode

SEEN = gym.spaces.Box(-1, 1, (3,), np.float32)
CHOICE: Any = gym.spaces.Discrete(4)
ALONE = "default_policy"


def ppo(
    learner_class: type[Any],
    options: Mapping[str, Any] | None = None,
    *,
    actions: Any = CHOICE,
    modules: Mapping[str, Mapping[str, Any]] | None = None,
    chunk: int = 0,
    connectors: Sequence[Any] = (),
    multi_module: Any = None,
) -> Any:
    """A built PPO learner.

    Args:
        learner_class: Its class.
        options: `learner_config_dict`.
        actions: The action space of every module.
        modules: Module names and the options each has of its own; None: one module.
        chunk: 0: no memory; otherwise an LSTM and the length of its chunks.
        connectors: Pieces before the learner's own.
        multi_module: The class that holds all modules, if they share anything.
    """
    torch.manual_seed(0)
    np.random.seed(0)
    network: dict[str, Any] = {"fcnet_hiddens": [8], "fcnet_activation": "tanh"}
    if chunk:
        network |= {"use_lstm": True, "lstm_cell_size": 4, "max_seq_len": chunk}
    config = (
        PPOConfig()
        .environment(observation_space=SEEN, action_space=actions)
        .training(lr=1e-2, use_kl_loss=False, entropy_coeff=0.01, grad_clip=0.5)
        .rl_module(model_config=network)
        .learners(learner_class=learner_class, learner_config_dict=dict(options or {}))
        .debugging(seed=0)
    )
    if connectors:
        config.learners(learner_connector=lambda *spaces: list(connectors))
    if modules is None:
        return config.build_learner()
    config.multi_agent(
        policies=set(modules),
        policy_mapping_fn=lambda agent, episode, **rest: agent,
        algorithm_config_overrides_per_module={
            name: {"learner_config_dict": {**(options or {}), **own}}
            for name, own in modules.items()
        },
    )
    if multi_module is not None:
        spec = RLModuleSpec(observation_space=SEEN, action_space=actions, model_config=network)
        config.rl_module(
            rl_module_spec=MultiRLModuleSpec(
                multi_rl_module_class=multi_module, rl_module_specs=dict.fromkeys(modules, spec)
            )
        )
    return config.build_learner(spaces=dict.fromkeys(modules, (SEEN, actions)))


def outputs_of(actions: Any) -> int:
    """How many numbers a policy's output has."""
    if isinstance(actions, gym.spaces.Discrete):
        return int(actions.n)
    if isinstance(actions, gym.spaces.MultiDiscrete):
        return int(actions.nvec.sum())
    return 2 * int(np.prod(actions.shape))


def episode(
    length: int,
    seed: int = 0,
    *,
    actions: Any = CHOICE,
    end: bool = True,
    cell: int = 0,
    module_id: str | None = None,
    agent_id: str | None = None,
) -> Any:
    """A recording of random behaviour."""
    rng = np.random.default_rng([seed, length])
    actions.seed(seed)
    extra: dict[str, Any] = {
        "action_logp": list(np.full(length, -1.386, np.float32)),
        "action_dist_inputs": list(np.zeros((length, outputs_of(actions)), np.float32)),
    }
    if cell:
        extra["state_out"] = [
            {
                net: {part: rng.normal(size=(1, cell)).astype(np.float32) for part in "hc"}
                for net in ("actor", "critic")
            }
            for _ in range(length)
        ]
    return SingleAgentEpisode(
        observations=list(rng.normal(size=(length + 1, 3)).astype(np.float32)),
        actions=[actions.sample() for _ in range(length)],
        rewards=rng.normal(size=length).tolist(),
        infos=[{}] * (length + 1),
        extra_model_outputs=extra,
        terminated=end,
        len_lookback_buffer=0,
        observation_space=SEEN,
        action_space=actions,
        agent_id=agent_id or module_id,
        module_id=module_id,
    ).to_numpy()


def rollout(learner: Any, seed: int = 0, *, minibatch: int = 32, **options: Any) -> dict[str, Any]:
    """Trains on one rollout of 70 steps, three times through; answers what was logged."""
    results = learner.update(
        episodes=[episode(40, seed, **options), episode(30, seed, end=False, **options)],
        num_epochs=3,
        minibatch_size=minibatch,
        shuffle_batch_per_epoch=True,
        timesteps={},
    )
    return {
        module_id: {name: float(stats.peek()) for name, stats in logged.items()}
        for module_id, logged in results.items()
        if module_id != "__all_modules__"
    }


def parameters(learner: Any, module_id: str = ALONE) -> torch.Tensor:
    """All parameters of a module in one row."""
    return torch.cat([p.detach().reshape(-1) for p in learner.module[module_id].parameters()])


def off_policy(config: Any, learner_class: type[Any], options: Any, actions: Any) -> Any:
    """A built DQN or SAC learner; `config` is the empty configuration of the algorithm."""
    torch.manual_seed(0)
    np.random.seed(0)
    network: dict[str, Any] = {"fcnet_hiddens": [8], "fcnet_activation": "tanh"}
    config = (
        config.environment(observation_space=SEEN, action_space=actions)
        .rl_module(model_config=network)
        .learners(learner_class=learner_class, learner_config_dict=dict(options or {}))
        .debugging(seed=0)
    )
    return config.build_learner()


def replay_sample(seed: int, actions: Any, count: int = 16) -> list[Any]:
    """Single steps, as a replay buffer gives them."""
    rng = np.random.default_rng(seed)
    actions.seed(seed)
    return [
        SingleAgentEpisode(
            observations=list(rng.normal(size=(2, 3)).astype(np.float32)),
            actions=[actions.sample()],
            rewards=[float(rng.normal())],
            infos=[{}] * 2,
            extra_model_outputs={"n_step": [1], "weights": [1.0]},
            terminated=bool(rng.random() < 0.1),
            len_lookback_buffer=0,
            observation_space=SEEN,
            action_space=actions,
        ).to_numpy()
        for _ in range(count)
    ]


def replayed(learner: Any, actions: Any, updates: int = 6) -> dict[str, float]:
    """Trains on so many samples; answers what the last one logged."""
    logged: dict[str, float] = {}
    for seed in range(updates):
        results = learner.update(episodes=replay_sample(seed, actions), timesteps={})
        logged = {
            name: float(stats.peek())
            for name, stats in results[ALONE].items()
            if name.startswith("chain_") or name.endswith("loss")
        }
    return logged
