"""Our course of a world in the rows and columns of the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.money import dollars
from services.economy.world import LedgerEntry
from tests.parity.columns import LEDGER_COLUMNS
from tests.parity.play import Course

OurRow = dict[str, Any]

LEDGER_TYPES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    # (account debited, account credited) in our ledger: the original's entry types for the same
    ("cash", "revenue"): ("sale_revenue", "cash_in"),
    ("accounts_receivable", "revenue"): ("sale_revenue",),
    ("cogs", "goods_in_transit"): ("inventory_out",),
    ("cogs", "inventory"): ("inventory_out",),
    ("inventory", "accounts_payable"): ("purchase_cogs", "inventory_in"),
    ("inventory", "work_in_progress"): ("inventory_in",),
    ("work_in_progress", "inventory"): ("inventory_consumed",),
    ("work_in_progress", "cash"): ("cash_out",),
    ("operating_expense", "cash"): ("operating_expense", "cash_out"),
    ("accounts_payable", "cash"): ("cash_out",),
    ("cash", "accounts_receivable"): ("cash_in",),
    ("spoilage_expense", "inventory"): ("spoilage_expense",),
    ("writedown", "goods_in_transit"): ("writedown",),
    ("writedown", "work_in_progress"): ("writedown",),
    ("bad_debt_expense", "accounts_receivable"): ("bad_debt_expense",),
    ("interest_expense", "accounts_payable"): ("interest_expense",),
    ("accounts_receivable", "interest_revenue"): ("interest_revenue",),
    # a return: the seller's side, and the refund of what had been paid
    ("sale_reversal", "clearing"): ("sale_reversal",),
    ("inventory", "reconciliation"): ("inventory_in",),
    ("reconciliation", "cogs_reversal"): ("cogs_reversal",),
    ("cash", "clearing"): ("cash_in",),
    ("clearing", "cash"): ("cash_out",),
    # what the original does not book: opening balances, goods on the road, the buyer's side of a
    # return and its effect on what is owed, what returns and bad debts leave unsettled
    ("cash", "capital"): (),
    ("inventory", "capital"): (),
    ("goods_in_transit", "inventory"): (),
    ("reconciliation", "inventory"): (),
    ("clearing", "reconciliation"): (),
    ("reconciliation", "clearing"): (),
    ("accounts_payable", "clearing"): (),
    ("clearing", "accounts_receivable"): (),
    ("accounts_payable", "reconciliation"): (),
    ("reconciliation", "accounts_receivable"): (),
    ("accounts_receivable", "reconciliation"): (),
}
"""Every pair of accounts that the rules ``coffeebench`` book; none other may occur."""


def ledger_sums(ledger: list[LedgerEntry]) -> dict[str, dict[str, float]]:
    """A day's bookings by firm and entry type of the original, dollars."""
    sums: dict[str, dict[str, int]] = {}
    for firm, debit, credit, amount, _ in ledger:
        of_firm = sums.setdefault(firm, dict.fromkeys(LEDGER_COLUMNS, 0))
        for kind in LEDGER_TYPES[debit, credit]:
            of_firm[kind] += amount
    return {firm: {k: dollars(v) for k, v in kinds.items()} for firm, kinds in sums.items()}


def actions(course: Course) -> Iterator[OurRow]:
    """One row for each command, in the order in which they were carried out."""
    for body in course.actions:
        yield {
            "seq": body["seq"],
            "day": body["day"],
            "minute_of_day": body["minute_of_day"],
            "agent": body["agent"],
            "tool": body["tool"],
            "args_json": body["args"],
            "status": body["status"],
            "new_id": body.get("new_id"),
            "error_code": body.get("error_code"),
        }


