"""Trains policies of firms, or of a router, with RLlib's PPO, resumably, with CHAIN or without.

A training is a folder::

    training.json        the training file as it was read
    progress.jsonl       a line for each iteration
    checkpoint.pt        where to go on: tensors and plain data, no pickled objects
    tensorboard/         the same figures for TensorBoard
    policy/              the best policy so far, ready to act; of several firms a folder for each

An iteration depends on the networks, their optimiser, the prices of cost and its own number alone:
a training that was stopped and resumed ends with the same weights, to the bit, as one that went
through (on one kind of processor, with one thread). An iteration during which a runner's process
has died is played again from the checkpoint, and so leaves no trace either.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from policies.training.acting import LeversPolicy
from policies.training.algorithm import Figures, build, figures_of, value_names
from policies.training.artefact import Manifest, describe, write
from policies.training.checkpoint import from_tensors, read_checkpoint, to_tensors
from policies.training.choice import Verdict, judged, metrics_of
from policies.training.episodes import ALONE, check, modules_of, play, seats_of
from policies.training.folder import (
    CHECKPOINT,
    POLICY,
    PROGRESS,
    lengthened,
    lock,
    read_training,
    refuse_existing,
    trim_progress,
    versions,
    write_training,
)
from policies.training.kept_numbers import kept_numbers
from policies.training.lagrangian import moved
from policies.training.seeded_runner import seed_everything
from policies.training.settings import TrainingConfig
from policies.training.tally import Outcome, mean
from policies.training.vector_learner import fold_values
from services.errors import HanseError
from services.whole_file import whole

ATTEMPTS: Final = 5
"""How often an iteration is tried whose runners die."""
_PATIENCE: Final = 600.0
"""Seconds to wait for a runner that starts anew."""


class Trainer:
    """One training; use :meth:`create` or :meth:`resume`, then :meth:`run`, then :meth:`close`."""

    def __init__(self, config: TrainingConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.iteration = 0
        """Iterations that are done and kept."""
        self.best: Verdict | None = None
        """The best validation so far."""
        torch.set_num_threads(1)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="ray")
        logging.getLogger("ray.rllib").setLevel(logging.ERROR)
        self._lock: Any = None
        self._board: Any = None
        self.world = check(config)
        self.seats = seats_of(self.world)
        self.modules = modules_of(config.environment, self.world)
        """By firm, the name of the networks by which it acts."""
        self.prices = dict.fromkeys(self.modules.values(), config.lagrangian.start)
        """By networks, the price of cost; it counts with ``lagrangian.enabled`` alone."""
        self.acting_costs: dict[str, float] = {}
        """By networks, the mean cost of a step in the last validation."""
        self._algorithm = build(config, self.modules, self.seats)
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
            write_training(partial, config)
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
    def resume(cls, folder: Path, iterations: int | None = None) -> Trainer:
        """Goes on with a training from its last checkpoint.

        Args:
            folder: The training's.
            iterations: How many there shall be, in place of those that were planned.

        Raises:
            HanseError: there is none, it is damaged, or other versions have written it; or more
                iterations than that are done.
        """
        held = lock(folder)
        try:
            config = read_training(folder)
            saved = read_checkpoint(folder)
            trainer = cls(config, folder)
        except BaseException:
            held.close()
            raise
        trainer._lock = held
        try:
            trainer._load(saved)
            # Last: a training that cannot go on is left as it was.
            if iterations is not None:
                trainer.config = lengthened(folder, config, iterations)
        except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as error:
            trainer.close()
            line = " ".join(str(error).split())[:120]
            raise HanseError(
                f"{folder / CHECKPOINT}: does not fit its training ({line});"
                " begin anew: hanse train FILE"
            ) from None
        except BaseException:
            trainer.close()
            raise
        return trainer

    @property
    def done(self) -> bool:
        """Whether all iterations are done."""
        return self.iteration >= self.config.ppo.iterations

    @property
    def policies(self) -> dict[str, Path]:
        """By networks, the folder of their best policy."""
        folder = self.folder / POLICY
        names = dict.fromkeys(self.modules.values())
        return {name: folder if name == ALONE else folder / name for name in names}

    def run(self, on_iteration: Callable[[Figures], None] = lambda figures: None) -> None:
        """Trains to the end; stopped between or within iterations, it can be resumed.

        Args:
            on_iteration: Is told of each iteration: ``iteration``, ``seconds``, ``steps``,
                ``return`` (mean, of the exploring policy), ``net_income`` (likewise, dollars),
                ``cost`` (likewise, of a step), ``objective_<name>`` (likewise, a day) where there
                are several, ``entropy``, ``kl``, ``value_loss``, ``learning_rate``, those of CHAIN,
                ``price`` (of cost, where it has one), and ``validation`` (how good the acting
                policy is, see :func:`~policies.training.tally.score`) and what it is made of where
                there was one. Where several firms learn, those of each follow, its name behind a
                dot.
        """
        while not self.done:
            figures = self._iterate()
            self.iteration += 1
            if self.iteration % self.config.validation.every == 0 or self.done:
                figures |= self._validate()
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

    def policy(self, module: str = ALONE) -> LeversPolicy:
        """The policy as it is now."""
        manifest, weights = self._artefact(module, {})
        return LeversPolicy(Manifest(**manifest, weights_sha256=""), weights)

    def close(self) -> None:
        """Ends RLlib's processes, and lets others have the folder."""
        self._algorithm.stop()
        for held in (self._board, self._lock):
            if held is not None:
                held.close()

    # ---- an iteration ----------------------------------------------------------------------------

    def _iterate(self) -> Figures:
        config = self.config
        began = time.perf_counter()
        for _ in range(ATTEMPTS):
            rate = self._rate()
            result = self._trained(rate)
            if self._whole():
                break
            self._again()
        else:
            raise HanseError(
                f"{self.folder}: iteration {self.iteration + 1}: processes that play the episodes"
                f" have died {ATTEMPTS} times; the last checkpoint is kept; is there enough memory"
                " for ppo.runners?"
            )
        figures = {
            "iteration": float(self.iteration + 1),
            "seconds": time.perf_counter() - began,
            "learning_rate": rate,
            **figures_of(result, config, self.modules.values()),
            **self._move_prices(),
        }
        broken = [name for name, value in figures.items() if not np.isfinite(value)]
        if broken:
            raise HanseError(
                f"{self.folder}: iteration {self.iteration + 1}: {broken[0]} is not finite; the"
                " last checkpoint is kept; train with a smaller ppo.learning_rate"
            )
        return figures

    def _trained(self, rate: float) -> Mapping[str, Any]:
        seed, iteration = self.config.seed, self.iteration
        for module in self.prices:
            for _, optimiser in self._learner.get_optimizers_for_module(module):
                for group in optimiser.param_groups:
                    group["lr"] = rate
        # The network of one step ago is in no checkpoint: the first step of each iteration, resumed
        # or not, has none to be compared with.
        for chain in getattr(self._learner, "chains", {}).values():
            chain.reference.drop()
        if self.config.lagrangian.enabled:
            self._learner.set_prices(self.prices)
        self._runners.foreach_env_runner(lambda runner: runner.begin(seed, iteration))
        seed_everything("learner", seed, iteration)
        result: Mapping[str, Any] = self._algorithm.train()
        return result

    def _whole(self) -> bool:
        """Whether every runner has played what it was asked for: one that is new has not."""
        expected = [self.iteration] * self.config.ppo.runners
        return not expected or self._begun() == expected

    def _begun(self) -> list[int | None]:
        found: list[int | None] = self._runners.foreach_env_runner(
            lambda runner: runner.iteration, local_env_runner=False
        )
        return found

    def _again(self) -> None:
        """Goes back to the checkpoint, with all runners there."""
        deadline = time.monotonic() + _PATIENCE
        while len(self._begun()) < self.config.ppo.runners and time.monotonic() < deadline:
            self._algorithm.restore_env_runners(self._runners)
            time.sleep(0.2)
        # RLlib refuses networks that are older than those that it has.
        self._learner._weights_seq_no = 0
        self._runners.foreach_env_runner(lambda runner: runner.go_back())
        self._load(read_checkpoint(self.folder))

    def _rate(self) -> float:
        ppo = self.config.ppo
        decay = ppo.iterations if ppo.decay is None else ppo.decay
        share = min(self.iteration / max(decay - 1, 1), 1.0)
        return ppo.learning_rate + share * (ppo.final_learning_rate - ppo.learning_rate)

    def _move_prices(self) -> Figures:
        """Moves the prices of cost; those that have counted, and the costs that they answer to."""
        settings, budget = self.config.lagrangian, self.config.environment.budget
        if not settings.enabled:
            return {}
        costs = self._learner.mean_costs
        found = {"price": float(np.mean(list(self.prices.values())))}
        if len(self.prices) > 1:
            found |= {f"price.{module}": price for module, price in self.prices.items()}
        for module, price in self.prices.items():
            acting = self.acting_costs.get(module, 0.0)
            self.prices[module] = moved(price, max(costs[module], acting), budget, settings)
        return found

    def _validate(self) -> Figures:
        """Plays the validation seeds with the likeliest levers; keeps the policies if best."""
        first, last = self.config.validation.seeds
        acting = {module: self.policy(module) for module in self.prices}
        policies = {firm: acting[module] for firm, module in self.modules.items()}
        played = [play(self.world, policies, seed) for seed in range(first, last + 1)]
        found = {firm: mean(one[firm] for one in played) for firm in self.modules}
        for module in self.prices:
            its = [found[firm].cost for firm, named in self.modules.items() if named == module]
            self.acting_costs[module] = float(np.mean(its))
        verdict = judged(found.values(), self.config)
        if verdict.better_than(self.best):
            self.best = verdict
            for module, folder in self.policies.items():
                theirs = mean(found[firm] for firm, its in self.modules.items() if its == module)
                manifest, weights = self._artefact(module, metrics_of(theirs, self.config))
                write(folder, manifest, weights)
        return self._validation_figures(found, verdict)

    def _validation_figures(self, found: Mapping[str, Outcome], verdict: Verdict) -> Figures:
        figures = {"validation": verdict.score}
        told = metrics_of(mean(found.values()), self.config)
        if len(told) > 1:
            figures |= told
        if len(found) > 1:
            for firm, outcome in found.items():
                each = metrics_of(outcome, self.config)
                figures |= {f"{name}.{firm}": value for name, value in each.items()}
        return figures

    # ---- what is kept ----------------------------------------------------------------------------

    def _artefact(
        self, module: str, metrics: Figures
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        seat = next(self.seats[firm] for firm, its in self.modules.items() if its == module)
        state = self._learner.module[module].state_dict()
        weights = {name: tensor.detach().cpu().numpy().copy() for name, tensor in state.items()}
        hidden, objectives = self.config.network.hidden, self.config.environment.objectives
        if value_names(self.config):
            fold_values(weights, f"value.{2 * len(hidden)}", list(objectives.values()))
        manifest = {
            **describe(seat.layout, seat.actions, seat.layout.setup.rules),
            "name": self.config.name if module == ALONE else f"{self.config.name}-{module}",
            "cadence": seat.cadence,
            "hidden": list(hidden),
            "objectives": dict(objectives),
            "training": self.config.model_dump(mode="json"),
            "iteration": self.iteration,
            "versions": versions(),
            "metrics": metrics,
        }
        return manifest, weights

    def _keep(self) -> None:
        state = self._learner.get_state(not_components=["metrics_logger"])
        best = self.best
        saved = {
            "versions": versions(),
            "iteration": self.iteration,
            "best": None if best is None else best.score,
            "best_excess": 0.0 if best is None else best.excess,
            "prices": dict(self.prices),
            "acting_costs": dict(self.acting_costs),
            "learner": to_tensors(state),
        }
        with whole(self.folder / CHECKPOINT) as target:
            torch.save(saved, target)

    def _load(self, saved: dict[str, Any]) -> None:
        kept = kept_numbers(saved, self.prices, self.config)
        # RLlib passes over networks that it does not know, and those that it misses stay untrained.
        if missing := self.prices.keys() - saved["learner"]["rl_module"].keys():
            raise ValueError(f"there are no networks {', '.join(sorted(missing))}")
        self.iteration, self.best = kept.iteration, kept.best
        self.prices, self.acting_costs = kept.prices, kept.acting_costs
        self._learner.set_state(from_tensors(saved["learner"]))
        self._runners.sync_weights(
            from_worker_or_learner_group=self._algorithm.learner_group, inference_only=True
        )
        trim_progress(self.folder, self.iteration)

    def _log(self, figures: Figures) -> None:
        with (self.folder / PROGRESS).open("a", encoding="utf-8") as target:
            target.write(json.dumps(figures) + "\n")
        if self._board is None:
            from tensorboardX import SummaryWriter

            self._board = SummaryWriter(str(self.folder / "tensorboard"))
        for name, value in figures.items():
            self._board.add_scalar(f"hanse/{name}", value, int(figures["iteration"]))
        self._board.flush()
