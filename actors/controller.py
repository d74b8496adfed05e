"""Controllers: agents that close a loop. They observe, decide by a policy, and act."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from actors.agent import Agent, handles
from actors.context import Context
from policies.base_stock import BaseStock
from services.messages import Channel, Message, Payload


class StockReport(Payload):
    """A firm tells its controller where it stands."""

    type: Literal["stock_report"] = "stock_report"
    channel: ClassVar[Channel] = "comm"
    firm: str
    position: dict[str, int]
    """Inventory position by item: on hand, under way and on bid, kilograms."""


class PurchaseOrders(Payload):
    """A controller tells a firm what to buy."""

    internal: ClassVar[bool] = True
    type: Literal["purchase_orders"] = "purchase_orders"
    channel: ClassVar[Channel] = "comm"
    kg: dict[str, int]
    """Kilograms to buy today, by item; items that need nothing are left out."""


class Controller(Agent):
    """Answers every stock report with purchase orders by a base-stock rule.

    The rule is the yardstick that learned controllers must beat; a policy with the same
    ``order(position)`` takes its place.
    """

    essential = True

    def __init__(self, name: str, policies: dict[str, BaseStock]) -> None:
        super().__init__(name)
        self.policies = policies
        self.decisions = 0

    @handles(StockReport)
    def on_stock_report(self, message: Message, context: Context) -> None:
        """Decides item by item and answers at once."""
        report = message.payload
        assert isinstance(report, StockReport)
        orders = {
            item: qty
            for item, policy in self.policies.items()
            if (qty := policy.order(report.position.get(item, 0))) > 0
        }
        self.decisions += 1
        context.reply(message, PurchaseOrders(kg=orders))

    def save(self) -> int:
        """How many decisions it has taken."""
        return self.decisions

    def load(self, saved: int) -> None:
        """Goes on from :meth:`save`."""
        self.decisions = saved

    def summary(self) -> dict[str, Any]:
        """How many decisions it has taken."""
        return {"decisions": self.decisions}
