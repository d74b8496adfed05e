"""The utilities: fixed weights, fairness, a target, nearly the worst, and a parabola.

Useful f of the note, section 1. What they have in common is in `scalarisation`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from policies.concave.scalarisation import (
    Array,
    Scalarisation,
    check_number,
    finite,
    row_of_numbers,
)
from services.errors import HanseError


@dataclass(frozen=True, slots=True)
class Linear(Scalarisation):
    """w . J + offset: fixed weights; the offset is for constraints (J_2 - 0.5 >= 0)."""

    weights: tuple[float, ...]
    offset: float = 0.0

    def __post_init__(self) -> None:
        """Refuses what is not a row of numbers."""
        object.__setattr__(self, "weights", row_of_numbers(self, "weights", self.weights))
        check_number(self, "offset", self.offset)

    @property
    def second_order_smooth(self) -> bool:
        """True."""
        return True

    @property
    def objectives(self) -> int:
        """As many as weights."""
        return len(self.weights)

    def _value(self, J: Array) -> Array:
        return np.asarray(J @ np.asarray(self.weights) + self.offset)

    def _grad(self, J: Array) -> Array:
        return np.broadcast_to(np.asarray(self.weights), J.shape).copy()


@dataclass(frozen=True, slots=True)
class AlphaFair(Scalarisation):
    """Sum of (J_m + delta)^(1 - alpha) / (1 - alpha); alpha = 1 is the sum of logarithms.

    The larger alpha, the more the worst-off objective counts.

    Single returns can be where f is not defined although J is not. With a `floor` the function goes
    on below J_m + delta = floor as a parabola with the value, slope and curvature that it has
    there, which keeps it concave, increasing and second-order smooth on the whole line.
    """

    alpha: float
    delta: float = 0.0
    floor: float | None = None

    def __post_init__(self) -> None:
        """Refuses a negative alpha or delta, and a floor that is not above 0."""
        check_number(self, "alpha", self.alpha, least=0.0)
        check_number(self, "delta", self.delta, least=0.0)
        if self.floor is not None and not (finite(self.floor) and self.floor > 0):
            raise HanseError(
                f"{type(self).__name__}: floor must be a number above 0, or left out, not"
                f" {self.floor!r}"
            )

    @property
    def second_order_smooth(self) -> bool:
        """True, unless curvature is unbounded near returns of 0 (no delta, no floor)."""
        return self.alpha == 0 or self.delta > 0 or self.floor is not None

    @property
    def lipschitz(self) -> bool:
        """Likewise."""
        return self.second_order_smooth

    def _value(self, J: Array) -> Array:
        x = self._inside(J + self.delta)
        kept = x if self.floor is None else np.maximum(x, self.floor)
        if self.alpha == 1:
            value = np.log(kept)
        else:
            value = kept ** (1 - self.alpha) / (1 - self.alpha)
        if self.floor is not None:
            below = x - kept
            slope = self.floor**-self.alpha
            value = value + slope * below * (1 - self.alpha * below / (2 * self.floor))
        return np.asarray(value.sum(axis=-1))

    def _grad(self, J: Array) -> Array:
        x = self._inside(J + self.delta)
        if self.floor is None:
            return np.asarray(x**-self.alpha)
        kept = np.maximum(x, self.floor)
        return np.asarray(kept**-self.alpha * (1 - self.alpha * (x - kept) / self.floor))

    def _inside(self, x: Array) -> Array:
        if self.floor is None and self.alpha > 0 and not np.all(x > 0):
            place = np.unravel_index(int(np.argmin(x)), x.shape)
            raise HanseError(
                f"{type(self).__name__}: J + delta must be above 0, but for objective"
                f" {int(place[-1])} it is {float(x[place]):.4g}; raise delta or set a floor"
            )
        return x


@dataclass(frozen=True, slots=True)
class ProportionalFairness(AlphaFair):
    """Sum of log(J_m + delta): a share gained by one counts like the same share lost by another."""

    alpha: float = 1.0

    def __post_init__(self) -> None:
        """Refuses another alpha than 1."""
        if self.alpha != 1:
            raise HanseError("ProportionalFairness: alpha is 1; for another use AlphaFair")
        AlphaFair.__post_init__(self)


@dataclass(frozen=True, slots=True)
class TargetShortfall(Scalarisation):
    """w . J - sum of kappa_m / 2 * max(0, target_m - J_m)^2: what falls short of a target is dear.

    The gradient is Lipschitz, but its slope jumps at the target: not second-order smooth, the case
    that needs the multi-level estimate.
    """

    weights: tuple[float, ...]
    targets: tuple[float, ...]
    penalties: tuple[float, ...]
    """kappa, one per objective; 0: no target."""

    def __post_init__(self) -> None:
        """Refuses rows of different length and negative penalties."""
        for name in ("weights", "targets", "penalties"):
            object.__setattr__(self, name, row_of_numbers(self, name, getattr(self, name)))
        if not len(self.weights) == len(self.targets) == len(self.penalties):
            raise HanseError(
                "TargetShortfall: weights, targets and penalties must be equally long, not"
                f" {len(self.weights)}, {len(self.targets)} and {len(self.penalties)}"
            )
        if min(self.penalties) < 0:
            raise HanseError(
                f"TargetShortfall: penalties must not be negative, as f would not be concave: got"
                f" {min(self.penalties):g}"
            )

    @property
    def second_order_smooth(self) -> bool:
        """False, unless no objective has a target."""
        return not any(self.penalties)

    @property
    def objectives(self) -> int:
        """As many as weights."""
        return len(self.weights)

    def _value(self, J: Array) -> Array:
        short = np.maximum(0.0, np.asarray(self.targets) - J)
        return np.asarray(J @ np.asarray(self.weights) - short**2 @ np.asarray(self.penalties) / 2)

    def _grad(self, J: Array) -> Array:
        short = np.maximum(0.0, np.asarray(self.targets) - J)
        return np.asarray(np.asarray(self.weights) + np.asarray(self.penalties) * short)


@dataclass(frozen=True, slots=True)
class SoftMin(Scalarisation):
    """-(1 / beta) log of the sum of exp(-beta J_m): nearly the worst objective, but smooth.

    It is below the least J_m by at most log(M) / beta.
    """

    beta: float

    def __post_init__(self) -> None:
        """Refuses a beta that is not above 0."""
        if not (finite(self.beta) and self.beta > 0):
            raise HanseError(f"SoftMin: beta must be a number above 0, not {self.beta!r}")

    @property
    def second_order_smooth(self) -> bool:
        """True."""
        return True

    def _value(self, J: Array) -> Array:
        least = J.min(axis=-1, keepdims=True)
        rest = np.exp(-self.beta * (J - least)).sum(axis=-1)
        return np.asarray(least[..., 0] - np.log(rest) / self.beta)

    def _grad(self, J: Array) -> Array:
        share = np.exp(-self.beta * (J - J.min(axis=-1, keepdims=True)))
        return np.asarray(share / share.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, slots=True)
class Quadratic(Scalarisation):
    """w . J - 1/2 (J - centre)' H (J - centre), H positive semidefinite.

    Its gradient is linear in J, so that the plug-in estimate has no bias at all. It falls where the
    pull of the centre is stronger than the weights: not every such f is increasing.
    """

    weights: tuple[float, ...]
    curvature: tuple[tuple[float, ...], ...]
    """H, rows of M numbers."""
    centre: tuple[float, ...] = ()
    """M numbers; empty: 0."""

    def __post_init__(self) -> None:
        """Refuses an H that is not square, symmetric and positive semidefinite."""
        weights = row_of_numbers(self, "weights", self.weights)
        centre = row_of_numbers(self, "centre", self.centre or (0.0,) * len(weights))
        rows = tuple(row_of_numbers(self, "curvature", row) for row in self.curvature)
        H = np.asarray(rows) if len({len(row) for row in rows}) == 1 else np.zeros(0)
        if H.shape != (len(weights),) * 2 or len(centre) != len(weights):
            raise HanseError(
                f"Quadratic: {len(weights)} weights need as many numbers in centre and as many rows"
                " and columns in curvature"
            )
        if not np.allclose(H, H.T):
            raise HanseError("Quadratic: curvature must be symmetric; use (H + H') / 2")
        if np.linalg.eigvalsh(H)[0] < -1e-9 * max(1.0, float(np.abs(H).max())):
            raise HanseError(
                "Quadratic: curvature must be positive semidefinite, as f would not be concave:"
                f" its least eigenvalue is {np.linalg.eigvalsh(H)[0]:.4g}"
            )
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "centre", centre)
        object.__setattr__(self, "curvature", rows)

    @classmethod
    def mean_variance(cls, objectives: int, aversion: float) -> Quadratic:
        """Mean of the objectives less aversion / 2 times their variance from one to another."""
        if not (isinstance(objectives, int) and objectives >= 1):
            raise HanseError(f"Quadratic: objectives must be a number from 1 up, not {objectives}")
        check_number(cls, "aversion", aversion, least=0.0)
        spread = (np.eye(objectives) - 1.0 / objectives) / objectives
        rows = tuple(tuple(row) for row in (aversion * spread).tolist())
        return cls((1.0 / objectives,) * objectives, rows)

    @property
    def second_order_smooth(self) -> bool:
        """True."""
        return True

    @property
    def objectives(self) -> int:
        """As many as weights."""
        return len(self.weights)

    def _value(self, J: Array) -> Array:
        away = J - np.asarray(self.centre)
        bent = (away @ np.asarray(self.curvature) * away).sum(axis=-1)
        return np.asarray(J @ np.asarray(self.weights) - bent / 2)

    def _grad(self, J: Array) -> Array:
        away = J - np.asarray(self.centre)
        return np.asarray(np.asarray(self.weights) - away @ np.asarray(self.curvature))
