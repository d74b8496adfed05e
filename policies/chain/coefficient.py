"""The weight of the churn term, set so that it stays in proportion to the loss that is trained.

CHAIN, arXiv 2409.04792, section 4.3: lambda = beta * mean|loss| / mean churn, both over a window.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_TINY = 1e-8
"""Keeps the quotient finite where nothing churns (released code)."""


@dataclass(frozen=True, slots=True)
class CoefficientSettings:
    """How the weight follows the losses."""

    beta: float = 0.1
    """Target of (weight * churn) / |loss|."""
    first: float = 1.0
    """The weight while it warms up."""
    warm_up: int = 3
    """Updates after a start or a new regime before the weight is set."""
    window: int = 20
    """Updates whose means count."""
    least: float = 0.0
    most: float = 50.0
    """Adam's steps do not shrink with the loss: a huge weight freezes the policy."""


class AutomaticCoefficient:
    """The weight of one churn term; `update` once per rollout (PPO) or step (DQN, SAC).

        weight = AutomaticCoefficient(CoefficientSettings(beta=0.1))
        loss = policy_loss + weight.value * churn
        weight.update(abs(policy_loss), churn)

    Args:
        settings: How it follows the losses.
    """

    def __init__(self, settings: CoefficientSettings) -> None:
        self.settings = settings
        self.value = settings.first
        self._losses = _Window(settings.window)
        self._churns = _Window(settings.window)
        self._updates = 0

    @property
    def proportion(self) -> float:
        """(weight * churn) / |loss| over the window; NaN before there is any."""
        if not len(self._losses) or self._losses.mean == 0:
            return math.nan
        return self.value * self._churns.mean / self._losses.mean

    def update(self, loss: float, churn: float, factor: float = 1.0) -> None:
        """Takes in what was seen.

        Args:
            loss: Mean of the loss that is trained; its sign does not matter.
            churn: Mean of the churn term, without its weight.
            factor: Multiplies the weight, for instance the share left of a falling learning rate.
        """
        if not (math.isfinite(loss) and math.isfinite(churn)):
            return
        self._losses.push(abs(loss))
        self._churns.push(churn)
        self._updates += 1
        if self._updates > self.settings.warm_up:
            wanted = self.settings.beta * self._losses.mean / (self._churns.mean + _TINY) * factor
            self.value = min(max(wanted, self.settings.least), self.settings.most)

    def reset(self) -> None:
        """Begins anew: the world has changed, so what the windows hold means nothing any more."""
        self.value = self.settings.first
        self._losses.clear()
        self._churns.clear()
        self._updates = 0

    def save(self) -> dict[str, Any]:
        """Plain numbers and lists; `load` takes them back."""
        return {
            "value": self.value,
            "updates": self._updates,
            "losses": list(self._losses),
            "churns": list(self._churns),
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Continues where `save` was called; a shorter window keeps the latest."""
        self.value = float(saved["value"])
        self._updates = int(saved["updates"])
        self._losses.fill(saved["losses"])
        self._churns.fill(saved["churns"])


class _Window(deque[float]):
    """The last so many numbers and their mean, without adding all of them up each time."""

    def __init__(self, length: int) -> None:
        super().__init__(maxlen=length)
        self._sum = 0.0
        self._pushed = 0

    @property
    def mean(self) -> float:
        return self._sum / len(self) if self else 0.0

    def push(self, value: float) -> None:
        if len(self) == self.maxlen:
            self._sum -= self[0]
        self.append(value)
        self._sum += value
        self._pushed += 1
        if self._pushed % 1000 == 0:  # rounding errors do not pile up
            self._sum = math.fsum(self)

    def clear(self) -> None:
        super().clear()
        self._sum = 0.0

    def fill(self, values: Iterable[float]) -> None:
        self.clear()
        self.extend(float(value) for value in values)
        self._sum = math.fsum(self)
