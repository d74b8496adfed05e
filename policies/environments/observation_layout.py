"""What a firm sees, as a vector of fixed length: names, units and scales, told apart by a digest.

The one input is a :class:`~policies.environments.view.FirmView`, which holds what a strategy in a
league is given, so an actor encodes exactly what its policy was trained on. Every field is bounded:
money goes through a logarithm, kilograms are shares of a store, prices are multiples of an item's
anchor (see ``action_layout``), and all are clipped.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policies.environments.action_layout import BUYS, SELLS, anchor
from policies.environments.checks import finite, known_role
from policies.environments.kept import Kept
from policies.environments.view import FirmView
from services.economy.catalogue import Role
from services.economy.observation import Observation
from services.economy.results import InvoiceRow
from services.economy.setup import TownSetup
from services.errors import HanseError

VERSION: Final = "view-1"
HORIZON: Final = 30
"""Days that the calendar fields look ahead."""
_DUE: Final = (0, 3, 7, 14)
"""Payables are summed up to these days ahead."""
_MONEY_SCALE: Final = 1_000.0
_DUE_SCALE: Final = 500.0
_NO_CREDIT: Final = 1.0
"""Dollars; by what is owed is measured where nothing may be owed."""


@dataclass(frozen=True, slots=True)
class Field:
    """One entry of the vector: ``clip(f(value / scale), low, high)``.

    ``f`` is the identity, or for ``log`` the signed ``log(1 + |x|)``.
    """

    name: str
    unit: str
    scale: float
    kind: Literal["linear", "log"] = "linear"
    low: float = 0.0
    high: float = 2.0


class FieldLayout:
    """A vector that is made of fields."""

    fields: Any
    """All entries in order: :class:`Field`."""

    @property
    def size(self) -> int:
        """The length of the vector."""
        return len(self.fields)

    @cached_property
    def low(self) -> NDArray[np.float32]:
        """The least value of each entry."""
        return np.array([field.low for field in self.fields], dtype=np.float32)

    @cached_property
    def high(self) -> NDArray[np.float32]:
        """The largest value of each entry."""
        return np.array([field.high for field in self.fields], dtype=np.float32)


@dataclass(frozen=True)
class ObservationLayout(FieldLayout):
    """The fields of a role, and how a view becomes a vector of them.

    Args:
        role: farmer, roaster or retailer.
        setup: The town's catalogue, calendar and rules; who its firms are does not matter.
        objectives: Names of the objectives whose weights are appended with the budget, for a policy
            that is conditioned on them; empty: nothing is appended.
    """

    role: Role
    setup: TownSetup
    objectives: tuple[str, ...] = ()
    version: str = VERSION

    def __post_init__(self) -> None:
        known_role(self.role)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """All entries in order; the descriptors, if there are any, come last."""
        found = [
            Field("day", "share of the run", 1.0),
            Field("days_left", f"share of {HORIZON} days", 1.0),
            Field("weekday_sine", "", 1.0, low=-1.0, high=1.0),
            Field("weekday_cosine", "", 1.0, low=-1.0, high=1.0),
            Field("festival", "0 or 1", 1.0, high=1.0),
            Field("festival_in", f"share of {HORIZON} days", 1.0),
            Field("festival_left", f"share of {HORIZON} days", 1.0),
            Field("cash", "dollars", _MONEY_SCALE, "log", low=-4.0, high=6.0),
            Field("receivable", "dollars", _MONEY_SCALE, "log", high=5.0),
            Field("payable", "dollars", _MONEY_SCALE, "log", low=-5.0, high=5.0),
            Field("stock_value", "dollars", _MONEY_SCALE, "log", high=5.0),
            Field("overdue_in", "invoices", 5.0),
            Field("overdue_out", "invoices", 5.0),
            Field("credit_used", "share of the limit", 1.0, low=-1.0),
            *(Field(f"due_in_{days}", "dollars", _DUE_SCALE, "log", high=5.0) for days in _DUE),
            Field("store_used", "share of the store", 1.0),
        ]
        for item in self.items:
            found += [
                Field(f"{item}.stock", "share of the store", 1.0),
                Field(f"{item}.coming", "share of the store", 1.0),
                Field(f"{item}.unit_cost", "anchors", 1.0, high=5.0),
                Field(f"{item}.offers", "listings of others", 4.0),
                Field(f"{item}.best_ask", "anchors", 1.0, high=5.0),
                Field(f"{item}.second_ask", "anchors", 1.0, high=5.0),
                Field(f"{item}.on_offer", "kg of others", 100.0),
            ]
            if item in SELLS[self.role]:
                found += [
                    Field(f"{item}.listed", "share of the store", 1.0),
                    Field(f"{item}.own_ask", "anchors", 1.0, high=5.0),
                    Field(f"{item}.bids", "kg", 50.0),
                    Field(f"{item}.best_bid", "anchors", 1.0, high=5.0),
                ]
            if item in BUYS[self.role]:
                found += [
                    Field(f"{item}.own_bids", "kg", 50.0),
                    Field(f"{item}.own_best_bid", "anchors", 1.0, high=5.0),
                ]
            found += [
                Field(f"{item}.traded", "kg yesterday and today", 50.0),
                Field(f"{item}.traded_at", "anchors", 1.0, high=5.0),
            ]
            if self.role == "retailer":
                found += [
                    Field(f"{item}.shelf", "anchors", 1.0, high=5.0),
                    Field(f"{item}.sold", "kg yesterday and today", 50.0),
                ]
        found += [Field(f"weight.{name}", "", 1.0, high=1.0) for name in self.objectives]
        if self.objectives:
            found.append(Field("budget", "mean cost a step", 1.0, high=1.0))
        return tuple(found)

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The items that concern the role: what it buys, then what it sells."""
        return (*BUYS[self.role], *SELLS[self.role])

    @cached_property
    def sha256(self) -> str:
        """Tells layouts apart: a digest of version, role, names, units, scales and anchors."""
        rows = [[f.name, f.unit, f.kind, f.scale, f.low, f.high] for f in self.fields]
        anchors = [anchor(self.setup.catalogue, item) for item in self.items]
        text = json.dumps([self.version, self.role, rows, anchors], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def encode(
        self, view: FirmView, descriptors: Sequence[float] | NDArray[Any] = ()
    ) -> NDArray[np.float32]:
        """The vector.

        Args:
            view: What the firm has looked at.
            descriptors: The weights and the budget, if the layout has them.

        Returns:
            ``(size,)``, float32, within :attr:`low` and :attr:`high`.

        Raises:
            HanseError: a wrong number of descriptors, or one that is not finite.
        """
        wanted = len(self.objectives) + 1 if self.objectives else 0
        if len(descriptors) != wanted:
            raise HanseError(
                f"observation: {len(descriptors)} descriptors; this layout takes {wanted}"
            )
        raw = [*_calendar(view.day, self.setup.days, self.setup.festival_days)]
        self._money(view, raw)
        self._goods(view, raw)
        raw += descriptors
        if not math.isfinite(sum(raw)):
            finite(np.array(raw), "observation")
        values = np.array(raw)
        lowest, highest = self._bounds
        values *= self._factors
        np.maximum(values, lowest, out=values)
        np.minimum(values, highest, out=values)
        return values.astype(np.float32)

    @cached_property
    def _bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The bounds in the precision of what is clipped, so that numpy need not convert them."""
        return self.low.astype(np.float64), self.high.astype(np.float64)

    @cached_property
    def _factors(self) -> NDArray[np.float64]:
        """One over each scale; logarithms are taken, scale and all, where the money is."""
        return np.array([1.0 if f.kind == "log" else 1.0 / f.scale for f in self.fields])

    @cached_property
    def _wares(self) -> tuple[tuple[str, float, bool], ...]:
        """The items, their anchors, and whether the role sells them."""
        catalogue, sold = self.setup.catalogue, SELLS[self.role]
        return tuple((item, anchor(catalogue, item), item in sold) for item in self.items)

    # Between two looks in the morning what was told and, mostly, the bills stay the same objects,
    # which nobody changes; so their entries are worked out once.

    @cached_property
    def _told(self) -> Kept[Observation, _Told]:
        return Kept(self._told_by)

    @cached_property
    def _due(self) -> Kept[tuple[InvoiceRow, ...], list[float]]:
        return Kept(_amounts_due)

    def _money(self, view: FirmView, raw: list[float]) -> None:
        """Adds the entries of money and store."""
        seen, books = view.observation, view.books
        if seen is None:
            raw += [0.0] * 7
            raw += self._due(view.payables)
            raw.append(0.0)
            return
        told = self._told(seen)
        raw.append(_log(seen.cash if books is None else books.cash, _MONEY_SCALE))
        raw += told.money
        raw += self._due(view.payables)
        raw.append(told.store_used)

    def _told_by(self, seen: Observation) -> _Told:
        """What hangs on the observation alone."""
        found = {item: [0, 0.0, 0] for item in self.items}
        for deal in seen.recent_deals:
            traded = found.get(deal.item)
            if traded is not None:
                traded[0] += deal.qty
                traded[1] += deal.qty * deal.unit_price
        for sale in seen.recent_sales:
            traded = found.get(sale.item)
            if traded is not None:
                traded[2] += sale.qty
        goods: dict[str, tuple[float, ...]] = {}
        for item, price, _ in self._wares:
            qty, paid, sold = found[item]
            goods[item] = (qty, paid / qty / price if qty else 0.0)
            if self.role == "retailer":
                goods[item] += (seen.retail_prices.get(item, 0.0) / price, sold)
        store = max(seen.stock_cap, 1)
        return _Told(
            (
                _log(seen.accounts_receivable, _MONEY_SCALE),
                _log(seen.accounts_payable, _MONEY_SCALE),
                _log(seen.inventory_value, _MONEY_SCALE),
                seen.overdue_receivables,
                seen.overdue_payables,
                seen.accounts_payable / (self.setup.rules.credit_limit or _NO_CREDIT),
            ),
            store,
            (sum(seen.stock.values()) + sum(seen.incoming.values())) / store,
            goods,
        )

    def _goods(self, view: FirmView, raw: list[float]) -> None:
        """Adds the entries of every item; each paper is looked at once."""
        books, me = view.books, view.firm
        found = {item: _Goods() for item in self.items}
        for _, seller, item, kg, ask, _, _, _, _ in view.listings:
            goods = found.get(item)
            if goods is None:
                continue
            if seller == me:
                goods.own_ask = min(goods.own_ask, ask) if goods.own_kg else ask
                goods.own_kg += kg
                continue
            goods.on_offer += kg
            goods.rivals += 1
            if goods.rivals == 1 or ask < goods.best:
                goods.best, goods.second = ask, goods.best
            elif goods.rivals == 2 or ask < goods.second:
                goods.second = ask
        for offer in view.offers:
            goods = found.get(offer.item)
            if goods is not None:
                goods.bid_kg += offer.qty
                if offer.price > goods.best_bid:
                    goods.best_bid = offer.price
        told = _NOTHING if view.observation is None else self._told(view.observation)
        store = told.store
        nothing = (0.0, 0.0, 0.0, 0.0) if self.role == "retailer" else (0.0, 0.0)
        stock: dict[str, int] = {}
        incoming, costs = stock, dict[str, float]()
        if books is not None:
            stock, incoming, costs = books.stock, books.incoming, books.unit_costs
        for item, price, sold in self._wares:
            goods = found[item]
            raw += (
                stock.get(item, 0) / store,
                incoming.get(item, 0) / store,
                costs.get(item, 0.0) / price,
                goods.rivals,
                goods.best / price,
                goods.second / price,
                goods.on_offer,
            )
            if sold:
                raw += (goods.own_kg / store, goods.own_ask / price)
            raw += (goods.bid_kg, goods.best_bid / price)
            raw += told.goods.get(item, nothing)


class _Told(NamedTuple):
    """What an observation of the morning says, as entries of the vector."""

    money: tuple[float, ...]
    """From what others owe to the share of the credit that is used."""
    store: int
    """Kilograms that fit into the store; at least 1."""
    store_used: float
    goods: dict[str, tuple[float, ...]]
    """What was traded and sold of each item, and what consumers pay for it."""


_NOTHING: Final = _Told((), 1, 0.0, {})


class _Goods:
    """What the papers say of one item. Nobody both buys and sells an item, so bids are one kind."""

    rivals = on_offer = own_kg = bid_kg = 0
    best = second = own_ask = best_bid = 0.0


@lru_cache(maxsize=1024)
def _calendar(day: int, days: int, festival: tuple[int, int]) -> tuple[float, ...]:
    """The entries that hang on the day alone."""
    first, last = festival
    angle = 2.0 * math.pi * (day % 7) / 7.0
    return (
        day / days,
        min(days - day, HORIZON) / HORIZON,
        math.sin(angle),
        math.cos(angle),
        float(first <= day <= last),
        min(max(first - day, 0), HORIZON) / HORIZON if day < first else 0.0,
        min(last + 1 - day, HORIZON) / HORIZON if first <= day <= last else 0.0,
    )


def _amounts_due(bills: tuple[InvoiceRow, ...]) -> list[float]:
    """What is to be paid within each of the days ahead."""
    due = [0.0] * len(_DUE)
    for bill in bills:
        days = bill.days_to_due
        if days > _DUE[-1]:
            continue
        for nth, limit in enumerate(_DUE):
            if days <= limit:
                due[nth] += bill.outstanding
    return [_log(amount, _DUE_SCALE) for amount in due]


def _log(dollars: float, scale: float) -> float:
    """The signed logarithm of an amount in so many dollars."""
    return math.copysign(math.log1p(abs(dollars) / scale), dollars)
