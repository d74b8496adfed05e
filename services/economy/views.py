"""What a firm can look up. Views change no books (note, S10)."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from services.economy import commands as c
from services.economy.money import MICROS_PER_DOLLAR, dollars
from services.economy.results import (
    AggregateView,
    DealRow,
    DealsView,
    InvoiceRow,
    InvoicesView,
    Listing,
    ListingsView,
    Offer,
    OffersView,
    Refusal,
    SaleRow,
    SalesView,
    TrialBalance,
    deals_view,
    invoices_view,
    listings_view,
    offers_view,
)
from services.economy.state import Deal, FirmState, Invoice
from services.economy.world import World

_row = tuple.__new__  # past a named tuple's own constructor: there are many of them
_by_due_day = attrgetter("due_day")


class Views:
    """Read-only questions to the town."""

    def __init__(self, world: World) -> None:
        self.world = world

    def listings(self, firm: FirmState, command: c.ViewListings) -> ListingsView:
        """Open listings, oldest first."""
        listings = self.world.state.listings
        rows: Iterable[Listing] = listings.values()
        if command.only_others:
            own = self.world.listings_of[firm.name]
            rows = [r for key, r in listings.items() if key not in own]
        item = command.item_id
        if item is not None:
            rows = [r for r in rows if r.item == item]
        if self.world.rules.honest_listings:
            firms = self.world.state.firms
            rows = [
                r if r.qty <= held else r._replace(qty=held)
                for r in rows
                if (held := firms[r.seller].kg.get(r.item, 0)) > 0
            ]
        return listings_view(tuple(rows))

    def offers(self, firm: FirmState, command: c.ViewOffers) -> OffersView:
        """Bids received or made, oldest first."""
        world = self.world
        rows: list[Offer] = []
        if command.direction != "outgoing":
            rows += world.offers_to[firm.name].values()
        if command.direction != "incoming":
            rows += world.offers_by[firm.name].values()
        if command.status == "all":
            rows += [
                o
                for o in world.state.resolved_offers.values()
                if (o.seller == firm.name and command.direction != "outgoing")
                or (o.buyer == firm.name and command.direction != "incoming")
            ]
        if command.direction == "all" or command.status == "all":
            rows.sort(key=lambda o: int(o.id[1:]))
        return offers_view(tuple(rows))

    def deals(self, firm: FirmState, command: c.ViewDeals) -> DealsView:
        """Own deals: under way, or all that are remembered."""
        name = firm.name
        rows = [self.deal_row(d) for d in self.world.deals_of[name]]
        if command.status == "all":
            past = [
                self.deal_row(d)
                for d in self.world.state.past_deals.values()
                if name in (d.seller, d.buyer)
            ]
            rows = sorted(past + rows, key=lambda r: int(r.id[1:]))
        return deals_view(tuple(rows))

    def payables(self, firm: FirmState, command: c.ViewPayables) -> InvoicesView:
        """Own open invoices, by due day and then by age."""
        return self._invoices(self.world.owed_by[firm.name], command, payer=True)

    def receivables(self, firm: FirmState, command: c.ViewReceivables) -> InvoicesView:
        """Open invoices that others owe this firm, by due day and then by age."""
        return self._invoices(self.world.owed_to[firm.name], command, payer=False)

    def trial_balance(self, firm: FirmState, command: c.ViewTrialBalance) -> TrialBalance:
        """The firm's accounts and stock; every period runs from day 0 to today (note, S10)."""
        b = firm.balances
        return TrialBalance.trusted(
            cash=dollars(b["cash"]),
            accounts_receivable=dollars(b["accounts_receivable"]),
            accounts_payable=dollars(-b["accounts_payable"]),
            inventory_value=dollars(b["inventory"]),
            stock=dict(firm.kg),
            unit_costs={item: dollars(firm.cost[item]) / kg for item, kg in firm.kg.items() if kg},
            incoming={item: kg for item, kg in firm.incoming.items() if kg},
            income={
                "revenue": dollars(-b["revenue"]),
                "returns": dollars(b["sale_reversal"]),
                "cogs": dollars(b["cogs"] + b["cogs_reversal"]),
                "rent_utilities": dollars(b["operating_expense"]),
                "spoilage": dollars(b["spoilage_expense"]),
                "other": dollars(b["writedown"] + b["bad_debt_expense"]),
                "interest_expense": dollars(b["interest_expense"]),
                "interest_revenue": dollars(-b["interest_revenue"]),
            },
            net_income=dollars(firm.net_income()),
        )

    def market_aggregate(self, firm: FirmState, command: c.ViewMarketAggregate) -> AggregateView:
        """What consumers bought in the last days."""
        first = self.world.state.day - command.days_back
        rows = tuple(r for r in self.world.state.market if r.day >= first)
        return AggregateView.trusted(rows=rows)

    def consumer_sales(self, firm: FirmState, command: c.ViewConsumerSales) -> SalesView:
        """A shop's own sales.

        Raises:
            Refusal: the firm is no retailer.
        """
        if firm.role != "retailer":
            raise Refusal("wrong_role", f"a {firm.role} has no consumer sales")
        rows = self.world.state.sales.get(firm.name, [])
        if command.since_day is not None:
            rows = [r for r in rows if r.day >= command.since_day]
        if self.world.rules.demand_hidden:
            rows = [SaleRow(r.day, r.item, r.qty, r.unit_price, r.revenue) for r in rows]
        return SalesView.trusted(rows=tuple(rows))

    def deal_row(self, deal: Deal) -> DealRow:
        """A deal as one of its two sides sees it."""
        status = deal.status
        if status == "lost" and not self.world.rules.loss_is_announced:
            status = "pending"
        return DealRow(
            deal.id,
            deal.seller,
            deal.buyer,
            deal.item,
            deal.qty,
            deal.unit_price,
            deal.terms,
            deal.accepted_day,
            deal.due_day,
            status,
            deal.invoice,
        )

    def _invoices(
        self, invoices: list[Invoice], command: c.ViewPayables | c.ViewReceivables, payer: bool
    ) -> InvoicesView:
        today = self.world.state.day
        if command.counterparty is not None:
            who = command.counterparty
            invoices = [i for i in invoices if who == (i.issuer if payer else i.payer)]
        ordered = sorted(invoices, key=_by_due_day)
        rows = []
        limit = command.limit
        overdue = total = 0
        for nth, i in enumerate(ordered):
            days = i.due_day - today
            # As Invoice.outstanding, without a call for each: the invoices are all open.
            outstanding = i.amount + i.late_fees - i.credited - i.paid_amount
            if outstanding < 0:
                outstanding = 0
            total += outstanding
            if days < 0:
                overdue += 1
            elif command.only_overdue:
                continue
            if nth < limit:
                row = (
                    i.id,
                    i.issuer if payer else i.payer,
                    i.amount / MICROS_PER_DOLLAR,
                    i.late_fees / MICROS_PER_DOLLAR,
                    i.credited / MICROS_PER_DOLLAR,
                    outstanding / MICROS_PER_DOLLAR,
                    i.due_day,
                    days,
                    days < 0,
                    i.bad_debt,
                )
                rows.append(_row(InvoiceRow, row))
        return invoices_view(tuple(rows), len(invoices), overdue, dollars(total))
