"""Controllers: agents that close a loop. They observe, decide by a policy, and act."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from actors.agent import Agent, handles
from actors.context import Context
from policies.base_stock import BaseStock
from services.messages import Channel, Message, Payload


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Told(_Part):
    """What a firm says it wants, as it arrives: late, off the mark, or right."""

    weights: dict[str, float]
    """How much each objective counts; they sum to 1."""
    budget: float
    """How much money may be bound on a day, as a share of the unit of cost; 0 to 1."""


class Yesterday(_Part):
    """What a firm makes of the day before."""

    reward: dict[str, float]
    """By objective (:data:`policies.environments.procurement.OBJECTIVES`)."""
    cost: float
    """What was bid for green coffee, as a share of the unit of cost."""
    score: float | None = None
    """How satisfied it is; ``None``: it does not say."""
    alarm: bool | None = None
    """Whether somebody complains of the cost; ``None``: nobody would."""


class Standing(_Part):
    """What a firm with a drifting intent tells besides its stock."""

    stock: dict[str, int]
    """Kilograms on hand, by item."""
    sold: dict[str, int]
    """Kilograms that others took yesterday, by item."""
    told: Told | None = None
    """``None``: its word for today is lost."""
    yesterday: Yesterday | None = None
    """``None`` on its first day."""


class StockReport(Payload):
    """A firm tells its controller where it stands."""

    type: Literal["stock_report"] = "stock_report"
    channel: ClassVar[Channel] = "comm"
    firm: str
    position: dict[str, int]
    """Inventory position by item: on hand, under way and on bid, kilograms."""
    standing: Standing | None = None
    """What a firm that has been given a drift and a line tells besides."""


class PurchaseOrders(Payload):
    """A controller tells a firm what to buy."""

    internal: ClassVar[bool] = True
    type: Literal["purchase_orders"] = "purchase_orders"
    channel: ClassVar[Channel] = "comm"
    kg: dict[str, int]
    """Kilograms to buy today, by item; items that need nothing are left out."""
    at_most: float | None = None
    """Dollars that may be bid today; ``None``: any."""
    first: str | None = None
    """The item to bid for first, in case the money does not reach; ``None``: the usual order."""


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
