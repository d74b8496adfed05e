"""What a firm knows of its town, as a small town of its own under the economy's own rules.

A policy must know what it may do before it does it. The economy says so by refusing, and that is
the only place where its rules stand. So the firm's view is laid out as the state of a town in which
nothing but the firm, its counterparties and their papers exist, and the economy's own checks are
called on it to hear whether they refuse (:meth:`Mirror.refusal`), or its handlers for good
(:meth:`Mirror.apply`), so that a day's commands can be rehearsed one after the other.

What a firm cannot see (a buyer's full store, a rival who was quicker) the mirror cannot know
either; such commands are refused by the real town, and environments count them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Final

from policies.environments.view import FirmView
from services.economy import commands as c
from services.economy.catalogue import Role
from services.economy.invoicing import Invoicing
from services.economy.market import Market
from services.economy.money import dollars, micros
from services.economy.production import Production
from services.economy.results import Listing, Offer, Refusal, TrialBalance
from services.economy.setup import TownSetup
from services.economy.state import ACCOUNTS, FirmState, Invoice, TownState
from services.economy.world import World
from services.messages import filled

_ENDLESS: Final = 10**9
"""The store of a counterparty, of which a firm knows nothing."""
_OWN_NUMBERS: Final = 10**6
"""Identifiers that the mirror gives out begin here, above those of any town."""
_BOOKS: Final = set(TrialBalance.model_fields)
_NO_MONEY: Final = dict.fromkeys(ACCOUNTS, 0)


class _Glass(World):
    """A world of which nothing is written down."""

    def event(self, kind: str, subject: str, body: dict[str, Any]) -> None:
        """Is not noted."""

    def count(self, item: str, what: str, kg: int) -> None:
        """Is not counted."""

    def post(self, firm: FirmState, debit: str, credit: str, amount: int, reference: str) -> None:
        """Books the amount; there is no ledger."""
        firm.balances[debit] += amount
        firm.balances[credit] -= amount


class Mirror:
    """A firm's view as a town in which commands can be tried.

    Args:
        setup: The town's rules, catalogue and numbers; who its firms are does not matter.
        view: What the firm knows.
    """

    def __init__(self, setup: TownSetup, view: FirmView) -> None:
        self.setup = setup
        self.view = view
        self._payables = view.payables
        self._books: dict[str, Any] = {} if view.books is None else view.books.__dict__
        self.fresh = False
        """Whether the listings have been looked at since the day's looks."""
        self.firm = _own_firm(view, setup)
        firms = {view.firm: self.firm}
        state = TownState(firms=firms, day=view.day)
        state.counters = dict.fromkeys("LODIMF", _OWN_NUMBERS)
        for row in view.listings:
            self._show(state, row)
        for offer in view.offers:
            self._meet(state, offer)
        for bill in view.payables:
            if bill.counterparty not in firms:
                firms[bill.counterparty] = _stranger(bill.counterparty)
            state.invoices[bill.id] = Invoice(
                id=bill.id,
                deal=None,
                issuer=bill.counterparty,
                payer=view.firm,
                amount=micros(bill.outstanding),
                issue_day=view.day,
                due_day=bill.due_day,
            )
        self.world = world = _Glass(setup, state)
        # Whoever turns up later in the day is met without ado.
        for index in ("offers_to", "offers_by", "listings_of"):
            setattr(world, index, defaultdict(dict, getattr(world, index)))
        for index in ("owed_by", "owed_to", "deals_of"):
            setattr(world, index, defaultdict(list, getattr(world, index)))
        self.market, self.production = market, production = Market(world), Production(world)
        invoicing = Invoicing(world)
        self.done: Counter[type[c.Command]] = Counter()
        """How many commands of each kind have been carried out in the mirror."""
        self._handlers: dict[type[c.Command], Callable[[FirmState, Any], Any]] = {
            c.ProduceItem: production.produce,
            c.Roast: production.roast,
            c.PostListing: market.post_listing,
            c.CancelListing: market.cancel_listing,
            c.MakeOffer: market.make_offer,
            c.WithdrawOffer: market.withdraw_offer,
            c.RejectOffer: market.reject_offer,
            c.AcceptOffer: market.accept_offer,
            c.SetRetailPrice: market.set_retail_price,
            c.PayInvoice: invoicing.pay,
        }
        self._checks: dict[type[c.Command], Callable[[FirmState, Any], Any]] = {
            c.ProduceItem: lambda f, x: production.check_produce(f, x.item_id, x.quantity),
            c.Roast: lambda f, x: production.check_roast(f, x.green_item_id, x.qty_kg),
            c.PostListing: lambda f, x: market.check_listing(
                f, x.item_id, x.qty, x.asking_price, x.payment_terms_days
            ),
            c.CancelListing: lambda f, x: market.check_cancelling(f, x.listing_id),
            c.MakeOffer: lambda f, x: market.check_offer(
                f, x.listing_id, x.offered_price, x.qty, x.payment_terms_days
            ),
            c.WithdrawOffer: lambda f, x: market.check_withdrawing(f, x.offer_id),
            c.RejectOffer: lambda f, x: market.check_rejecting(f, x.offer_id),
            c.AcceptOffer: lambda f, x: market.check_accepting(f, x.offer_id),
            c.SetRetailPrice: lambda f, x: market.check_retail_price(
                f, x.item_id, x.price_per_unit
            ),
            c.PayInvoice: lambda f, x: invoicing.check_pay(f, x.invoice_id, x.amount),
        }

    @property
    def offers_in(self) -> list[Offer]:
        """Pending bids to the firm, oldest first."""
        return list(self.world.offers_to[self.view.firm].values())

    @property
    def offers_out(self) -> list[Offer]:
        """The firm's own pending bids, oldest first."""
        return list(self.world.offers_by[self.view.firm].values())

    @property
    def listings(self) -> list[Listing]:
        """All open listings, the own ones too, oldest first."""
        return list(self.world.state.listings.values())

    @property
    def own_listings(self) -> list[Listing]:
        """The firm's open listings, oldest first."""
        return list(self.world.listings_of[self.view.firm].values())

    def stock(self, item: str) -> int:
        """Kilograms on hand."""
        return self.firm.kg.get(item, 0)

    def position(self, item: str) -> int:
        """Kilograms on hand, under way, and on bid."""
        bids = self.world.offers_by[self.view.firm].values()
        return (
            self.firm.kg.get(item, 0)
            + self.firm.incoming.get(item, 0)
            + sum([offer.qty for offer in bids if offer.item == item])
        )

    def hear(self, offers: tuple[Offer, ...]) -> None:
        """Takes in the bids received that are pending now, by the exchange's own papers."""
        world, state, name = self.world, self.world.state, self.view.firm
        for key in world.offers_to[name]:
            del state.offers[key]
        for index in world.offers_by.values():
            for key in world.offers_to[name]:
                index.pop(key, None)
        world.offers_to[name] = {}
        for offer in offers:
            if offer.listing not in state.listings:
                self._recognise(offer)
            self._meet(state, offer)
            world.add_offer(offer)

    def see(self, listings: tuple[Listing, ...]) -> None:
        """Takes in the listings that are open now."""
        world = self.world
        world.state.listings.clear()
        world.listings_of.clear()
        for other in world.state.firms.values():
            if other is not self.firm:
                other.kg.clear()
        for row in listings:
            self._show(world.state, row)
            world.add_listing(row)
        self.fresh = True

    def now(self) -> FirmView:
        """The view as it has become by what was done and seen since."""
        view, books, firm, b = self.view, self.view.books, self.firm, self.firm.balances
        name, world = view.firm, self.world
        if books is not None:
            values = self._books | {
                "cash": dollars(b["cash"]),
                "accounts_payable": dollars(-b["accounts_payable"]),
                "stock": dict(firm.kg),
                "incoming": {item: kg for item, kg in firm.incoming.items() if kg},
            }
            books = filled(TrialBalance, values, _BOOKS)
        open_bills = world.state.invoices
        if len(open_bills) != len(self._payables):  # of bills there are never more in a day
            self._payables = tuple([bill for bill in view.payables if bill.id in open_bills])
        return FirmView(
            view.firm,
            view.role,
            view.day,
            view.observation,
            books,
            self._payables,
            (*world.offers_to[name].values(), *world.offers_by[name].values()),
            tuple(world.state.listings.values()),
        )

    def _show(self, state: TownState, row: Listing) -> None:
        """Files an open listing, and gives its seller the goods that it shows."""
        seller = state.firms.get(row.seller)
        if seller is None:
            seller = state.firms[row.seller] = _stranger(row.seller)
        if seller is not self.firm:
            seller.kg[row.item] = max(seller.kg.get(row.item, 0), row.qty)
            seller.cost[row.item] = 0
        state.listings[row.id] = row

    def _recognise(self, offer: Offer) -> None:
        """An own listing that was posted in the mirror has another name in the town."""
        world = self.world
        for listing in reversed(self.own_listings):
            if listing.item == offer.item and int(listing.id[1:]) > _OWN_NUMBERS:
                del world.state.listings[listing.id]
                del world.listings_of[listing.seller][listing.id]
                world.add_listing(listing._replace(id=offer.listing))
                return

    def forget_bid(self, bid: c.MakeOffer) -> None:
        """The town has refused a bid that the mirror has carried out; the listings are old news."""
        world, name = self.world, self.view.firm
        for offer in self.offers_out:
            if offer.listing == bid.listing_id and int(offer.id[1:]) > _OWN_NUMBERS:
                del world.state.offers[offer.id]
                del world.offers_by[name][offer.id]
                del world.offers_to[offer.seller][offer.id]
        self.fresh = False

    def refusal(self, command: c.Command) -> str | None:
        """The code with which the economy's rules refuse a command now; ``None``: they do not."""
        try:
            self._checks[type(command)](self.firm, command)
        except Refusal as refusal:
            return refusal.code
        return None

    def admits(self, check: Callable[..., Any], *arguments: Any) -> bool:
        """Whether one of the economy's checks passes now.

        Args:
            check: A ``check_`` of :attr:`market` or :attr:`production`.
            arguments: What it takes, the firm apart.
        """
        try:
            check(self.firm, *arguments)
        except Refusal:
            return False
        return True

    def apply(self, command: c.Command) -> bool:
        """Carries a command out in the mirror; whether the rules have admitted it."""
        try:
            self._handlers[type(command)](self.firm, command)
        except Refusal:
            return False
        self.done[type(command)] += 1
        return True

    def most(self, admitted: Callable[[int], bool], up_to: int) -> int:
        """The largest quantity up to ``up_to`` that is admitted; 0 if none is.

        Args:
            admitted: Whether a quantity is; if one is, so must every smaller one be (but too small
                a one may be refused).
            up_to: Where to begin.
        """
        if up_to < 1:
            return 0
        if admitted(up_to):
            return up_to
        low, high = 0, up_to  # low: admitted or nothing; high: refused
        while high - low > 1:
            middle = (low + high) // 2
            if admitted(middle):
                low = middle
            else:
                high = middle
        return low

    def _meet(self, state: TownState, offer: Offer) -> None:
        """Files a pending bid, and makes its other side and the listing that it is for."""
        for name in (offer.buyer, offer.seller):
            if name not in state.firms:
                state.firms[name] = _stranger(name)
        state.offers[offer.id] = offer


