"""When a firm ran out of something it sells, and what had kept new goods from coming in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from services.telemetry.inspection import words
from services.telemetry.inspection.goods import Evening, Flow, Shelf

LOOKED_BACK = 3
"""Days of what came in, and of bids, that are told of."""


class Bid(NamedTuple):
    """A command by which a firm tried to buy."""

    day: int
    item: str
    refused: str | None
    """The code, if it was."""


class Shortage(NamedTuple):
    """A day on which a firm ran out of something that it sells."""

    day: int
    item: str
    words: str
    details: list[str]
    """What came in before, and which bids there were."""

    def document(self) -> dict[str, Any]:
        """The shortage for ``--json``."""
        return self._asdict()


def shortages(evenings: Mapping[int, Evening], bids: Sequence[Bid], days: range) -> list[Shortage]:
    """Every day on which a firm ran out of something, with what the log says about it.

    What a firm uses up by roasting all of it is no shortage; it is told of where what comes of it
    runs out.

    Args:
        evenings: The firm's evenings by day; some days before the first, too.
        bids: How it tried to buy on these days.
        days: The days to tell of.
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
    for day in days:
        for shelf in evenings[day].shelves if day in evenings else ():
            if not (shelf.ran_out and any(f.kg < 0 and f.how != "roasted" for f in shelf.flows)):
                continue
            back = range(day - LOOKED_BACK + 1, day + 1)
            details = []
            for item in _sources(shelf.item, roasted):
                details.append(_came_in(item, back, evenings))
                if evenings[day].role != "farmer":
                    details.append(_tried(item, back, bids))
            found.append(Shortage(day, shelf.item, _told(day, shelf), details))
    return found


def _sources(item: str, roasted: Sequence[str]) -> list[str]:
    """What an item is made of; the item itself if it is not roasted here.

    Items that are made of each other share their names but for the first word.
    """
    if not roasted or item in roasted:
        return [item]
    kind = item.partition("_")[2]
    return [source for source in roasted if source.partition("_")[2] == kind] or list(roasted)


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
        if day in evenings:
            kg = sum(
                flow.kg
                for shelf in evenings[day].shelves
                if shelf.item == item
                for flow in shelf.flows
                if flow.kg > 0
            )
            parts.append(f"{f'{kg:,} kg' if kg else 'none'} on day {day}")
    return f"{words.goods(item)} came in: {', '.join(parts)}"


def _tried(item: str, days: range, bids: Sequence[Bid]) -> str:
    tried = [bid for bid in bids if bid.day in days and bid.item == item]
    what = f"its bids for {words.goods(item)} on days {max(0, days[0])} to {days[-1]}"
    if not tried:
        return f"{what}: none"
    codes = Counter(bid.refused for bid in tried if bid.refused is not None)
    refused = "".join(f", {n} refused, {words.refusal(code)}" for code, n in codes.most_common())
    return f"{what}: {len(tried) - codes.total()} made{refused}"
