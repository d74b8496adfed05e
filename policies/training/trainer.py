"""Trains a firm's policy with RLlib's PPO, with or without CHAIN, so that it can be resumed.

A training is a folder::

    training.json        the training file as it was read
    progress.jsonl       a line for each iteration
    checkpoint.pt        where to go on: tensors and plain data, no pickled objects
    tensorboard/         the same figures for TensorBoard
    policy/              the best policy so far, ready to act

An iteration depends on the networks, their optimiser and its own number alone: a training that was
stopped and resumed ends with the same weights, to the bit, as one that went through (on one kind of
processor, with one thread).
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env

from policies.chain.ppo import ChainPPOLearner
from policies.environments.firm_env import CoffeeFirmEnv
from policies.training.acting import LeversPolicy
from policies.training.artefact import Manifest, describe, write
from policies.training.checkpoint import from_tensors, read_checkpoint, to_tensors
from policies.training.episodes import check, make_environment, play
from policies.training.folder import (
    CHECKPOINT,
    POLICY,
    PROGRESS,
    TRAINING,
    lock,
    read_training,
    refuse_existing,
    versions,
)
from policies.training.levers_module import LeversModule, WithMask
from policies.training.seeded_runner import SeededRunner, seed_everything
from policies.training.settings import EnvironmentConfig, TrainingConfig
from services.errors import HanseError
from services.whole_file import whole

ENVIRONMENT: Final = "hanse-coffee-firm"
Figures = dict[str, float]


class Trainer:
    """One training; use :meth:`create` or :meth:`resume`, then :meth:`run`, then :meth:`close`."""

    def __init__(self, config: TrainingConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.iteration = 0
        """Iterations that are done and kept."""
        self.best: float | None = None
        """The best validation so far: mean net income, dollars."""
        torch.set_num_threads(1)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="ray")
        logging.getLogger("ray.rllib").setLevel(logging.ERROR)
        self._lock: Any = None
        self._board: Any = None
        self.environment = check(config)
        self._algorithm = _build(config, self.environment)
        self._runners: Any = self._algorithm.env_runner_group
        self._learner: Any = self._algorithm.learner_group._learner
        # The learning rate follows from the iteration, not from what a logger has counted.
        self._learner._optimizer_lr_schedules.clear()

    @classmethod
    def create(cls, config: TrainingConfig, folder: Path) -> Trainer:
        """Begins a training in a folder that is not there yet.

        Raises:
            HanseError: it is there, cannot be made, or the file does not fit the league.
        """
        refuse_existing(folder)
        seed_everything("networks", config.seed)
        # The folder is there with all that it takes to go on, or not at all.
        partial = folder.with_name(f".{folder.name}.{os.getpid()}")
        trainer = cls(config, partial)
        try:
            partial.mkdir(parents=True)
            with whole(partial / TRAINING) as target:
                target.write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")
            trainer._keep()
            trainer._lock = lock(partial)
            partial.rename(folder)
        except BaseException as error:
            trainer.close()
            shutil.rmtree(partial, ignore_errors=True)
            if isinstance(error, OSError):
                raise HanseError(
                    f"{folder}: cannot be made: {error.strerror or error}; choose another with"
                    " --out"
                ) from None
            raise
        trainer.folder = folder
        return trainer

    @classmethod
    def resume(cls, folder: Path) -> Trainer:
        """Goes on with a training from its last checkpoint.

        Raises:
            HanseError: there is none, it is damaged, or other versions have written it.
        """
        config = read_training(folder)
        held = lock(folder)
        saved = read_checkpoint(folder)
        trainer = cls(config, folder)
        trainer._lock = held
        try:
            trainer._load(saved)
        except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as error:
            trainer.close()
            line = " ".join(str(error).split())[:120]
            raise HanseError(
                f"{folder / CHECKPOINT}: does not fit its training ({line});"
                " begin anew: hanse train FILE"
            ) from None
        return trainer

    @property
    def done(self) -> bool:
        """Whether all iterations are done."""
        return self.iteration >= self.config.ppo.iterations

    def run(self, on_iteration: Callable[[Figures], None] = lambda figures: None) -> None:
        """Trains to the end; stopped between or within iterations, it can be resumed.

        Args:
            on_iteration: Is told of each iteration: ``iteration``, ``seconds``, ``steps``,
                ``return`` (mean, of the exploring policy), ``net_income`` (likewise, dollars),
                ``entropy``, ``kl``, ``value_loss``, ``learning_rate``, those of CHAIN, and
                ``validation`` (mean net income of the acting policy) where there was one.
        """
        while not self.done:
            figures = self._iterate()
            self.iteration += 1
            if self.iteration % self.config.validation.every == 0 or self.done:
                figures["validation"] = self._validate()
            try:
                self._log(figures)
                self._keep()
            except (OSError, RuntimeError) as error:  # torch has errors of its own for a full disk
                line = " ".join(str(error).split())[:120]
                raise HanseError(
                    f"{self.folder}: cannot be written ({line}); make room, then: hanse train"
                    f" --resume {self.folder}"
                ) from None
            on_iteration(figures)

    def policy(self) -> LeversPolicy:
        """The policy as it is now."""
        manifest, weights = self._artefact({})
        return LeversPolicy(Manifest(**manifest, weights_sha256=""), weights)

    def close(self) -> None:
        """Ends RLlib's processes, and lets others have the folder."""
        self._algorithm.stop()
        for held in (self._board, self._lock):
            if held is not None:
                held.close()

    # ---- an iteration ----------------------------------------------------------------------------

    def _iterate(self) -> Figures:
        config, iteration = self.config, self.iteration
        began = time.perf_counter()
        rate = self._rate()
        for _, optimiser in self._learner.get_optimizers_for_module(DEFAULT_MODULE_ID):
            for group in optimiser.param_groups:
                group["lr"] = rate
        # The network of one step ago is in no checkpoint: the first step of each iteration, resumed
        # or not, has none to be compared with.
        for chain in getattr(self._learner, "chains", {}).values():
            chain.reference.drop()
        self._runners.foreach_env_runner(lambda runner: runner.begin(config.seed, iteration))
        seed_everything("learner", config.seed, iteration)
        result = self._algorithm.train()
        figures = {
            "iteration": float(iteration + 1),
            "seconds": time.perf_counter() - began,
            "learning_rate": rate,
            **_figures(result),
        }
        broken = [name for name, value in figures.items() if not np.isfinite(value)]
        if broken:
            raise HanseError(
                f"{self.folder}: iteration {iteration + 1}: {broken[0]} is not finite; the last"
                " checkpoint is kept; train with a smaller ppo.learning_rate"
            )
        return figures

    def _rate(self) -> float:
        ppo = self.config.ppo
        share = self.iteration / max(ppo.iterations - 1, 1)
        return ppo.learning_rate + share * (ppo.final_learning_rate - ppo.learning_rate)

    def _validate(self) -> float:
        """Plays the validation seeds with the likeliest levers; keeps the policy if it is best."""
        first, last = self.config.validation.seeds
        policy = self.policy()
        found = float(np.mean([play(self.environment, policy, s) for s in range(first, last + 1)]))
        if self.best is None or found > self.best:
            self.best = found
            manifest, weights = self._artefact({"validation_net_income": found})
            write(self.folder / POLICY, manifest, weights)
        return found

    # ---- what is kept ----------------------------------------------------------------------------

    def _artefact(self, metrics: Figures) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        env = self.environment
        state = self._learner.module[DEFAULT_MODULE_ID].state_dict()
        weights = {name: tensor.detach().cpu().numpy().copy() for name, tensor in state.items()}
        manifest = {
            **describe(env.layout, env.actions, env.layout.setup.rules),
            "name": self.config.name,
            "cadence": env.cadence,
            "hidden": list(self.config.network.hidden),
            "objectives": dict(self.config.environment.objectives),
            "training": self.config.model_dump(mode="json"),
            "iteration": self.iteration,
            "versions": versions(),
            "metrics": metrics,
        }
        return manifest, weights

    def _keep(self) -> None:
        state = self._learner.get_state(not_components=["metrics_logger"])
        saved = {
            "versions": versions(),
            "iteration": self.iteration,
            "best": self.best,
            "learner": to_tensors(state),
        }
        with whole(self.folder / CHECKPOINT) as target:
            torch.save(saved, target)

    def _load(self, saved: dict[str, Any]) -> None:
        self.iteration, self.best = int(saved["iteration"]), saved["best"]
        self._learner.set_state(from_tensors(saved["learner"]))
        self._runners.sync_weights(
            from_worker_or_learner_group=self._algorithm.learner_group, inference_only=True
        )
        self._trim()

    def _trim(self) -> None:
        """Drops lines of iterations that are not in the checkpoint."""
        path = self.folder / PROGRESS
        if path.exists():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            kept = [line for line in lines if _iteration(line) <= self.iteration]
            with whole(path) as target:
                target.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")

    def _log(self, figures: Figures) -> None:
        with (self.folder / PROGRESS).open("a", encoding="utf-8") as target:
            target.write(json.dumps(figures) + "\n")
        if self._board is None:
            from tensorboardX import SummaryWriter

            self._board = SummaryWriter(str(self.folder / "tensorboard"))
        for name, value in figures.items():
            self._board.add_scalar(f"hanse/{name}", value, int(figures["iteration"]))
        self._board.flush()


