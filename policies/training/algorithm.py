"""RLlib's PPO for a training: environments, networks, learner, and the figures of an iteration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env

from policies.chain.ppo import ChainPPOLearner
from policies.environments.routing_env import RoutingSeat
from policies.environments.seat import Seat
from policies.training.episodes import ALONE, game_arguments, make_environment
from policies.training.levers_module import MEAN_COST, OBJECTIVES, LeversModule, WithMask
from policies.training.masked_league import MaskedLeague
from policies.training.seeded_runner import SeededLeagueRunner, SeededRunner
from policies.training.settings import EnvironmentConfig, TrainingConfig
from policies.training.vector_learner import (
    OBJECTIVE_LOSS,
    PRICED,
    WEIGHTS,
    ChainVectorPPOLearner,
    VectorPPOLearner,
    reward_column,
)

Figures = dict[str, float]
_FIRM: Final = "hanse-coffee-firm"
_LEAGUE: Final = "hanse-coffee-league"
_STEPS: Final = "steps"
"""Key of an environment's configuration: whether infos of every step are needed."""
_SAMPLING: Final = 3_600.0
"""Seconds that a round of episodes may take before a runner counts as dead."""


def value_names(config: TrainingConfig) -> list[str]:
    """What the critic values: nothing by name if it is the weighted reward alone."""
    objectives, priced = list(config.environment.objectives), config.lagrangian.enabled
    if len(objectives) == 1 and not priced:
        return []
    return [*objectives, *(["cost"] if priced else [])]


