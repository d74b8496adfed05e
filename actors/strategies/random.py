"""Random legal commands: a fuzzer that plays (every rule gets exercised, nothing makes sense)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from actors.strategies.strategy import Strategy
from services.economy import commands as c
from services.economy.catalogue import standard_catalogue
from services.economy.results import (
    InvoicesView,
    ListingsView,
    OffersView,
    TrialBalance,
)

if TYPE_CHECKING:
    import random

    from actors.context import Context
    from actors.exchange import Turn

_CATALOGUE = standard_catalogue()


class RandomLegal(Strategy):
    """Looks now and then, and draws a command from what seems possible from what it saw last.

    ``spice`` is the probability of a command that is wrong on purpose, to exercise refusals.
    """

    observes: ClassVar[bool] = False

    def __init__(self, firm: str, role: str, spice: float = 0.1, **options: Any) -> None:
        super().__init__(firm, role, **options)
        self.spice = spice
        self._seen: dict[str, Any] = {}
        self._seen_day = -1

    def decide(self, turn: Turn, context: Context) -> c.Command:
        """A view, an action or a wait, drawn from the firm's own stream of the day."""
        rng = context.rng("strategy")
        if turn.day != self._seen_day:
            self._seen, self._seen_day = {}, turn.day
        if turn.result is not None and turn.result.data is not None:
            self._seen[turn.result.command] = turn.result.data
        if rng.random() < self.spice:
            return self._nonsense(rng)
        choices = self._possible(rng)
        return rng.choice(choices)

    def _possible(self, rng: random.Random) -> list[c.Command]:
        found: list[c.Command] = [
            c.ViewTrialBalance(),
            c.ViewListings(),
            c.ViewOffers(direction="incoming"),
            c.ViewOffers(direction="outgoing"),
            c.ViewPayables(),
            c.WaitForNextDay(),
        ]
        books = self._seen.get("view_trial_balance")
        if isinstance(books, TrialBalance):
            for item, kg in books.stock.items():
                if kg > 0:
                    qty = rng.randint(1, kg)
                    price = round(rng.uniform(1, 40), 2)
                    found.append(c.PostListing(item_id=item, qty=qty, asking_price=price))
                    if self.role == "roaster" and item in _CATALOGUE.recipes:
                        found.append(c.Roast(green_item_id=item, qty_kg=min(qty, 50)))
            if self.role == "retailer":
                item = rng.choice(_CATALOGUE.consumer_items).id
                found.append(
                    c.SetRetailPrice(item_id=item, price_per_unit=round(rng.uniform(0, 60), 2))
                )
        if self.role == "farmer":
            item = rng.choice([i.id for i in _CATALOGUE.items.values() if i.made_by])
            found.append(c.ProduceItem(item_id=item, quantity=rng.randint(1, 10)))
        listings = self._seen.get("view_listings")
        if isinstance(listings, ListingsView) and listings.rows:
            listing = rng.choice(listings.rows)
            found.append(
                c.MakeOffer(
                    listing_id=listing.id,
                    offered_price=round(listing.asking_price * rng.uniform(0.8, 1.1), 2),
                    qty=rng.randint(1, max(1, listing.qty)),
                    payment_terms_days=rng.choice((0, 7, 30)),
                )
            )
        offers = self._seen.get("view_offers")
        if isinstance(offers, OffersView) and offers.rows:
            offer = rng.choice(offers.rows)
            if offer.seller == self.firm:
                found += [c.AcceptOffer(offer_id=offer.id)] * 4
            else:
                found.append(c.WithdrawOffer(offer_id=offer.id))
        payables = self._seen.get("view_payables")
        if isinstance(payables, InvoicesView) and payables.rows:
            row = rng.choice(payables.rows)
            found.append(c.PayInvoice(invoice_id=row.id))
            found.append(c.ReturnShipment(invoice_id=row.id, quantity_kg=rng.randint(1, 3)))
        return found

    def _nonsense(self, rng: random.Random) -> c.Command:
        number = rng.randint(-5, 500)
        price = rng.uniform(-5, 50)
        return rng.choice(
            (
                c.AcceptOffer(offer_id=f"O{number}"),
                c.PayInvoice(invoice_id=f"I{number}"),
                c.ReturnShipment(invoice_id=f"I{number}", quantity_kg=number),
                c.MakeOffer(listing_id=f"L{number}", offered_price=price, qty=number),
                c.PostListing(item_id="green_coffee_kg", qty=number, asking_price=price),
                c.ProduceItem(item_id="tea", quantity=number),
                c.Roast(green_item_id="green_specialty_kg", qty_kg=number),
                c.SetRetailPrice(item_id="roasted_coffee_kg", price_per_unit=price),
                c.SendMessage(recipient="nobody", title="", body="x"),
                c.WithdrawOffer(offer_id=f"O{number}"),
                c.OrderAbroad(item_id="roasted_coffee_kg", qty=number, max_price=price),
            )
        )
