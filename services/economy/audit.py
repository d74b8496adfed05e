"""A firm's statements at any moment: income, balance sheet, and the figures of a day's end."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from services.economy.money import dollars
from services.economy.state import FirmState
from services.economy.world import World


class Statement(BaseModel):
    """Income statement since the start and balance sheet now; dollars."""

    model_config = ConfigDict(frozen=True)

    firm: str
    net_income: float
    """The score, to the cent (note, S9)."""
    equity_change: float
    """Equity now, or at bankruptcy, less equity at the start."""
    cash: float
    inventory_value: float
    in_flight_value: float
    accounts_receivable: float
    accounts_payable: float
    equity: float
    revenue_net: float
    cogs: float
    operating_costs: float
    """Running costs, spoilage, write-downs and bad debts."""
    interest_net: float
    """Late fees paid less late fees received."""


def in_flight(firm: FirmState) -> int:
    """Cost of batches in production and of own goods on the road, micro-dollars."""
    return firm.balances["work_in_progress"] + firm.balances["goods_in_transit"]


def statement(firm: FirmState) -> Statement:
    """Draws up a firm's statement."""
    b = firm.balances
    equity = firm.equity()
    at_end = equity if firm.frozen_equity is None else firm.frozen_equity
    other = b["operating_expense"] + b["spoilage_expense"] + b["writedown"] + b["bad_debt_expense"]
    return Statement(
        firm=firm.name,
        net_income=round(dollars(firm.net_income()), 2),
        equity_change=round(dollars(at_end - firm.initial_equity), 2),
        cash=dollars(b["cash"]),
        inventory_value=dollars(b["inventory"]),
        in_flight_value=dollars(in_flight(firm)),
        accounts_receivable=dollars(b["accounts_receivable"]),
        accounts_payable=dollars(-b["accounts_payable"]),
        equity=dollars(equity),
        revenue_net=dollars(-b["revenue"] - b["sale_reversal"]),
        cogs=dollars(b["cogs"] + b["cogs_reversal"]),
        operating_costs=dollars(other),
        interest_net=dollars(b["interest_expense"] + b["interest_revenue"]),
    )


def lowest_asks(world: World, firm: FirmState) -> dict[str, float]:
    """A firm's lowest open asking price by item, dollars."""
    asks: dict[str, float] = {}
    for _, _, item, _, price, _, _, _, _ in world.listings_of[firm.name].values():
        if item not in asks or price < asks[item]:
            asks[item] = price
    return asks


def day_figures(world: World, firm: FirmState) -> dict[str, Any]:
    """The figures of a firm at the end of a day, for the run store; dollars and kilograms."""
    b = firm.balances
    return {
        "role": firm.role,
        "cash": dollars(b["cash"]),
        "stock": dict(firm.kg),
        "inventory_value": dollars(b["inventory"]),
        "in_flight_value": dollars(in_flight(firm)),
        "accounts_receivable": dollars(b["accounts_receivable"]),
        "accounts_payable": dollars(-b["accounts_payable"]),
        "equity": dollars(firm.equity()),
        "net_income": dollars(firm.net_income()),
        "revenue": dollars(-b["revenue"] - b["sale_reversal"]),
        "pending_inbound_kg": firm.committed - firm.on_hand,
        "open_listings": len(world.listings_of[firm.name]),
        "messages_sent": firm.messages_today,
        "deals": firm.deals,
        "retail_prices": dict(firm.retail_prices),
        "asking_prices": lowest_asks(world, firm),
        "bankrupt": not firm.live,
    }
