"""What the reference's files mean in terms of our economy: columns, ledger types and rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from services.economy.audit import statement
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.commands import COMMANDS
from services.economy.money import dollars
from services.economy.results import Listing, Offer
from services.economy.state import Deal, Invoice
from tests.parity.play import Course

Kind = Literal["text", "whole", "number", "money", "arguments"]
"""How a cell is compared: money to half a cent, everything else exactly."""


class Table(NamedTuple):
    """One file of a reference folder."""

    columns: dict[str, Kind]
    rows: Callable[[Course], Iterator[tuple[Any, ...]]]
    """Our rows, in the same order and with the same columns."""
    day: str | None
    """The column that tells a row's day; ``None``: the world's last."""
    firm: str


LEDGER_TYPES: dict[tuple[str, str], tuple[str, ...]] = {
    # (debited, credited account of ours): the original's ledger types that it stands for
    ("cash", "revenue"): ("sale_revenue", "cash_in"),
    ("accounts_receivable", "revenue"): ("sale_revenue",),
    ("cogs", "goods_in_transit"): ("inventory_out",),
    ("cogs", "inventory"): ("inventory_out",),
    ("inventory", "accounts_payable"): ("purchase_cogs", "inventory_in"),
    ("inventory", "work_in_progress"): ("inventory_in",),
    ("inventory", "reconciliation"): ("inventory_in",),
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
    ("sale_reversal", "clearing"): ("sale_reversal",),
    ("reconciliation", "cogs_reversal"): ("cogs_reversal",),
    ("cash", "clearing"): ("cash_in",),
    ("clearing", "cash"): ("cash_out",),
    # What the original does not book at all: opening balances, goods on the road, the buyer's side
    # of a return, and what its returns and its bad debts leave unsettled.
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
"""Every pair of accounts that the rules ``coffeebench`` book; another pair is a difference."""

TYPES = (
    *("sale_revenue", "sale_reversal", "inventory_out", "cogs_reversal", "purchase_cogs"),
    *("inventory_in", "inventory_consumed", "operating_expense", "spoilage_expense", "writedown"),
    *("bad_debt_expense", "interest_expense", "interest_revenue", "cash_in", "cash_out"),
)
