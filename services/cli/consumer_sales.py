"""What a shop has sold to consumers in a run, and what it has asked of them, from the run's log."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SOLD, PAID, SHELF = "to consumers kg", "to consumers at $", "on the shelf at $"
_ORDER = (SOLD, PAID, SHELF)


def consumer_sales(folder: Path, firm: str) -> dict[str, float]:
    """Sales to consumers and shelf prices of a firm.

    Returns:
        ``<item> to consumers kg``, ``<item> to consumers at $`` (mean price a kilogram that was
        paid) and ``<item> on the shelf at $`` (mean over the days on which it was there); nothing
        for a firm that has no shop.
    """
    from services.runs import Run

    kilograms: dict[str, float] = defaultdict(float)
    money: dict[str, float] = defaultdict(float)
    shelf: dict[str, list[float]] = defaultdict(list)
    for row in Run(folder).rows("events", "kind = 'consumer_sale'"):
        sale: dict[str, Any] = json.loads(row[7])
        if sale["shop"] == firm:
            kilograms[sale["item"]] += sale["qty"]
            money[sale["item"]] += sale["revenue"]
            shelf[sale["item"]].append(sale["unit_price"])
    found = {}
    for item, prices in shelf.items():
        found[f"{item} {SOLD}"] = kilograms[item]
        if kilograms[item]:
            found[f"{item} {PAID}"] = money[item] / kilograms[item]
        found[f"{item} {SHELF}"] = sum(prices) / len(prices)
    return found


def sales_lines(names: Iterable[str]) -> list[str]:
    """Those of the names that are about consumers, in an order to read them in."""
    given = set(names)
    items = sorted({name.split(" ")[0] for name in given if name.endswith(_ORDER)})
    return [f"{item} {what}" for item in items for what in _ORDER if f"{item} {what}" in given]
