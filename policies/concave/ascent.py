"""Concave natural policy gradient: omega from fresh trajectories, then a step along A . omega.

Multi-level (MLMC-NPG) and plain NPG are one loop; they differ in the objective's estimator, which
is plain where f is second-order smooth, unless told otherwise (note, section 4).

The trajectories behind omega must not be those behind the advantages: the product of the two would
be biased again. Either both have trajectories of their own (`apart`), or there are two halves, each
of which weighs the advantages of the other, and the two directions are averaged (`swapped`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from policies.concave.draws import Draws, draw_part, in_process, seeds_of
from policies.concave.natural_gradient import bounded_step, falling_rate
from policies.concave.objective import Measured, Objective
from policies.concave.scalarisation import Array, check_number
from services.errors import HanseError

Independence = Literal["apart", "swapped"]
_KEPT = 256
"""Parameters kept of the averaged iterations, evenly spread."""


class Task(Protocol):
    """A world and a kind of policy, as far as the loop knows them."""

    def start(self) -> Array:
        """Parameters to begin with, (P,)."""

    def roll_out(self, parameters: Array, n: int, rng: np.random.Generator) -> Any:
        """Plays n independent trajectories; what is recorded is the task's own affair."""

    def returns(self, rollouts: Any) -> Array:
        """The vector returns of what was recorded, (n, M)."""

    def direction(self, parameters: Array, rollouts: Any | None, omega: Array) -> Array:
        """The natural gradient of omega . J, (P,); None: without trajectories."""

    def divergence(self, old: Array, new: Array) -> float:
        """KL(old || new) of the policies."""

    def expected(self, parameters: Array) -> Array:
        """J, for the record, (M,); NaN where it is not known."""


@dataclass(frozen=True, slots=True)
class AscentSettings:
    """How it is climbed."""

    iterations: int = 1000
    rate: float = 0.2
    """Of the first step."""
    rate_after: float = 200.0
    """Iterations after which the rate begins to fall."""
    rate_power: float = 0.7
    divergence: float | None = 0.02
    """The most that a step may change the policy, KL; None: no bound."""
    batch: int = 0
    """Trajectories for advantages if they are `apart`; 0: the task's exact direction."""
    independence: Independence = "apart"
    average_over: float = 0.25
    """The share of iterations, the last ones, that the output is the average of."""

    def __post_init__(self) -> None:
        """Refuses numbers that cannot be."""
        for name, least in (("iterations", 1), ("batch", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise HanseError(
                    f"AscentSettings: {name} must be a whole number from {least} up, not {value!r}"
                )
        for name in ("rate", "rate_after", "rate_power"):
            check_number(self, name, getattr(self, name), least=0.0)
        if self.rate_after == 0:
            raise HanseError("AscentSettings: rate_after must be above 0")
        if self.divergence is not None:
            check_number(self, "divergence", self.divergence, least=0.0)
        if not 0 < self.average_over <= 1:
            raise HanseError(
                f"AscentSettings: average_over must be above 0 and at most 1, not"
                f" {self.average_over!r}"
            )


@dataclass(slots=True)
class Ascent:
    """What came of it."""

    parameters: Array
    """The last ones."""
    averaged: list[Array] = field(default_factory=list)
    """Parameters of the averaged iterations, evenly spread; the output is one of them at random."""
    expected: list[Array] = field(default_factory=list)
    """J before each step."""
    prices: list[float] = field(default_factory=list)
    """The constraint's price in each step."""
    omegas: list[Array] = field(default_factory=list)
    trajectories: int = 0
    """Spent, for omega and for advantages."""
    late: int = 0
    """The iteration from which the output is averaged."""

    def output(self) -> Array:
        """J of the output: the mean over the averaged iterations."""
        return np.asarray(np.mean(self.expected[self.late :], axis=0))


def ascend(
    task: Task,
    objective: Objective,
    settings: AscentSettings = AscentSettings(),
    *,
    seed: int = 0,
    draws: Draws = in_process,
) -> Ascent:
    """Climbs; a function of the seed and the objective's state, however draws are made.

    Raises:
        HanseError: the task's returns are not finite, or f is not defined there.
    """
    made = Ascent(task.start())
    made.late = int(np.floor(settings.iterations * (1 - settings.average_over)))
    every = max(1, -(-(settings.iterations - made.late) // _KEPT))
    for iteration in range(settings.iterations):
        parameters = made.parameters
        if iteration >= made.late and (iteration - made.late) % every == 0:
            made.averaged.append(parameters)
        made.expected.append(task.expected(parameters))
        made.prices.append(objective.price)
        if settings.independence == "swapped":
            seen, direction = _swapped(task, objective, parameters, (seed, iteration), draws)
        else:
            seen, direction = _apart(
                task, objective, parameters, (seed, iteration), draws, settings.batch
            )
            made.trajectories += settings.batch
        made.omegas.append(np.mean([each.omega for each in seen], axis=0))
        made.trajectories += sum(each.trajectories for each in seen)
        step = falling_rate(iteration, settings.rate, settings.rate_after, settings.rate_power)
        if settings.divergence is not None:
            step = bounded_step(
                lambda length, old=parameters, way=direction: task.divergence(  # type: ignore[misc]
                    old, old + length * way
                ),
                step,
                settings.divergence,
            )
        made.parameters = parameters + step * direction
        objective.adjust(seen)
    return made


def _apart(
    task: Task,
    objective: Objective,
    parameters: Array,
    seed: tuple[int, int],
    draws: Draws,
    batch: int,
) -> tuple[list[Measured], Array]:
    def sampler(n: int, rng: np.random.Generator) -> Array:
        return task.returns(task.roll_out(parameters, n, rng))

    plan = objective.plan(2 * seed[1])
    parts = draws(sampler, plan.sizes, seeds_of((*seed, 0), len(plan.sizes)))
    seen = objective.measured(plan, parts)
    rollouts = None
    if batch:
        rollouts = draw_part(lambda n, rng: task.roll_out(parameters, n, rng), batch, (*seed, 2))
    return [seen], task.direction(parameters, rollouts, seen.omega)


def _swapped(
    task: Task, objective: Objective, parameters: Array, seed: tuple[int, int], draws: Draws
) -> tuple[list[Measured], Array]:
    def player(n: int, rng: np.random.Generator) -> Any:
        return task.roll_out(parameters, n, rng)

    seen, halves = [], []
    for half in (0, 1):
        plan = objective.plan(2 * seed[1] + half)
        parts = draws(player, plan.sizes, seeds_of((*seed, half), len(plan.sizes)))
        seen.append(objective.measured(plan, [task.returns(part) for part in parts]))
        halves.append(parts)
    # Larger parts count more within a half, but both halves count alike: if a half with many
    # trajectories counted more, the level behind its own omega would weigh the other one's.
    directions = [
        np.average(
            [task.direction(parameters, part, other.omega) for part in parts],
            axis=0,
            weights=[len(task.returns(part)) for part in parts],
        )
        for parts, other in zip(halves, reversed(seen), strict=True)
    ]
    return seen, np.mean(directions, axis=0)
