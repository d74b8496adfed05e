"""What a router knows when an order comes, as a vector; and its one decision, which town to ask.

The towns that may fill the order stand in it cheapest first, so a policy means the same by its
levels in any league, whatever the towns are called: level 0 is the rule ``cheapest``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.environments.action_layout import Lever
from policies.environments.checks import finite
from policies.environments.observation_layout import Field, FieldLayout
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.setup import TownSetup
from services.messages import MINUTES_PER_DAY

OBSERVATION: Final = "routing-1"
DECISION: Final = "town-1"
_ITEMS: Final = (GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY)
_ROLE: Final = "router"


@dataclass(slots=True)
class Dealings:
    """What a router has had to do with a town since it last quoted."""

    orders: int = 0
    """Orders passed to it."""
    asked_kg: dict[str, int] | None = None
    """By item."""
    filled_kg: dict[str, int] | None = None
    """By item, as far as it has answered."""
    empty_handed: int = 0
    """Orders that it has sent back."""

    def asked(self, item: str, kg: int) -> None:
        """An order is passed to it."""
        self.orders += 1
        self.asked_kg = _more(self.asked_kg, item, kg)

    def filled(self, item: str, kg: int) -> None:
        """It has answered; 0 kg: with nothing."""
        self.empty_handed += kg == 0
        self.filled_kg = _more(self.filled_kg, item, kg)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A town that may fill an order, by its last quote."""

    town: str
    ask: float
    """Its lowest asking price for the item, dollars a kilogram."""
    on_offer: int
    """Kilograms of the item that it had when it quoted."""
    load: int
    """Foreign orders that it has answered the day before."""
    dealings: Dealings


@dataclass(frozen=True, slots=True)
class RoutingView:
    """What there is to decide."""

    item: str
    qty: int
    max_price: float
    now: int
    """Virtual minutes since the start."""
    candidates: Sequence[Candidate]
    """Cheapest first."""


@dataclass(frozen=True)
class RoutingLayout(FieldLayout):
    """How a view becomes a vector.

    Args:
        towns: How many candidates it has room for; of more, the cheapest are looked at.
        setup: Any town of the league, for its rules.
    """

    towns: int
    setup: TownSetup
    role: str = _ROLE
    version: str = OBSERVATION

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """All entries in order."""
        found = [
            Field("qty", "kg", 50.0),
            Field("max_price", "dollars a kg", 10.0, high=5.0),
            Field("minute", "share of the day", 1.0),
            Field("weekday_sine", "", 1.0, low=-1.0, high=1.0),
            Field("weekday_cosine", "", 1.0, low=-1.0, high=1.0),
            *(Field(f"item.{item}", "0 or 1", 1.0, high=1.0) for item in _ITEMS),
        ]
        for rank in range(self.towns):
            found += [
                Field(f"town_{rank}.there", "0 or 1", 1.0, high=1.0),
                Field(f"town_{rank}.ask", "share of the most that is paid", 1.0),
                Field(f"town_{rank}.on_offer", "kg by its quote", 100.0, high=4.0),
                Field(
                    f"town_{rank}.left", "kg by its quote, less what was filled", 100.0, high=4.0
                ),
                Field(f"town_{rank}.asked", "kg since its quote", 100.0, high=4.0),
                Field(f"town_{rank}.orders", "since its quote", 5.0, high=4.0),
                Field(f"town_{rank}.empty_handed", "orders since its quote", 3.0, high=4.0),
                Field(f"town_{rank}.load", "foreign orders the day before", 10.0, high=4.0),
            ]
        return tuple(found)

    @cached_property
    def sha256(self) -> str:
        """Tells layouts apart: a digest of version, names, units and scales."""
        rows = [[f.name, f.unit, f.kind, f.scale, f.low, f.high] for f in self.fields]
        text = json.dumps([self.version, rows], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def encode(self, view: RoutingView) -> NDArray[np.float32]:
        """The vector.

        Returns:
            ``(size,)``, float32, within :attr:`low` and :attr:`high`.

        Raises:
            HanseError: a number is not finite.
        """
        day, minute = divmod(view.now, MINUTES_PER_DAY)
        angle = 2.0 * math.pi * (day % 7) / 7.0
        raw: list[float] = [
            view.qty,
            view.max_price,
            minute / MINUTES_PER_DAY,
            math.sin(angle),
            math.cos(angle),
            *(float(view.item == item) for item in _ITEMS),
        ]
        for candidate in view.candidates[: self.towns]:
            dealings, item = candidate.dealings, view.item
            raw += [
                1.0,
                candidate.ask / view.max_price,
                candidate.on_offer,
                candidate.on_offer - (dealings.filled_kg or {}).get(item, 0),
                (dealings.asked_kg or {}).get(item, 0),
                dealings.orders,
                dealings.empty_handed,
                candidate.load,
            ]
        raw += [0.0] * (self.size - len(raw))
        values = finite(np.array(raw), "observation") * self._factors
        return np.clip(values, self.low, self.high).astype(np.float32)

    @cached_property
    def _factors(self) -> NDArray[np.float64]:
        return np.array([1.0 / field.scale for field in self.fields])


@dataclass(frozen=True)
class RoutingDecision:
    """The one lever of a router: the rank by price of the town that it asks."""

    towns: int
    version: str = DECISION

    @cached_property
    def levers(self) -> tuple[Lever, ...]:
        """One."""
        ranks = tuple(float(rank) for rank in range(self.towns))
        return (Lever("town", ranks, "rank by price, the cheapest is 0", 0),)

    @cached_property
    def nvec(self) -> NDArray[np.int64]:
        """The number of its levels."""
        return np.array([self.towns], dtype=np.int64)

    @cached_property
    def usual(self) -> NDArray[np.int64]:
        """The cheapest."""
        return np.zeros(1, dtype=np.int64)

    @property
    def size(self) -> int:
        """The length of a mask."""
        return self.towns

    def mask(self, view: RoutingView) -> NDArray[np.bool_]:
        """Which levels there are: ``(size,)``."""
        return np.arange(self.towns) < len(view.candidates)


def _more(sums: dict[str, int] | None, item: str, kg: int) -> dict[str, int]:
    found = {} if sums is None else sums
    found[item] = found.get(item, 0) + kg
    return found
