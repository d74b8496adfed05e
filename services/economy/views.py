"""What a firm can look up. Views change no books (note, S10)."""

from __future__ import annotations

from collections.abc import Iterable

from services.economy import commands as c
from services.economy.money import dollars
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
)
from services.economy.state import Deal, FirmState, Invoice
from services.economy.world import World


class Views:
    """Read-only questions to the town."""

    def __init__(self, world: World) -> None:
        self.world = world

    def listings(self, firm: FirmState, command: c.ViewListings) -> ListingsView:
        """Open listings, oldest first."""
        rows: Iterable[Listing] = self.world.state.listings.values()
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
        if command.only_others:
            name = firm.name
            rows = [r for r in rows if r.seller != name]
        return ListingsView.trusted(rows=tuple(rows))

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
        return OffersView.trusted(rows=tuple(rows))

    def deals(self, firm: FirmState, command: c.ViewDeals) -> DealsView:
        """Own deals: under way, or all that are remembered."""
        state = self.world.state
        name = firm.name
        rows = [self.deal_row(d) for d in state.deals.values() if name in (d.seller, d.buyer)]
        if command.status == "all":
            past = [
                self.deal_row(d) for d in state.past_deals.values() if name in (d.seller, d.buyer)
            ]
            rows = sorted(past + rows, key=lambda r: int(r.id[1:]))
        return DealsView.trusted(rows=tuple(rows))

    def payables(self, firm: FirmState, command: c.ViewPayables) -> InvoicesView:
        """Own open invoices, by due day and then by age."""
        invoices = [i for i in self.world.state.invoices.values() if i.payer == firm.name]
        return self._invoices(invoices, command, payer=True)

    def receivables(self, firm: FirmState, command: c.ViewReceivables) -> InvoicesView:
        """Open invoices that others owe this firm, by due day and then by age."""
        invoices = [i for i in self.world.state.invoices.values() if i.issuer == firm.name]
        return self._invoices(invoices, command, payer=False)

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
        overdue = sum(i.due_day < today for i in invoices)
        total = sum(i.outstanding() for i in invoices)
        count = len(invoices)
        if command.only_overdue:
            invoices = [i for i in invoices if i.due_day < today]
        invoices.sort(key=lambda i: i.due_day)
        rows = tuple(
            InvoiceRow(
                i.id,
                i.issuer if payer else i.payer,
                dollars(i.amount),
                dollars(i.late_fees),
                dollars(i.credited),
                dollars(i.outstanding()),
                i.due_day,
                i.due_day - today,
                i.due_day < today,
                i.bad_debt,
            )
            for i in invoices[: command.limit]
        )
        return InvoicesView.trusted(
            rows=rows, open_count=count, overdue_count=overdue, total_outstanding=dollars(total)
        )
