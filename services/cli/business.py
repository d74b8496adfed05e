"""How a firm has done its business in a run, in figures from the run's own log."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Business = dict[str, float]
"""Figures by name; what did not happen is not there."""


def business(folder: Path, firm: str) -> Business:
    """What a firm has bought, sold, held and owed in a run.

    Returns:
        ``<item> sold kg``, ``<item> sold at $`` (mean price a kilogram), the same for ``bought``,
        and the means over the days of ``stock kg``, ``owed to it $`` and ``owed by it $``;
        ``deals``, ``commands`` and the ``letters`` it has written.
    """
    from services.runs import Run

    run = Run(folder)
    kilograms: dict[str, float] = defaultdict(float)
    money: dict[str, float] = defaultdict(float)
    found: dict[str, float] = defaultdict(float)
    for row in run.rows("events", "kind = 'deal'"):
        deal: dict[str, Any] = json.loads(row[7])
        for side, word in (("seller", "sold"), ("buyer", "bought")):
            if deal[side] == firm:
                name = f"{deal['item']} {word}"
                kilograms[name] += deal["qty"]
                money[name] += deal["total_price"]
                found["deals"] += 1
    for name, total in kilograms.items():
        found[f"{name} kg"] = total
        found[f"{name} at $"] = money[name] / total
    days: list[dict[str, Any]] = [
        json.loads(row[2]) for row in run.rows("metrics", "") if row[1] == firm
    ]
    for day in days:
        found["stock kg"] += sum(day["stock"].values()) / len(days)
        found["owed to it $"] += day["accounts_receivable"] / len(days)
        found["owed by it $"] += day["accounts_payable"] / len(days)
    if days:
        found["letters"] = days[-1]["messages_sent"]
    for row in run.rows("events", "kind = 'action'"):
        found["commands"] += row[6] == firm
    return dict(found)


def average(businesses: Iterable[Business]) -> Business:
    """The means over several runs; what did not happen in a run counts as 0, a price not at all."""
    given = list(businesses)
    names = sorted({name for one in given for name in one})
    means = {}
    for name in names:
        values = [one[name] for one in given if name in one]
        count = len(values) if name.endswith(" at $") else len(given)
        means[name] = sum(values) / count
    return means


ORDER = ("bought kg", "bought at $", "sold kg", "sold at $")


def lines(names: Iterable[str]) -> list[str]:
    """The names in an order to read them in: by item, then the rest."""
    given = set(names)
    items = sorted({name.split(" ")[0] for name in given if name.endswith(ORDER)})
    traded = [f"{item} {what}" for item in items for what in ORDER if f"{item} {what}" in given]
    rest = ("stock kg", "owed to it $", "owed by it $", "deals", "commands", "letters")
    return [*traded, *(name for name in rest if name in given)]
