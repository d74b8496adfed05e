"""What time does to firms: running costs, spoilage, write-downs, bankruptcy (note, S4, S7)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from services.economy.invoicing import Invoicing
from services.economy.market import Market
from services.economy.money import dollars
from services.economy.production import Production
from services.economy.shipping import Shipping
from services.economy.state import FirmState
from services.economy.world import World

PRICE_DAYS: Final = 7
"""Days over which the value of stock looks back at what consumers paid."""


class Upkeep:
    """Daily costs of being in business, and the end of it."""

    def __init__(
        self,
        world: World,
        production: Production,
        market: Market,
        shipping: Shipping,
        invoicing: Invoicing,
    ) -> None:
        self.world = world
        self.production = production
        self.market = market
        self.shipping = shipping
        self.invoicing = invoicing

    def charge_operating_costs(self) -> None:
        """Morning: every live firm pays its running costs, whether it can or not."""
        for firm in self.world.state.firms.values():
            if firm.live:
                self.world.post(firm, "operating_expense", "cash", firm.opex, "running costs")

    def spoil(self) -> None:
        """Evening: stock spoils; fractions of a kilogram are carried to the next day."""
        world = self.world
        rate = world.setup.spoilage_per_day
        for firm in world.state.firms.values():
            if not firm.live:
                continue
            for item, kg in list(firm.kg.items()):
                spoiled = kg * rate + firm.carry.get(item, 0.0)
                lost = min(math.floor(spoiled), kg)
                firm.carry[item] = spoiled - lost
                if lost == 0:
                    continue
                cost = world.take(firm, item, lost)
                world.post(firm, "spoilage_expense", "inventory", cost, f"spoiled {item}")
                world.count(item, "spoiled", lost)
                world.event(
                    "spoilage",
                    firm.name,
                    {"firm": firm.name, "item": item, "qty": lost, "value": dollars(cost)},
                )

    def write_down(self, firms: Iterable[FirmState]) -> None:
        """Rules ``hanse``: stock, also on its way from abroad, is worth what can be had for it."""
        world = self.world
        if not world.rules.stock_written_down:
            return
        prices = self._consumer_prices()
        ceilings = {i: world.catalogue.break_even_cost(i, prices) for i in world.catalogue.items}
        for firm in firms:
            if not firm.live:
                continue
            for item, kg in firm.kg.items():
                ceiling = ceilings[item]
                if ceiling is not None and firm.cost[item] > ceiling * kg:
                    excess = firm.cost[item] - ceiling * kg
                    firm.cost[item] -= excess
                    world.post(firm, "writedown", "inventory", excess, f"overvalued {item}")
            for cargo in world.state.imports:
                ceiling = ceilings[cargo.item]
                if cargo.buyer == firm.name and ceiling is not None:
                    excess = max(0, cargo.cost - ceiling * cargo.qty)
                    cargo.cost -= excess
                    world.post(firm, "writedown", "goods_in_transit", excess, cargo.order)

    def _consumer_prices(self) -> dict[str, float]:
        """What consumers have lately paid for a kilogram: the best day's mean, dollars.

        Weighted by kilograms, so that a dear shop that sells little does not count for much; the
        best of several days, so that dumping on one evening costs nobody else anything. Where
        nothing was sold it is the price at which nobody would buy any more.
        """
        world = self.world
        first = world.state.day - PRICE_DAYS
        best: dict[str, float] = {}
        for row in world.state.market:
            if row.day > first and row.qty:
                best[row.item] = max(best.get(row.item, 0.0), row.revenue / row.qty)
        for item in world.catalogue.consumer_items:
            best.setdefault(item.id, item.reservation_price or 0.0)
        return best

    def declare_bankrupt(self, firms: list[FirmState]) -> None:
        """Ends firms whose cash is below zero (note, S7).

        Every step is done for all of them before the next, so that it does not matter who comes
        first: among the creditors of one may be others of them.
        """
        world = self.world
        day = world.state.day
        for firm in firms:
            self.production.write_off(firm)
        waived = {firm.name: self.invoicing.write_off_debts(firm) for firm in firms}
        self.write_down(firms)
        for firm in firms:
            # What it owed still counts, although nobody will ever be paid.
            firm.frozen_equity = equity = firm.equity() - waived[firm.name]
            firm.bankrupt_day = day
            if world.rules.income_frozen_at_bankruptcy:
                firm.frozen_income = firm.income()
            body = {"firm": firm.name, "day": day, "equity": dollars(equity)}
            world.event("bankruptcy", firm.name, body)
        if world.rules.bankruptcy_ends_trade:
            for firm in firms:
                self.market.end_trade_of(firm)
            for firm in firms:
                self.shipping.turn_back(firm)
        for firm in firms:
            for other in world.state.firms.values():
                world.notify(other, f"{firm.name} went bankrupt on day {day}")
