"""What a firm is after, step by step: objectives with their units, and costs that have a budget.

All figures come from the books and papers of the town itself. Objectives are rewards (more is
better) of about the size of one a day, whatever the cadence: what is measured once a day is paid
with the first step that ends on the next one. Costs lie in [0, 1] and are compared with a budget as
their mean over the steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from policies.environments.action_layout import SELLS
from policies.environments.checks import checked_objectives, finite
from services.economy.money import dollars
from services.economy.state import FirmState
from services.economy.town import Town
from services.errors import HanseError

OBJECTIVES: Final[dict[str, str]] = {
    "profit": "net income since the last step, in hundreds of dollars",
    "service": "once a day: share of the kilograms asked for that were sold; 0 to 1",
    "waste": "minus the cost of what has spoiled since the last step, in tens of dollars",
    "liquidity": "once a day: minus the share of a week's obligations that cash does not cover",
}
"""The objectives and their units. ``service`` counts consumers' demand for a retailer and other
firms' bids for everybody else; nothing asked for counts as served if something is on offer."""
COSTS: Final[dict[str, str]] = {
    "stock_out": "share of the firm's own goods of which it has none on hand",
    "debt": "payables as a share of the credit limit, at most 1",
    "overdraft": "1 if cash is below a week's running costs, else 0",
    "overdue": "share of open payables (by amount) that are overdue",
}
"""The costs; each step's lies in [0, 1]."""
PROFIT_UNIT: Final = 100.0
WASTE_UNIT: Final = 10.0
WEEK: Final = 7


_Preference = TypeVar("_Preference")
Weighted = Sequence[str] | Mapping[str, float]
"""Objectives by name, or with their weights."""


def names_and_weights(
    objectives: Weighted, preference: _Preference | None
) -> tuple[tuple[str, ...], _Preference | list[float] | None]:
    """The objectives' names, and the preference among them.

    Args:
        objectives: Names, or weights by name: ``{"profit": 0.7, "service": 0.3}``.
        preference: Their weights, if ``objectives`` has names only.

    Raises:
        HanseError: there are weights in both.
    """
    if not isinstance(objectives, Mapping):
        return tuple(objectives), preference
    if preference is not None:
        raise HanseError(
            "preference: objectives has weights already; give it names alone, or no preference"
        )
    return tuple(objectives), list(objectives.values())


class Rewards:
    """Measures one firm of a town, from one step to the next.

    Args:
        town: The town.
        firm: The firm's name.
        objectives: Which of :data:`OBJECTIVES`, in which order.
        cost: Which of :data:`COSTS`.

    Raises:
        HanseError: an unknown objective or cost.
    """

    def __init__(
        self,
        town: Town,
        firm: str,
        objectives: Sequence[str] = tuple(OBJECTIVES),
        cost: str = "stock_out",
    ) -> None:
        self.objectives = checked_objectives(objectives, tuple(OBJECTIVES))
        if cost not in COSTS:
            raise HanseError(f"cost: there is no cost {cost!r}; allowed: {', '.join(COSTS)}")
        self.cost = cost
        self._town = town
        self._firm: FirmState = town.firms[firm]
        self._cost_of_step: Callable[[], float] = getattr(self, f"_cost_{cost}")
        consumed = tuple(item.id for item in town.world.catalogue.consumer_items)
        self._goods = SELLS[self._firm.role] or consumed
        self._income = 0
        self._spoiled = 0
        self._since = town.state.day
        """The day whose service is still to be measured."""

    def step(self) -> NDArray[np.float64]:
        """The vector reward since the last call, or since the town opened; ``(K,)``.

        Raises:
            HanseError: the economy has given a number that is not finite.
        """
        state = self._town.state
        found = {"profit": self._profit(), "waste": self._waste()}
        if state.day > self._since or self._town.closed or not self._firm.live:
            found["service"] = self._service(self._since)
            found["liquidity"] = -self.stress()
            self._since = state.day
        vector = [found.get(name, 0.0) for name in self.objectives]
        if not math.isfinite(sum(vector)):
            finite(np.array(vector), "reward")
        return np.array(vector)

    def cost_now(self) -> float:
        """The cost of the step that ends now; that of a bankrupt firm is 1."""
        if not self._firm.live:
            return 1.0
        return self._cost_of_step()

    def stress(self) -> float:
        """The share of a week's obligations that the firm's cash does not cover."""
        firm, town = self._firm, self._town
        if not firm.live:
            return 1.0
        last = town.state.day + WEEK
        bills = town.world.owed_by[firm.name]
        owed = sum([bill.outstanding() for bill in bills if bill.due_day <= last])
        owed += WEEK * firm.opex
        if firm.cash >= owed:
            return 0.0
        return min(1.0, 1.0 - firm.cash / owed)

    def _profit(self) -> float:
        income = self._firm.net_income()
        gained, self._income = income - self._income, income
        return dollars(gained) / PROFIT_UNIT

    def _waste(self) -> float:
        spoiled = self._firm.balances["spoilage_expense"]
        lost, self._spoiled = spoiled - self._spoiled, spoiled
        return -dollars(lost) / WASTE_UNIT

    def _service(self, day: int) -> float:
        """Of what was asked for on a day, the share that was sold."""
        if not self._firm.live:
            return 0.0
        if self._firm.role == "retailer":
            return self._served_consumers(day)
        firm, state = self._firm, self._town.state
        pending = self._town.world.offers_to[firm.name].values()
        asked = sum([offer.qty for offer in pending if offer.posted_day == day])
        sold = 0
        for offer in state.resolved_offers.values():
            if offer.posted_day == day and offer.seller == firm.name:
                asked += offer.qty
                sold += offer.qty if offer.status == "accepted" else 0
        if asked:
            return sold / asked
        return float(bool(self._town.world.listings_of[firm.name]))

    def _served_consumers(self, day: int) -> float:
        """Of the goods that consumers buy: what they took over what they would have taken."""
        town, firm = self._town, self._firm
        rows = {row.item: row for row in town.state.sales.get(firm.name, ()) if row.day == day}
        shares = []
        for item in town.world.catalogue.consumer_items:
            row = rows.get(item.id)
            if row is None:  # it was out of stock, or off the shelf
                shares.append(0.0)
                continue
            wanted = (row.elastic_qty or 0) + (row.floor_qty or 0)
            shares.append(row.qty / wanted if wanted else 1.0)
        return sum(shares) / len(shares) if shares else 1.0

    def _cost_stock_out(self) -> float:
        held, goods = self._firm.kg, self._goods
        return sum([not held.get(item, 0) for item in goods]) / len(goods)

    def _cost_debt(self) -> float:
        owed = dollars(-self._firm.balances["accounts_payable"])
        limit = self._town.world.rules.credit_limit
        # Where nothing may be owed, a dollar is too much.
        return min(1.0, max(0.0, owed / (limit or 1.0)))

    def _cost_overdraft(self) -> float:
        return float(self._firm.cash < WEEK * self._firm.opex)

    def _cost_overdue(self) -> float:
        today = self._town.state.day
        bills = self._town.world.owed_by[self._firm.name]
        owed = sum(i.outstanding() for i in bills)
        return sum(i.outstanding() for i in bills if i.due_day < today) / owed if owed else 0.0