def _own_firm(view: FirmView, setup: TownSetup) -> FirmState:
    books, seen = view.books, view.observation
    stock = {} if books is None else books.stock
    costs = {} if books is None else books.unit_costs
    incoming = dict.fromkeys(setup.catalogue.items, 0)
    if books is not None:
        incoming.update(books.incoming)
    balances = dict(_NO_MONEY)
    if books is not None:
        balances["cash"] = micros(books.cash)
        balances["accounts_payable"] = -micros(books.accounts_payable)
    held = sum(stock.values())
    role: Any = view.role
    return FirmState(
        name=view.firm,
        role=role,
        opex=0,
        stock_cap=0 if seen is None else seen.stock_cap,
        balances=balances,
        kg=dict(stock),
        cost={item: micros(costs.get(item, 0.0) * kg) for item, kg in stock.items()},
        carry={},
        retail_prices={} if seen is None else dict(seen.retail_prices),
        incoming=incoming,
        on_hand=held,
        committed=held + sum(incoming.values()),
    )


def _stranger(name: str, role: Role = "farmer") -> FirmState:
    """Somebody of whom nothing is known but what is on a paper."""
    return FirmState(
        name=name,
        role=role,
        opex=0,
        stock_cap=_ENDLESS,
        balances=dict(_NO_MONEY),
        kg={},
        cost={},
        carry={},
        retail_prices={},
        incoming=_Anything(),
    )


class _Anything(dict[str, int]):
    """Goods under way to a stranger: none of anything."""

    def __missing__(self, item: str) -> int:
        return 0
