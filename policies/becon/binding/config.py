"""A `PPOConfig` that trains a BECON agent, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gymnasium
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env

from policies.becon.binding.belief_observation import BeliefObservation, layout_of
from policies.becon.binding.curriculum import Curriculum
from policies.becon.binding.learner import BeconLearner, read_settings
from policies.becon.binding.module import BeconModule
from policies.becon.forms import plain
from policies.becon.network import AgentForm
from services.errors import HanseError

ENVIRONMENT = "hanse-becon"


def becon_config(
    make: Callable[[], gymnasium.Env[Any, Any]],
    form: AgentForm | None = None,
    *,
    window: int = 8,
    sequence: int = 33,
    iterations: int | None = None,
    settings: Mapping[str, Any] | None = None,
    learner_class: type[BeconLearner] = BeconLearner,
    name: str = ENVIRONMENT,
) -> PPOConfig:
    """PPO with the constants of the desk study, ready for `build_algo`.

    Args:
        make: Makes an environment of the convention (`objectives`, `vector_reward`, ...).
        form: The shape of the agent.
        window: How many frames a stateless module sees; 0 gives the module a state. The stateless
            one is the safer default: it has none of the pitfalls of padding and cut sequences.
        sequence: With a state, how far gradients go back. Because one step is appended to each
            episode, T + 1 should be a multiple of it; otherwise the last row is mostly padding.
        iterations: Of the whole training; given, descriptors are perfect for a part of the episodes
            of its first 30 %.
        settings: Of the learner, by the names of `LearnerSettings` with `becon_` before them; keys
            of other mix-ins are passed on.
        learner_class: `BeconLearner` or a class from it, for example with CHAIN's mix-in.
        name: Under which the environment is registered.

    Raises:
        HanseError: the environment or a setting does not fit.
    """
    given = dict(settings or {})
    read = read_settings(given)
    if window < 0 or sequence < 2:
        raise HanseError(
            f"becon_config: window = {window}, sequence = {sequence};"
            " allowed: a window from 0, a sequence from 2"
        )
    layout = layout_of(make())
    register_env(name, lambda _: BeliefObservation(make(), max(window, 1)))
    model = {
        **plain(layout, form or AgentForm()),
        "window": window,
        "max_seq_len": sequence,
    }
    config = (
        PPOConfig()
        .environment(name, disable_env_checking=True)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8, batch_mode="complete_episodes")
        .learners(
            num_learners=0,
            learner_class=learner_class,
            learner_connector=learner_class.connectors(layout.objectives, read.labels),
            learner_config_dict=given,
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=BeconModule, model_config=model))
        .training(
            train_batch_size_per_learner=4096,
            minibatch_size=512,
            num_epochs=4,
            lr=3e-3,
            gamma=0.95,
            lambda_=0.9,
            clip_param=0.2,
            entropy_coeff=0.003,
            use_kl_loss=False,
            grad_clip=0.5,
            grad_clip_by="global_norm",
        )
    )
    if iterations is not None:
        config = config.callbacks(partial(Curriculum, iterations=iterations))
    return config


def check_cadence(config: PPOConfig, *, mixed_cadence: bool) -> None:
    """Refuses cut fragments where agents with a state act at different cadences.

    There, RLlib 2.60 reads past the look-back buffer of an agent that did not act when a fragment
    was cut (ray issue 60205, open): training dies with an IndexError, or worse, does not.

    Raises:
        HanseError: this is such a configuration.
    """
    stateful = not config.rl_module_spec.model_config.get("window", 0)
    if mixed_cadence and stateful and config.batch_mode != "complete_episodes":
        raise HanseError(
            "env_runners: agents with a state that act at different cadences need"
            ' batch_mode = "complete_episodes" (ray issue 60205), or a window above 0'
        )
