"""How much of a run fits into one page: which firms get a line, which agents share one.

A run of six firms is shown whole. A run of a thousand is not: the page names the best and the
worst firms, and everybody else appears in the means of their role. Each cut adds a sentence to
:attr:`Scope.notes`, so the page says itself what it leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

MOST_FIRMS: Final = 40
"""Leagues up to this size are shown firm by firm."""
EXTREMES: Final = 20
"""Of a larger league, so many firms from the top and so many from the bottom are shown."""
MOST_POINTS: Final = 400
"""Points of a curve; a longer run is sampled every second, third, ... day."""
MOST_ENTRIES: Final = 50_000
"""Ledger entries that are listed one by one; beyond it only the trial balance is."""
MOST_TRADE_NODES: Final = 24
"""Groups in the trade diagram of a large league; above it towns are put together."""

MOST_OTHERS: Final = 20
"""Agents of a large league that are neither firms nor exchanges and yet have their own name."""

CONSUMERS: Final = "consumers"
ROLES: Final = ("farmer", "roaster", "retailer")


def plural(role: str) -> str:
    """``farmer`` -> ``farmers``."""
    return role if role.endswith("s") else role + "s"


@dataclass
class Scope:
    """What the page shows one by one and what it adds up.

    Args:
        firms: facts of every firm (``firm``, ``role``, ``town``, ``net_income``, ...), run order.
        days: number of completed days.
        entries: number of ledger entries in the store.
    """

    firms: Sequence[Mapping[str, Any]]
    days: int
    entries: int
    aggregated: bool = field(init=False)
    step: int = field(init=False)
    shown: list[str] = field(init=False)
    notes: list[str] = field(init=False, default_factory=list)
    unreadable: int = field(init=False, default=0)
    """Rows left out because their bodies make no sense."""

    def __post_init__(self) -> None:
        self.aggregated = len(self.firms) > MOST_FIRMS
        self.step = max(1, -(-self.days // MOST_POINTS))
        self._nodes: dict[str, str] = {}
        self._others: dict[str, None] = {}
        self._role = {str(f["firm"]): str(f["role"]) for f in self.firms}
        self._town = {str(f["firm"]): f.get("town") for f in self.firms}
        towns = {town for town in self._town.values() if town}
        roles = set(self._role.values())
        self._by_town = len(towns) > 1 and len(towns) * len(roles) <= MOST_TRADE_NODES
        self.shown = self._choose()
        if self.aggregated:
            self.notes.append(
                f"This league has {len(self.firms):,} firms. The page shows the {EXTREMES} with "
                f"the highest and the {EXTREMES} with the lowest net income, and the mean of every "
                "role over all its firms; trade and messages are added up by role"
                f"{' and town' if self._by_town else ''}, and the ledger is given as a trial "
                "balance without its entries. The run folder holds everything."
            )
        elif not self.entries_listed:
            self.notes.append(
                f"The ledger has {self.entries:,} entries; above {MOST_ENTRIES:,} the page gives "
                "the trial balance without them. The run folder holds everything."
            )
        if self.step > 1:
            self.notes.append(
                f"The run has {self.days:,} days; curves show one day in {self.step}, and trade "
                "and messages are added up over the days between."
            )

    def _choose(self) -> list[str]:
        if not self.aggregated:
            return list(self._role)
        ranked = sorted(
            self.firms,
            # Firms without a figure are neither best nor worst: they go to the middle.
            key=lambda f: -f["net_income"] if f["net_income"] is not None else 0.0,
        )
        return [str(f["firm"]) for f in (*ranked[:EXTREMES], *ranked[-EXTREMES:])]

    @property
    def entries_listed(self) -> bool:
        """Whether the page lists the ledger's entries."""
        return not self.aggregated and self.entries <= MOST_ENTRIES

    @property
    def roles(self) -> list[str]:
        """The roles present, in the order of the chain."""
        present = list(dict.fromkeys(self._role.values()))
        return sorted(present, key=lambda r: ROLES.index(r) if r in ROLES else len(ROLES))

    def role(self, agent: str) -> str | None:
        """The role of a firm; ``None`` for an agent that is none."""
        return self._role.get(agent)

    def sampled(self, day: int) -> bool:
        """Whether curves have a point on this day."""
        return day % self.step == 0 or day == self.days - 1

    def sample_days(self) -> list[int]:
        """The days on which curves have a point."""
        return [day for day in range(self.days) if self.sampled(day)]

    def bucket(self, day: int) -> int:
        """The first day of the span that ``day`` is added up in."""
        return day - day % self.step

    def node(self, agent: str) -> str:
        """The name under which an agent's trade and messages are counted."""
        name = self._nodes.get(agent)
        if name is None:
            name = self._nodes[agent] = self._group(agent) if self.aggregated else agent
        return name

    def _group(self, agent: str) -> str:
        role = self._role.get(agent)
        if role is not None:
            return f"{plural(role)} of {self._town[agent]}" if self._by_town else plural(role)
        if agent == CONSUMERS:
            return agent
        if agent.split("_")[0] == "exchange":
            return "exchanges"
        self._others.setdefault(agent)
        return agent if len(self._others) <= MOST_OTHERS else "other agents"

    def groups(self) -> list[str]:
        """The nodes that firms belong to: the firms shown or, in a large league, the groups."""
        if not self.aggregated:
            return list(self.shown)
        named = {self.node(firm): self._role[firm] for firm in self._role}
        return sorted(named, key=lambda name: (self.roles.index(named[name]), name))

    def node_role(self, agent: str) -> str:
        """The role by which the page colours :meth:`node`."""
        return self._role.get(agent) or (CONSUMERS if agent == CONSUMERS else "")
