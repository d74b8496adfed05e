"""Making coffee: farmers grow it, roasters roast it (note, S3)."""

from __future__ import annotations

from services.economy.catalogue import Item, Recipe
from services.economy.commands import ProduceItem, Roast
from services.economy.money import cents, dollars
from services.economy.results import Refusal, Values, named_values
from services.economy.state import Batch, FirmState
from services.economy.world import World


class Production:
    """Orders for green and roasted coffee, and their landing in stock.

    Every ``check_`` makes all the checks of a command, in their order, and changes nothing.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    def produce(self, firm: FirmState, command: ProduceItem) -> Values:
        """Grows coffee; cash leaves now, kilograms land after the item's lag.

        Raises:
            Refusal: wrong role or item, quantity, daily cap, stock cap or cash.
        """
        qty = command.quantity
        item, left, cost = self.check_produce(firm, command.item_id, qty)
        world = self.world
        ready = world.state.day + item.lag_days
        world.post(firm, "work_in_progress", "cash", cost, f"produce {item.id}")
        world.state.production.append(Batch(firm.name, item.id, qty, cost, ready))
        world.expect(firm, item.id, qty)
        firm.produced_today[item.id] = firm.produced_today.get(item.id, 0) + qty
        return named_values(
            {
                "ready_day": ready,
                "remaining_cash": dollars(firm.cash),
                "capacity_left": left - qty,
            }
        )

    def check_produce(self, firm: FirmState, item_id: str, qty: int) -> tuple[Item, int, int]:
        """The item, what may still be grown today, and the cost, if the firm may grow so much.

        Raises:
            Refusal: as of :meth:`produce`.
        """
        world = self.world
        item = world.catalogue.items[world.known_item(item_id)]
        if item.made_by != firm.role:
            raise Refusal("wrong_role", f"a {firm.role} cannot produce {item.id}")
        if qty < 1:
            raise Refusal("quantity_out_of_range", "the quantity must be at least 1 kg")
        left = item.daily_cap - firm.produced_today.get(item.id, 0)
        if qty > left:
            raise Refusal("daily_cap", f"only {left} kg of {item.id} can still be ordered today")
        self._check_room(firm, qty)
        cost = cents(qty * dollars(item.unit_cost))
        if firm.cash < cost:
            raise Refusal("insufficient_cash", f"{qty} kg cost {dollars(cost):.2f}")
        return item, left, cost

    def roast(self, firm: FirmState, command: Roast) -> Values:
        """Roasts green coffee; labour is paid now, the roasted kilograms land next morning.

        Raises:
            Refusal: wrong role or item, quantity, stock, daily cap, stock cap or cash.
        """
        qty = command.qty_kg
        recipe, left, output, labour = self.check_roast(firm, command.green_item_id, qty)
        world = self.world
        green_cost = world.take(firm, recipe.source, qty)
        reference = f"roast {recipe.source}"
        world.post(firm, "work_in_progress", "inventory", green_cost, reference)
        world.post(firm, "work_in_progress", "cash", labour, reference)
        ready = world.state.day + recipe.lag_days
        batch = Batch(firm.name, recipe.output, output, green_cost + labour, ready)
        world.state.roasts.append(batch)
        world.expect(firm, recipe.output, output)
        world.count(recipe.source, "roasted", qty)
        firm.roasted_today[recipe.source] = firm.roasted_today.get(recipe.source, 0) + qty
        return named_values(
            {
                "output_kg": output,
                "ready_day": ready,
                "cost": dollars(batch.cost),
                "capacity_left": left - qty,
            }
        )

    def check_roast(
        self, firm: FirmState, green_item_id: str, qty: int
    ) -> tuple[Recipe, int, int, int]:
        """The recipe, what may still be roasted today, what comes of it and the labour's cost.

        Raises:
            Refusal: as of :meth:`roast`.
        """
        world = self.world
        if firm.role != "roaster":
            raise Refusal("wrong_role", f"a {firm.role} cannot roast")
        recipe = world.catalogue.recipes.get(world.known_item(green_item_id))
        if recipe is None:
            raise Refusal("unknown_item", f"{green_item_id} cannot be roasted")
        if qty < 1:
            raise Refusal("quantity_out_of_range", "the quantity must be at least 1 kg")
        if firm.kg.get(recipe.source, 0) < qty:
            raise Refusal("exceeds_stock", f"only {firm.kg.get(recipe.source, 0)} kg are held")
        left = world.setup.roast_cap_kg - sum(firm.roasted_today.values())
        if qty > left:
            raise Refusal("daily_cap", f"only {left} kg can still be roasted today")
        before = firm.roasted_today.get(recipe.source, 0)
        output = round(qty * recipe.yield_)
        if before and world.rules.yield_of_whole_day:
            output = round((before + qty) * recipe.yield_) - round(before * recipe.yield_)
        if output < 1:
            raise Refusal("quantity_out_of_range", f"{qty} kg make no whole kilogram roasted")
        self._check_room(firm, output - qty)
        labour = cents(qty * recipe.labour)
        if firm.cash < labour:
            raise Refusal("insufficient_cash", f"labour costs {dollars(labour):.2f}")
        return recipe, left, output, labour

    def land(self) -> None:
        """Morning: what is ready comes into stock, production before roasts, oldest first."""
        state = self.world.state
        state.production = self._land(state.production, "production ready")
        state.roasts = self._land(state.roasts, "roast ready")

    def write_off(self, firm: FirmState) -> None:
        """Bankruptcy: the firm's unfinished batches are worth nothing."""
        state = self.world.state
        state.production = self._write_off(firm, state.production)
        state.roasts = self._write_off(firm, state.roasts)

    def _check_room(self, firm: FirmState, more: int) -> None:
        if firm.committed + more > firm.stock_cap:
            raise Refusal(
                "inventory_cap",
                f"{firm.committed} of {firm.stock_cap} kg are taken; {more} more do not fit",
            )

    def _land(self, batches: list[Batch], reason: str) -> list[Batch]:
        world = self.world
        waiting = []
        for batch in batches:
            if batch.ready_day > world.state.day:
                waiting.append(batch)
                continue
            firm = world.state.firms[batch.firm]
            world.expect(firm, batch.item, -batch.kg)
            world.receive(firm, batch.item, batch.kg, batch.cost)
            world.post(firm, "inventory", "work_in_progress", batch.cost, reason)
            world.count(batch.item, "made", batch.kg)
            world.wake(firm.name, reason)
        return waiting

    def _write_off(self, firm: FirmState, batches: list[Batch]) -> list[Batch]:
        for batch in batches:
            if batch.firm == firm.name:
                self.world.expect(firm, batch.item, -batch.kg)
                self.world.post(firm, "writedown", "work_in_progress", batch.cost, "bankruptcy")
        return [b for b in batches if b.firm != firm.name]
