"""The learner: PPO on a vector of advantages, with the losses of belief, gates and multiplier.

    config.learners(
        learner_class=BeconLearner,
        learner_connector=BeconLearner.connectors(objectives=3),
        learner_config_dict={"becon_dual_rate": 4.0},
    )

or simply `policies.becon.binding.config.becon_config`. Put CHAIN's mix-in before it to train a
BECON policy with CHAIN: ``class ChainBecon(ChainPPOMixin, BeconLearner)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import torch
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import ENTROPY_KEY, POLICY_LOSS_KEY, VF_LOSS_KEY
from ray.rllib.evaluation.postprocessing import Postprocessing
from torch import Tensor

from policies.becon.binding.columns import (
    EXCESS,
    LABELS,
    OUTCOME,
    BeconGAE,
    label_column,
    mask_of,
    outcome_column,
)
from policies.becon.binding.module import ACTED, BeconModule
from policies.becon.ensemble import bootstrap
from policies.becon.losses import LossSettings, Sequences, total_loss
from policies.becon.multiplier import ScalarMultiplier
from policies.training.vector_gae import replace_gae
from services.errors import HanseError

STATE = "becon"
"""Key of what is kept beside networks and optimisers in a learner's state."""
PREFIX = "becon_"


@dataclass(frozen=True, slots=True)
class LearnerSettings:
    """Keys of `learner_config_dict`, each with `becon_` before it."""

    estimator_rate: float = 3e-3
    """Learning rate of encoder and heads; that of policy and critic is `lr`."""
    gate_rate: float = 1e-2
    dual_rate: float = 4.0
    """Of the multiplier's plain gradient steps."""
    scalar_dual_rate: float = 0.035
    constraint: str = "hinge"
    budget_from: str = "truth"
    """`truth`: the simulator's budget; `context`: that which was acted on."""
    labels: bool = True
    """Whether true w and d are in `info`; if not, the heads learn from feedback alone."""
    calibrate_every: int = 10
    """Iterations."""
    value: float = 0.5
    belief: float = 0.5
    gates: float = 0.1
    line: float = 0.1
    dual: float = 0.1
    joint: bool = False

    def loss(self, clip: float, entropy: float) -> LossSettings:
        """The weights of the loss."""
        return LossSettings(
            clip=clip,
            value=self.value,
            entropy=entropy,
            belief=self.belief,
            gates=self.gates,
            line=self.line,
            dual=self.dual,
            joint=self.joint,
        )


def read_settings(given: dict[str, Any]) -> LearnerSettings:
    """The settings in a `learner_config_dict`; keys without `becon_` are others' business.

    Raises:
        HanseError: there is no such setting, or two contradict each other.
    """
    ours = {key.removeprefix(PREFIX): v for key, v in given.items() if key.startswith(PREFIX)}
    known = [each.name for each in fields(LearnerSettings)]
    for key in ours:
        if key not in known:
            raise HanseError(
                f"learner_config_dict: there is no {PREFIX}{key};"
                f" allowed: {', '.join(PREFIX + name for name in known)}"
            )
    made = LearnerSettings(**ours)
    for key, allowed in (("constraint", ("hinge", "mean")), ("budget_from", ("truth", "context"))):
        if getattr(made, key) not in allowed:
            raise HanseError(
                f"learner_config_dict: {PREFIX}{key} = {getattr(made, key)!r};"
                f" allowed: {', '.join(allowed)}"
            )
    if not made.labels and made.budget_from == "truth":
        raise HanseError(
            f"learner_config_dict: without {PREFIX}labels no true budget is known;"
            f" set {PREFIX}budget_from to context"
        )
    return made


