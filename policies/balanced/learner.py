"""Balanced updates on RLlib's new API stack.

    class Learner(BalancedMixin, PPOTorchLearner): ...          # alone
    class Learner(ChainPPOMixin, BalancedMixin, PPOTorchLearner): ...   # with CHAIN

Shared parameters get the balanced step of all tasks in place of their gradient; all others get
their ordinary gradient. Tasks are, where several modules share parameters, the modules; and within
a module the rows of different agents or the components of its advantages.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from torch import Tensor, nn

from policies.balanced.direction import Balancer, Direction
from policies.balanced.options import BalancedOptions, read_options
from policies.balanced.step import combined, gradient_rows
from policies.balanced.tasks import MASK, halves, losses_by_column, losses_by_objective
from policies.chain.ppo import ChainPPOMixin
from policies.training.vector_gae import ADVANTAGES
from services.errors import HanseError

STATE = "balanced"
"""Key in a learner's state."""
EVERYBODY = "__all_modules__"


class BalancedMixin:
    """Balances the update of shared parameters; put it before the learner's class.

    Options are keys of `config.learners(learner_config_dict=...)`, see
    :class:`policies.balanced.options.BalancedOptions`. Needs losses that are means over the steps
    of `loss_mask`, as PPO's are. With one task, or nothing shared, it is its parent to the bit.
    """

    balancer: Balancer
    options: BalancedOptions

    def build(self) -> None:
        """Builds the parent; parameters that modules share belong to the first one's optimiser."""
        config: Any = self.config  # type: ignore[attr-defined]
        self.options = read_options(config.learner_config_dict)
        self.balancer = Balancer(self.options.settings, seed=config.seed or 0)
        self._parts: dict[str, dict[str, Tensor]] = {}
        self._halves: dict[str, list[dict[str, Tensor]]] = {}
        self._seen: dict[str, list[float]] = defaultdict(list)
        self._minibatches = 0
        super().build()  # type: ignore[misc]

    def get_parameters(self, module: Any) -> list[nn.Parameter]:
        """The module's parameters without those that an earlier module has, too."""
        own = list(super().get_parameters(module))  # type: ignore[misc]
        earlier: set[int] = set()
        for other in self._module.values():  # type: ignore[attr-defined]
            if other is module:
                return [p for p in own if id(p) not in earlier]
            earlier |= {id(p) for p in other.parameters()}
        return own

    def task_losses(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> dict[str, Tensor]:
        """The losses of a module's tasks by name; empty: the module is one task.

        Override it where a loss has parts that only its author knows.
        """

        def loss_of(part: dict[str, Any]) -> Tensor:
            loss: Tensor = super(BalancedMixin, self).compute_loss_for_module(  # type: ignore[misc]
                module_id=module_id, config=config, batch=part, fwd_out=fwd_out
            )
            return loss

        if self.options.tasks == "objectives":
            if ADVANTAGES not in batch:
                raise HanseError(
                    f"module {module_id}: balanced_tasks is 'objectives', but the batch has no"
                    f" {ADVANTAGES!r}: put a VectorGAE into the learner"
                )
            return losses_by_objective(batch, ADVANTAGES, "advantages", loss_of)
        if self.options.column in batch and MASK in batch:
            return losses_by_column(batch, self.options.column, loss_of)
        return {}

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """The parent's loss; the losses of the tasks are set aside for `compute_gradients`."""
        rest = {"module_id": module_id, "config": config, "fwd_out": fwd_out}
        self._parts[module_id] = self.task_losses(batch=batch, **rest)
        every = self.options.noise_every
        pair = halves(batch) if every and self._minibatches % every == 0 else None
        if pair is not None:
            self._halves[module_id] = [
                self.task_losses(batch=half, **rest)
                or {"": super().compute_loss_for_module(batch=half, **rest)}  # type: ignore[misc]
                for half in pair
            ]
        # Last, so that what the parent logs is of the whole batch.
        loss: Tensor = super().compute_loss_for_module(batch=batch, **rest)  # type: ignore[misc]
        return loss

    def compute_gradients(self, loss_per_module: dict[str, Tensor], **kwargs: Any) -> Any:
        """The parent's gradients, with the balanced step for what is shared."""
        regularised: dict[str, tuple[Tensor, Tensor]] = getattr(self, "regularisation", {})
        tasks: dict[str, Tensor] = {}
        for module_id, loss in loss_per_module.items():
            parts = self._parts.get(module_id) or {"": regularised.get(module_id, (loss, None))[0]}
            tasks |= {_name(module_id, part): value for part, value in parts.items()}
        shared = self.shared_parameters(list(loss_per_module)) if len(tasks) > 1 else []
        step = None
        if shared:
            names = self.balancer.choose(list(tasks))
            self._estimate_noise(names, shared)
            rows = gradient_rows([tasks[name] for name in names], shared)
            found = self.balancer.direction(names, rows.detach().cpu().numpy())
            step = combined(names, rows, found)
            # Terms that keep the network steady are no task; they push as they always do.
            terms = [term for name, (_, term) in regularised.items() if name in loss_per_module]
            for row in gradient_rows(terms, shared) if terms else ():
                step = step + row
            self._notice(found)
        self._minibatches += 1
        self._parts.clear()
        self._halves.clear()
        gradients = super().compute_gradients(loss_per_module, **kwargs)  # type: ignore[misc]
        if step is not None:
            self._write(gradients, shared, step)
        return gradients

    def shared_parameters(self, module_ids: list[str]) -> list[nn.Parameter]:
        """The parameters that get the balanced step.

        Those that two of the modules have; if there are none, those of a module without a loss of
        its own (an encoder that runs before the others); if there is none and one module has
        several tasks, those of it whose names begin as `balanced_shared` says.

        Raises:
            HanseError: no name of that one module's parameters begins so.
        """
        modules: Any = self.module  # type: ignore[attr-defined]
        seen: dict[int, int] = defaultdict(int)
        by_id: dict[int, nn.Parameter] = {}
        for module_id in module_ids:
            for parameter in modules[module_id].unwrapped().parameters():
                seen[id(parameter)] += 1
                by_id[id(parameter)] = parameter
        found = [by_id[key] for key, count in seen.items() if count > 1]
        if not found and len(module_ids) > 1:
            found = [
                parameter
                for other in modules.keys()  # noqa: SIM118
                if other not in module_ids
                for parameter in modules[other].parameters()
            ]
        if not found and len(module_ids) == 1:
            found = self._by_name(module_ids[0], modules[module_ids[0]].unwrapped())
        known = self._params  # type: ignore[attr-defined]
        return [p for p in found if p.requires_grad and self.get_param_ref(p) in known]  # type: ignore[attr-defined]

    def after_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Logs the rates since the last time."""
        super().after_gradient_based_update(timesteps=timesteps)  # type: ignore[misc]
        for name, values in self._seen.items():
            real = [value for value in values if not math.isnan(value)]
            if real:
                mean = sum(real) / len(real)
                self.metrics.log_value((EVERYBODY, f"balanced_{name}"), mean, window=1)  # type: ignore[attr-defined]
        self._seen.clear()

    def get_state(self, components: Any = None, *, not_components: Any = None, **rest: Any) -> Any:
        """The parent's state and, unless it was not asked for, that of the balancer."""
        state = super().get_state(components, not_components=not_components, **rest)  # type: ignore[misc]
        if self._check_component(STATE, components, not_components):  # type: ignore[attr-defined]
            state[STATE] = {**self.balancer.save(), "minibatches": self._minibatches}
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes a state back."""
        super().set_state(state)  # type: ignore[misc]
        if STATE in state:
            self.balancer.load(state[STATE])
            self._minibatches = int(state[STATE]["minibatches"])

    def _by_name(self, module_id: str, module: nn.Module) -> list[nn.Parameter]:
        named = list(module.named_parameters())
        for beginning in self.options.shared:
            found = [parameter for name, parameter in named if name.startswith(beginning)]
            if found:
                return found
        raise HanseError(
            f"module {module_id}: no parameter's name begins with one of balanced_shared"
            f" {list(self.options.shared)}; there are {[name for name, _ in named]}"
        )

    def _estimate_noise(self, names: tuple[str, ...], shared: list[nn.Parameter]) -> None:
        """Half the distance between the gradients of two half-batches."""
        noise: dict[str, float] = {}
        for module_id, (one, other) in self._halves.items():
            for part in one.keys() & other.keys():
                name = _name(module_id, part)
                if name in names:
                    pair = gradient_rows([one[part], other[part]], shared)
                    noise[name] = float((pair[0] - pair[1]).norm()) / 2
        self.balancer.heard(noise)

    def _notice(self, found: Direction) -> None:
        self._seen["rate"].append(found.rate)
        self._seen["binding"].append(float(len(found.active)))
        self._seen["frozen"].append(float(len(found.frozen)))
        for name, rate in found.rates.items():
            self._seen[f"rate_{name}"].append(rate)

    def _write(self, gradients: dict[Any, Any], shared: list[nn.Parameter], step: Tensor) -> None:
        start = 0
        for parameter in shared:
            stop = start + parameter.numel()
            reference = self.get_param_ref(parameter)  # type: ignore[attr-defined]
            gradients[reference] = step[start:stop].reshape(parameter.shape).clone()
            start = stop


class BalancedPPOLearner(BalancedMixin, PPOTorchLearner):  # type: ignore[misc]
    """PPO with balanced updates."""


class ChainBalancedPPOLearner(ChainPPOMixin, BalancedMixin, PPOTorchLearner):  # type: ignore[misc]
    """PPO with balanced updates and CHAIN, whose terms are added to the balanced step."""


def _name(module_id: str, part: str) -> str:
    return f"{module_id}/{part}" if part else module_id
