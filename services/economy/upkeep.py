"""What time does to firms: running costs, spoilage, write-downs, bankruptcy (note, S4, S7)."""

from __future__ import annotations

import math

from services.economy.invoicing import Invoicing
from services.economy.market import Market
from services.economy.money import dollars
from services.economy.production import Production
from services.economy.shipping import Shipping
from services.economy.state import FirmState
from services.economy.world import World


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

    def write_down(self) -> None:
        """Evening, rules ``hanse``: stock is worth no more than it can ever fetch."""
        world = self.world
        if not world.rules.stock_written_down:
            return
        for firm in world.state.firms.values():
            if not firm.live:
                continue
            for item, kg in firm.kg.items():
                ceiling = world.catalogue.break_even_cost(item)
                if ceiling is not None and firm.cost[item] > ceiling * kg:
                    excess = firm.cost[item] - ceiling * kg
                    firm.cost[item] -= excess
                    world.post(firm, "writedown", "inventory", excess, f"overvalued {item}")

    def declare_bankrupt(self, firm: FirmState) -> None:
        """Ends a firm whose cash is below zero (note, S7)."""
        world = self.world
        day = world.state.day
        self.production.write_off(firm)
        firm.frozen_equity = firm.equity()
        firm.bankrupt_day = day
        if world.rules.income_frozen_at_bankruptcy:
            firm.frozen_income = firm.income()
        self.invoicing.write_off_debts(firm)
        if world.rules.bankruptcy_ends_trade:
            self.market.end_trade_of(firm)
            self.shipping.turn_back(firm)
        world.event(
            "bankruptcy",
            firm.name,
            {"firm": firm.name, "day": day, "equity": dollars(firm.frozen_equity)},
        )
        for other in world.state.firms.values():
            if other is not firm:
                world.notify(other, f"{firm.name} went bankrupt on day {day}")
