"""What a concave utility of expected returns is, and how utilities are scaled and confined.

A utility is of *expected* returns J (SER), not an expected utility of returns (ESR): f(E[G]), not
E[f(G)]. All of them are concave and differentiable everywhere they are defined; `utilities` has
them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.errors import HanseError

Array = NDArray[np.float64]


class Scalarisation(ABC):
    """A concave f of M objectives; `value` and `grad` work on any number of leading axes."""

    @property
    @abstractmethod
    def second_order_smooth(self) -> bool:
        """Whether the Hessian of f is Lipschitz, so that a plug-in gradient has bias O(1/B)."""

    @property
    def lipschitz(self) -> bool:
        """Whether the gradient of f is Lipschitz, so that a plug-in gradient has bias O(B^-1/2)."""
        return True

    @property
    def objectives(self) -> int | None:
        """M; None if any number will do."""
        return None

    def value(self, J: Any) -> Array:
        """The utility of (..., M): (...).

        Raises:
            HanseError: the last axis does not hold the objectives, or f is not defined there.
        """
        return self._value(self._checked(J))

    def grad(self, J: Any) -> Array:
        """The gradient of f at (..., M): (..., M).

        Raises:
            HanseError: the last axis does not hold the objectives, or f is not defined there.
        """
        return self._grad(self._checked(J))

    def scaled(self, factor: float) -> Scaled:
        """`factor` times this."""
        return Scaled(self, factor)

    @abstractmethod
    def _value(self, J: Array) -> Array: ...

    @abstractmethod
    def _grad(self, J: Array) -> Array: ...

    def _checked(self, J: Any) -> Array:
        array = np.asarray(J, np.float64)
        wanted = self.objectives
        if array.ndim == 0 or (wanted is not None and array.shape[-1] != wanted):
            raise HanseError(
                f"{type(self).__name__}: it is about {wanted or 'several'} objectives, but the"
                f" returns have shape {array.shape}; the last axis must hold the objectives"
            )
        return array


@dataclass(frozen=True, slots=True)
class Scaled(Scalarisation):
    """`factor` times another utility."""

    inner: Scalarisation
    factor: float

    def __post_init__(self) -> None:
        """Refuses a negative factor, which would turn concave into convex."""
        check_number(self, "factor", self.factor, least=0.0)

    @property
    def second_order_smooth(self) -> bool:
        """As the other."""
        return self.inner.second_order_smooth

    @property
    def lipschitz(self) -> bool:
        """As the other."""
        return self.inner.lipschitz

    @property
    def objectives(self) -> int | None:
        """As the other."""
        return self.inner.objectives

    def _value(self, J: Array) -> Array:
        return self.factor * self.inner.value(J)

    def _grad(self, J: Array) -> Array:
        return self.factor * self.inner.grad(J)


@dataclass(frozen=True, slots=True)
class Part(Scalarisation):
    """A utility of some of the objectives: f of the rewards, g of the costs of one vector."""

    inner: Scalarisation
    components: tuple[int, ...]
    """Which objectives, from 0."""
    of: int
    """How many there are, M."""

    def __post_init__(self) -> None:
        """Refuses components that are not there, twice there, or too few or many."""
        chosen = self.components
        if not chosen or len(set(chosen)) < len(chosen) or not 0 <= min(chosen) <= max(chosen):
            raise HanseError(f"Part: components must be different numbers from 0, not {chosen}")
        if max(chosen) >= self.of:
            raise HanseError(f"Part: component {max(chosen)} is not among {self.of} objectives")
        if self.inner.objectives not in (None, len(chosen)):
            raise HanseError(
                f"Part: {type(self.inner).__name__} is about {self.inner.objectives} objectives,"
                f" but {len(chosen)} components are given"
            )

    @property
    def second_order_smooth(self) -> bool:
        """As the other."""
        return self.inner.second_order_smooth

    @property
    def lipschitz(self) -> bool:
        """As the other."""
        return self.inner.lipschitz

    @property
    def objectives(self) -> int:
        """M, those included that do not count."""
        return self.of

    def _value(self, J: Array) -> Array:
        return self.inner.value(J[..., list(self.components)])

    def _grad(self, J: Array) -> Array:
        made = np.zeros(J.shape)
        made[..., list(self.components)] = self.inner.grad(J[..., list(self.components)])
        return made


def finite(value: Any) -> bool:
    """Whether it is a number that can be reckoned with."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def check_number(owner: object, name: str, value: Any, least: float | None = None) -> None:
    """Refuses what is no number, or below the least one, in a line that names the parameter."""
    if finite(value) and (least is None or value >= least):
        return
    asked = "a number" if least is None else f"a number from {least:g} up"
    kind = owner if isinstance(owner, type) else type(owner)
    raise HanseError(f"{kind.__name__}: {name} must be {asked}, not {value!r}")


def row_of_numbers(owner: object, name: str, values: Any) -> tuple[float, ...]:
    """The numbers of a row that is not empty; refuses anything else by name."""
    try:
        row = tuple(values)
    except TypeError:
        row = ()
    if not row or not all(finite(value) for value in row):
        raise HanseError(f"{type(owner).__name__}: {name} must be a row of numbers, not {values!r}")
    return tuple(float(value) for value in row)