def build(
    config: TrainingConfig, modules: Mapping[str, str], seats: Mapping[str, Seat | RoutingSeat]
) -> PPO:
    """The algorithm of a training.

    Args:
        config: The training.
        modules: By firm, the name of the module by which it acts.
        seats: By firm.
    """
    ppo, names = config.ppo, value_names(config)
    alone = list(modules.values()) == [ALONE]
    register_env(_FIRM, _make_firm)
    register_env(_LEAGUE, _make_league)
    specs = {modules[name]: _spec(config, seat, len(names)) for name, seat in seats.items()}
    plain, chained = (
        (VectorPPOLearner, ChainVectorPPOLearner) if names else (PPOTorchLearner, ChainPPOLearner)
    )
    settings: dict[str, Any] = {"chain_beta": config.chain.beta} if config.chain.enabled else {}
    share = max(ppo.runners, 1)
    values = config.environment.model_dump(mode="json") | ({_STEPS: True} if names else {})
    made = (
        PPOConfig()
        .environment(_FIRM if alone else _LEAGUE, env_config=values, disable_env_checking=True)
        .env_runners(
            env_runner_cls=SeededRunner if alone else SeededLeagueRunner,
            num_env_runners=ppo.runners,
            num_envs_per_env_runner=-(-ppo.episodes // share),
            batch_mode="complete_episodes",
            num_cpus_per_env_runner=1,
            sample_timeout_s=_SAMPLING,
        )
        .fault_tolerance(restart_failed_env_runners=True)
        .rl_module(
            rl_module_spec=specs[ALONE] if alone else MultiRLModuleSpec(rl_module_specs=specs)
        )
        .training(
            # One round of episodes of all runners is more than that, and is an iteration.
            train_batch_size_per_learner=ppo.minibatch,
            minibatch_size=ppo.minibatch,
            num_epochs=ppo.epochs,
            lr=ppo.learning_rate,
            gamma=ppo.discount,
            lambda_=ppo.gae_lambda,
            clip_param=ppo.clip,
            vf_clip_param=float("inf"),
            vf_loss_coeff=ppo.value_weight,
            entropy_coeff=ppo.entropy,
            use_kl_loss=False,
            grad_clip=ppo.gradient_norm,
            grad_clip_by="global_norm",
        )
        .callbacks(_Outcomes)
        .debugging(log_level="ERROR", seed=config.seed)
    )
    if not alone:
        mapping = dict(modules)
        made.multi_agent(
            policies=set(mapping.values()),
            policy_mapping_fn=lambda agent, *_, **__: mapping[agent],
        )
    learning: dict[str, Any] = {
        "num_learners": 0,
        "learner_class": chained if config.chain.enabled else plain,
        "learner_config_dict": settings,
    }
    if names:
        weights, priced = list(config.environment.objectives.values()), config.lagrangian.enabled
        settings |= {WEIGHTS: weights, PRICED: priced}
        learning["learner_connector"] = lambda *_: [reward_column(len(weights), priced)]
    return made.learners(**learning).build_algo()


def _spec(config: TrainingConfig, seat: Seat | RoutingSeat, values: int) -> RLModuleSpec:
    model: dict[str, Any] = {
        "size": seat.layout.size,
        "levels": seat.actions.nvec.tolist(),
        "usual": seat.actions.usual.tolist(),
        "hidden": list(config.network.hidden),
        "preference": config.network.usual,
        "max_seq_len": 20,
    }
    if values:
        model["values"] = values
    return RLModuleSpec(module_class=LeversModule, model_config=model)


def _read(values: Mapping[str, Any]) -> tuple[EnvironmentConfig, bool]:
    given = dict(values)
    steps = bool(given.pop(_STEPS, False))
    return EnvironmentConfig.model_validate(given), steps


def _make_firm(values: Mapping[str, Any]) -> WithMask:
    config, steps = _read(values)
    return WithMask(make_environment(config), steps)


def _make_league(values: Mapping[str, Any]) -> MaskedLeague:
    config, steps = _read(values)
    return MaskedLeague(game_arguments(config), steps)


class _Outcomes(RLlibCallback):  # type: ignore[misc]
    """Notes what firms have come to by the end of their episodes."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **rest: Any) -> None:
        firms = getattr(episode, "agent_episodes", None)
        if firms is None:
            _note(metrics_logger, "", episode.get_infos(-1))
            return
        for name, one in firms.items():
            _note(metrics_logger, f".{name}", one.get_infos(-1))


def _note(metrics_logger: Any, suffix: str, info: Mapping[str, Any]) -> None:
    found = {
        "net_income": info["net_income"],
        "refused": sum(info["refused"].values()),
        "cost": info[MEAN_COST],
    }
    if len(info[OBJECTIVES]) > 1:
        found |= {f"objective_{name}": value for name, value in info[OBJECTIVES].items()}
    for name, value in found.items():
        metrics_logger.log_value(f"{name}{suffix}", float(value), reduce="mean", window=64)


def figures_of(
    result: Mapping[str, Any], config: TrainingConfig, modules: Iterable[str]
) -> Figures:
    """An iteration's figures from RLlib's result.

    Of several firms those of the world have the firm behind a dot, those of the networks the
    module; without a dot stands their sum (net income) or mean.
    """
    runners = result["env_runners"]
    found: Figures = {
        "return": runners["episode_return_mean"],
        "steps": runners["num_env_steps_sampled"],
    }
    world = ("net_income", "refused", "cost", "objective_")
    found |= {name: runners[name] for name in sorted(runners) if name.startswith(world)}
    for name in dict.fromkeys(name.partition(".")[0] for name in found if "." in name):
        each = [value for key, value in found.items() if key.startswith(f"{name}.")]
        found[name] = float(np.sum(each) if name == "net_income" else np.mean(each))
    every = list(dict.fromkeys(modules))
    learned = {module: _learned(result["learners"][module], config) for module in every}
    for name in dict.fromkeys(key for one in learned.values() for key in one):
        each_one = {module: one[name] for module, one in learned.items() if name in one}
        found[name] = float(np.mean(list(each_one.values())))
        if len(every) > 1:
            found |= {f"{name}.{module}": value for module, value in each_one.items()}
    return {name: float(value) for name, value in found.items()}


def _learned(learners: Mapping[str, Any], config: TrainingConfig) -> Figures:
    found = {
        "entropy": learners["entropy"],
        "kl": learners.get("mean_kl_loss", 0.0),
        "policy_loss": learners["policy_loss"],
        "value_loss": learners["vf_loss"],
    }
    for place, name in enumerate(value_names(config)):
        found[f"value_loss_{name}"] = learners[OBJECTIVE_LOSS.format(place)]
    found |= {name: value for name, value in learners.items() if name.startswith("chain_")}
    return {name: float(value) for name, value in found.items()}