def daily(course: Course) -> Iterator[OurRow]:
    """One row for each day and firm, as of the evening."""
    nothing = dict.fromkeys(LEDGER_COLUMNS, 0.0)
    for day in course.days:
        booked = ledger_sums(day.ledger)
        for firm, figures in day.figures.items():
            stock, prices = figures["stock"], figures["retail_prices"]
            yield {
                "day": day.number,
                "agent": firm,
                "cash": figures["cash"],
                **{
                    i: stock.get(i, 0) for i in (GREEN, ROASTED, GREEN_SPECIALTY, ROASTED_SPECIALTY)
                },
                "inventory_value": figures["inventory_value"],
                "in_flight_value": figures["in_flight_value"],
                "ar": figures["accounts_receivable"],
                "ap": figures["accounts_payable"],
                "equity": figures["equity"],
                "cum_net_income": figures["net_income"],
                "pending_inbound_kg": figures["pending_inbound_kg"],
                "open_listings": figures["open_listings"],
                "messages_sent_today": figures["messages_sent"],
                "retail_price_commodity": prices.get(ROASTED),
                "retail_price_specialty": prices.get(ROASTED_SPECIALTY),
                **{f"led_{kind}": sum_ for kind, sum_ in booked.get(firm, nothing).items()},
            }


def deals(course: Course) -> Iterator[OurRow]:
    """One row for each deal."""
    state = course.town.state
    for deal in in_order({**state.past_deals, **state.deals}):
        yield {
            "deal": deal.id,
            "listing": deal.listing,
            "offer": deal.offer,
            "seller": deal.seller,
            "buyer": deal.buyer,
            "item": deal.item,
            "qty": deal.qty,
            "unit_price": deal.unit_price,
            "total_price": dollars(deal.total),
            "terms_days": deal.terms,
            "accepted_day": deal.accepted_day,
            "accepted_minute": deal.accepted_minute,
            "final_delivery_day": deal.due_day,
            "outcome": deal.status,
            "times_delayed": deal.delays,
            "invoice": deal.invoice,
            "seller_cogs": dollars(deal.cost),
            "returned_qty": deal.returned,
        }


def invoices(course: Course) -> Iterator[OurRow]:
    """One row for each invoice."""
    state = course.town.state
    for invoice in in_order({**state.past_invoices, **state.invoices}):
        yield {
            "invoice": invoice.id,
            "deal": invoice.deal,
            "issuer": invoice.issuer,
            "payer": invoice.payer,
            "amount": dollars(invoice.amount),
            "issue_day": invoice.issue_day,
            "due_day": invoice.due_day,
            "paid": int(invoice.paid),
            "paid_day": invoice.paid_day,
            "credited": dollars(invoice.credited),
            "late_fees": dollars(invoice.late_fees),
            "returned": int(invoice.returned),
            "bad_debt": int(invoice.bad_debt),
        }


def final(course: Course) -> Iterator[OurRow]:
    """One row for each firm, after the last delivery."""
    for firm in course.town.firms.values():
        told = course.town.statement(firm.name)
        yield {
            "agent": firm.name,
            "audit_net_income": told.net_income,
            "equity_delta": told.equity_change,
            "cash": told.cash,
            "inventory_value": told.inventory_value,
            "ar": told.accounts_receivable,
            "ap": told.accounts_payable,
            "equity": told.equity,
            "revenue_net": told.revenue_net,
            "cogs": told.cogs,
            "opex": told.operating_costs,
            "interest_net": told.interest_net,
            "messages_sent": firm.messages_sent,
        }


def consumer_sales(course: Course) -> Iterator[OurRow]:
    """One row for each evening, shop and item that sold."""
    yield from course.sales


def offers(course: Course) -> Iterator[OurRow]:
    """One row for each bid, as it ended."""
    state = course.town.state
    for offer in in_order({**state.resolved_offers, **state.offers}):
        yield {"offer": offer.id, **offer._asdict()}


def listings(course: Course) -> Iterator[OurRow]:
    """One row for each listing, as it ended."""
    state = course.town.state
    for listing in in_order({**state.closed_listings, **state.listings}):
        yield {"listing": listing.id, "qty_left": listing.qty, **listing._asdict()}


def in_order(things: dict[str, Any]) -> list[Any]:
    """Sorted by the number in their identifiers: the order of creation."""
    return [things[key] for key in sorted(things, key=lambda identifier: int(identifier[1:]))]


ROWS: Final[dict[str, Callable[[Course], Iterator[OurRow]]]] = {
    "actions": actions,
    "daily": daily,
    "deals": deals,
    "invoices": invoices,
    "final": final,
    "consumer_sales": consumer_sales,
    "offers": offers,
    "listings": listings,
}
