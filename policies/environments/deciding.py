"""From levers to commands: what a firm does with its day once a policy has set its levers.

Everything here asks the mirror, that is, the economy's own rules, what is possible; there is no
rule of trade in this file. The order is that of urgency: take bids, offer stock, bid, make, pay.
Before it bids a firm looks at the listings once more: many firms list anew in the morning, and a
bid on a listing that is gone is a call for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from policies.environments.action_layout import BUYS, SELLS, anchor, cheapest, roastable
from policies.environments.mirror import Mirror
from services.economy import commands as c
from services.economy.catalogue import Role

SOURCES: Final = 2
"""Sellers that a firm bids to for an item in a day, the cheapest first."""
PATIENCE_DAYS: Final = 2
"""Days after which a firm takes back a bid that nobody has answered."""
PAYMENTS: Final = 4
"""Invoices that a firm pays in a day at most, so that calls are left for what cannot wait."""

LISTED_TERMS: Final = 30
"""Days of credit that a firm offers with its listings, as everybody does."""
LISTINGS: Final = c.ViewListings(only_others=False)

Levers = Mapping[str, float]


def decide(mirror: Mirror, levers: Levers, at_most: int | None = None) -> list[c.Command]:
    """The next commands of the day. The mirror is afterwards as if they had been carried out.

    If the last of them looks at the listings, the mirror must see what it shows
    (:meth:`Mirror.see`) before the next call. Called again with the same levers it goes on from
    there, and in the end returns nothing.

    Args:
        mirror: What the firm knows.
        levers: What every lever of its role is set to (``ActionLayout.values``).
        at_most: So many commands, the most urgent ones.
    """
    commands = _Day(mirror, levers).all()
    return list(commands if at_most is None else islice(commands, at_most))


def answer(mirror: Mirror, levers: Levers) -> list[c.Command]:
    """What to do about bids that have come in since the day's commands were decided."""
    return list(_Day(mirror, levers).take_bids())


_Commands = Iterator[c.Command]
"""Commands that the rules admit; each has been carried out in the mirror when it comes."""


