"""The weights of one module's objectives over the iterations of PPO: measured, used, kept.

weights = ModuleWeights(settings)
if weights.fresh:
    weights.take(returns of weights.wanted() fresh episodes)
rows = weights.of_episodes(returns of the rollout, which of them are whole)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from policies.concave.objective import Measured, Objective, Plan
from policies.concave.scalarisation import Array
from policies.concave.settings import ConcaveSettings
from services.errors import HanseError


class ModuleWeights:
    """Omega of a module: from fresh episodes, or from the halves of a rollout.

    Args:
        settings: How.
    """

    def __init__(self, settings: ConcaveSettings) -> None:
        self.settings = settings
        constraint = settings.constraint
        self.objective = Objective(
            settings.scalarisation,
            constraint=constraint,
            estimator=settings.estimator_of(settings.scalarisation),
            constraint_estimator=settings.estimator_of(constraint.g) if constraint else None,
            seed=settings.seed,
        )
        self.number = 0
        """Measurements made so far."""
        self.spent = 0
        """Fresh episodes played so far, for omega alone."""
        self.seen: tuple[Measured, ...] = ()
        """The last measurement; of a rollout one for each half."""
        self._omegas: tuple[Array, ...] = ()
        self._unused = False

    @property
    def fresh(self) -> bool:
        """Whether episodes have to be played for it."""
        return self.settings.fresh

    def wanted(self) -> int:
        """How many fresh episodes the next measurement takes; 0 if it is made from the rollout."""
        return sum(self._plan().sizes) if self.fresh else 0

    def take(self, returns: Array) -> None:
        """Measures omega for the next iteration.

        Args:
            returns: (n, M) of fresh episodes of the present policy, `wanted()` or more; only so
                many are used.

        Raises:
            HanseError: there are too few, or they are not finite.
        """
        plan = self._plan()
        needed = sum(plan.sizes)
        if len(returns) < needed:
            raise HanseError(f"{needed} fresh episodes are needed for omega, {len(returns)} came")
        parts = np.split(returns[:needed], np.cumsum(plan.sizes)[:-1])
        self._keep((self.objective.measured(plan, parts),))
        self.spent += needed
        self._unused = True

    def of_episodes(self, returns: Array, whole: np.ndarray) -> Array:
        """What each episode's advantages are weighted with, omega / |omega|_1.

        Args:
            returns: (n, M), of the rollout's episodes.
            whole: bool (n,), which of them have both their beginning and their end in it.

        Returns:
            (n, M).

        Raises:
            HanseError: no fresh episodes were handed in, or none of the rollout is whole and there
                is no omega from before.
        """
        number = len(returns)
        if self.fresh:
            if not self._unused:
                raise HanseError(
                    "omega was not measured for this iteration: train with ConcavePPO, or call"
                    " policies.concave.algorithm.measure_weights(algorithm) before each train()"
                )
            self._unused = False
            return np.tile(_normalised(self._omegas[0]), (number, 1))
        half = np.arange(number) % 2
        counted = [returns[whole & (half == each)] for each in (0, 1)]
        if min(map(len, counted)) > 0:
            self._keep(tuple(self._of_half(each) for each in counted))
        elif not self._omegas:
            raise HanseError(
                f"{int(whole.sum())} of {number} episodes are whole, but omega needs two: raise"
                ' train_batch_size, set batch_mode = "complete_episodes", or concave_source ='
                ' "fresh"'
            )
        # Whoever is weighed must not be behind the weights: halves are swapped.
        return np.stack([_normalised(self._omegas[1 - each]) for each in half])

    def figures(self) -> dict[str, float]:
        """What is worth logging of the last measurement, by name."""
        if not self.seen:
            return {}
        made: dict[str, float] = {}
        for name, rows in (
            ("omega", [each.omega for each in self.seen]),
            ("return", [each.f.mean for each in self.seen]),
        ):
            for place, value in enumerate(np.mean(rows, axis=0)):
                made[f"{name}_{place}"] = float(value)
        made["value"] = float(np.mean([each.f.value for each in self.seen]))
        made["plug_in_value"] = float(np.mean([each.f.plug_in_value for each in self.seen]))
        levels = [q for each in self.seen for q in each.levels]
        if levels:
            made["level_mean"], made["level_most"] = float(np.mean(levels)), float(max(levels))
        made["episodes_spent"] = float(self.seen[0].trajectories if self.fresh else 0)
        made["episodes_spent_lifetime"] = float(self.spent)
        if self.objective.constraint is not None:
            made["price"] = self.objective.price
            made["constraint"] = float(np.mean([each.g.value for each in self.seen if each.g]))
        return made

    def save(self) -> dict[str, Any]:
        """What a checkpoint must hold: plain data."""
        return {
            "objective": self.objective.save(),
            "number": self.number,
            "spent": self.spent,
            "omegas": [omega.tolist() for omega in self._omegas],
            "unused": self._unused,
        }

    def load(self, saved: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint.

        Raises:
            HanseError: it is none of such weights.
        """
        try:
            self.objective.load(saved["objective"])
            self.number, self.spent = int(saved["number"]), int(saved["spent"])
            self._omegas = tuple(np.asarray(each, np.float64) for each in saved["omegas"])
            self._unused = bool(saved["unused"])
        except (KeyError, TypeError, ValueError) as error:
            raise HanseError(f"the checkpoint's weights are damaged: {error}") from None

    def _plan(self) -> Plan:
        return self.objective.plan(self.number)

    def _of_half(self, returns: Array) -> Measured:
        size = (len(returns),)
        if self.objective.constraint is None:
            return self.objective.measured(Plan(size, ()), [returns])
        # A rollout's episodes are dear: f and g are both taken from all of a half.
        return self.objective.measured(Plan(size, size), [returns, returns])

    def _keep(self, seen: tuple[Measured, ...]) -> None:
        self.seen = seen
        self._omegas = tuple(each.omega for each in seen)
        self.objective.adjust(seen)
        self.number += 1


def _normalised(omega: Array) -> Array:
    """Omega / |omega|_1, so that the size of f does not scale the step; 0 stays 0."""
    size = float(np.abs(omega).sum())
    return omega / size if size > 0 else omega
