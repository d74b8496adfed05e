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
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from policies.environments.action_layout import BUYS, SELLS, anchor
from policies.environments.checks import finite, known_role
from policies.environments.view import FirmView
from services.economy.catalogue import Role
from services.economy.setup import TownSetup
from services.errors import HanseError

VERSION: Final = "view-1"
HORIZON: Final = 30
"""Days that the calendar fields look ahead."""
_DUE: Final = (0, 3, 7, 14)
"""Payables are summed up to these days ahead."""
_MONEY_SCALE: Final = 1_000.0
_DUE_SCALE: Final = 500.0


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
        raw = self._calendar(view.day)
        raw += self._money(view)
        self._goods(view, raw)
        raw += descriptors
        if not math.isfinite(sum(raw)):
            finite(np.array(raw), "observation")
        values = np.array(raw)
        values *= self._factors
        np.maximum(values, self.low, out=values)
        np.minimum(values, self.high, out=values)
        return values.astype(np.float32)

    @cached_property
    def _factors(self) -> NDArray[np.float64]:
        """One over each scale; logarithms are taken, scale and all, where the money is."""
        return np.array([1.0 if f.kind == "log" else 1.0 / f.scale for f in self.fields])

    @cached_property
    def _anchors(self) -> tuple[tuple[str, float], ...]:
        return tuple((item, anchor(self.setup.catalogue, item)) for item in self.items)

    def _calendar(self, day: int) -> list[float]:
        first, last = self.setup.festival_days
        angle = 2.0 * math.pi * (day % 7) / 7.0
        return [
            day / self.setup.days,
            min(self.setup.days - day, HORIZON) / HORIZON,
            math.sin(angle),
            math.cos(angle),
            float(first <= day <= last),
            min(max(first - day, 0), HORIZON) / HORIZON if day < first else 0.0,
            min(last + 1 - day, HORIZON) / HORIZON if first <= day <= last else 0.0,
        ]

    def _money(self, view: FirmView) -> list[float]:
        seen, books = view.observation, view.books
        due = [0.0] * len(_DUE)
        for bill in view.payables:
            days = bill.days_to_due
            if days > _DUE[-1]:
                continue
            for nth, limit in enumerate(_DUE):
                if days <= limit:
                    due[nth] += bill.outstanding
        owed = [_log(amount, _DUE_SCALE) for amount in due]
        if seen is None:
            return [0.0] * 7 + owed + [0.0]
        return [
            _log(seen.cash if books is None else books.cash, _MONEY_SCALE),
            _log(seen.accounts_receivable, _MONEY_SCALE),
            _log(seen.accounts_payable, _MONEY_SCALE),
            _log(seen.inventory_value, _MONEY_SCALE),
            seen.overdue_receivables,
            seen.overdue_payables,
            seen.accounts_payable / self.setup.rules.credit_limit,
            *owed,
            (sum(seen.stock.values()) + sum(seen.incoming.values())) / max(seen.stock_cap, 1),
        ]

    def _goods(self, view: FirmView, raw: list[float]) -> None:
        """Adds the entries of every item; each paper is looked at once."""
        seen, books, me, role = view.observation, view.books, view.firm, self.role
        store = 1 if seen is None else max(seen.stock_cap, 1)
        found = {item: _Goods() for item in self.items}
        for row in view.listings:
            goods = found.get(row.item)
            if goods is not None:
                goods.listed(row.seller == me, row.qty, row.asking_price)
        for offer in view.offers:
            goods = found.get(offer.item)
            if goods is not None:
                goods.bid_kg += offer.qty
                goods.best_bid = max(goods.best_bid, offer.price)
        if seen is not None:
            for deal in seen.recent_deals:
                goods = found.get(deal.item)
                if goods is not None:
                    goods.traded += deal.qty
                    goods.paid += deal.qty * deal.unit_price
            for sale in seen.recent_sales:
                goods = found.get(sale.item)
                if goods is not None:
                    goods.sold += sale.qty
        for item, price in self._anchors:
            goods = found[item]
            if books is None:
                raw += (0.0, 0.0, 0.0)
            else:
                raw += (
                    books.stock.get(item, 0) / store,
                    books.incoming.get(item, 0) / store,
                    books.unit_costs.get(item, 0.0) / price,
                )
            raw += (goods.rivals, goods.best / price, goods.second / price, goods.on_offer)
            if item in SELLS[role]:
                raw += (goods.own_kg / store, goods.own_ask / price)
            raw += (goods.bid_kg, goods.best_bid / price)
            raw += (goods.traded, goods.paid / goods.traded / price if goods.traded else 0.0)
            if role == "retailer":
                shelf = 0.0 if seen is None else seen.retail_prices.get(item, 0.0)
                raw += (shelf / price, goods.sold)


class _Goods:
    """What the papers say of one item. Nobody both buys and sells an item, so bids are one kind."""

    __slots__ = (
        *("rivals", "best", "second", "on_offer", "own_kg", "own_ask"),
        *("bid_kg", "best_bid", "traded", "paid", "sold"),
    )

    def __init__(self) -> None:
        self.rivals = self.on_offer = self.own_kg = self.bid_kg = self.traded = self.sold = 0
        self.best = self.second = self.own_ask = self.best_bid = self.paid = 0.0

    def listed(self, own: bool, kg: int, ask: float) -> None:
        """A listing."""
        if own:
            self.own_ask = ask if not self.own_kg else min(self.own_ask, ask)
            self.own_kg += kg
            return
        self.on_offer += kg
        self.rivals += 1
        if self.rivals == 1 or ask < self.best:
            self.best, self.second = ask, self.best
        elif self.rivals == 2 or ask < self.second:
            self.second = ask


def _log(dollars: float, scale: float) -> float:
    """The signed logarithm of an amount in so many dollars."""
    return math.copysign(math.log1p(abs(dollars) / scale), dollars)
