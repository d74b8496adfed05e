"""Every command that a firm can issue: one frozen model each, with the note's arguments and limits.

A command is also a message payload: a firm sends it to its town's exchange. What cannot be known
from the command alone (stock, cash, who owns an offer) is checked by the town, which refuses with
a code and changes nothing. Source: arXiv 2606.16613; note, S10.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StrictInt

from services.messages import Channel, Payload


def _integer(value: Any) -> Any:
    """The original coerces number strings for integer parameters; booleans are never numbers."""
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


LIMIT: Final = 10**7
"""No number in a command is larger: products of two of them still fit the books and the log."""
Count = Annotated[StrictInt, BeforeValidator(_integer), Field(ge=-LIMIT, le=LIMIT)]
"""A whole number; whether it is in range is for the town to say, with a code."""
Dollars = Annotated[float, Field(ge=-LIMIT, le=LIMIT, allow_inf_nan=False)]
"""A finite amount. The original lets NaN and infinity in; whole micro-dollars cannot hold them."""
Identifier = Annotated[str, Field(max_length=64)]


class Command(Payload):
    """Base of all commands."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    channel: ClassVar[Channel] = "tool"
    changes_books: ClassVar[bool] = True
    """False for views and for waiting: they change nothing but what has been read."""

    def arguments(self) -> dict[str, Any]:
        """The arguments that differ from their defaults."""
        return self.model_dump(exclude_defaults=True)


class ProduceItem(Command):
    """Farmers: grow ``quantity`` kg; paid now, in stock two mornings later."""

    type: Literal["produce_item"] = "produce_item"
    item_id: Identifier
    quantity: Count


class Roast(Command):
    """Roasters: roast ``qty_kg`` kg of green coffee; labour is paid now, ready next morning."""

    type: Literal["roast"] = "roast"
    green_item_id: Identifier
    qty_kg: Count


class PostListing(Command):
    """Offer stock for sale at an asking price (dollars a kilogram)."""

    type: Literal["post_listing"] = "post_listing"
    item_id: Identifier
    qty: Count
    asking_price: Dollars
    payment_terms_days: Count = 30


class CancelListing(Command):
    """Take a listing back; pending bids on it lapse (rules ``hanse``)."""

    type: Literal["cancel_listing"] = "cancel_listing"
    listing_id: Identifier


class MakeOffer(Command):
    """Bid on a listing; price and terms may differ from what is asked."""

    type: Literal["make_offer"] = "make_offer"
    listing_id: Identifier
    offered_price: Dollars
    qty: Count
    payment_terms_days: Count = 30
    message: Annotated[str, Field(max_length=2000)] = ""


class WithdrawOffer(Command):
    """Take back one's own pending bid."""

    type: Literal["withdraw_offer"] = "withdraw_offer"
    offer_id: Identifier


class RejectOffer(Command):
    """Sellers: say no to a pending bid; the bidder is told (rules ``hanse``)."""

    type: Literal["reject_offer"] = "reject_offer"
    offer_id: Identifier
    reason: Annotated[str, Field(max_length=2000)] = ""


class AcceptOffer(Command):
    """Sellers: accept a pending bid; the goods leave now and arrive the next morning."""

    type: Literal["accept_offer"] = "accept_offer"
    offer_id: Identifier


class PayInvoice(Command):
    """Pay an own open invoice; in full, or ``amount`` dollars of it (rules ``hanse``)."""

    type: Literal["pay_invoice"] = "pay_invoice"
    invoice_id: Identifier
    amount: Dollars | None = None


class ReturnShipment(Command):
    """Buyers: send back part of a delivery within the return window, for credit or refund."""

    type: Literal["return_shipment"] = "return_shipment"
    invoice_id: Identifier
    quantity_kg: Count
    reason: Annotated[str, Field(max_length=2000)] = ""


class SetRetailPrice(Command):
    """Set one's own storefront price (dollars a kilogram); 0 takes the item off the shelf."""

    type: Literal["set_retail_price"] = "set_retail_price"
    item_id: Identifier
    price_per_unit: Dollars


