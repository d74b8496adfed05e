"""A branch under a changed configuration: what may differ from the parent, and what follows.

What has taken effect when the league opened cannot be changed by a branch: who is there, in which
role and town, with what cash, stock, costs and store, and under which set of rules. All other
numbers count from the branch's first day on, the seed included.

A firm whose *strategy* is changed starts without memory: what another class has saved would not
fit, or would mean something else. A firm of which only the options are changed keeps its memory.
"""

from __future__ import annotations

from typing import Any, Final

import msgpack

from actors.cast import Cast
from services.config import RunConfig
from services.errors import HanseError

_OPENING: Final = ("role", "town", "cash", "opex", "stock_cap", "stock")
"""What a firm has from the opening of the league on, for good."""


def check_branch(parent: RunConfig, child: RunConfig, day: int, source: str = "--set") -> None:
    """Refuses what a branch from the end of ``day`` cannot change.

    Raises:
        HanseError: the line names the key and what can be done.
    """
    old, new = Cast(parent, source), Cast(child, source)
    start = "start a new run for that: hanse run"
    if child.rules != parent.rules:
        raise HanseError(
            f"{source}: rules: a branch keeps {parent.rules!r}, whose books it has; {start}"
        )
    if child.days <= day + 1:
        raise HanseError(
            f"{source}: days: {child.days} is too few, days 0 to {day} are played already;"
            f" allowed: {day + 2} or more"
        )
    if day + 1 >= parent.days and child.days != parent.days:
        raise HanseError(
            f"{source}: days: the league has closed on day {day}; branch from an earlier day"
        )
    before, after = ({firm.name: firm for firm in cast.firms} for cast in (old, new))
    if old.names != new.names or list(before) != list(after) or old.towns != new.towns:
        what = "seed or generate" if parent.generate is not None else "firms, towns and agents"
        raise HanseError(
            f"{source}: {what}: a branch has the agents of its parent, no others; {start}"
        )
    for name, firm in after.items():
        for key in _OPENING:
            if getattr(firm, key) != getattr(before[name], key):
                raise HanseError(
                    f"{source}: firms.{name}.{key}: has taken effect when the league opened;"
                    f" allowed: strategy, options, controller, host; {start}"
                )


def refit(state: bytes, parent: RunConfig, child: RunConfig) -> bytes:
    """A league's saved state as the branch takes it over.

    Firms with another strategy lose their memory, and their exchange learns whether they want
    observations from now on.
    """
    old, new = Cast(parent), Cast(child)
    changed = {
        firm.name: new.make(firm.name).strategy.observes  # type: ignore[attr-defined]
        for firm, before in zip(new.firms, old.firms, strict=True)
        if firm.strategy != before.strategy
    }
    if not changed:
        return state
    league: dict[str, Any] = msgpack.unpackb(state, strict_map_key=False)
    agents = league["agents"]
    for firm in changed:
        agents[firm]["state"] = msgpack.packb(None)
    for town, exchange in new.exchanges.items():
        saved = msgpack.unpackb(agents[exchange]["state"], strict_map_key=False)
        observing = {firm for firm in saved["observing"] if firm not in changed}
        here = {firm.name for firm in new.firms if (firm.town or new.config.town_names[0]) == town}
        observing |= {firm for firm in here if changed.get(firm)}
        saved["observing"] = sorted(observing)
        agents[exchange]["state"] = msgpack.packb(saved)
    return msgpack.packb(league)  # type: ignore[no-any-return]
