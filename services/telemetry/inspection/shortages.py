"""When a firm ran out of something it sells, and what had kept new goods from coming in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from services.economy.catalogue import standard_catalogue
from services.telemetry.inspection import words
from services.telemetry.inspection.goods import Evening, Flow, Shelf

LOOKED_BACK = 3
"""Days of what came in, and of bids, that are told of."""
_LONGEST: Final = 7
"""The same where a firm was out of something for longer."""
# A run may change the figures of these, but not what becomes of what.
_RECIPES: Final = tuple(standard_catalogue().recipes.values())
ROASTS: Final = tuple(recipe.output for recipe in _RECIPES)
"""What roasters make, the most common first."""


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
    found = []
    for day in days:
        for shelf in evenings[day].shelves if day in evenings else ():
            if not (shelf.ran_out and any(f.kg < 0 and f.how != "roasted" for f in shelf.flows)):
                continue
            back = range(day - LOOKED_BACK + 1, day + 1)
            details = _supply(shelf.item, back, evenings, bids)
            found.append(Shortage(day, shelf.item, _told(day, shelf), details))
    return found


def standing(
    agent: str,
    item: str,
    since: int | None,
    evenings: Mapping[int, Evening],
    bids: Sequence[Bid],
    days: range,
) -> Shortage | None:
    """Something that a firm was out of before some days, and still was on the first of them.

    Args:
        agent: The firm.
        item: What.
        since: The day on which it had run out; None if it had never had any.
        evenings: The firm's evenings by day; some days before the first, too.
        bids: How it tried to buy on these days.
        days: The days to tell of.
    """
    out = [day for day in days if day in evenings and not _had(evenings[day], item)]
    first = [day for day, expected in zip(out, days, strict=False) if day == expected]
    if not first or (since is None and len(first) < len(days)):
        return None
    goods = words.goods(item)
    told = f"{agent} has had no {goods} since day {since}"
    if since is None:
        told = f"{agent} has had no {goods} since the beginning"
    if len(first) < len(days):
        told += f", until day {first[-1] + 1}"
    back = range(max(days[0] - LOOKED_BACK + 1, first[-1] - _LONGEST + 1), first[-1] + 1)
    details = _supply(item, back, evenings, bids)
    for source in _sources(item, evenings[first[-1]].role):
        if source != item:
            left = sum(s.left for s in evenings[first[-1]].shelves if s.item == source)
            kg = f"{left:,} kg" if left else "none"
            line = f"{words.goods(source)} in its store on the evening of day {first[-1]}: {kg}"
            details.append(line)
    return Shortage(days[0], item, told, details)


def _had(evening: Evening, item: str) -> bool:
    return any(shelf.item == item for shelf in evening.shelves)


def _supply(
    item: str, back: range, evenings: Mapping[int, Evening], bids: Sequence[Bid]
) -> list[str]:
    """What came in of what an item is made of, and how the firm tried to buy it."""
    role, details = evenings[back[-1]].role, []
    for source in _sources(item, role):
        details.append(_came_in(source, back, evenings))
        if role != "farmer":
            details.append(_tried(source, back, bids))
    return details


def _sources(item: str, role: str) -> list[str]:
    """What an item is made of by a firm of a role; the item itself if it only buys and sells it."""
    made = [recipe.source for recipe in _RECIPES if recipe.output == item]
    return made if made and role == "roaster" else [item]


def _told(day: int, shelf: Shelf) -> str:
    had = "" if shelf.before is None else f"{shelf.before:,} kg the evening before"
    came = ", ".join(_flow(flow) for flow in shelf.flows if flow.kg > 0)
    went = ", ".join(_flow(flow) for flow in shelf.flows if flow.kg < 0)
    parts = [part for part in (had, came and f"in: {came}", went and f"out: {went}") if part]
    return f"day {day}: out of {words.goods(shelf.item)}: {', '.join(parts)}"


def _flow(flow: Flow) -> str:
    return f"{abs(flow.kg):,} kg {flow.how}" + (f" ({flow.paper})" if flow.paper else "")


def _came_in(item: str, days: range, evenings: Mapping[int, Evening]) -> str:
    spans: list[tuple[int, list[int]]] = []
    for day in days:
        if day in evenings:
            shelves = [shelf for shelf in evenings[day].shelves if shelf.item == item]
            kg = sum(flow.kg for shelf in shelves for flow in shelf.flows if flow.kg > 0)
            if kg or not spans or spans[-1][0]:
                spans.append((kg, []))
            spans[-1][1].append(day)
    parts = []
    for kg, span in spans:
        amount = f"{kg:,} kg" if kg else "none"
        if len(span) > 2:
            parts.append(f"{amount} on days {span[0]} to {span[-1]}")
        else:
            parts += [f"{amount} on day {day}" for day in span]
    return f"{words.goods(item)} came in: {', '.join(parts)}"


def _tried(item: str, days: range, bids: Sequence[Bid]) -> str:
    tried = [bid for bid in bids if bid.day in days and bid.item == item]
    what = f"its bids for {words.goods(item)} on days {max(0, days[0])} to {days[-1]}"
    if not tried:
        return f"{what}: none"
    codes = Counter(bid.refused for bid in tried if bid.refused is not None)
    refused = "".join(f", {n} refused, {words.refusal(code)}" for code, n in codes.most_common())
    return f"{what}: {len(tried) - codes.total()} made{refused}"
