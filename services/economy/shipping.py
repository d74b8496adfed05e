"""Goods on the road: each morning what is due is delivered, delayed or lost (note, S5)."""

from __future__ import annotations

from services.economy.invoicing import Invoicing
from services.economy.luck import Luck
from services.economy.state import Deal, FirmState
from services.economy.world import World


class Shipping:
    """The delivery pass, and what becomes of shipments when a firm goes bankrupt."""

    def __init__(self, world: World, luck: Luck, invoicing: Invoicing) -> None:
        self.world = world
        self.luck = luck
        self.invoicing = invoicing

    def deliver(self, day: int, booked_on: int) -> None:
        """Works off all shipments due by ``day``, in the order in which the deals were made."""
        world = self.world
        setup = world.setup
        loss = setup.loss_probability
        late = loss + setup.delay_probability
        for deal in [d for d in world.state.deals.values() if d.due_day <= day]:
            draw: float | None = None
            outcome = "delivered"
            if not (deal.delays and world.rules.delays_roll_once):
                draw = self.luck.shipment(deal.seller, deal.buyer, deal.nth)
                world.state.luck_draws += 1
                outcome = "lost" if draw < loss else "delayed" if draw < late else "delivered"
            world.event(
                "delivery",
                deal.buyer,
                {
                    "deal": deal.id,
                    "offer": deal.offer,
                    "outcome": outcome,
                    "uniform": draw,
                    "day": booked_on,
                    "seller": deal.seller,
                    "buyer": deal.buyer,
                    "item": deal.item,
                    "qty": deal.qty,
                },
            )
            if outcome == "lost":
                self._lose(deal)
            elif outcome == "delayed":
                deal.due_day = day + 1
                deal.delays += 1
                self._announce(deal, f"is late; it arrives on day {deal.due_day}")
            else:
                self._arrive(deal, day)
        self._imports(day)

    def turn_back(self, firm: FirmState) -> None:
        """Bankruptcy under the rules ``hanse``: goods on their way to the firm go back home."""
        world = self.world
        for deal in [d for d in world.deals_of[firm.name] if d.buyer == firm.name]:
            seller = world.state.firms[deal.seller]
            self._leave_road(deal, "turned_back")
            world.receive(seller, deal.item, deal.qty, deal.cost)
            world.post(seller, "inventory", "goods_in_transit", deal.cost, deal.id)
            world.notify(seller, f"{deal.id} comes back: {firm.name} is bankrupt")
            world.wake(seller.name, "shipment came back")

    def _arrive(self, deal: Deal, day: int) -> None:
        world = self.world
        seller = world.state.firms[deal.seller]
        buyer = world.state.firms[deal.buyer]
        self._leave_road(deal, "delivered")
        world.receive(buyer, deal.item, deal.qty, deal.total)
        deal.invoice = self.invoicing.issue(seller, buyer, deal.total, day, day + deal.terms, deal)
        world.post(seller, "accounts_receivable", "revenue", deal.total, deal.invoice)
        world.post(seller, "cogs", "goods_in_transit", deal.cost, deal.id)
        world.post(buyer, "inventory", "accounts_payable", deal.total, deal.invoice)
        world.wake(buyer.name, "delivery")

    def _lose(self, deal: Deal) -> None:
        world = self.world
        self._leave_road(deal, "lost")
        world.post(
            world.state.firms[deal.seller], "writedown", "goods_in_transit", deal.cost, deal.id
        )
        world.count(deal.item, "lost", deal.qty)
        self._announce(deal, "was lost on the road")

    def _announce(self, deal: Deal, what: str) -> None:
        world = self.world
        if world.rules.loss_is_announced:
            for name in (deal.seller, deal.buyer):
                text = f"shipment {deal.id} ({deal.qty} kg {deal.item}) {what}"
                world.notify(world.state.firms[name], text)
                world.wake(name, "shipment news")

    def _leave_road(self, deal: Deal, status: str) -> None:
        world = self.world
        deal.status = status
        world.expect(world.state.firms[deal.buyer], deal.item, -deal.qty)
        world.end_deal(deal)

    def _imports(self, day: int) -> None:
        world = self.world
        waiting = []
        for cargo in world.state.imports:
            if cargo.due_day > day:
                waiting.append(cargo)
                continue
            firm = world.state.firms[cargo.buyer]
            world.expect(firm, cargo.item, -cargo.qty)
            world.receive(firm, cargo.item, cargo.qty, cargo.cost)
            world.post(firm, "inventory", "goods_in_transit", cargo.cost, cargo.order)
            world.count(cargo.item, "imported", cargo.qty)
            world.wake(firm.name, "delivery")
        world.state.imports = waiting
