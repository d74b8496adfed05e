"""CHAIN for one module: what the learners of all algorithms keep, without RLlib.

One step of the optimiser goes like this:

    rows.replace(batch)                     # once per rollout, or per replay sample
    old, new, mask = outputs on rows.draw(n) of reference.module() and of the module
    loss = loss + term.add(|loss|, churn)   # for every churn term: policy, value
    reference.keep(module)                  # right before the optimiser steps
    term.finish()                           # once per rollout or step
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import torch
from torch import Tensor

from policies.chain.coefficient import AutomaticCoefficient, CoefficientSettings
from policies.chain.reference import FrozenReference
from policies.chain.rows import ReplayRows, RolloutRows
from policies.chain.settings import ChainSettings


class ChurnTerm:
    """One term of a loss: its weight and what was seen since the weight was last set.

    Args:
        settings: How the weight is set.
        fixed: The weight, if it does not change.
        relative: Whether a fixed weight is multiplied by the size of the loss.
    """

    def __init__(
        self,
        settings: CoefficientSettings,
        fixed: float | None = None,
        *,
        relative: bool = False,
    ) -> None:
        self.fixed = fixed
        self.relative = relative and fixed is not None
        self.coefficient = AutomaticCoefficient(settings)
        self._losses: list[Tensor] = []
        self._churns: list[Tensor] = []

    @property
    def weight(self) -> float:
        """Of the term, at present."""
        return self.coefficient.value if self.fixed is None else self.fixed

    def add(self, loss: Tensor | None, churn: Tensor) -> Tensor:
        """The weighted term.

        Args:
            loss: What the term is compared with, if it is known by now (see `compare`).
            churn: Mean churn, with its gradient.
        """
        self._churns.append(churn.detach())
        if loss is None:
            return self.weight * churn
        self.compare(loss)
        weight = self.weight * loss.detach().abs() if self.relative else self.weight
        return weight * churn

    def compare(self, loss: Tensor) -> None:
        """Takes a loss to compare the term with.

        The size of the losses' mean counts: single mini-batches may be off by several times that,
        to either side.
        """
        self._losses.append(loss.detach())

    def finish(self, factor: float = 1.0) -> dict[str, float]:
        """Sets the weight from what was seen; answers what is worth logging."""
        if not self._churns:
            return {}
        loss = abs(float(torch.stack(self._losses).mean())) if self._losses else math.nan
        churn = float(torch.stack(self._churns).mean())
        self._losses.clear()
        self._churns.clear()
        used = self.weight
        if self.fixed is None:
            self.coefficient.update(loss, churn, factor)
        seen = {"lambda": used, "churn_loss": churn}
        if self.relative:
            seen["loss_share"] = used * churn
        elif loss > 0:
            seen["loss_share"] = used * churn / loss
        return seen


class ModuleChain:
    """Everything CHAIN keeps for one module.

    Args:
        settings: Of this module.
        seed: Of the random generators; training and measuring each have their own.
        terms: The churn terms by name.
        replay: Whether batches come from a replay buffer.
    """

    def __init__(
        self,
        settings: ChainSettings,
        seed: int,
        terms: dict[str, ChurnTerm],
        *,
        replay: bool = False,
    ) -> None:
        kind = ReplayRows if replay else RolloutRows
        self.settings = settings
        self.terms = terms
        self.rows: RolloutRows | ReplayRows = kind(seed)
        self.watched: RolloutRows | ReplayRows = kind(seed + 1)
        self.reference = FrozenReference(max(settings.monitor_steps, default=1))
        self.first_learning_rate: float | None = None
        self._minibatches = 0
        self._measured: dict[str, list[float]] = defaultdict(list)

    @property
    def off(self) -> bool:
        """Whether there is no term, so that the learner is its parent to the bit."""
        return all(term.fixed == 0 for term in self.terms.values())

    @property
    def active(self) -> bool:
        """Whether anything is done at all."""
        return not self.off or self.settings.monitor_every > 0

    @property
    def ready(self) -> bool:
        """Whether there is a network to compare with, and rows to compare on."""
        return self.reference.steps > 0 and len(self.rows) > 0

    def due(self) -> bool:
        """Whether churn is measured at this mini-batch; call it once for each."""
        every = self.settings.monitor_every
        self._minibatches += 1
        return every > 0 and self._minibatches % every == 0

    def measured(self, name: str, value: Tensor) -> None:
        """Takes a measurement; `finish` gives the mean."""
        self._measured[name].append(float(value))

    def finish(self, factor: float = 1.0) -> dict[str, float]:
        """Sets the weights; answers what is worth logging since the last time."""
        seen: dict[str, float] = {}
        for name, term in self.terms.items():
            for what, value in term.finish(factor).items():
                seen[what if len(self.terms) == 1 else f"{name}_{what}"] = value
        for name, values in self._measured.items():
            seen[name] = sum(values) / len(values)
        self._measured.clear()
        return seen

    def regime_changed(self) -> None:
        """Begins with fresh windows, as C-CHAIN does (arXiv 2506.00592)."""
        for term in self.terms.values():
            term.coefficient.reset()

    def save(self) -> dict[str, Any]:
        """Weights, windows and generators; the reference is made anew at the next step."""
        return {
            "terms": {name: term.coefficient.save() for name, term in self.terms.items()},
            "rows": self.rows.save(),
            "watched": self.watched.save(),
            "minibatches": self._minibatches,
            "first_learning_rate": self.first_learning_rate,
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Continues where `save` was called; a term that was not saved begins anew."""
        for name, term in self.terms.items():
            if name in saved["terms"]:
                term.coefficient.load(saved["terms"][name])
        self.rows.load(saved["rows"])
        self.watched.load(saved["watched"])
        self._minibatches = int(saved["minibatches"])
        self.first_learning_rate = saved["first_learning_rate"]
        self.reference.drop()