class _Outcome(RLlibCallback):  # type: ignore[misc]
    """Notes what a firm has earned by the end of its episodes."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **rest: Any) -> None:
        info = episode.get_infos(-1)
        metrics_logger.log_value("net_income", float(info["net_income"]), reduce="mean", window=64)
        refused = sum(info["refused"].values())
        metrics_logger.log_value("refused", float(refused), reduce="mean", window=64)


def _build(config: TrainingConfig, environment: CoffeeFirmEnv) -> PPO:
    values = config.environment.model_dump(mode="json")
    register_env(ENVIRONMENT, _make)
    ppo = config.ppo
    model = {
        "size": environment.layout.size,
        "levels": environment.actions.nvec.tolist(),
        "usual": environment.actions.usual.tolist(),
        "hidden": list(config.network.hidden),
        "preference": config.network.usual,
        "max_seq_len": 20,
    }
    chain = {"chain_beta": config.chain.beta} if config.chain.enabled else {}
    share = max(ppo.runners, 1)
    settings = (
        PPOConfig()
        .environment(ENVIRONMENT, env_config=values, disable_env_checking=True)
        .env_runners(
            env_runner_cls=SeededRunner,
            num_env_runners=ppo.runners,
            num_envs_per_env_runner=-(-ppo.episodes // share),
            batch_mode="complete_episodes",
            num_cpus_per_env_runner=1,
        )
        .fault_tolerance(restart_failed_env_runners=True)
        .learners(
            num_learners=0,
            learner_class=ChainPPOLearner if config.chain.enabled else PPOTorchLearner,
            learner_config_dict=chain,
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=LeversModule, model_config=model))
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
        .callbacks(_Outcome)
        .debugging(log_level="ERROR", seed=config.seed)
    )
    return settings.build_algo()


def _iteration(line: str) -> float:
    """The iteration of a line of progress; infinite for one that is damaged."""
    try:
        return float(json.loads(line)["iteration"])
    except (ValueError, KeyError, TypeError):
        return float("inf")


def _make(values: dict[str, Any]) -> WithMask:
    return WithMask(make_environment(EnvironmentConfig.model_validate(dict(values))))


def _figures(result: dict[str, Any]) -> Figures:
    runners, learners = result["env_runners"], result["learners"][DEFAULT_MODULE_ID]
    found = {
        "return": runners["episode_return_mean"],
        "net_income": runners["net_income"],
        "refused": runners["refused"],
        "steps": runners["num_env_steps_sampled"],
        "entropy": learners["entropy"],
        "kl": learners.get("mean_kl_loss", 0.0),
        "policy_loss": learners["policy_loss"],
        "value_loss": learners["vf_loss"],
    }
    found |= {name: value for name, value in learners.items() if name.startswith("chain_")}
    return {name: float(value) for name, value in found.items()}
