"""What the CHAIN learners of PPO, DQN and SAC share: the hooks of RLlib's learners.

The private hook `_make_batch_if_necessary` (ray 2.60) gives the whole rollout; the loss only sees
the mini-batch. A test holds its presence and signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from zlib import crc32

from torch import Tensor

from policies.chain.regulariser import ChurnTerm, ModuleChain
from policies.chain.rows import MASK
from policies.chain.settings import ChainSettings, read_settings

STATE = "chain"
"""Key of CHAIN in a learner's state."""


class ChainMixin:
    """Adds churn terms to the loss of an RLlib torch learner; put it before the learner's class.

    Subclasses add the terms in `compute_loss_for_module`; this class keeps the reference, the rows
    and the weights. Settings are keys of `config.learners(learner_config_dict=...)`, also per
    module; see :class:`policies.chain.settings.ChainSettings`.
    """

    DEFAULT: ClassVar[ChainSettings] = ChainSettings()
    REPLAY: ClassVar[bool] = False

    chains: dict[str, ModuleChain]
    regularisation: dict[str, tuple[Tensor, Tensor]]
    """By module, of the current mini-batch: the loss without the terms, and the terms. Learners
    that treat the loss by its parts (see `policies.balanced`) read it."""

    def build(self) -> None:
        """Builds the parent and one `ModuleChain` per module."""
        super().build()  # type: ignore[misc]
        self.chains = {}
        self.regularisation = {}
        for module_id in self.module.keys():  # type: ignore[attr-defined] # noqa: SIM118
            self.chain(module_id)

    def terms(self, settings: ChainSettings) -> dict[str, ChurnTerm]:
        """The churn terms of a module, by name."""
        return {"policy": ChurnTerm(settings.coefficient, settings.weight)}

    def chain(self, module_id: str) -> ModuleChain:
        """CHAIN of a module; made when the module is first seen."""
        if module_id not in self.chains:
            config: Any = self.config  # type: ignore[attr-defined]
            given = config.get_config_for_module(module_id).learner_config_dict
            settings = read_settings(given, self.DEFAULT)
            seed = crc32(f"{config.seed or 0} {module_id}".encode()) * 2
            self.chains[module_id] = ModuleChain(
                settings, seed, self.terms(settings), replay=self.REPLAY
            )
        return self.chains[module_id]

    def regime_changed(self, module_id: str | None = None) -> None:
        """The world has changed: weights start anew, for one module or for all."""
        for name, chain in self.chains.items():
            if module_id in (None, name):
                chain.regime_changed()

    def remove_module(self, module_id: str, **options: Any) -> Any:
        """Forgets the module's chain, too."""
        self.chains.pop(module_id, None)
        return super().remove_module(module_id, **options)  # type: ignore[misc]

    def _make_batch_if_necessary(self, training_data: Any) -> Any:
        batch = super()._make_batch_if_necessary(training_data)  # type: ignore[misc]
        for module_id, columns in batch.policy_batches.items():
            chain = self.chain(module_id) if module_id in self.module else None  # type: ignore[attr-defined]
            if chain is not None and chain.active:
                chain.rows.replace(columns)
                chain.watched.replace(columns)
        return batch

    def apply_gradients(self, gradients_dict: dict[Any, Any]) -> None:
        """Keeps the parameters as they are before the step, then steps."""
        for module_id, chain in self.chains.items():
            if chain.active and chain.rows.seen:
                chain.reference.keep(self.module[module_id].unwrapped())  # type: ignore[attr-defined]
        super().apply_gradients(gradients_dict)  # type: ignore[misc]

    def after_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Sets the weights and logs what was seen, once per rollout or replay sample."""
        super().after_gradient_based_update(timesteps=timesteps)  # type: ignore[misc]
        for module_id, chain in self.chains.items():
            if not chain.active:
                continue
            for name, value in chain.finish(self._factor(module_id, chain)).items():
                self.metrics.log_value((module_id, f"chain_{name}"), value, window=1)  # type: ignore[attr-defined]
        self.regularisation.clear()

    def get_state(self, components: Any = None, *, not_components: Any = None, **rest: Any) -> Any:
        """The parent's state and, unless it was not asked for, that of CHAIN."""
        state = super().get_state(components, not_components=not_components, **rest)  # type: ignore[misc]
        if self._check_component(STATE, components, not_components):  # type: ignore[attr-defined]
            state[STATE] = {name: chain.save() for name, chain in self.chains.items()}
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes a state back; networks that were replaced have no step to be compared with."""
        super().set_state(state)  # type: ignore[misc]
        for name, saved in state.get(STATE, {}).items():
            if name in self.module:  # type: ignore[attr-defined]
                self.chain(name).load(saved)
        if "rl_module" in state:
            for chain in self.chains.values():
                chain.reference.drop()

    def _factor(self, module_id: str, chain: ModuleChain) -> float:
        """The share left of the learning rate, if the weight is to follow it."""
        if not chain.settings.follow_learning_rate:
            return 1.0
        optimiser = self.get_optimizers_for_module(module_id)[0][1]  # type: ignore[attr-defined]
        rate = float(self._get_optimizer_lr(optimiser))  # type: ignore[attr-defined]
        if chain.first_learning_rate is None:
            chain.first_learning_rate = rate
        return max(rate / chain.first_learning_rate, 0.1) if chain.first_learning_rate else 1.0


def all_masked(batch: Mapping[str, Any]) -> bool:
    """Whether no step of a mini-batch is real, so that RLlib's means would be NaN."""
    mask = batch.get(MASK)
    return mask is not None and not bool(mask.any())


def zero_loss(module: Any) -> Tensor:
    """A loss of 0 with a gradient of 0 for every parameter."""
    total: Tensor = sum((p * 0.0).sum() for p in module.parameters() if p.requires_grad)
    return total


def announce_regime_change(algorithm: Any, module_id: str | None = None) -> None:
    """Tells the learners of an RLlib algorithm that the world has changed."""
    algorithm.learner_group.foreach_learner(lambda learner: learner.regime_changed(module_id))