class _Day:
    """A day's commands, one after the other."""

    def __init__(self, mirror: Mirror, levers: Levers) -> None:
        self.mirror = mirror
        self.levers = levers
        self.catalogue = mirror.setup.catalogue
        self.role: Role = mirror.view.role  # type: ignore[assignment]

    def all(self) -> _Commands:
        """In the order of urgency."""
        role, mirror = self.role, self.mirror
        yield from self.take_bids()
        for item in SELLS[role]:
            yield from self.offer(item)
        if role == "retailer":
            for item in BUYS[role]:
                yield from self.price(item)
        if not mirror.fresh and self.wants_to_buy():
            yield LISTINGS
            return
        yield from self.tidy()
        for item in BUYS[role]:
            yield from self.bid(item)
        if role == "farmer":
            for item in SELLS[role]:
                yield from self.grow(item)
        if role == "roaster":
            for item in reversed(BUYS[role]):
                yield from self.roast(item)
        yield from self.pay()

    def do(self, command: c.Command) -> _Commands:
        """The command, if the rules admit it."""
        if self.mirror.apply(command):
            yield command

    def on_terms(self, command: Callable[[int], c.Command], days: int) -> _Commands:
        """The command with so many days of credit, or as many as the rules admit."""
        mirror, wished = self.mirror, command(days)
        if mirror.apply(wished):
            yield wished
            return
        most = mirror.most(lambda fewer: mirror.refusal(command(fewer)) is None, days)
        yield from self.do(command(most))

    def anchored(self, lever: str, item: str) -> float:
        """What a lever in anchors comes to, dollars a kilogram."""
        return round(self.levers[f"{lever}.{item}"] * anchor(self.catalogue, item), 2)

    def take_bids(self) -> _Commands:
        """Accepts bids that are high enough, the best first."""
        for bid in sorted(self.mirror.offers_in, key=lambda o: (-o.price, int(o.id[1:]))):
            least = self.levers["accept"] * self.anchored("ask", bid.item)
            if bid.price >= least - 1e-9:
                yield from self.do(c.AcceptOffer.trusted(offer_id=bid.id))

    def offer(self, item: str) -> _Commands:
        """Keeps one listing of an item, with the share of the stock and the price that are set."""
        mirror = self.mirror
        qty = round(self.levers[f"list.{item}"] * mirror.stock(item))
        price = self.anchored("ask", item)
        for own in mirror.world.listings_of[mirror.view.firm].values():
            if own.item == item and own.asking_price == price and own.qty == qty:
                return
        if qty:
            yield from self.on_terms(_listing(item, qty, price), LISTED_TERMS)

    def price(self, item: str) -> _Commands:
        """Sets what consumers pay."""
        price = self.anchored("shelf", item)
        if self.mirror.firm.retail_prices.get(item) != price:
            yield from self.do(c.SetRetailPrice.trusted(item_id=item, price_per_unit=price))

    def wants_to_buy(self) -> bool:
        """Whether something is missing to a position."""
        levers, mirror = self.levers, self.mirror
        return any(levers[f"position.{i}"] > mirror.position(i) for i in BUYS[self.role])

    def tidy(self) -> _Commands:
        """Takes back bids that have waited too long."""
        today = self.mirror.view.day
        for bid in self.mirror.offers_out:
            if bid.posted_day <= today - PATIENCE_DAYS:
                yield from self.do(c.WithdrawOffer.trusted(offer_id=bid.id))

    def bid(self, item: str) -> _Commands:
        """Bids for what is missing to the position, on the cheapest listings within the limit."""
        mirror, levers = self.mirror, self.levers
        want = int(levers[f"position.{item}"]) - mirror.position(item)
        if want <= 0:
            return
        limit = self.anchored("limit", item)
        today = mirror.view.day
        asked = {bid.listing for bid in mirror.offers_out if bid.posted_day == today}
        left = SOURCES - sum(row.id in asked for row in mirror.listings if row.item == item)
        for row in cheapest(mirror, item):
            if want <= 0 or left <= 0 or row.asking_price > limit:
                return
            if row.id in asked:
                continue
            price = round(levers[f"bid.{item}"] * row.asking_price, 2)
            qty = min(want, row.qty)
            for bid in self.on_terms(_bid(row.id, price, qty), int(levers["terms"])):
                want -= qty
                left -= 1
                yield bid

    def grow(self, item: str) -> _Commands:
        """Grows the share of the daily cap that is set, as far as it is possible."""
        done = self.mirror.firm.produced_today.get(item, 0)
        wished = round(self.levers[f"grow.{item}"] * self.catalogue.items[item].daily_cap) - done
        mirror, check = self.mirror, self.mirror.production.check_produce
        qty = mirror.most(lambda kg: mirror.admits(check, item, kg), wished)
        if qty:
            yield from self.do(c.ProduceItem.trusted(item_id=item, quantity=qty))

    def roast(self, item: str) -> _Commands:
        """Roasts the share of what can be roasted that is set; the dearer coffee goes first."""
        share = self.levers[f"roast.{item}"]
        if not share or self.mirror.firm.roasted_today.get(item):
            return
        qty = round(share * roastable(self.mirror, item))
        if qty:
            yield from self.do(c.Roast.trusted(green_item_id=item, qty_kg=qty))

    def pay(self) -> _Commands:
        """Pays what is due soon, by due day; a farmer, who owes refunds only, at once."""
        mirror = self.mirror
        last = mirror.view.day + self.levers.get("pay", 30.0)
        bills = [b for b in mirror.world.owed_by[mirror.view.firm] if b.due_day <= last]
        for bill in sorted(bills, key=lambda i: i.due_day):
            if mirror.done[c.PayInvoice] >= PAYMENTS:
                return
            yield from self.do(c.PayInvoice.trusted(invoice_id=bill.id))


def _listing(item: str, qty: int, price: float) -> Callable[[int], c.Command]:
    """A listing for any number of days of credit."""
    return lambda days: c.PostListing.trusted(
        item_id=item, qty=qty, asking_price=price, payment_terms_days=days
    )


def _bid(listing: str, price: float, qty: int) -> Callable[[int], c.Command]:
    """A bid for any number of days of credit."""
    return lambda days: c.MakeOffer.trusted(
        listing_id=listing, offered_price=price, qty=qty, payment_terms_days=days
    )