class SendMessage(Command):
    """Write to another firm of the town; it is woken."""

    type: Literal["send_message"] = "send_message"
    channel: ClassVar[Channel] = "comm"
    recipient: Identifier
    title: Annotated[str, Field(max_length=400)]
    body: Annotated[str, Field(max_length=20_000)]
    ref_listing_id: Identifier | None = None
    ref_offer_id: Identifier | None = None


class OrderAbroad(Command):
    """Ask the router to buy in another town; up to ``max_price`` dollars a kilogram, freight extra.

    The most that the order can cost is set aside now and what is left of it comes back.
    """

    type: Literal["order_abroad"] = "order_abroad"
    item_id: Identifier
    qty: Count
    max_price: Dollars


class View(Command):
    """Base of commands that only look."""

    changes_books: ClassVar[bool] = False


class WaitForNextDay(View):
    """Do nothing more today, unless something happens."""

    type: Literal["wait_for_next_day"] = "wait_for_next_day"


class ViewListings(View):
    """Open listings, oldest first."""

    type: Literal["view_listings"] = "view_listings"
    item_id: Identifier | None = None
    only_others: bool = True


class ViewOffers(View):
    """Bids received (``incoming``) or made (``outgoing``), oldest first; by default the pending."""

    type: Literal["view_offers"] = "view_offers"
    direction: Literal["incoming", "outgoing", "all"] = "all"
    status: Literal["pending", "all"] = "pending"

    def log_body(self) -> str:
        """As of any payload, but from a table: it is the most frequent command."""
        return _VIEW_OFFERS[self.direction, self.status]


_VIEW_OFFERS: Final = {
    ("all", "pending"): "{}",
    ("all", "all"): '{"status":"all"}',
    ("incoming", "pending"): '{"direction":"incoming"}',
    ("incoming", "all"): '{"direction":"incoming","status":"all"}',
    ("outgoing", "pending"): '{"direction":"outgoing"}',
    ("outgoing", "all"): '{"direction":"outgoing","status":"all"}',
}


class ViewDeals(View):
    """Own deals: goods under way by default, or all that are still remembered."""

    type: Literal["view_deals"] = "view_deals"
    status: Literal["pending", "all"] = "pending"


class ViewPayables(View):
    """Own open invoices to pay, by due day."""

    type: Literal["view_payables"] = "view_payables"
    only_overdue: bool = False
    counterparty: Identifier | None = None
    limit: Annotated[Count, Field(ge=1, le=1000)] = 20


class ViewReceivables(View):
    """Open invoices that others owe, by due day."""

    type: Literal["view_receivables"] = "view_receivables"
    only_overdue: bool = False
    counterparty: Identifier | None = None
    limit: Annotated[Count, Field(ge=1, le=1000)] = 20


class ViewTrialBalance(View):
    """Own accounts and stock."""

    type: Literal["view_trial_balance"] = "view_trial_balance"
    period: Literal["current", "YTD", "Q1", "Q2", "Q3", "Q4", "FY"] = "current"


class ViewMarketAggregate(View):
    """What consumers bought in the last days, over all shops."""

    type: Literal["view_market_aggregate"] = "view_market_aggregate"
    days_back: Annotated[Count, Field(ge=1, le=366)] = 7


class ViewConsumerSales(View):
    """Retailers: own consumer sales."""

    type: Literal["view_consumer_sales"] = "view_consumer_sales"
    since_day: Count | None = None


class ViewMessages(View):
    """Titles of letters received (or, with counterparty ``self``, sent), newest first."""

    type: Literal["view_messages"] = "view_messages"
    counterparty: Identifier | None = None
    since_day: Count | None = None
    limit: Annotated[Count, Field(ge=1, le=1000)] = 10


class ReadMessage(View):
    """One letter in full; marks it read."""

    type: Literal["read_message"] = "read_message"
    message_id: Identifier


def _leaves(base: type[Command]) -> list[type[Command]]:
    found: list[type[Command]] = []
    for kind in base.__subclasses__():
        found += [kind] if "type" in kind.model_fields else _leaves(kind)
    return found


COMMANDS: dict[str, type[Command]] = {
    str(kind.model_fields["type"].default): kind for kind in _leaves(Command)
}
"""Every command by its tool name."""
