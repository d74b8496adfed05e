"""The state of a town, as plain data that can be written out and read back whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter, itemgetter
from typing import Any, Final

import msgpack
from pydantic import TypeAdapter

from services.economy.catalogue import Role
from services.economy.results import AggregateRow, Listing, Offer, SaleRow

ASSETS: Final = (
    "cash",
    "escrow",
    "inventory",
    "work_in_progress",
    "goods_in_transit",
    "accounts_receivable",
)
INCOME: Final = (
    "revenue",
    "sale_reversal",
    "cogs",
    "cogs_reversal",
    "operating_expense",
    "spoilage_expense",
    "writedown",
    "bad_debt_expense",
    "interest_expense",
    "interest_revenue",
)
EQUITY: Final = ("capital", "reconciliation", "estate")
"""``reconciliation`` takes what the original's rules leave out of the income (returns, waived
debts); ``estate`` the income of a firm after its bankruptcy under the rules ``hanse``."""
ACCOUNTS: Final = (*ASSETS, "accounts_payable", "clearing", *INCOME, *EQUITY)
"""``clearing`` is empty between commands: it joins the two sides of a return."""
_assets: Callable[[dict[str, int]], tuple[int, ...]] = itemgetter(*ASSETS)
_income: Callable[[dict[str, int]], tuple[int, ...]] = itemgetter(*INCOME)


@dataclass(slots=True)
class FirmState:
    """A firm's books and belongings. Balances are net debits in micro-dollars."""

    name: str
    role: Role
    opex: int
    stock_cap: int
    balances: dict[str, int]
    kg: dict[str, int]
    cost: dict[str, int]
    """Cost of the stock held, by item, micro-dollars."""
    carry: dict[str, float]
    """Fractions of a kilogram that have spoiled but not yet been taken off."""
    retail_prices: dict[str, float]
    incoming: dict[str, int]
    """Kilograms in production, in the roaster or under way to this firm, by item."""
    on_hand: int = 0
    """All kilograms held."""
    committed: int = 0
    """All kilograms held or incoming."""
    initial_equity: int = 0
    produced_today: dict[str, int] = field(default_factory=dict)
    roasted_today: dict[str, int] = field(default_factory=dict)
    """Kilograms of each green coffee."""
    messages_today: int = 0
    messages_sent: int = 0
    deals: int = 0
    last_active_day: int = -1
    notices: list[str] = field(default_factory=list)
    bankrupt_day: int | None = None
    frozen_equity: int | None = None
    frozen_income: int | None = None

    @property
    def cash(self) -> int:
        """Money in hand, micro-dollars."""
        return self.balances["cash"]

    @property
    def live(self) -> bool:
        """Whether the firm is still in business."""
        return self.bankrupt_day is None

    def equity(self) -> int:
        """Assets less what is owed, micro-dollars."""
        b = self.balances
        return sum(_assets(b)) + b["accounts_payable"]

    def income(self) -> int:
        """Net income in the ledger so far, micro-dollars (note, S9)."""
        return -sum(_income(self.balances))

    def net_income(self) -> int:
        """The score: net income, as it stood at bankruptcy if the rules freeze it there."""
        return self.income() if self.frozen_income is None else self.frozen_income


@dataclass(slots=True)
class Batch:
    """Goods in production or in the roaster."""

    firm: str
    item: str
    kg: int
    cost: int
    ready_day: int


@dataclass(slots=True)
class Deal:
    """An accepted offer: goods that have left the seller."""

    id: str
    listing: str
    offer: str
    seller: str
    buyer: str
    item: str
    qty: int
    unit_price: float
    total: int
    terms: int
    accepted_day: int
    accepted_minute: int
    due_day: int
    cost: int
    """The seller's cost of the goods, pinned when they left."""
    nth: int
    """The how-manieth deal of this seller with this buyer."""
    delays: int = 0
    status: str = "pending"
    invoice: str | None = None
    returned: int = 0


@dataclass(slots=True)
class Invoice:
    """What a delivery (or a refund that is owed) costs whom. Amounts in micro-dollars."""

    id: str
    deal: str | None
    issuer: str
    payer: str
    amount: int
    issue_day: int
    due_day: int
    paid_amount: int = 0
    paid_day: int | None = None
    credited: int = 0
    late_fees: int = 0
    paid: bool = False
    returned: bool = False
    bad_debt: bool = False
    offer: str | None = None
    """The offer from which the deal came: what the log calls the whole order by."""

    @property
    def open(self) -> bool:
        """Whether anything can still be paid on it."""
        return not (self.paid or self.returned or self.bad_debt)

    def outstanding(self) -> int:
        """What is still to be paid, micro-dollars."""
        if self.paid or self.returned or self.bad_debt:
            return 0
        rest = self.amount + self.late_fees - self.credited - self.paid_amount
        return rest if rest > 0 else 0


