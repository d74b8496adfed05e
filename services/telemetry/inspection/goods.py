"""A firm's goods and money day by day: what came in, what went out, what was left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from services.messages import MINUTES_PER_DAY
from services.runs import Run
from services.runs.bodies import body_of
from services.telemetry.inspection import words
from services.telemetry.logged import LoggedEvent

MADE = "made"
OTHERWISE = "otherwise"


class Flow(NamedTuple):
    """Kilograms that came in (positive) or went out."""

    kg: int
    how: str
    """``delivered``, ``made``, ``roasted``, ``sold``, ``spoiled``, ``returned``, ``exported`` or
    ``otherwise``."""
    paper: str = ""
    """The deal's id, if it was one."""


class Shelf(NamedTuple):
    """An item at the end of a day."""

    item: str
    before: int | None
    """Kilograms the evening before; None if that is not known."""
    flows: list[Flow]
    left: int

    @property
    def ran_out(self) -> bool:
        """Whether there was some on this day, and now there is none."""
        had = (self.before or 0) + sum(flow.kg for flow in self.flows if flow.kg > 0)
        return self.left == 0 and (had > 0 or any(flow.kg < 0 for flow in self.flows))

    def __str__(self) -> str:
        """``21 kg of roasted coffee (+25 made, −29 sold)``."""
        summed: dict[str, int] = defaultdict(int)
        for flow in self.flows:
            summed[flow.how] += flow.kg
        parts = ", ".join(f"{'+' if kg > 0 else '−'}{abs(kg)} {how}" for how, kg in summed.items())
        return f"{self.left:,} kg of {words.goods(self.item)}" + (f" ({parts})" if parts else "")


class Evening(NamedTuple):
    """Where a firm stands at the end of a day."""

    day: int
    cash: float
    before: float | None
    """Its cash the evening before; None if that is not known."""
    role: str
    shelves: list[Shelf]
    figures: dict[str, Any]
    """All that the run keeps of it, dollars and kilograms."""

    def document(self) -> dict[str, Any]:
        """The evening for ``--json``."""
        return {
            "day": self.day,
            "cash": self.cash,
            "cash_before": self.before,
            "stock": {
                shelf.item: {
                    "before": shelf.before,
                    "flows": [flow._asdict() for flow in shelf.flows],
                    "left": shelf.left,
                }
                for shelf in self.shelves
            },
        }


def figures(run: Run, agent: str) -> dict[int, dict[str, Any]]:
    """A firm's figures at the end of every day; empty if the agent is no firm.

    Agents of users' own may keep figures of other shapes: those are left out.
    """
    rows = run.rows("metrics", "agent = ?", (agent,))
    return {day: body for day, _, text in rows if _is_firms(body := body_of(text) or {})}


def out_since(
    run: Run, agent: str, item: str, known: dict[int, dict[str, Any]], before: int
) -> int | None:
    """The day on which a firm last ran out of an item before a day; None if it never had any.

    Args:
        run: The run.
        agent: The firm.
        item: What.
        known: What `figures` says.
        before: Only days before this one count.
    """
    held = [day + 1 for day in known if day < before and known[day]["stock"].get(item)]
    # What was made and sold on one day is in no evening's books.
    rows = run.rows(
        "events",
        "kind IN ('deal', 'consumer_sale', 'spoilage', 'return', 'trade')"
        " AND instr(body, ?) AND instr(body, ?)",
        (f'"{item}"', f'"{agent}"'),
        days=range(before),
    )
    for row in rows:
        event = LoggedEvent(row[0] // MINUTES_PER_DAY, *row)
        held += [event.day for what, flow in _flows(agent, event) if what == item and flow.kg < 0]
    return min(max(held), before) if held else None


def _is_firms(body: dict[str, Any]) -> bool:
    stock, cash = body.get("stock"), body.get("cash")
    return (
        isinstance(cash, int | float)
        and isinstance(stock, dict)
        and all(isinstance(kg, int | float) for kg in stock.values())
    )


def evening(
    agent: str, day: int, known: dict[int, dict[str, Any]], events: Iterable[LoggedEvent]
) -> Evening | None:
    """The end of a day.

    What lands in a store without an event (harvests, roasts, imports) is what is missing between
    two evenings when everything else is counted.

    Args:
        agent: The firm.
        day: The day.
        known: What `figures` says.
        events: The day's events.
    """
    body = known.get(day)
    if body is None:
        return None
    role = str(body.get("role", ""))
    last = known.get(day - 1)
    flows: dict[str, list[Flow]] = defaultdict(list)
    for event in events:
        for item, flow in _flows(agent, event):
            flows[item].append(flow)
    shelves = []
    for item in sorted({*body["stock"], *flows}):
        left = int(body["stock"].get(item, 0))
        before = None if last is None else int(last["stock"].get(item, 0))
        if before is not None:
            rest = left - before - sum(flow.kg for flow in flows[item])
            made = rest > 0 and role in ("farmer", "roaster")
            if rest:
                flows[item].insert(0, Flow(rest, MADE if made else OTHERWISE))
        if left or before or flows[item]:
            shelves.append(Shelf(item, before, flows[item], left))
    cash_before = None if last is None else float(last["cash"])
    return Evening(day, float(body["cash"]), cash_before, role, shelves, body)


def _flows(agent: str, event: LoggedEvent) -> list[tuple[str, Flow]]:
    if event.kind == "action":
        if event.subject != agent or '"tool":"roast"' not in event.body:
            return []
        facts = event.facts
        args = facts.get("args")
        if facts.get("status") == "error" or not isinstance(args, dict):
            return []
        return [(str(args["green_item_id"]), Flow(-int(args["qty_kg"]), "roasted"))]
    if event.kind not in _OF_KIND:
        return []
    facts = event.facts
    who, sign, how = _OF_KIND[event.kind]
    doer = event.subject if who == "subject" else facts.get(who)
    if doer != agent or facts.get("outcome", "delivered") != "delivered":
        return []
    if event.kind == "trade" and facts.get("direction") != "export":
        return []
    try:
        flow = Flow(sign * int(facts["qty"]), how, str(facts.get("deal", "")))
        return [(str(facts["item"]), flow)] if flow.kg else []
    except (KeyError, TypeError, ValueError):
        return []


_OF_KIND = {
    "delivery": ("buyer", 1, "delivered"),
    "deal": ("seller", -1, "sold"),
    "consumer_sale": ("shop", -1, "sold"),
    "spoilage": ("firm", -1, "spoiled"),
    "return": ("subject", -1, "returned"),
    "trade": ("subject", -1, "exported"),
}
