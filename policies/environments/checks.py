"""What is refused before it can do harm: roles, objectives, preferences, budgets, numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.economy.catalogue import ROLES, Role
from services.errors import HanseError

TOLERANCE = 1e-6
"""How far the weights of a preference may be from a sum of one."""


def known_role(role: str) -> Role:
    """The role.

    Raises:
        HanseError: there is no such role.
    """
    if role not in ROLES:
        raise HanseError(f"role: there is no role {role!r}; allowed: {', '.join(ROLES)}")
    return role


def checked_objectives(chosen: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The objectives, in the order in which they were asked for.

    Raises:
        HanseError: none, one twice, or one that does not exist.
    """
    for name in chosen:
        if name not in known:
            raise HanseError(
                f"objectives: there is no objective {name!r}; allowed: {', '.join(known)}"
            )
    if not chosen or len(set(chosen)) != len(chosen):
        raise HanseError(
            f"objectives: {', '.join(chosen) or 'none'}: name each objective once, and at least one"
        )
    return tuple(chosen)


def checked_preference(
    preference: Sequence[float] | NDArray[Any] | None, objectives: Sequence[str]
) -> NDArray[np.float64]:
    """The preference as weights that sum to exactly one; none given: equal weights.

    Raises:
        HanseError: a wrong number of weights, one that is negative or no number, or a sum that is
            not one.
    """
    K = len(objectives)
    if preference is None:
        return np.full(K, 1.0 / K)
    try:
        weights = np.asarray(preference, dtype=np.float64)
    except (TypeError, ValueError):
        raise HanseError(f"preference: {preference!r} does not consist of numbers") from None
    if weights.shape != (K,):
        raise HanseError(
            f"preference: {weights.size} weights for {K} objectives;"
            f" give one each for {', '.join(objectives)}"
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise HanseError(f"preference: {weights.tolist()}: weights are finite and not below 0")
    if abs(weights.sum() - 1.0) > TOLERANCE:
        raise HanseError(
            f"preference: {weights.tolist()} sums to {weights.sum():g}; weights must sum to 1"
        )
    normal: NDArray[np.float64] = weights / weights.sum()
    return normal


def checked_budget(budget: float) -> float:
    """The budget of the mean cost a step.

    Raises:
        HanseError: it is not between 0 and 1.
    """
    try:
        value = float(budget)
    except (TypeError, ValueError):
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise HanseError(f"budget: {budget!r} does not fit; allowed: 0 to 1 (mean cost a step)")
    return value


def finite(values: NDArray[Any], what: str) -> NDArray[Any]:
    """The numbers.

    Raises:
        HanseError: one of them is NaN or infinite.
    """
    if not np.isfinite(values).all():
        place = int(np.flatnonzero(~np.isfinite(np.ravel(values)))[0])
        raise HanseError(
            f"{what}: entry {place} is {np.ravel(values)[place]};"
            " an environment must give finite numbers"
        )
    return values
