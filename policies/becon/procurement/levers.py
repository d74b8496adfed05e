"""What a purchasing controller sees of a firm, and what it may set.

Levers are set once a day: for each green coffee the stock up to which it is ordered, which of the
two is bid for first, and the purse, the share of the unit of cost that may be bid today. The purse
is what the budget limits: what a day costs is never above it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.becon.observation import Layout
from policies.environments.procurement import COST_UNIT, OBJECTIVES
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY

UP_TO: Final = ((0, 25, 50, 75, 100), (0, 8, 16, 24, 32))
"""Kilograms up to which green coffee, and green specialty, is ordered."""
MOST: Final = (30, 8)
"""Kilograms of each that are ordered on a day, at most: as the reference roaster."""
ITEMS: Final = (GREEN, GREEN_SPECIALTY)
PURSES: Final = tuple(round(0.1 * step, 1) for step in range(10))
"""Shares of the unit of cost that may be bid on a day."""
LEVELS: Final = (len(UP_TO[0]), len(UP_TO[1]), len(ITEMS), len(PURSES))
"""How many levels each lever has: the two stocks, who is first, the purse."""

_SCALES: Final = {GREEN: 100.0, GREEN_SPECIALTY: 40.0, ROASTED: 100.0, ROASTED_SPECIALTY: 40.0}
_SOLD: Final = {ROASTED: 30.0, ROASTED_SPECIALTY: 8.0}
_DAYS: Final = 90.0
FEATURES: Final = (
    *(f"position.{item}" for item in ITEMS),
    *(f"stock.{item}" for item in _SCALES),
    *(f"sold.{item}" for item in _SOLD),
    "day",
)
"""Of a firm's state, in this order; they hold nothing of its intent."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a controller sees of a firm in the morning; kilograms by item."""

    day: int
    position: Mapping[str, int]
    """On hand, under way and on bid, and what it has become in roasted coffee."""
    stock: Mapping[str, int]
    sold: Mapping[str, int]
    """Yesterday."""

    def features(self) -> NDArray[np.float64]:
        """In the order of :data:`FEATURES`, ``(F,)``."""
        return np.array(
            [
                *(self.position.get(item, 0) / _SCALES[item] for item in ITEMS),
                *(self.stock.get(item, 0) / scale for item, scale in _SCALES.items()),
                *(self.sold.get(item, 0) / scale for item, scale in _SOLD.items()),
                min(1.0, self.day / _DAYS),
            ]
        )


@dataclass(frozen=True, slots=True)
class Orders:
    """What a firm is to buy today."""

    kg: dict[str, int]
    first: str
    at_most: float
    """Dollars."""


def layout() -> Layout:
    """Where what lies in an observation."""
    return Layout(len(FEATURES), len(OBJECTIVES), LEVELS)


def orders(levels: tuple[int, ...], position: Mapping[str, int]) -> Orders:
    """What follows from a level of each lever."""
    *up_to, first, purse = levels
    kg = {}
    for place, item in enumerate(ITEMS):
        missing = UP_TO[place][up_to[place]] - position.get(item, 0)
        if missing > 0:
            kg[item] = min(missing, MOST[place])
    return Orders(kg, ITEMS[first], PURSES[purse] * COST_UNIT)


def choices() -> NDArray[np.int64]:
    """Every combination of levels, ``(500, 4)``."""
    return np.array(list(itertools.product(*(range(n) for n in LEVELS))), dtype=np.int64)


def encoded(levels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Combinations of levels ``(M, 4)`` as inputs of the networks of values, ``(M, 4)``."""
    tops = np.array(LEVELS, dtype=np.float64) - 1.0
    return np.asarray(levels / tops, dtype=np.float64)


def described() -> dict[str, object]:
    """What a manifest says of all that, so that a policy is not used for other levers."""
    return {
        "features": list(FEATURES),
        "objectives": dict(OBJECTIVES),
        "items": list(ITEMS),
        "up_to": [list(each) for each in UP_TO],
        "most": list(MOST),
        "purses": list(PURSES),
        "cost_unit": COST_UNIT,
    }
