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
        paid) and ``<item> on the shelf at $`` (mean over the evenings of the days on which it had
        a price); nothing for a firm that has no shop.
    """
    from services.runs import Run

    run = Run(folder)
    kilograms: dict[str, float] = defaultdict(float)
    money: dict[str, float] = defaultdict(float)
    for row in run.rows("events", "kind = 'consumer_sale'"):
        sale: dict[str, Any] = json.loads(row[7])
        if sale["shop"] == firm:
            kilograms[sale["item"]] += sale["qty"]
            money[sale["item"]] += sale["revenue"]
    shelf: dict[str, list[float]] = defaultdict(list)
    for row in run.rows("metrics", "agent = ?", (firm,)):
        for item, price in json.loads(row[2])["retail_prices"].items():
            if price > 0:
                shelf[item].append(price)
    found = {f"{item} {SHELF}": sum(prices) / len(prices) for item, prices in shelf.items()}
    for item, kg in kilograms.items():
        found |= {f"{item} {SOLD}": kg, f"{item} {PAID}": money[item] / kg}
    return found


def sales_lines(names: Iterable[str]) -> list[str]:
    """Those of the names that are about consumers, in an order to read them in."""
    given = set(names)
    items = sorted({name.split(" ")[0] for name in given if name.endswith(_ORDER)})
    return [f"{item} {what}" for item in items for what in _ORDER if f"{item} {what}" in given]
