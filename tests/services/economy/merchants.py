"""Firms that know the whole town and do whatever it admits: much happens, nothing makes sense."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from actors.strategies.strategy import Strategy
from services.economy import commands as c
from services.economy.setup import TownSetup
from services.economy.state import FirmState
from services.economy.town import Town
from tests.services.economy.driving import Play, play

if TYPE_CHECKING:
    from actors.context import Context
    from actors.exchange import Turn


class Merchant(Strategy):
    """Draws one of the commands that could succeed now; now and then one too many, or a wait."""

    observes: ClassVar[bool] = False
    town: Town

    def decide(self, turn: Turn, context: Context) -> c.Command:
        """A command that could succeed, drawn from the firm's own stream of the day."""
        rng = context.rng("merchant")
        firm = self.town.firms[self.firm]
        if rng.random() < 0.05:
            return c.WaitForNextDay()
        kinds = [self._make, self._roast, self._list, self._list, self._bid, self._bid]
        kinds += [self._answer, self._answer, self._pay, self._give_back, self._price, self._drop]
        kinds += [self._write, self._order, self._look]
        rng.shuffle(kinds)
        for kind in kinds:
            command = kind(firm, rng)
            if command is not None:
                return command
        return c.WaitForNextDay()

    def _make(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        if firm.role != "farmer":
            return None
        items = [i for i in self.town.world.catalogue.items.values() if i.made_by == "farmer"]
        return c.ProduceItem(item_id=rng.choice(items).id, quantity=rng.randint(1, 12))

    def _roast(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        held = [i for i in self.town.world.catalogue.recipes if firm.kg.get(i, 0) > 0]
        if firm.role != "roaster" or not held:
            return None
        item = rng.choice(held)
        return c.Roast(green_item_id=item, qty_kg=rng.randint(1, firm.kg[item]))

    def _list(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        held = [item for item, kg in firm.kg.items() if kg > 0]
        if not held:
            return None
        item = rng.choice(held)
        return c.PostListing(
            item_id=item,
            qty=rng.randint(1, firm.kg[item]),
            asking_price=rng.choice((-3.5, 0.333, 2.5, 9.99, round(rng.uniform(0.01, 90), 3))),
        )

    def _bid(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        listings = [x for x in self.town.state.listings.values() if x.seller != firm.name]
        if not listings:
            return None
        listing = rng.choice(listings)
        price = round(listing.asking_price * rng.uniform(0.5, 2), rng.randint(1, 4))
        return c.MakeOffer(
            listing_id=listing.id,
            offered_price=max(-c.LIMIT, min(c.LIMIT, price)),
            qty=rng.randint(1, listing.qty),
            payment_terms_days=rng.choice((0, 0, 1, 2, 30)),
        )

    def _answer(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        offers = list(self.town.world.offers_to[firm.name])
        if not offers:
            return None
        offer = rng.choice(offers)
        if rng.random() < 0.1:
            return c.RejectOffer(offer_id=offer)
        return c.AcceptOffer(offer_id=offer)

    def _pay(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        open_ = [i for i in self.town.state.invoices.values() if i.payer == firm.name]
        if not open_:
            return None
        invoice = rng.choice(open_)
        if rng.random() < 0.4:
            part = round(rng.uniform(0.01, invoice.outstanding() / 1e6), rng.randint(1, 6))
            return c.PayInvoice(invoice_id=invoice.id, amount=part)
        return c.PayInvoice(invoice_id=invoice.id)

    def _give_back(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        state = self.town.state
        invoices = [
            invoice
            for invoice in (*state.invoices.values(), *state.past_invoices.values())
            if invoice.payer == firm.name and invoice.deal in state.past_deals
        ]
        if not invoices or rng.random() < 0.4:
            return None
        invoice = rng.choice(invoices)
        assert invoice.deal is not None
        most = state.past_deals[invoice.deal].qty
        return c.ReturnShipment(invoice_id=invoice.id, quantity_kg=rng.randint(1, most))

    def _price(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        if firm.role != "retailer" or rng.random() < 0.5:
            return None
        item = rng.choice(self.town.world.catalogue.consumer_items)
        price = rng.choice((0.0, round(rng.uniform(0, 1.2 * (item.reservation_price or 0)), 3)))
        return c.SetRetailPrice(item_id=item.id, price_per_unit=price)

    def _drop(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        if rng.random() < 0.8:
            return None
        own = [x.id for x in self.town.state.listings.values() if x.seller == firm.name]
        bids = list(self.town.world.offers_by[firm.name])
        if own and (not bids or rng.random() < 0.5):
            return c.CancelListing(listing_id=rng.choice(own))
        return c.WithdrawOffer(offer_id=rng.choice(bids)) if bids else None

    def _write(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        others = [name for name in self.town.firms if name != firm.name]
        if not others or rng.random() < 0.8:
            return None
        return c.SendMessage(recipient=rng.choice(others), title="a\tword", body="or\ntwo")

    def _order(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        if not self.town.setup.foreign_trade or rng.random() < 0.5:
            return None
        item = rng.choice(list(self.town.world.catalogue.items))
        price = round(rng.uniform(1, 60), rng.randint(0, 3))
        return c.OrderAbroad(item_id=item, qty=rng.randint(1, 9), max_price=price)

    def _look(self, firm: FirmState, rng: random.Random) -> c.Command | None:
        unread = [x.id for x in self.town.state.letters.values() if x.recipient == firm.name]
        if unread and rng.random() < 0.5:
            return c.ReadMessage(message_id=rng.choice(unread))
        return rng.choice((c.ViewTrialBalance(), c.ViewDeals(status="all"), c.ViewReceivables()))


def merchants(setup: TownSetup, seed: int = 0, surprises: Sequence[c.Command | None] = ()) -> Play:
    """A town of merchants, before its first minute."""
    town = Town(setup)

    def merchant(name: str, role: str) -> Merchant:
        made = Merchant(name, role)
        made.town = town
        return made

    return play(setup, merchant, seed=seed, surprises=surprises, town=town)
