"""What a policy decides: a few levers, each with a handful of levels, and which of them are legal.

A day of a firm is twenty calls, most of them routine. A policy leaves the routine to
:mod:`policies.environments.deciding` and sets its levers: up to which stock to buy and at which
price, how much to grow or roast, what to ask, which bids to take, when to pay. Prices are multiples
of an item's **anchor**: what it costs to grow a green coffee, what consumers pay at most for a
roasted one. So a layout fits every catalogue with the same items.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from policies.environments.checks import known_role
from policies.environments.mirror import Mirror
from services.economy.catalogue import (
    GREEN,
    GREEN_SPECIALTY,
    ROASTED,
    ROASTED_SPECIALTY,
    Catalogue,
    Role,
)
from services.economy.money import dollars
from services.economy.results import Listing
from services.errors import HanseError

VERSION: Final = "levers-1"
_AT_ONCE: Final = 0
"""Days of credit of what a mask asks about: none, which all rules admit."""
BUYS: Final[dict[Role, tuple[str, ...]]] = {
    "farmer": (),
    "roaster": (GREEN, GREEN_SPECIALTY),
    "retailer": (ROASTED, ROASTED_SPECIALTY),
}
"""What firms of a role buy from others."""
SELLS: Final[dict[Role, tuple[str, ...]]] = {
    "farmer": (GREEN, GREEN_SPECIALTY),
    "roaster": (ROASTED, ROASTED_SPECIALTY),
    "retailer": (),
}
"""What firms of a role offer to other firms."""

_SHARES = (0.0, 0.5, 1.0)
_BIDS = (0.90, 0.95, 0.97, 1.0)
_ACCEPTS = (0.80, 0.90, 0.95, 1.0)
_GREEN_ASKS = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0, 5.0)
_ROASTED_ASKS = (0.25, 0.30, 0.325, 0.35, 0.40, 0.45, 0.50, 0.55, 0.60, 0.70, 0.80, 0.95)
_SHELF = (0.0, 0.45, 0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90, 1.0)
_POSITIONS = {
    GREEN: (0, 15, 30, 45, 60, 75, 90),
    GREEN_SPECIALTY: (0, 5, 10, 15, 20, 30, 40),
    ROASTED: (0, 10, 20, 30, 45, 60, 75),
    ROASTED_SPECIALTY: (0, 3, 6, 10, 14, 20, 30),
}
_GREEN_LIMITS = (1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 4.0)
_ROASTED_LIMITS = (0.30, 0.35, 0.40, 0.45, 0.50, 0.60, 0.75, 1.0)
_PAY_AHEAD = (0.0, 2.0, 5.0, 30.0)
_TERMS = (7.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True)
class Lever:
    """One decision of a policy; level 0 is the most cautious, and the one that is always legal."""

    name: str
    levels: tuple[float, ...]
    unit: str
    usual: int
    """The level nearest to what the scripted firm of the role does."""


def anchor(catalogue: Catalogue, item: str) -> float:
    """The price of which asks, bids and limits are multiples, dollars a kilogram."""
    known = catalogue.items[item]
    if known.reservation_price is not None:
        return known.reservation_price
    return dollars(known.unit_cost) or 1.0


def _levers(role: Role) -> tuple[Lever, ...]:
    found: list[Lever] = []
    for item in BUYS[role]:
        green = item in (GREEN, GREEN_SPECIALTY)
        position = {GREEN: 4, GREEN_SPECIALTY: 4, ROASTED: 4, ROASTED_SPECIALTY: 3}[item]
        found += [
            Lever(f"position.{item}", _POSITIONS[item], "kg on hand, under way, on bid", position),
            Lever(f"bid.{item}", _BIDS, "of the seller's ask", 2),
            Lever(f"limit.{item}", _GREEN_LIMITS if green else _ROASTED_LIMITS, "of the anchor", 7),
        ]
    if role == "farmer":
        grown = (0.0, 0.25, 0.5, 0.75, 1.0)
        found += [Lever(f"grow.{i}", grown, "of the daily cap", 4) for i in SELLS[role]]
    if role == "roaster":
        found += [Lever(f"roast.{i}", _SHARES, "of what can be roasted", 2) for i in BUYS[role]]
    for item in SELLS[role]:
        green = item in (GREEN, GREEN_SPECIALTY)
        ask = {GREEN: 5, GREEN_SPECIALTY: 3, ROASTED: 2, ROASTED_SPECIALTY: 5}[item]
        found += [
            Lever(f"list.{item}", _SHARES, "of the stock", 2),
            Lever(f"ask.{item}", _GREEN_ASKS if green else _ROASTED_ASKS, "of the anchor", ask),
        ]
    if SELLS[role]:
        found.append(Lever("accept", _ACCEPTS, "of the own ask, at least", 2))
    if role == "retailer":
        found += [Lever(f"shelf.{i}", _SHELF, "of the anchor; 0: not on the shelf", 4)
                  for i in BUYS[role]]  # fmt: skip
    if BUYS[role]:
        found += [
            Lever("pay", _PAY_AHEAD, "days before it is due", 2),
            Lever("terms", _TERMS, "days of credit asked for", 1),
        ]
    return tuple(found)


@dataclass(frozen=True)
class ActionLayout:
    """The levers of a role, as the heads of a multi-discrete action.

    An action is a vector of ``len(layout.levers)`` level numbers; a mask is a flat vector of
    ``layout.size`` booleans, head after head.
    """

    role: Role
    catalogue: Catalogue
    version: str = VERSION

    def __post_init__(self) -> None:
        known_role(self.role)

    @cached_property
    def levers(self) -> tuple[Lever, ...]:
        """The levers, in the order of the heads."""
        return _levers(self.role)

    @cached_property
    def nvec(self) -> NDArray[np.int64]:
        """The number of levels of each head."""
        return np.array([len(lever.levels) for lever in self.levers], dtype=np.int64)

    @cached_property
    def size(self) -> int:
        """The levels of all heads together: the length of a mask."""
        return int(self.nvec.sum())

    @cached_property
    def usual(self) -> NDArray[np.int64]:
        """The action nearest to what the scripted firm of the role does."""
        return np.array([lever.usual for lever in self.levers], dtype=np.int64)

    @cached_property
    def sha256(self) -> str:
        """Tells layouts apart: a digest of version, role, names, units and levels."""
        heads = [[x.name, x.unit, list(x.levels)] for x in self.levers]
        text = json.dumps([VERSION, self.role, heads], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def _places(self) -> dict[str, slice]:
        ends = np.cumsum(self.nvec)
        return {
            lever.name: slice(int(end - n), int(end))
            for lever, n, end in zip(self.levers, self.nvec, ends, strict=True)
        }

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(lever.name for lever in self.levers)

    @cached_property
    def _levels(self) -> tuple[tuple[float, ...], ...]:
        return tuple(lever.levels for lever in self.levers)

    def values(self, action: Sequence[int] | NDArray[Any]) -> dict[str, float]:
        """What each lever is set to.

        Raises:
            HanseError: the action does not fit the layout.
        """
        levers = self.levers
        if isinstance(action, np.ndarray):
            action = action.tolist()
        if len(action) == len(levers) and min(action) >= 0:
            try:
                return {
                    name: levels[level]
                    for name, levels, level in zip(self._names, self._levels, action, strict=True)
                }
            except (IndexError, TypeError):
                pass  # it is told below which one does not fit
        if len(action) != len(levers):
            raise HanseError(
                f"action: {len(action)} levels for the {len(levers)} levers of a {self.role};"
                f" allowed: one level for each of {', '.join(x.name for x in levers)}"
            )
        found = {}
        for lever, level in zip(levers, action, strict=True):
            if not 0 <= level < len(lever.levels):
                raise HanseError(
                    f"action: {lever.name}: there is no level {level};"
                    f" allowed: 0 to {len(lever.levels) - 1}"
                )
            found[lever.name] = lever.levels[int(level)]
        return found

    def nearest(self, values: Mapping[str, float]) -> NDArray[np.int64]:
        """The action whose levels come nearest to the values; the usual level where none is given.

        Raises:
            HanseError: there is no such lever.
        """
        names = [lever.name for lever in self.levers]
        for name in values:
            if name not in names:
                raise HanseError(
                    f"levers: there is no lever {name!r} for a {self.role};"
                    f" allowed: {', '.join(names)}"
                )
        action = self.usual.copy()
        for place, lever in enumerate(self.levers):
            if lever.name in values:
                gaps = [abs(level - values[lever.name]) for level in lever.levels]
                action[place] = gaps.index(min(gaps))
        return action

    def split(self, mask: NDArray[np.bool_]) -> tuple[NDArray[np.int8], ...]:
        """A flat mask as one for each head, as gymnasium's ``MultiDiscrete.sample`` wants it."""
        return tuple(mask[place].astype(np.int8) for place in self._places.values())

    def mask(self, mirror: Mirror) -> NDArray[np.bool_]:
        """Which levels of each head are legal now.

        A level is legal if the economy's rules would not refuse the command that it stands for, or
        if it stands for none. A lever that nothing hangs on today (nothing to sell, nobody who
        sells) has level 0 only.
        """
        mask: NDArray[np.bool_] = self._all_legal.copy()
        rest = self._rest
        for item in BUYS[self.role]:
            self._mask_buying(item, mirror, mask)
        if self.role == "farmer":
            self._mask_growing(mirror, mask)
        if self.role == "roaster":
            self._mask_roasting(mirror, mask)
        for item in SELLS[self.role]:
            check, price = mirror.market.check_listing, self._prices[item]
            if not mirror.admits(check, item, mirror.stock(item), price, _AT_ONCE):
                mask[rest[f"list.{item}"]] = False
                mask[rest[f"ask.{item}"]] = False
        if "pay" in rest and not mirror.world.owed_by[mirror.view.firm]:
            mask[rest["pay"]] = False
        return mask

    @cached_property
    def _all_legal(self) -> NDArray[np.bool_]:
        return np.ones(self.size, dtype=np.bool_)

    @cached_property
    def _prices(self) -> dict[str, float]:
        """A price for each item that the role sells, to ask whether it may list any."""
        return {item: round(anchor(self.catalogue, item), 2) for item in SELLS[self.role]}

    @cached_property
    def _rest(self) -> dict[str, slice]:
        """The levels of each lever but the first."""
        return {name: slice(place.start + 1, place.stop) for name, place in self._places.items()}

    def _mask_buying(self, item: str, mirror: Mirror, mask: NDArray[np.bool_]) -> None:
        """A position is a standing order: what is not on offer yet may be when the firm bids."""
        rest = self._rest
        full = mirror.position(item) >= _POSITIONS[item][-1]
        refused = False
        for row in cheapest(mirror, item)[:1]:
            check, price = mirror.market.check_offer, row.asking_price
            refused = not mirror.admits(check, row.id, price, 1, _AT_ONCE)
        if full or refused:
            mask[rest[f"bid.{item}"]] = False
            mask[rest[f"limit.{item}"]] = False
        if refused:
            mask[rest[f"position.{item}"]] = False

    def _mask_growing(self, mirror: Mirror, mask: NDArray[np.bool_]) -> None:
        for item in SELLS[self.role]:
            first = self._places[f"grow.{item}"].start
            cap = self.catalogue.items[item].daily_cap
            check = mirror.production.check_produce
            for nth, share in enumerate(self._levels[self._names.index(f"grow.{item}")]):
                qty = round(share * cap)
                if qty and not mirror.admits(check, item, qty):
                    mask[first + nth] = False

    def _mask_roasting(self, mirror: Mirror, mask: NDArray[np.bool_]) -> None:
        for item in BUYS[self.role]:
            if not roastable(mirror, item):
                mask[self._rest[f"roast.{item}"]] = False


_dearness = attrgetter("asking_price", "posted_day")


def cheapest(mirror: Mirror, item: str) -> list[Listing]:
    """Others' listings of an item, cheapest first, then oldest."""
    own = mirror.view.firm
    listings = mirror.world.state.listings.values()
    rows = [r for r in listings if r.item == item and r.seller != own and r.qty > 0]
    if len(rows) > 1:
        rows.sort(key=_dearness)
    return rows


def roastable(mirror: Mirror, item: str) -> int:
    """The most kilograms of a green coffee that can be roasted now."""
    check = mirror.production.check_roast
    return mirror.most(lambda kg: mirror.admits(check, item, kg), mirror.stock(item))
