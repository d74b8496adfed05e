"""When a firm ran out of something it sells, and what had kept new goods from coming in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from services.telemetry.inspection import words
from services.telemetry.inspection.goods import Evening, Flow, Shelf
from services.telemetry.logged import LoggedEvent

_LOOKED_BACK = 3
"""Days of what came in, and of bids, that are told of."""


def shortages(
    evenings: Mapping[int, Evening], bids: Mapping[int, Sequence[LoggedEvent]]
) -> list[str]:
    """Every day on which a firm ran out of something, with what the log says about it.

    What a firm uses up by roasting all of it is no shortage; it is told of where what comes of it
    runs out.

    Args:
        evenings: The firm's evenings by day.
        bids: The commands by which it tried to buy, by day.
    """
    roasted = sorted(
        {
            shelf.item
            for evening in evenings.values()
            for shelf in evening.shelves
            if any(flow.how == "roasted" for flow in shelf.flows)
        }
    )
    found = []
    for day, evening in sorted(evenings.items()):
        for shelf in evening.shelves:
            if shelf.ran_out and any(f.kg < 0 and f.how != "roasted" for f in shelf.flows):
                text = _told(day, shelf)
                sources = roasted if roasted and shelf.item not in roasted else [shelf.item]
                back = range(day - _LOOKED_BACK + 1, day + 1)
                text += "".join(f"; {_came_in(item, back, evenings)}" for item in sources)
                found.append(text + _tried(back, bids))
    return found


def _told(day: int, shelf: Shelf) -> str:
    had = "" if shelf.before is None else f"{shelf.before:,} kg the evening before"
    came = ", ".join(_flow(flow) for flow in shelf.flows if flow.kg > 0)
    went = ", ".join(_flow(flow) for flow in shelf.flows if flow.kg < 0)
    parts = [part for part in (had, came and f"in: {came}", went and f"out: {went}") if part]
    return f"day {day}: out of {words.goods(shelf.item)}: {', '.join(parts)}"


def _flow(flow: Flow) -> str:
    return f"{abs(flow.kg):,} kg {flow.how}" + (f" ({flow.paper})" if flow.paper else "")


def _came_in(item: str, days: range, evenings: Mapping[int, Evening]) -> str:
    parts = []
    for day in days:
        if day not in evenings:
            continue
        kg = sum(
            flow.kg
            for shelf in evenings[day].shelves
            if shelf.item == item
            for flow in shelf.flows
            if flow.kg > 0
        )
        parts.append(f"{f'{kg:,} kg' if kg else 'none'} on day {day}")
    return f"{words.goods(item)} came in: {', '.join(parts)}"


def _tried(days: range, bids: Mapping[int, Sequence[LoggedEvent]]) -> str:
    made, codes = 0, Counter[str]()
    for day in days:
        for event in bids.get(day, ()):
            facts = event.facts
            if facts.get("status") == "error":
                codes[str(facts.get("error_code"))] += 1
            else:
                made += 1
    if not made and not codes:
        return "; no bids in these days"
    refused = ", ".join(f"{n} refused, {words.refusal(code)}" for code, n in codes.most_common())
    return f"; bids in these days: {made} made" + (f", {refused}" if refused else "")
