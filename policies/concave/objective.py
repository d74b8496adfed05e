"""What is raised: f(J), with g(J) kept from falling below a threshold at a price that sets itself.

    objective = Objective(f, constraint=Constraint(g, threshold=0.5))
    plan = objective.plan(0)                      # how many trajectories, in which parts
    seen = objective.measured(plan, returns)      # omega of this iteration
    objective.adjust([seen])                      # the price for the next one

The constrained variant is that of arXiv 2606.25012 (abstract) as the note reads it: a second
estimate, for g's gradient and value, and lambda <- [lambda - rate (g - threshold)]_+.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from policies.concave.draws import checked_returns, generator
from policies.concave.estimator import Estimate, Estimator, automatic
from policies.concave.scalarisation import Array, Scalarisation, check_number
from services.errors import HanseError


@dataclass(frozen=True, slots=True)
class Constraint:
    """g(J) >= threshold."""

    g: Scalarisation
    threshold: float = 0.0
    rate: float = 0.05
    """By how much the price moves for a violation of 1."""
    start: float = 0.0
    """The price before anything is known."""

    def __post_init__(self) -> None:
        """Refuses rates that would lower the price of what is violated."""
        check_number(self, "threshold", self.threshold)
        check_number(self, "rate", self.rate, least=0.0)
        check_number(self, "start", self.start, least=0.0)


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of one measurement, those for f before those for g."""

    for_f: tuple[int, ...]
    for_g: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Trajectories of each part."""
        return self.for_f + self.for_g


@dataclass(frozen=True, slots=True)
class Measured:
    """One iteration's weights of the objectives."""

    omega: Array
    """(M,), the gradient of f + lambda g; a component may be negative."""
    f: Estimate
    g: Estimate | None
    """From trajectories of its own."""
    price: float
    """The lambda in omega."""

    @property
    def trajectories(self) -> int:
        """How many were spent."""
        return self.f.trajectories + (self.g.trajectories if self.g else 0)

    @property
    def levels(self) -> tuple[int, ...]:
        """The q of each multi-level draw."""
        return self.f.levels + (self.g.levels if self.g else ())


class Objective:
    """f, perhaps a constraint, how they are estimated, and the price.

    Args:
        f: What is raised.
        constraint: What is to hold.
        estimator: Of f; None: plug-in if f is second-order smooth, multi-level otherwise.
        constraint_estimator: Of g, likewise.
        seed: Of the levels that are drawn.
    """

    def __init__(
        self,
        f: Scalarisation,
        *,
        constraint: Constraint | None = None,
        estimator: Estimator | None = None,
        constraint_estimator: Estimator | None = None,
        seed: int = 0,
    ) -> None:
        self.f = f
        self.constraint = constraint
        self.estimator = estimator or automatic(f)
        self.constraint_estimator: Estimator | None = None
        if constraint is not None:
            self.constraint_estimator = constraint_estimator or automatic(constraint.g)
        self.seed = seed
        self.price = constraint.start if constraint is not None else 0.0

    def plan(self, number: int) -> Plan:
        """What measurement `number` wants; a function of the seed and that number."""
        for_f = self.estimator.sizes(generator((self.seed, number, 0)))
        for_g: tuple[int, ...] = ()
        if self.constraint_estimator is not None:
            for_g = self.constraint_estimator.sizes(generator((self.seed, number, 1)))
        return Plan(for_f, for_g)

    def measured(self, plan: Plan, parts: Sequence[Array]) -> Measured:
        """The weights that the returns of the planned parts come to.

        Args:
            plan: What was wanted.
            parts: (size, M) for each part, in the plan's order.

        Raises:
            HanseError: parts are missing, or not finite returns.
        """
        if len(parts) != len(plan.sizes):
            raise HanseError(
                f"the plan has {len(plan.sizes)} parts, but returns of {len(parts)} were handed in"
            )
        checked = [checked_returns(part, n) for part, n in zip(parts, plan.sizes, strict=True)]
        first = len(plan.for_f)
        f = self.estimator.estimate(self.f, checked[:first])
        omega, g = f.gradient, None
        if self.constraint is not None and self.constraint_estimator is not None:
            g = self.constraint_estimator.estimate(self.constraint.g, checked[first:])
            omega = omega + self.price * g.gradient
        return Measured(omega, f, g, self.price)

    def adjust(self, seen: Sequence[Measured]) -> float:
        """Moves the price by what the measurements of one iteration say; answers it."""
        values = [each.g.value for each in seen if each.g is not None]
        if self.constraint is not None and values:
            slack = float(np.mean(values)) - self.constraint.threshold
            self.price = max(0.0, self.price - self.constraint.rate * slack)
        return self.price

    def save(self) -> dict[str, Any]:
        """What a checkpoint must hold."""
        return {"price": self.price}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint.

        Raises:
            HanseError: it is not one of an objective.
        """
        try:
            price = float(saved["price"])
        except (KeyError, TypeError, ValueError) as error:
            raise HanseError(f"the checkpoint's objective is damaged: {error}") from None
        if not (math.isfinite(price) and price >= 0):
            raise HanseError(f"the checkpoint's price must be a number from 0 up, not {price}")
        self.price = price
