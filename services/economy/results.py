"""What a command returns: a :class:`Result`, with the rows a view has shown.

Rows are named tuples: cheap to build by the thousand, unchangeable, and readable by name. Money
in rows is in dollars.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeVar

from services.messages import AnyPayload, Payload, filled

_Kind = TypeVar("_Kind", bound=Payload)


class Listing(NamedTuple):
    """An offer to sell."""

    id: str
    seller: str
    item: str
    qty: int
    """Kilograms left."""
    asking_price: float
    payment_terms_days: int
    posted_day: int
    posted_minute: int
    status: str = "open"

    def ended(self, status: str) -> Listing:
        """The same listing with another status."""
        return Listing(*self[:-1], status)  # a third of the time of ``_replace``


class Offer(NamedTuple):
    """A bid on a listing."""

    id: str
    listing: str
    seller: str
    buyer: str
    item: str
    price: float
    qty: int
    payment_terms_days: int
    message: str
    posted_day: int
    posted_minute: int
    status: str = "pending"

    def ended(self, status: str) -> Offer:
        """The same bid with another status."""
        return Offer(*self[:-1], status)


class DealRow(NamedTuple):
    """A deal as one of its two sides sees it."""

    id: str
    seller: str
    buyer: str
    item: str
    qty: int
    unit_price: float
    payment_terms_days: int
    accepted_day: int
    delivery_day: int
    status: str
    invoice: str | None


class InvoiceRow(NamedTuple):
    """An open invoice as payer or issuer sees it; amounts in dollars."""

    id: str
    counterparty: str
    amount: float
    late_fees: float
    credited: float
    outstanding: float
    due_day: int
    days_to_due: int
    overdue: bool
    bad_debt: bool


class SaleRow(NamedTuple):
    """A shop's consumer sales of one item and day."""

    day: int
    item: str
    qty: int
    unit_price: float
    revenue: float
    market_demand: float | None = None
    elastic_qty: int | None = None
    floor_qty: int | None = None
    share: float | None = None


class AggregateRow(NamedTuple):
    """What consumers bought of an item on a day, over all shops."""

    day: int
    item: str
    qty: int
    revenue: float
    mean_price: float


class LetterRow(NamedTuple):
    """A letter's head."""

    id: str
    author: str
    recipient: str
    title: str
    day: int
    minute: int
    read: bool


class RowsView(Payload):
    """Base of results that are a list of rows; only their number goes to the event log."""

    def log_body(self) -> str:
        """The number of rows; a replay rebuilds the rows themselves."""
        return f'{{"rows":{len(self.rows)}}}'  # type: ignore[attr-defined]


class ListingsView(RowsView):
    """Answer to ``view_listings``."""

    type: Literal["listings"] = "listings"
    rows: tuple[Listing, ...]


class OffersView(RowsView):
    """Answer to ``view_offers``."""

    type: Literal["offers"] = "offers"
    rows: tuple[Offer, ...]


class DealsView(RowsView):
    """Answer to ``view_deals``."""

    type: Literal["deals"] = "deals"
    rows: tuple[DealRow, ...]


class InvoicesView(RowsView):
    """Answer to ``view_payables`` and ``view_receivables``; totals cover all open invoices."""

    type: Literal["invoices"] = "invoices"
    rows: tuple[InvoiceRow, ...]
    open_count: int
    overdue_count: int
    total_outstanding: float


class SalesView(RowsView):
    """Answer to ``view_consumer_sales``."""

    type: Literal["sales"] = "sales"
    rows: tuple[SaleRow, ...]


class AggregateView(RowsView):
    """Answer to ``view_market_aggregate``."""

    type: Literal["market_aggregate"] = "market_aggregate"
    rows: tuple[AggregateRow, ...]


class LettersView(RowsView):
    """Answer to ``view_messages``."""

    type: Literal["letters"] = "letters"
    rows: tuple[LetterRow, ...]
    unread: int


class TrialBalance(Payload):
    """Answer to ``view_trial_balance``; dollars and kilograms."""

    type: Literal["trial_balance"] = "trial_balance"
    cash: float
    accounts_receivable: float
    accounts_payable: float
    inventory_value: float
    stock: dict[str, int]
    unit_costs: dict[str, float]
    incoming: dict[str, int]
    """Kilograms ordered, in production or under way to this firm, by item."""
    income: dict[str, float]
    """Income accounts since the start: revenue, returns, cogs, operating, spoilage, other, ..."""
    net_income: float

    def log_body(self) -> str:
        """Cash and net income only; the ledger has the rest."""
        return f'{{"cash":{self.cash!r},"net_income":{self.net_income!r}}}'


class Values(Payload):
    """Named figures that a command returns (a ready day, an amount paid, ...)."""

    type: Literal["values"] = "values"
    values: dict[str, Any]


class Result(Payload):
    """The outcome of one command."""

    type: Literal["result"] = "result"
    command: str
    ok: bool
    code: str | None = None
    """Why it was refused, as one of the codes of the reference data or of the rules."""
    detail: str = ""
    """The same in a sentence."""
    new_id: str | None = None
    data: AnyPayload | None = None

    @property
    def status(self) -> str:
        """``success`` or ``error``."""
        return "success" if self.ok else "error"

    def value(self, name: str) -> Any:
        """One of the figures of a :class:`Values` answer; ``None`` if it has none of that name."""
        return self.data.values.get(name) if isinstance(self.data, Values) else None


_FIELDS: Final[dict[type[Payload], set[str]]] = {
    kind: set(kind.model_fields)
    for kind in (ListingsView, OffersView, DealsView, InvoicesView, Values, Result)
}


_RESULT: Final = _FIELDS[Result]


def _filled(kind: type[_Kind], values: dict[str, Any]) -> _Kind:
    """A payload from all its fields, without validation: faster still than ``trusted``."""
    return filled(kind, values, _FIELDS[kind])


def success(command: str, new_id: str | None, data: Payload | None) -> Result:
    """The outcome of a command that was carried out."""
    values = {
        "type": "result",
        "command": command,
        "ok": True,
        "code": None,
        "detail": "",
        "new_id": new_id,
        "data": data,
    }
    return filled(Result, values, _RESULT)


def listings_view(rows: tuple[Listing, ...]) -> ListingsView:
    """Rows as an answer to ``view_listings``."""
    return _filled(ListingsView, {"type": "listings", "rows": rows})


def offers_view(rows: tuple[Offer, ...]) -> OffersView:
    """Rows as an answer to ``view_offers``; most often there are none."""
    return _filled(OffersView, {"type": "offers", "rows": rows}) if rows else _NO_OFFERS


def deals_view(rows: tuple[DealRow, ...]) -> DealsView:
    """Rows as an answer to ``view_deals``; often there are none."""
    return _filled(DealsView, {"type": "deals", "rows": rows}) if rows else _NO_DEALS


def invoices_view(
    rows: tuple[InvoiceRow, ...], open_count: int, overdue_count: int, total_outstanding: float
) -> InvoicesView:
    """Rows and totals as an answer to ``view_payables`` or ``view_receivables``."""
    values = {
        "type": "invoices",
        "rows": rows,
        "open_count": open_count,
        "overdue_count": overdue_count,
        "total_outstanding": total_outstanding,
    }
    return _filled(InvoicesView, values)


def named_values(values: dict[str, Any]) -> Values:
    """Named figures from values of our own making."""
    return _filled(Values, {"type": "values", "values": values})


_NO_OFFERS: Final = OffersView(rows=())
_NO_DEALS: Final = DealsView(rows=())


class Refusal(Exception):
    """Raised by a rule that refuses a command, before anything was changed."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
