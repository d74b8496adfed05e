"""What a firm is after, step by step: objectives with their units, and costs that have a budget.

All figures come from the books and papers of the town itself. Objectives are rewards (more is
better) of about the size of one a day; costs lie in [0, 1] and are compared with a budget as their
mean over the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

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
    "service": "share of the kilograms asked for that were sold, yesterday; 0 to 1",
    "waste": "minus the cost of what has spoiled since the last step, in tens of dollars",
    "liquidity": "minus the share of a week's obligations that cash does not cover; -1 to 0",
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
        self._income = 0
        self._spoiled = 0

    def step(self) -> NDArray[np.float64]:
        """The vector reward since the last call, or since the town opened; ``(K,)``.

        Raises:
            HanseError: the economy has given a number that is not finite.
        """
        found = np.array([getattr(self, f"_{name}")() for name in self.objectives])
        return finite(found, "reward")

    def cost_now(self) -> float:
        """The cost of the step that ends now; that of a bankrupt firm is 1."""
        if not self._firm.live:
            return 1.0
        value: float = getattr(self, f"_cost_{self.cost}")()
        return value

    def stress(self) -> float:
        """How hard-pressed the firm is: what its cash does not cover of a week's obligations."""
        return -self._liquidity()

    def _profit(self) -> float:
        income = self._firm.net_income()
        gained, self._income = income - self._income, income
        return dollars(gained) / PROFIT_UNIT

    def _waste(self) -> float:
        spoiled = self._firm.balances["spoilage_expense"]
        lost, self._spoiled = spoiled - self._spoiled, spoiled
        return -dollars(lost) / WASTE_UNIT

    def _liquidity(self) -> float:
        firm, town = self._firm, self._town
        if not firm.live:
            return -1.0
        last = town.state.day + WEEK
        owed = sum(i.outstanding() for i in town.world.owed_by[firm.name] if i.due_day <= last)
        owed += WEEK * firm.opex
        return -min(1.0, max(0.0, 1.0 - firm.cash / owed)) if owed > 0 else 0.0

    def _service(self) -> float:
        if not self._firm.live:
            return 0.0
        if self._firm.role == "retailer":
            return self._served_consumers()
        firm, state = self._firm, self._town.state
        since = state.day - 1
        sold = asked = 0
        for offer in self._town.world.offers_to[firm.name].values():
            # A bid of today may still be taken; one of yesterday has waited.
            asked += offer.qty if offer.posted_day == since else 0
        for offer in state.resolved_offers.values():
            if offer.seller == firm.name and offer.posted_day == since:
                asked += offer.qty
                sold += offer.qty if offer.status == "accepted" else 0
        if asked:
            return sold / asked
        return float(bool(self._town.world.listings_of[firm.name]))

    def _served_consumers(self) -> float:
        """Of the goods that consumers buy: what they took over what they would have taken."""
        town, firm = self._town, self._firm
        since = town.state.day - 1
        shares = []
        rows = {r.item: r for r in town.state.sales.get(firm.name, ()) if r.day == since}
        for item in town.world.catalogue.consumer_items:
            row = rows.get(item.id)
            if row is None:
                shares.append(0.0 if since >= 0 and not firm.kg.get(item.id, 0) else 1.0)
                continue
            wanted = (row.elastic_qty or 0) + (row.floor_qty or 0)
            shares.append(row.qty / wanted if wanted else 1.0)
        return sum(shares) / len(shares) if shares else 1.0

    def _goods(self) -> tuple[str, ...]:
        own = SELLS[self._firm.role]
        return own or tuple(item.id for item in self._town.world.catalogue.consumer_items)

    def _cost_stock_out(self) -> float:
        goods = self._goods()
        return sum(not self._firm.kg.get(item, 0) for item in goods) / len(goods)

    def _cost_debt(self) -> float:
        owed = dollars(-self._firm.balances["accounts_payable"])
        return min(1.0, max(0.0, owed / self._town.world.rules.credit_limit))

    def _cost_overdraft(self) -> float:
        return float(self._firm.cash < WEEK * self._firm.opex)

    def _cost_overdue(self) -> float:
        today = self._town.state.day
        bills = self._town.world.owed_by[self._firm.name]
        owed = sum(i.outstanding() for i in bills)
        return sum(i.outstanding() for i in bills if i.due_day < today) / owed if owed else 0.0
