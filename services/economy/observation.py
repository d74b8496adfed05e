"""What a firm is told when something has happened (note, S10)."""

from __future__ import annotations

from typing import Literal

from services.economy.money import dollars
from services.economy.results import DealRow, SaleRow
from services.economy.state import FirmState
from services.economy.views import Views
from services.economy.world import World
from services.messages import Payload

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Observation(Payload):
    """The state of a firm's affairs at a glance; dollars and kilograms."""

    type: Literal["observation"] = "observation"
    firm: str
    role: str
    day: int
    minute_of_day: int
    weekday: str
    reason: str
    cash: float
    inventory_value: float
    accounts_receivable: float
    accounts_payable: float
    overdue_receivables: int
    overdue_payables: int
    stock: dict[str, int]
    incoming: dict[str, int]
    stock_cap: int
    open_listings: int
    pending_offers_in: int
    pending_offers_out: int
    unread_letters: dict[str, int]
    retail_prices: dict[str, float]
    recent_deals: tuple[DealRow, ...]
    recent_sales: tuple[SaleRow, ...]
    notices: tuple[str, ...]


def observe(world: World, views: Views, firm: FirmState, reason: str) -> Observation:
    """Builds a firm's observation and hands over its notices."""
    state = world.state
    today = state.day
    since = today - 1 if world.rules.full_recent_window else firm.last_active_day + 1
    overdue_in = sum([i.due_day < today for i in world.owed_to[firm.name]])
    overdue_out = sum([i.due_day < today for i in world.owed_by[firm.name]])
    unread: dict[str, int] = {}
    for letter in state.letters.values():
        if letter.recipient == firm.name and not letter.read:
            unread[letter.author] = unread.get(letter.author, 0) + 1
    recent = [
        views.deal_row(d)
        for d in state.past_deals.values()
        if d.accepted_day >= since and (d.seller == firm.name or d.buyer == firm.name)
    ]
    recent += [views.deal_row(d) for d in world.deals_of[firm.name] if d.accepted_day >= since]
    sales = [r for r in state.sales.get(firm.name, ()) if r.day >= since]
    if world.rules.demand_hidden:
        sales = [SaleRow(r.day, r.item, r.qty, r.unit_price, r.revenue) for r in sales]
    notices, firm.notices = tuple(firm.notices), []
    b = firm.balances
    return Observation.trusted(
        firm=firm.name,
        role=firm.role,
        day=today,
        minute_of_day=state.minute % 1440,
        weekday=WEEKDAYS[today % 7],
        reason=reason,
        cash=dollars(b["cash"]),
        inventory_value=dollars(b["inventory"]),
        accounts_receivable=dollars(b["accounts_receivable"]),
        accounts_payable=dollars(-b["accounts_payable"]),
        overdue_receivables=overdue_in,
        overdue_payables=overdue_out,
        stock={item: kg for item, kg in firm.kg.items() if kg},
        incoming={item: kg for item, kg in firm.incoming.items() if kg},
        stock_cap=firm.stock_cap,
        open_listings=len(world.listings_of[firm.name]),
        pending_offers_in=len(world.offers_to[firm.name]),
        pending_offers_out=len(world.offers_by[firm.name]),
        unread_letters=unread,
        retail_prices=dict(firm.retail_prices),
        recent_deals=tuple(recent),
        recent_sales=tuple(sales),
        notices=notices,
    )
