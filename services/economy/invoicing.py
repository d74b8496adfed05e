"""Invoices, payment, late fees and returns (note, S6)."""

from __future__ import annotations

from services.economy.commands import PayInvoice, ReturnShipment
from services.economy.money import cents, dollars, micros, share
from services.economy.results import Refusal, Values, named_values
from services.economy.state import Deal, FirmState, Invoice
from services.economy.world import World


class Invoicing:
    """What is owed for deliveries and how it is settled."""

    def __init__(self, world: World) -> None:
        self.world = world

    def issue(
        self,
        issuer: FirmState,
        payer: FirmState,
        amount: int,
        day: int,
        due_day: int,
        deal: Deal | None,
    ) -> str:
        """Writes an invoice and returns its id; the caller books it."""
        world = self.world
        about = (None, None) if deal is None else (deal.id, deal.offer)
        invoice = Invoice(
            id=world.new_id("I"),
            deal=about[0],
            issuer=issuer.name,
            payer=payer.name,
            amount=amount,
            issue_day=day,
            due_day=due_day,
            offer=about[1],
        )
        world.add_invoice(invoice)
        world.event(
            "invoice",
            payer.name,
            {
                "invoice": invoice.id,
                "deal": invoice.deal,
                "offer": invoice.offer,
                "issuer": issuer.name,
                "payer": payer.name,
                "amount": dollars(amount),
                "issue_day": day,
                "due_day": due_day,
            },
        )
        return invoice.id

    def pay(self, firm: FirmState, command: PayInvoice) -> Values:
        """Pays an own open invoice; cash moves at once and the issuer is woken.

        Raises:
            Refusal: unknown, another's, settled, a part payment the rules do not admit, or too
                little cash.
        """
        invoice, outstanding, amount = self.check_pay(firm, command.invoice_id, command.amount)
        world = self.world
        issuer = world.state.firms[invoice.issuer]
        world.post(firm, "accounts_payable", "cash", amount, invoice.id)
        world.post(issuer, "cash", "accounts_receivable", amount, invoice.id)
        invoice.paid_amount += amount
        if amount == outstanding:
            invoice.paid = True
            invoice.paid_day = world.state.day
            world.end_invoice(invoice)
        world.event(
            "payment",
            firm.name,
            {
                "invoice": invoice.id,
                "deal": invoice.deal,
                "offer": invoice.offer,
                "payer": firm.name,
                "issuer": issuer.name,
                "amount": dollars(amount),
                "day": world.state.day,
            },
        )
        world.wake(issuer.name, "invoice paid")
        return named_values(
            {
                "paid_amount": dollars(amount),
                "remaining_cash": dollars(firm.cash),
                "outstanding": dollars(outstanding - amount),
            }
        )

    def check_pay(
        self, firm: FirmState, invoice_id: str, dollars_wanted: float | None
    ) -> tuple[Invoice, int, int]:
        """The invoice, what is open on it and what is to be paid, if the firm may pay it.

        It changes nothing; amounts come in micro-dollars.

        Raises:
            Refusal: as of :meth:`pay`.
        """
        invoice = self._find(invoice_id)
        if invoice.payer != firm.name:
            raise Refusal("not_owner", f"{invoice.id} is for {invoice.payer} to pay")
        outstanding = invoice.outstanding()
        if not invoice.open or outstanding == 0:
            raise Refusal("invoice_closed", f"nothing is open on {invoice.id}")
        amount = outstanding
        if dollars_wanted is not None:
            if not self.world.rules.extended_commands:
                raise Refusal("part_payment", "these rules know full payment only")
            amount = micros(dollars_wanted)
            if not 0 < amount <= outstanding:
                raise Refusal(
                    "amount_out_of_range", f"{dollars(outstanding):.4f} are open on {invoice.id}"
                )
        if firm.cash < amount:
            raise Refusal("insufficient_cash", f"{dollars(amount):.2f} are needed")
        return invoice, outstanding, amount

    def charge_late_fees(self) -> None:
        """Evening: every open invoice past its due day, both sides in business, costs a fee."""
        world = self.world
        day = world.state.day
        rate = world.setup.late_fee_per_day
        firms = world.state.firms
        for invoice in world.state.invoices.values():
            if day <= invoice.due_day or not invoice.open:
                continue
            payer, issuer = firms[invoice.payer], firms[invoice.issuer]
            if not (payer.live and issuer.live):
                continue
            base = invoice.amount
            if world.rules.fee_on_unpaid_balance:
                base = max(0, invoice.amount - invoice.credited - invoice.paid_amount)
            fee = micros(round(rate * dollars(base), 4))
            invoice.late_fees += fee
            world.post(payer, "interest_expense", "accounts_payable", fee, invoice.id)
            world.post(issuer, "accounts_receivable", "interest_revenue", fee, invoice.id)

    def return_shipment(self, firm: FirmState, command: ReturnShipment) -> Values:
        """Sends back part of a delivery; it needs no consent.

        Raises:
            Refusal: not an own delivery, too late, more than delivered or more than held.
        """
        world = self.world
        state = world.state
        invoice = self._find(command.invoice_id)
        if invoice.payer != firm.name or invoice.deal is None:
            raise Refusal("not_owner", f"{invoice.id} is no delivery to {firm.name}")
        qty = command.quantity_kg
        if qty < 1:
            raise Refusal("quantity_out_of_range", "the quantity must be at least 1 kg")
        window = world.setup.return_window_days
        deal = state.past_deals.get(invoice.deal)
        if deal is None or state.day - invoice.issue_day > window:
            raise Refusal("return_window_closed", f"goods go back within {window} days")
        if qty > deal.qty - deal.returned:
            raise Refusal("return_exceeds_deal", f"{deal.qty - deal.returned} kg can go back")
        if qty > firm.kg.get(deal.item, 0):
            raise Refusal("return_exceeds_stock", f"{firm.kg.get(deal.item, 0)} kg are held")
        seller = state.firms[invoice.issuer]
        if not seller.live and world.rules.bankruptcy_ends_trade:
            raise Refusal("seller_bankrupt", f"{seller.name} is bankrupt and takes nothing back")
        credit = self._worth(deal, qty)
        if deal.returned and world.rules.credit_of_whole_deal:
            credit = self._worth(deal, deal.returned + qty) - self._worth(deal, deal.returned)
        deal.returned += qty
        self._goods_back(firm, seller, deal, qty, credit)
        refund = self._credit(firm, seller, invoice, credit)
        world.event(
            "return",
            firm.name,
            {
                "invoice": invoice.id,
                "deal": deal.id,
                "offer": deal.offer,
                "item": deal.item,
                "qty": qty,
                "credit": dollars(credit),
                "refund": dollars(refund),
                "day": state.day,
                "reason": command.reason,
            },
        )
        world.wake(seller.name, "goods came back")
        return named_values(
            {
                "credit": dollars(credit),
                "refund": dollars(refund),
                "remaining_returnable": deal.qty - deal.returned,
            }
        )

    def write_off_debts(self, firm: FirmState) -> int:
        """Bankruptcy: what the firm owes becomes its creditors' bad debt; how much that was."""
        world = self.world
        waived = 0
        for invoice in list(world.owed_by[firm.name]):
            outstanding = invoice.outstanding()
            issuer = world.state.firms[invoice.issuer]
            booked = outstanding
            if not world.rules.income_frozen_at_bankruptcy:
                booked = cents(dollars(outstanding))
            world.post(issuer, "bad_debt_expense", "accounts_receivable", booked, invoice.id)
            rest = outstanding - booked
            world.post(issuer, "reconciliation", "accounts_receivable", rest, invoice.id)
            world.post(firm, "accounts_payable", "reconciliation", outstanding, invoice.id)
            world.notify(issuer, f"{firm.name} is bankrupt; {dollars(booked):.2f} are lost")
            waived += outstanding
            invoice.bad_debt = True
            world.end_invoice(invoice)
        return waived

    def _worth(self, deal: Deal, qty: int) -> int:
        """The credit for so many kilograms of a deal."""
        return cents(qty * deal.unit_price * (1.0 - self.world.rules.restocking_fee))

    def _find(self, invoice_id: str) -> Invoice:
        state = self.world.state
        invoice = state.invoices.get(invoice_id) or state.past_invoices.get(invoice_id)
        if invoice is None:
            raise Refusal("unknown_invoice", f"there is no open invoice {invoice_id}")
        return invoice

    def _goods_back(
        self, buyer: FirmState, seller: FirmState, deal: Deal, qty: int, credit: int
    ) -> None:
        world = self.world
        given_up = world.take(buyer, deal.item, qty)
        exact = world.rules.returns_at_original_cost
        gap = "cogs" if exact else "reconciliation"
        world.post(buyer, gap, "inventory", given_up, deal.id)
        world.post(buyer, "clearing", gap, credit, deal.id)
        if exact:
            pinned = share(deal.cost, qty, deal.qty)
            world.receive(seller, deal.item, qty, pinned)
            world.post(seller, "inventory", "cogs_reversal", pinned, deal.id)
            return
        held = seller.kg.get(deal.item, 0)
        value = share(seller.cost[deal.item], qty, held) if held else 0
        pinned = cents(qty * dollars(deal.cost) / deal.qty)
        world.receive(seller, deal.item, qty, value)
        world.post(seller, "inventory", "reconciliation", value, deal.id)
        world.post(seller, "reconciliation", "cogs_reversal", pinned, deal.id)

    def _credit(self, buyer: FirmState, seller: FirmState, invoice: Invoice, credit: int) -> int:
        """Settles the credit: first against what is open, the rest as a refund in cash."""
        world = self.world
        before = invoice.outstanding()
        invoice.credited += credit
        owed, settled = invoice.amount, invoice.credited
        if world.rules.fee_on_unpaid_balance:
            owed += invoice.late_fees
        if invoice.open:
            settled += invoice.paid_amount
        if settled >= owed:
            if invoice.open:
                world.end_invoice(invoice)
            invoice.returned = True
        relief = before - invoice.outstanding()
        world.post(buyer, "accounts_payable", "clearing", relief, invoice.id)
        world.post(seller, "clearing", "accounts_receivable", relief, invoice.id)
        over = credit - relief
        refund = 0
        if over > 0 and (invoice.paid or world.rules.extended_commands):
            refund = min(over, seller.cash)
            if world.rules.refunds_never_negative:
                refund = max(0, refund)
            world.post(buyer, "cash", "clearing", refund, invoice.id)
            world.post(seller, "clearing", "cash", refund, invoice.id)
            owed = over - refund
            if owed > 0 and world.rules.refunds_never_negative:
                day = world.state.day
                note = self.issue(buyer, seller, owed, day, day + 30, None)
                world.post(buyer, "accounts_receivable", "clearing", owed, note)
                world.post(seller, "clearing", "accounts_payable", owed, note)
        world.post(seller, "sale_reversal", "clearing", credit, invoice.id)
        self._level(buyer, invoice.id)
        self._level(seller, invoice.id)
        return refund

    def _level(self, firm: FirmState, reference: str) -> None:
        """What the original leaves unsettled goes past the income, so that the books balance."""
        rest = firm.balances["clearing"]
        self.world.post(firm, "reconciliation", "clearing", rest, reference)
