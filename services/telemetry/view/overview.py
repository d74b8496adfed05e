"""What the page knows of a run before it opens a day: figures for each day, agents, orders.

An order is everything that comes of one offer: the deal, its delivery, the invoice, the payment.
It spreads over weeks, so the overview notes on which days each order is mentioned; the page then
opens those days only.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from services.runs import Run, database
from services.runs.bodies import body_of
from services.telemetry.rows import read_recorded
from services.telemetry.view.flags import Flag, flag_of_event, flag_of_span


class DayFigures(NamedTuple):
    """A day in a few numbers."""

    messages: int
    events: int
    deals: int
    errors: int
    """What is an error is defined by :class:`services.telemetry.view.flags.Flag`, like the rest."""
    refused: int
    """Commands that an exchange refused."""
    dollars: float
    """The deals' total price."""
    lost: int
    """Deliveries that never arrive."""
    late: int
    """Deliveries that take a day longer."""
    stray: int
    """Messages that their recipient did not expect."""
    bankrupt: int
    """Firms that went out of business."""


class Order(NamedTuple):
    """One offer and what came of it, by the ids that its exchange gave."""

    exchange: str
    offer: str
    """Empty in a run whose events do not name it."""
    ids: list[str]
    """Of its offer, deals and invoices, each as ``kind:id``."""
    days: list[int]
    """On which it is mentioned, in order."""


class Overview:
    """Figures of the whole days of a run, read day by day; it grows while the run does."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._marks: list[int] = []
        self._orders: dict[tuple[str, str], Order] = {}
        self.days: list[DayFigures] = []

    @property
    def orders(self) -> list[Order]:
        """The orders so far, in the order of their beginning."""
        seen: dict[int, Order] = {id(order): order for order in self._orders.values()}
        return list(seen.values())

    def grow(self, seconds: float | None = None) -> bool:
        """Reads days that are not in yet.

        Args:
            seconds: How long it may take, at least one day; no limit if None.

        Returns:
            Whether there are more.
        """
        end = None if seconds is None else time.monotonic() + seconds
        marks = self._run.marks()
        if marks and marks[0].day != 0:  # never written so by a run that began at its beginning
            marks = []
        for mark in marks[len(self.days) :]:
            before = marks[mark.day - 1].messages if mark.day else 0
            self._read(mark.day, mark.messages - before)
            if end is not None and time.monotonic() > end:
                break
        return len(self.days) < len(marks)

    def _read(self, day: int, messages: int) -> None:
        events = deals = 0
        dollars = 0.0
        with database.reading(self._run.database) as connection:
            flags = Counter(map(flag_of_span, read_recorded(connection, day)))
        for _, _, agent, _, _, kind, _, text in self._run.rows("events", days=range(day, day + 1)):
            events += 1
            flags[flag_of_event(kind, text)] += 1
            body = body_of(text)
            if body is None:
                continue
            if kind == "deal":
                deals += 1
                price = body.get("total_price")
                dollars += price if isinstance(price, int | float) else 0.0
            if ids := ids_of(kind, body):
                self._mention(agent, ids, day)
        self.days.append(
            DayFigures(
                messages,
                events,
                deals,
                errors=flags[Flag.ERROR],
                refused=flags[Flag.REFUSED],
                dollars=round(dollars, 2),
                lost=flags[Flag.LOST],
                late=flags[Flag.LATE],
                stray=flags[Flag.STRAY],
                bankrupt=flags[Flag.BANKRUPT],
            )
        )

    def _mention(self, exchange: str, ids: Mapping[str, str], day: int) -> None:
        names = [f"{kind}:{value}" for kind, value in ids.items()]
        found = (self._orders.get((exchange, name)) for name in names)
        order = next((order for order in found if order is not None), None)
        if order is None:
            order = Order(exchange, ids.get("offer", ""), [], [])
        for name in names:
            if self._orders.setdefault((exchange, name), order) is order and name not in order.ids:
                order.ids.append(name)
        if day not in order.days:
            order.days.append(day)


def ids_of(kind: str, body: Mapping[str, Any]) -> dict[str, str]:
    """The ids of the offer, the deal and the invoice that an event names."""
    if kind == "action":
        args = body.get("args")
        named = args if isinstance(args, Mapping) else {}
        found = {name: named.get(f"{name}_id") for name in ("offer", "deal", "invoice")}
        if body.get("tool") == "make_offer":
            found["offer"] = body.get("new_id")
    else:
        found = {name: body.get(name) for name in ("offer", "deal", "invoice")}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def agents_of(run: Run) -> list[dict[str, Any]]:
    """The agents that are known from the first day: name, role, and the exchange of a firm."""
    first = range(1)
    roles = {
        agent: str((body_of(text) or {}).get("role", ""))
        for _, agent, text in run.rows("metrics", days=first)
    }
    hubs = {
        sender: recipient
        for _, _, sender, _, recipient, *_ in run.rows("messages", "type = 'join'", days=first)
    }
    names = _distinct([*hubs.values(), *hubs, *roles])
    exchanges = set(hubs.values())
    return [
        {
            "name": name,
            "role": roles.get(name) or ("exchange" if name in exchanges else ""),
            "hub": hubs.get(name),
        }
        for name in names
    ]


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