@dataclass(slots=True)
class StoredLetter:
    """A direct message as the exchange keeps it."""

    id: str
    author: str
    recipient: str
    title: str
    body: str
    day: int
    minute: int
    ref_listing_id: str | None = None
    ref_offer_id: str | None = None
    read: bool = False


@dataclass(slots=True)
class ForeignOrder:
    """A purchase in another town that is not settled yet."""

    id: str
    buyer: str
    item: str
    qty: int
    max_price: float
    escrow: int
    day: int


@dataclass(slots=True)
class Import:
    """Goods bought abroad, on their way."""

    order: str
    buyer: str
    item: str
    qty: int
    cost: int
    due_day: int


@dataclass(slots=True)
class TownState:
    """Everything that changes in a town. Ordered dicts keep creation order."""

    firms: dict[str, FirmState]
    minute: int = 0
    day: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    luck_draws: int = 0
    """Shipments drawn so far from the single random stream (rules ``coffeebench``)."""
    pairs: dict[str, int] = field(default_factory=dict)
    listings: dict[str, Listing] = field(default_factory=dict)
    offers: dict[str, Offer] = field(default_factory=dict)
    resolved_offers: dict[str, Offer] = field(default_factory=dict)
    closed_listings: dict[str, Listing] = field(default_factory=dict)
    deals: dict[str, Deal] = field(default_factory=dict)
    past_deals: dict[str, Deal] = field(default_factory=dict)
    invoices: dict[str, Invoice] = field(default_factory=dict)
    past_invoices: dict[str, Invoice] = field(default_factory=dict)
    production: list[Batch] = field(default_factory=list)
    roasts: list[Batch] = field(default_factory=list)
    letters: dict[str, StoredLetter] = field(default_factory=dict)
    sales: dict[str, list[SaleRow]] = field(default_factory=dict)
    market: list[AggregateRow] = field(default_factory=list)
    foreign_orders: dict[str, ForeignOrder] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    clearing: int = 0
    """What other towns have paid in on balance, micro-dollars; zero over all towns together."""
    goods: dict[str, dict[str, int]] = field(default_factory=dict)
    """Kilograms by item: start, made, imported; sold, spoiled, lost, roasted away, exported."""
    actions: int = 0
    available_at: dict[str, int] = field(default_factory=dict)
    ready_at: dict[str, int] = field(default_factory=dict)
    calls_today: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    agenda: list[tuple[int, int, str]] = field(default_factory=list)
    """Heap of (minute, insertion counter, firm name or ``<open>`` or ``<close>``)."""
    agenda_counter: int = 0
    closed_on: int | None = None
    """The day on which the town closed for good."""


_STATE: TypeAdapter[TownState] = TypeAdapter(TownState)
_RECORDS: Final[tuple[type, ...]] = (
    TownState,
    FirmState,
    Batch,
    Deal,
    Invoice,
    StoredLetter,
    ForeignOrder,
    Import,
)
_FIELDS: Final[dict[type, tuple[str, ...]]] = {
    kind: tuple(f.name for f in fields(kind)) for kind in _RECORDS
}
_VALUES: Final[dict[type, attrgetter[tuple[Any, ...]]]] = {
    kind: attrgetter(*names) for kind, names in _FIELDS.items()
}
_TABLES: Final = {
    "firms": FirmState,
    "deals": Deal,
    "past_deals": Deal,
    "invoices": Invoice,
    "past_invoices": Invoice,
    "letters": StoredLetter,
    "foreign_orders": ForeignOrder,
}
_LISTS: Final = {"production": Batch, "roasts": Batch, "imports": Import}


def dump(state: TownState) -> bytes:
    """The state as msgpack. It is written every day, so records go as rows without field names."""
    plain = dict(zip(_FIELDS[TownState], _VALUES[TownState](state), strict=True))
    for name, kind in _TABLES.items():
        values = _VALUES[kind]
        plain[name] = {key: values(record) for key, record in plain[name].items()}
    for name, kind in _LISTS.items():
        plain[name] = list(map(_VALUES[kind], plain[name]))
    return msgpack.packb(plain)  # type: ignore[no-any-return]


def load(data: bytes) -> TownState:
    """Reads :func:`dump` back, and checks every value. Equal texts become one object, as before.

    Raises:
        ValueError: the bytes do not hold a town's state.
    """
    known: dict[str, str] = {}

    def shared(row: list[Any]) -> list[Any]:
        return [known.setdefault(x, x) if type(x) is str else x for x in row]

    def shared_keys(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
        return {known.setdefault(k, k) if type(k) is str else k: value for k, value in pairs}

    plain = msgpack.unpackb(
        data, strict_map_key=False, list_hook=shared, object_pairs_hook=shared_keys
    )
    for name, kind in _TABLES.items():
        names = _FIELDS[kind]
        plain[name] = {key: dict(zip(names, row, strict=True)) for key, row in plain[name].items()}
    for name, kind in _LISTS.items():
        plain[name] = [dict(zip(_FIELDS[kind], row, strict=True)) for row in plain[name]]
    return _STATE.validate_python(plain)
