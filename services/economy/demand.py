"""Consumers: each evening they buy from the shops (note, S8).

For an item with reservation price ``p_res``, over the shops that have it on the shelf::

    M = min(phi * cap * D0 / 80, max(0, phi * D0 + eps) * max(0, 1 - p_bar / p_res))
    a_j = loyalty_j * max(0, 1 - p_j / p_res),  s_j = a_j / sum(a)
    sold_j = min(round(M * s_j) + floor_j, stock_j),  floor_j = round(F) if p_j <= p_res else 0
"""

from __future__ import annotations

from services.economy.catalogue import Item
from services.economy.luck import Luck
from services.economy.money import cents, dollars
from services.economy.results import AggregateRow, SaleRow
from services.economy.state import FirmState
from services.economy.world import World

COMMODITY_BASE = 80.0
"""The demand base to which ``market_cap`` refers."""


class Demand:
    """The consumers of one town."""

    def __init__(self, world: World, luck: Luck) -> None:
        self.world = world
        self.luck = luck

    def sell(self) -> None:
        """Sells to consumers, item by item in catalogue order, shop by shop in firm order."""
        for item in self.world.catalogue.consumer_items:
            self._sell(item)

    def market_size(self, item: Item, prices: dict[str, float]) -> tuple[float, dict[str, float]]:
        """The elastic demand in kilograms and each shop's share of it, at these prices."""
        setup = self.world.setup
        reservation = item.reservation_price or 0.0
        day = self.world.state.day
        first, last = setup.festival_days
        phi = setup.festival_factor if first <= day <= last else 1.0
        appeal = {
            shop: self.luck.loyalty[shop] * max(0.0, 1.0 - price / reservation)
            for shop, price in prices.items()
        }
        total = sum(appeal.values())
        if self.world.rules.weighted_price_index and total > 0:
            index = sum(appeal[shop] * prices[shop] for shop in prices) / total
        else:
            index = sum(prices.values()) / len(prices)
        noise = self.luck.demand_noise(item.id, day)
        size = min(
            phi * setup.market_cap * item.demand_base / COMMODITY_BASE,
            max(0.0, phi * item.demand_base + noise) * max(0.0, 1.0 - index / reservation),
        )
        shares = {shop: a / total if total > 0 else 0.0 for shop, a in appeal.items()}
        return size, shares

    def _sell(self, item: Item) -> None:
        shops = [
            f
            for f in self.world.state.firms.values()
            if f.role == "retailer"
            and f.live
            and f.retail_prices.get(item.id, 0.0) > 0
            and f.kg.get(item.id, 0) > 0
        ]
        if not shops:
            return
        prices = {shop.name: shop.retail_prices[item.id] for shop in shops}
        size, shares = self.market_size(item, prices)
        rows = [self._sell_in(shop, item, size, shares[shop.name]) for shop in shops]
        self.world.state.market.append(
            AggregateRow(
                self.world.state.day,
                item.id,
                sum(qty for qty, _ in rows),
                dollars(sum(revenue for _, revenue in rows)),
                sum(prices.values()) / len(prices),
            )
        )

    def _sell_in(self, shop: FirmState, item: Item, size: float, part: float) -> tuple[int, int]:
        world = self.world
        price = shop.retail_prices[item.id]
        elastic = round(size * part)
        floor = round(item.floor_kg) if price <= (item.reservation_price or 0.0) else 0
        sold = min(elastic + floor, shop.kg[item.id])
        if sold <= 0:
            return 0, 0
        revenue = cents(sold * price)
        cost = world.take(shop, item.id, sold)
        reference = f"consumers {item.id}"
        world.post(shop, "cash", "revenue", revenue, reference)
        world.post(shop, "cogs", "inventory", cost, reference)
        world.count(item.id, "sold", sold)
        day = world.state.day
        row = SaleRow(
            day,
            item.id,
            sold,
            price,
            dollars(revenue),
            round(size, 2),
            elastic,
            floor,
            round(part, 4),
        )
        world.state.sales.setdefault(shop.name, []).append(row)
        world.event(
            "consumer_sale",
            shop.name,
            {
                "day": day,
                "shop": shop.name,
                "item": item.id,
                "qty": sold,
                "elastic_qty": elastic,
                "floor_qty": floor,
                "unit_price": price,
                "revenue": row.revenue,
                "market_demand": row.market_demand,
                "share": row.share,
            },
        )
        return sold, revenue
