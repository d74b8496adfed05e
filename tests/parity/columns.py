"""The files of a reference world, their columns, and how each column is compared."""

from __future__ import annotations

from typing import Final, Literal

Kind = Literal["text", "whole", "number", "money", "arguments"]
"""``money`` is compared to half a cent, everything else exactly; an empty cell means: none."""

LEDGER_COLUMNS: Final = (
    *("sale_revenue", "sale_reversal", "inventory_out", "cogs_reversal", "purchase_cogs"),
    *("inventory_in", "inventory_consumed", "operating_expense", "spoilage_expense", "writedown"),
    *("bad_debt_expense", "interest_expense", "interest_revenue", "cash_in", "cash_out"),
)
"""The original's ledger types, as ``daily.csv`` has them with ``led_`` before."""


def _columns(**kinds: str) -> dict[str, Kind]:
    """`_columns(text="deal listing", whole="qty")`, in the order of writing within a kind."""
    return {column: kind for kind, names in kinds.items() for column in names.split()}  # type: ignore[misc]


TABLES: Final[dict[str, dict[str, Kind]]] = {
    "actions": _columns(
        whole="seq day minute_of_day",
        text="agent tool status new_id error_code",
        arguments="args_json",
    ),
    "daily": _columns(
        whole="day green_coffee_kg roasted_coffee_kg green_specialty_kg roasted_specialty_kg"
        " pending_inbound_kg open_listings messages_sent_today",
        text="agent",
        number="retail_price_commodity retail_price_specialty",
        money="cash inventory_value in_flight_value ar ap equity cum_net_income "
        + " ".join(f"led_{name}" for name in LEDGER_COLUMNS),
    ),
    "deals": _columns(
        text="deal listing offer seller buyer item outcome invoice",
        whole="qty terms_days accepted_day accepted_minute final_delivery_day times_delayed"
        " returned_qty",
        number="unit_price",
        money="total_price seller_cogs",
    ),
    "invoices": _columns(
        text="invoice deal issuer payer",
        whole="issue_day due_day paid_day paid returned bad_debt",
        money="amount credited late_fees",
    ),
    "final": _columns(
        text="agent",
        whole="messages_sent",
        money="audit_net_income equity_delta cash inventory_value ar ap equity revenue_net cogs"
        " opex interest_net",
    ),
    "consumer_sales": _columns(
        text="shop item",
        whole="day qty elastic_qty floor_qty",
        number="unit_price share",
        money="revenue market_demand",
    ),
    "offers": _columns(
        text="offer listing buyer seller status",
        whole="qty posted_day posted_minute",
        number="price",
    ),
    "listings": _columns(
        text="listing seller item status",
        whole="qty_left posted_day posted_minute",
        number="asking_price",
    ),
}

OPTIONAL: Final = frozenset({"consumer_sales", "offers", "listings"})
"""Files that need not be there; they are compared if they are."""

WHEN_AND_WHO: Final[dict[str, tuple[str | None, str]]] = {
    "actions": ("day", "agent"),
    "daily": ("day", "agent"),
    "deals": ("accepted_day", "seller"),
    "invoices": ("issue_day", "payer"),
    "final": (None, "agent"),
    "consumer_sales": ("day", "shop"),
    "offers": ("posted_day", "buyer"),
    "listings": ("posted_day", "seller"),
}
"""The columns that tell a row's day (``None``: the last day) and its firm."""