class BeconLearner(PPOTorchLearner):  # type: ignore[misc]
    """PPO for `BeconModule`; its own state (random numbers, iterations) is in checkpoints."""

    @staticmethod
    def connectors(objectives: int, labels: bool = True) -> Callable[[Any, Any], list[Any]]:
        """What goes into `config.learners(learner_connector=...)`."""

        def made(observations: Any, actions: Any) -> list[Any]:
            del observations, actions
            wanted = [outcome_column(objectives)]
            return [*wanted, label_column(objectives)] if labels else wanted

        return made

    def build(self) -> None:
        """Builds the parent, and puts our advantages in the place of RLlib's."""
        self.becon = read_settings(dict(self.config.learner_config_dict))
        self.iterations_done = 0
        self.generator = torch.Generator().manual_seed(int(self.config.seed or 0))
        super().build()
        self.advantages = BeconGAE(
            gamma=self.config.gamma,
            lambda_=self.config.lambda_,
            constraint=self.becon.constraint,  # type: ignore[arg-type]
            budget_from=self.becon.budget_from,
        )
        replace_gae(self, self.advantages)
        self._plan_calibration()

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """One optimiser each for acting, estimating, gating, and the multiplier."""
        module = self._module[module_id].unwrapped()
        if not isinstance(module, BeconModule):
            super().configure_optimizers_for_module(module_id=module_id, config=config)
            return
        agent, settings = module.agent, self.becon
        estimator = agent.estimator
        estimating = [*estimator.encoder.parameters(), *estimator.heads.parameters()]
        if agent.inference is not None:
            estimating += list(agent.inference.parameters())
        acting = [*agent.policy.parameters(), *agent.critic.parameters()]
        gating = [*estimator.gates.parameters(), *estimator.line.parameters()]
        wanted: list[tuple[str, type[Any], list[Any], Any]] = [
            ("policy", torch.optim.Adam, acting, config.lr),
            ("estimator", torch.optim.Adam, estimating, settings.estimator_rate),
            ("gates", torch.optim.Adam, gating, settings.gate_rate),
        ]
        if isinstance(agent.multiplier, ScalarMultiplier):
            rate, kind = settings.scalar_dual_rate, torch.optim.Adam
            wanted.append(("dual", kind, list(agent.multiplier.parameters()), rate))
        elif agent.multiplier is not None:
            parameters = list(agent.multiplier.parameters())
            wanted.append(("dual", torch.optim.SGD, parameters, settings.dual_rate))
        for name, kind, parameters, rate in wanted:
            self.register_optimizer(
                module_id=module_id,
                optimizer_name=name,
                optimizer=kind(parameters, lr=1e-3),
                params=parameters,
                lr_or_lr_schedule=rate,
            )

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """The loss of `policies.becon.losses`; the parent's for modules that are not ours."""
        module = self.module[module_id].unwrapped()
        if not isinstance(module, BeconModule):
            loss: Tensor = super().compute_loss_for_module(
                module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
            )
            return loss
        entropy = self.entropy_coeff_schedulers_per_module[module_id].get_current_value()
        settings = self.becon.loss(config.clip_param, entropy)
        heads = module.agent.form.estimator.ensemble.heads
        total, parts = total_loss(
            module.agent, sequences(module, batch, heads, self.generator), settings
        )
        names = {"policy": POLICY_LOSS_KEY, "value": VF_LOSS_KEY, "entropy": ENTROPY_KEY}
        told = {names.get(name, f"{PREFIX}{name}_loss"): v for name, v in parts.items()}
        acted, real = module.acted(batch), mask_of(batch)
        if bool(real.any()):
            told[f"{PREFIX}lambda"] = acted.price[real].mean()
            told[f"{PREFIX}gate_w"] = acted.gates[..., 0][real].mean()
            told[f"{PREFIX}gate_d"] = acted.gates[..., 1][real].mean()
            told[f"{PREFIX}excess"] = batch[EXCESS][real].mean()
        self.metrics.log_dict(told, key=module_id, window=1)
        return total

    def apply_gradients(self, gradients_dict: dict[Any, Any]) -> None:
        """Steps, and brings a single lambda back to where it can move."""
        super().apply_gradients(gradients_dict)
        for module in self.module._rl_modules.values():
            ours = module.unwrapped()
            if isinstance(ours, BeconModule) and isinstance(
                ours.agent.multiplier, ScalarMultiplier
            ):
                ours.agent.multiplier.confine()

    def after_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Counts iterations; every so many the next rollout calibrates the belief first."""
        super().after_gradient_based_update(timesteps=timesteps)
        self.iterations_done += 1
        self._plan_calibration()

    def get_state(self, components: Any = None, *, not_components: Any = None, **rest: Any) -> Any:
        """The parent's state, and ours."""
        state = super().get_state(components, not_components=not_components, **rest)
        if self._check_component(STATE, components, not_components):
            state[STATE] = {
                "iterations": self.iterations_done,
                "generator": self.generator.get_state().numpy(),
            }
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on where `get_state` was called."""
        super().set_state(state)
        if STATE in state:
            self.iterations_done = int(state[STATE]["iterations"])
            self.generator.set_state(torch.as_tensor(state[STATE]["generator"]))
            self._plan_calibration()

    def _plan_calibration(self) -> None:
        every = self.becon.calibrate_every
        self.advantages.calibrate = bool(every) and (self.iterations_done + 1) % every == 0


def sequences(
    module: BeconModule, batch: dict[str, Any], heads: int, generator: torch.Generator
) -> Sequences:
    """A mini-batch of RLlib as `policies.becon.losses` wants it.

    Of a stateless module every observation is a sequence of frames, of which the last alone counts.
    """
    x, state = module.frames(batch)
    k = module.layout.objectives
    mask = mask_of(batch)
    actions = batch[Columns.ACTIONS].long()
    if len(module.layout.levels) == 1:
        actions = actions.unsqueeze(-1)
    labels = batch.get(LABELS)
    level = torch.zeros_like(mask, dtype=torch.long)
    columns = {
        "actions": actions,
        "logp": batch[Columns.ACTION_LOGP],
        "acted": batch[ACTED],
        "advantages": batch[Postprocessing.ADVANTAGES],
        "targets": batch[Postprocessing.VALUE_TARGETS],
        "excess": batch[EXCESS],
        "truth": None if labels is None else labels[..., : k + 1],
        "level": level if labels is None else labels[..., k + 1].round().long(),
        "mask": mask,
        "outcome": batch[OUTCOME],
    }
    if module.window:
        columns = {name: _last(v, module.window) for name, v in columns.items()}
    start = module.agent.initial_state(len(x)) if state is None else state
    return Sequences(x=x, state=start, head_weight=bootstrap(heads, len(x), generator), **columns)


def _last(values: Tensor | None, window: int) -> Tensor | None:
    """(N, ...) to (N, window, ...): zeros but for the last frame."""
    if values is None:
        return None
    padded = torch.zeros(len(values), window, *values.shape[1:], dtype=values.dtype)
    padded[:, -1] = values
    return padded
