"""From levers to commands: what a firm does with its day once a policy has set its levers.

Everything here asks the mirror, that is, the economy's own rules, what is possible; there is no
rule of trade in this file. The order is that of urgency: take bids, offer stock, bid, make, pay.
Before it bids a firm looks at the listings once more: many firms list anew in the morning, and a
bid on a listing that is gone is a call for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    role: Role = mirror.view.role  # type: ignore[assignment]
    day = _Day(mirror, levers, at_most)
    day.take_bids()
    for item in SELLS[role]:
        day.offer(item)
    if role == "retailer":
        for item in BUYS[role]:
            day.price(item)
    if not mirror.fresh and day.wants_to_buy(BUYS[role]):
        day.look()
        return day.commands
    day.tidy()
    for item in BUYS[role]:
        day.bid(item)
    for item in SELLS[role] if role == "farmer" else ():
        day.grow(item)
    for item in reversed(BUYS[role]) if role == "roaster" else ():
        day.roast(item)
    day.pay()
    return day.commands


def answer(mirror: Mirror, levers: Levers) -> list[c.Command]:
    """What to do about bids that have come in since the day's commands were decided."""
    day = _Day(mirror, levers, None)
    day.take_bids()
    return day.commands


class _Day:
    """Collects commands and carries each out in the mirror."""

    def __init__(self, mirror: Mirror, levers: Levers, at_most: int | None) -> None:
        self.mirror = mirror
        self.levers = levers
        self.catalogue = mirror.setup.catalogue
        self.at_most = at_most
        self.commands: list[c.Command] = []

    def do(self, command: c.Command) -> bool:
        """Adds a command if the rules admit it; whether they do."""
        if self.at_most is not None and len(self.commands) >= self.at_most:
            return False
        done = self.mirror.apply(command)
        if done:
            self.commands.append(command)
        return done

    def anchored(self, lever: str, item: str) -> float:
        """What a lever in anchors comes to, dollars a kilogram."""
        return round(self.levers[f"{lever}.{item}"] * anchor(self.catalogue, item), 2)

    def take_bids(self) -> None:
        """Accepts bids that are high enough, the best first."""
        bids = sorted(self.mirror.offers_in, key=lambda o: (-o.price, int(o.id[1:])))
        for bid in bids:
            least = self.levers["accept"] * self.anchored("ask", bid.item)
            if bid.price >= least - 1e-9:
                self.do(c.AcceptOffer.trusted(offer_id=bid.id))

    def offer(self, item: str) -> None:
        """Keeps one listing of an item, with the share of the stock and the price that are set."""
        qty = round(self.levers[f"list.{item}"] * self.mirror.stock(item))
        price = self.anchored("ask", item)
        for own in self.mirror.own_listings:
            if own.item == item and own.asking_price == price and own.qty == qty:
                return
        if qty:
            self.do(c.PostListing.trusted(item_id=item, qty=qty, asking_price=price))

    def price(self, item: str) -> None:
        """Sets what consumers pay."""
        price = self.anchored("shelf", item)
        if self.mirror.firm.retail_prices.get(item) != price:
            self.do(c.SetRetailPrice.trusted(item_id=item, price_per_unit=price))

    def wants_to_buy(self, items: tuple[str, ...]) -> bool:
        """Whether something is missing to a position."""
        return any(self.levers[f"position.{i}"] > self.mirror.position(i) for i in items)

    def look(self) -> None:
        """Looks at the listings again."""
        if self.at_most is None or len(self.commands) < self.at_most:
            self.commands.append(LISTINGS)

    def tidy(self) -> None:
        """Takes back bids that have waited too long."""
        today = self.mirror.view.day
        for bid in self.mirror.offers_out:
            if bid.posted_day <= today - PATIENCE_DAYS:
                self.do(c.WithdrawOffer.trusted(offer_id=bid.id))

    def bid(self, item: str) -> None:
        """Bids for what is missing to the position, on the cheapest listings within the limit."""
        mirror, levers = self.mirror, self.levers
        want = int(levers[f"position.{item}"]) - mirror.position(item)
        limit = self.anchored("limit", item)
        today = mirror.view.day
        asked = {bid.listing for bid in mirror.offers_out if bid.posted_day == today}
        left = SOURCES - sum(row.id in asked for row in mirror.listings if row.item == item)
        for row in cheapest(mirror, item):
            if want <= 0 or left <= 0 or row.asking_price > limit:
                return
            if row.id in asked:
                continue
            bid = c.MakeOffer.trusted(
                listing_id=row.id,
                offered_price=round(levers[f"bid.{item}"] * row.asking_price, 2),
                qty=min(want, row.qty),
                payment_terms_days=int(levers["terms"]),
            )
            if self.do(bid):
                want -= bid.qty
                left -= 1

    def grow(self, item: str) -> None:
        """Grows the share of the daily cap that is set, as far as it is possible."""
        done = self.mirror.firm.produced_today.get(item, 0)
        wished = round(self.levers[f"grow.{item}"] * self.catalogue.items[item].daily_cap) - done
        qty = self.mirror.most(lambda n: c.ProduceItem.trusted(item_id=item, quantity=n), wished)
        if qty:
            self.do(c.ProduceItem.trusted(item_id=item, quantity=qty))

    def roast(self, item: str) -> None:
        """Roasts the share of what can be roasted that is set; the dearer coffee goes first."""
        if self.mirror.firm.roasted_today.get(item):
            return
        qty = round(self.levers[f"roast.{item}"] * roastable(self.mirror, item))
        if qty:
            self.do(c.Roast.trusted(green_item_id=item, qty_kg=qty))

    def pay(self) -> None:
        """Pays what is due soon, by due day; a farmer, who owes refunds only, at once."""
        ahead = self.levers.get("pay", 30.0)
        mirror = self.mirror
        for bill in sorted(mirror.world.owed_by[mirror.view.firm], key=lambda i: i.due_day):
            if bill.due_day - mirror.view.day > ahead:
                return
            if mirror.done[c.PayInvoice] < PAYMENTS:
                self.do(c.PayInvoice.trusted(invoice_id=bill.id))
