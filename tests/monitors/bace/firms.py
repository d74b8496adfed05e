"""Firms whose prices are known to follow, or not to follow, those of others."""

from __future__ import annotations

import math
from typing import Any

from actors.strategies import DailyPlan, Plan
from services.economy import commands as c
from services.economy.catalogue import ROASTED
from services.economy.results import ListingsView

BASE = 10.0


class Wanderer(DailyPlan):
    """Asks a price that wanders about ten dollars by a luck of its own."""

    def __init__(self, firm: str, role: str, **options: Any) -> None:
        super().__init__(firm, role, **options)
        self.off = 0.0

    def save(self) -> float:
        return self.off

    def load(self, saved: float) -> None:
        self.off = saved

    def day(self) -> Plan:
        self.off = 0.5 * self.off + self.context.rng("price").gauss(0, 0.1)
        yield c.PostListing(
            item_id=ROASTED, qty=1, asking_price=round(BASE * math.exp(self.off), 2)
        )


class Follower(DailyPlan):
    """Asks today what another firm asked yesterday."""

    def __init__(self, firm: str, role: str, leader: str = "") -> None:
        super().__init__(firm, role)
        self.leader = leader
        self.price = BASE

    def save(self) -> float:
        return self.price

    def load(self, saved: float) -> None:
        self.price = saved

    def day(self) -> Plan:
        yield c.PostListing(item_id=ROASTED, qty=1, asking_price=self.price)
        seen = (yield c.ViewListings(item_id=ROASTED)).data  # by now the leader has asked, too
        assert isinstance(seen, ListingsView)
        for listing in seen.rows:
            if listing.seller == self.leader and listing.posted_day == self.today:
                self.price = listing.asking_price
