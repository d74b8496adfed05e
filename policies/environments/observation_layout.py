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


@dataclass(frozen=True)
class ObservationLayout:
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
            Field("cash", "dollars", 1_000.0, "log", low=-4.0, high=6.0),
            Field("receivable", "dollars", 1_000.0, "log", high=5.0),
            Field("payable", "dollars", 1_000.0, "log", low=-5.0, high=5.0),
            Field("stock_value", "dollars", 1_000.0, "log", high=5.0),
            Field("overdue_in", "invoices", 5.0),
            Field("overdue_out", "invoices", 5.0),
            Field("credit_used", "share of the limit", 1.0, low=-1.0),
            *(Field(f"due_in_{days}", "dollars", 500.0, "log", high=5.0) for days in _DUE),
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

    @property
    def size(self) -> int:
        """The length of the vector."""
        return len(self.fields)

    @cached_property
    def low(self) -> NDArray[np.float32]:
        """The least value of each entry."""
        return np.array([f.low for f in self.fields], dtype=np.float32)

    @cached_property
    def high(self) -> NDArray[np.float32]:
        """The largest value of each entry."""
        return np.array([f.high for f in self.fields], dtype=np.float32)

    @cached_property
    def sha256(self) -> str:
        """Tells layouts apart: a digest of version, role, names, units, scales and anchors."""
        rows = [[f.name, f.unit, f.kind, f.scale, f.low, f.high] for f in self.fields]
        anchors = [anchor(self.setup.catalogue, item) for item in self.items]
        text = json.dumps([VERSION, self.role, rows, anchors], separators=(",", ":"))
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
        raw = self._calendar(view.day) + self._money(view)
        for item in self.items:
            raw += self._item(view, item)
        values = np.array([*raw, *descriptors], dtype=np.float64)
        finite(values, "observation")
        values /= self._scales
        logs = values[self._logs]
        values[self._logs] = np.sign(logs) * np.log1p(np.abs(logs))
        return np.clip(values, self.low, self.high).astype(np.float32)

    @cached_property
    def _scales(self) -> NDArray[np.float64]:
        return np.array([f.scale for f in self.fields])

    @cached_property
    def _logs(self) -> NDArray[np.int64]:
        return np.flatnonzero([f.kind == "log" for f in self.fields])

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
            for nth, days in enumerate(_DUE):
                if bill.days_to_due <= days:
                    due[nth] += bill.outstanding
        if seen is None:
            return [0.0] * 7 + due + [0.0]
        cash = seen.cash if books is None else books.cash
        used = seen.accounts_payable / self.setup.rules.credit_limit
        held = sum(seen.stock.values()) + sum(seen.incoming.values())
        return [
            cash,
            seen.accounts_receivable,
            seen.accounts_payable,
            seen.inventory_value,
            seen.overdue_receivables,
            seen.overdue_payables,
            used,
            *due,
            held / max(seen.stock_cap, 1),
        ]

    def _item(self, view: FirmView, item: str) -> list[float]:
        price = anchor(self.setup.catalogue, item)
        seen, books, me = view.observation, view.books, view.firm
        store = 1 if seen is None else max(seen.stock_cap, 1)
        found = [0.0, 0.0, 0.0]
        if books is not None:
            found = [
                books.stock.get(item, 0) / store,
                books.incoming.get(item, 0) / store,
                books.unit_costs.get(item, 0.0) / price,
            ]
        rows = [row for row in view.listings if row.item == item]
        asks = sorted(row.asking_price for row in rows if row.seller != me)
        best = asks[0] if asks else 0.0
        second = asks[1] if len(asks) > 1 else 0.0
        found += [len(asks), best / price, second / price]
        found.append(sum(row.qty for row in rows if row.seller != me))
        if item in SELLS[self.role]:
            own = [row for row in rows if row.seller == me]
            bids = [o for o in view.offers if o.item == item and o.seller == me]
            found += [
                sum(row.qty for row in own) / store,
                min((row.asking_price for row in own), default=0.0) / price,
                sum(o.qty for o in bids),
                max((o.price for o in bids), default=0.0) / price,
            ]
        if item in BUYS[self.role]:
            made = [o for o in view.offers if o.item == item and o.buyer == me]
            found += [
                sum(o.qty for o in made),
                max((o.price for o in made), default=0.0) / price,
            ]
        deals = [] if seen is None else [d for d in seen.recent_deals if d.item == item]
        kg = sum(d.qty for d in deals)
        found += [kg, sum(d.qty * d.unit_price for d in deals) / kg / price if kg else 0.0]
        if self.role == "retailer":
            shelf = 0.0 if seen is None else seen.retail_prices.get(item, 0.0)
            sales = [] if seen is None else [s for s in seen.recent_sales if s.item == item]
            found += [shelf / price, sum(s.qty for s in sales)]
        return found
