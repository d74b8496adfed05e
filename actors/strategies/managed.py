"""A scripted roaster that hands its purchasing to a controller.

Given a drift and a line, it wants something besides: preference and budget change unseen, are told
through a bad line, and each day is judged by them (:mod:`policies.environments.procurement`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.controller import PurchaseOrders, Standing, StockReport, Told, Yesterday
from actors.strategies.scripted import ScriptedRoaster
from actors.strategies.strategy import Plan
from services.economy import commands as c
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.results import DealRow, DealsView, ListingsView, Result, TrialBalance
from services.errors import HanseError
from services.messages import Channel, Message

if TYPE_CHECKING:
    from actors.context import Context
    from policies.environments.procurement import Books, Client

NOTHING = PurchaseOrders(kg={})
USUAL_LINE = "moderate"
_OUTPUT = {GREEN: (ROASTED, 0.85), GREEN_SPECIALTY: (ROASTED_SPECIALTY, 0.82)}


class Managed(ScriptedRoaster):
    """Roasts and sells as the reference roaster does; how much to buy, the controller says.

    After looking at its books and the road it sends a :class:`StockReport` with each green item's
    inventory position (on hand, under way and on bid, and what it has become in roasted coffee);
    the controller's answer is there before the next call.

    Every day that is over is an event ``purchasing_outcome`` if there is a drift: the truth of that
    day, what it came to, and whether the cost was above the budget. Controllers see no events.

    Args:
        firm: The firm's name.
        role: roaster.
        controller: Who does its purchasing.
        drift: How what it wants changes (:data:`policies.environments.intent.DRIFTS`); left out, it
            wants nothing in particular and tells its stock alone.
        line: How badly its word comes through (:data:`policies.environments.procurement.LINES`);
            ``moderate`` if there is a drift and nothing is said.

    Raises:
        TypeError: it is no roaster, names no controller, or there is no such drift or line.
    """

    def __init__(
        self,
        firm: str,
        role: str,
        controller: str = "",
        drift: str | None = None,
        line: str | None = None,
        **options: Any,
    ) -> None:
        if role != "roaster":
            raise TypeError("only a roaster can hand its purchasing to a controller")
        if not controller:
            raise TypeError('name the controller: controller = "..." in the firm\'s table')
        super().__init__(firm, role, **options)
        if drift is not None:
            from policies.environments.procurement import check

            try:
                check(drift, line or USUAL_LINE)
            except HanseError as error:  # the run file and the firm are named further up
                raise TypeError(str(error)) from None
        elif line is not None:
            raise TypeError(f"line = {line!r} needs a drift, without which nothing is told over it")
        self.controller = controller
        self.drift, self.line = drift, line or USUAL_LINE
        self._orders = NOTHING
        self._client: Client | None = None
        self._stresses: list[float] = []
        self._before: list[float] | None = None
        """The books of the last morning that it has seen."""
        self._spent = 0.0
        """What it has bid for green coffee since then, dollars."""

    def contacts(self) -> dict[str, tuple[Channel, ...]]:
        """Its controller."""
        return {self.controller: ("comm",)}

    def heard(self, message: Message, context: Context) -> None:
        """Takes the controller's orders, and nobody else's."""
        if isinstance(message.payload, PurchaseOrders) and message.sender == self.controller:
            self._orders = message.payload

    def day(self) -> Plan:
        """Roast, list, ask the controller, buy, sell, pay."""
        seen = yield self.books()
        assert isinstance(seen.data, TrialBalance)
        stock, cash = seen.data.stock, seen.data.cash
        roasted: dict[str, int] = {}
        left = 50
        for item in (GREEN_SPECIALTY, GREEN):
            roasted[item] = min(stock.get(item, 0), 20 if item == GREEN_SPECIALTY else left)
            if roasted[item] > 0:
                yield c.Roast(green_item_id=item, qty_kg=roasted[item])
                left -= roasted[item]
        yield from self.sell(stock, (ROASTED, ROASTED_SPECIALTY))
        yield from self.clean_bids()
        # Of goods that are here already only the whole list tells who has bought them.
        deals = yield c.ViewDeals(status="pending" if self.drift is None else "all")
        assert isinstance(deals.data, DealsView)
        self.count_inbound(deals.data)
        self._orders = NOTHING
        position = {
            item: stock.get(item, 0)
            - roasted[item]
            + stock.get(output, 0)
            + int(share * roasted[item])
            + self.inbound.get(item, 0)
            + self.live.get(item, 0)
            for item, (output, share) in _OUTPUT.items()
        }
        standing = None if self.drift is None else self._standing(seen.data, deals.data.rows)
        self._spent = 0.0
        report = StockReport(firm=self.firm, position=position, standing=standing)
        self.context.send(self.controller, report)
        listings = yield c.ViewListings()
        assert isinstance(listings.data, ListingsView)
        orders, items = self._orders, [GREEN, GREEN_SPECIALTY]
        items.sort(key=lambda item: item != orders.first)
        for item in items:
            yield from self._counted(
                self.buy(listings.data.rows, item, orders.kg.get(item, 0)), orders.at_most
            )
        yield from self.take_offers()
        yield from self.pay(cash, 5)

    def save(self) -> Any:
        """With a drift: the days that have passed, and the last morning's books."""
        if self.drift is None:
            return super().save()
        return {"stresses": self._stresses, "before": self._before, "spent": self._spent}

    def load(self, saved: Any) -> None:
        """Goes on from :meth:`save`."""
        self._client = None
        self._stresses = list(saved["stresses"])
        self._before = saved["before"]
        self._spent = saved["spent"]

    def _counted(self, plan: Plan, at_most: float | None) -> Plan:
        """Carries out a plan, counts what is bid, and stops where the money ends."""
        result: Result | None = None
        while True:
            try:
                command = plan.send(result)  # type: ignore[arg-type]
            except StopIteration:
                return
            if isinstance(command, c.MakeOffer) and at_most is not None:
                affordable = int((at_most - self._spent) // command.offered_price)
                if affordable <= 0:
                    plan.close()
                    return
                command = command.model_copy(update={"qty": min(command.qty, affordable)})
            result = yield command
            if isinstance(command, c.MakeOffer) and result.ok:
                self._spent += command.qty * command.offered_price

    def _standing(self, seen: TrialBalance, deals: tuple[DealRow, ...]) -> Standing:
        """Judges the day that is over, and says what it wants today as it comes through."""
        from policies.environments.procurement import OBJECTIVES, Books

        client = self._client_of_today()
        income = seen.income
        taken = ("returns", "cogs", "spoilage", "other")
        books = Books(
            margin=income["revenue"] - sum(income[name] for name in taken),
            stored=sum(seen.stock.values()),
            cash=seen.cash,
            owed=seen.accounts_payable,
        )
        sold = {ROASTED: 0, ROASTED_SPECIALTY: 0}
        for deal in deals:
            if deal.seller == self.firm and deal.accepted_day == self.today - 1:
                sold[deal.item] = sold.get(deal.item, 0) + deal.qty
        yesterday = self._judged(client, books, sum(sold.values()))
        self._before = [books.margin, books.stored, books.cash, books.owed]
        told = client.told
        if told is not None:
            weights = dict(zip(OBJECTIVES, told[0].tolist(), strict=True))
        return Standing(
            stock={item: kg for item, kg in seen.stock.items() if kg},
            sold={item: kg for item, kg in sold.items() if kg},
            told=None if told is None else Told(weights=weights, budget=told[1]),
            yesterday=yesterday,
        )

    def _judged(self, client: Client, books: Books, sold_kg: int) -> Yesterday | None:
        from policies.environments.procurement import COST_UNIT, OBJECTIVES, known, outcome, stress
        from policies.environments.procurement import Books as OfMorning

        if self._before is None:
            return None
        margin, stored, cash, owed = self._before
        before = OfMorning(margin, int(stored), cash, owed)
        vector, cost = outcome(before, books, sold_kg, self._spent)
        scored = client.settle(vector, cost, stress(books))
        self._stresses = client.stresses
        utility = float(scored.preference @ vector)
        reward = dict(zip(OBJECTIVES, vector.tolist(), strict=True))
        self.context.record(
            "purchasing_outcome",
            self.firm,
            {
                "day": self.today - 1,
                "weights": dict(zip(OBJECTIVES, scored.preference.tolist(), strict=True)),
                "budget": scored.budget,
                "jumped": scored.jumped,
                "reward": reward,
                "cost": cost,
                "unit": COST_UNIT,
                "utility": utility,
                "violated": cost > scored.budget,
            },
        )
        score, alarm = known(scored.score), known(scored.alarm)
        return Yesterday(
            reward=reward, cost=cost, score=score, alarm=None if alarm is None else bool(alarm)
        )

    def _client_of_today(self) -> Client:
        if self._client is None:
            from policies.environments.procurement import Client

            assert self.drift is not None
            self._client = Client(
                self.firm, self.context.seed, self.drift, self.line, self._stresses
            )
        return self._client
