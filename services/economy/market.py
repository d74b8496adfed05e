"""Listings, offers and deals (note, S5)."""

from __future__ import annotations

from services.economy.commands import (
    AcceptOffer,
    CancelListing,
    MakeOffer,
    PostListing,
    RejectOffer,
    SetRetailPrice,
    WithdrawOffer,
)
from services.economy.money import cents, dollars, micros
from services.economy.results import Listing, Offer, Refusal, Values, named_values
from services.economy.state import Deal, FirmState
from services.economy.world import World


class Market:
    """Who offers what to whom, and who agrees.

    Every ``check_`` makes all the checks of a command, in their order, and changes nothing.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    def post_listing(self, firm: FirmState, command: PostListing) -> tuple[str, None]:
        """Offers stock for sale; returns the listing's id. The stock is not set aside.

        Raises:
            Refusal: unknown item, quantity, more than held, price or terms.
        """
        item, qty = command.item_id, command.qty
        price, terms = command.asking_price, command.payment_terms_days
        self.check_listing(firm, item, qty, price, terms)
        world = self.world
        state = world.state
        minute = state.minute % 1440
        listing = Listing(world.new_id("L"), firm.name, item, qty, price, terms, state.day, minute)
        if world.rules.honest_listings:
            self._supersede(listing)
        world.add_listing(listing)
        return listing.id, None

    def check_listing(self, firm: FirmState, item: str, qty: int, price: float, terms: int) -> None:
        """Whether the firm may offer so much of its stock.

        Raises:
            Refusal: as of :meth:`post_listing`.
        """
        world = self.world
        world.known_item(item)
        if qty < 1:
            raise Refusal("quantity_out_of_range", "the quantity must be at least 1 kg")
        if qty > firm.kg.get(item, 0):
            raise Refusal("exceeds_stock", f"only {firm.kg.get(item, 0)} kg of {item} are held")
        world.checked_price(price)
        world.checked_terms(terms)

    def _supersede(self, new: Listing) -> None:
        """One live listing of an item for each seller: the new one takes over pending bids."""
        world = self.world
        item, own = new.item, world.listings_of[new.seller].values()
        for listing in [listing for listing in own if listing.item == item]:
            replaced, bids = listing.id, world.offers_to[new.seller].values()
            for offer in [offer for offer in bids if offer.listing == replaced]:
                world.add_offer(offer._replace(listing=new.id))
            world.replace_listing(listing.ended("superseded"))

    def cancel_listing(self, firm: FirmState, command: CancelListing) -> None:
        """Takes an own listing back.

        Raises:
            Refusal: not available under these rules, unknown, closed or another's.
        """
        listing = self.check_cancelling(firm, command.listing_id)
        self.close_listing(listing, "cancelled", "listing cancelled")

    def check_cancelling(self, firm: FirmState, listing_id: str) -> Listing:
        """The listing, if the firm may take it back.

        Raises:
            Refusal: as of :meth:`cancel_listing`.
        """
        self._extended("cancel_listing")
        listing = self._open_listing(listing_id)
        if listing.seller != firm.name:
            raise Refusal("not_owner", f"{listing.id} belongs to {listing.seller}")
        return listing

    def close_listing(self, listing: Listing, status: str, reason: str | None) -> None:
        """Ends a listing and its pending bids; with a reason, the bidders are told."""
        world = self.world
        world.replace_listing(listing.ended(status))
        fate = "expired" if status == "expired" else "rejected"
        for offer in list(world.offers_to[listing.seller].values()):
            if offer.listing == listing.id:
                world.resolve_offer(offer, fate)
                if reason is not None:
                    buyer = world.state.firms[offer.buyer]
                    world.notify(buyer, f"offer {offer.id} has lapsed: {reason}")

    def make_offer(self, firm: FirmState, command: MakeOffer) -> tuple[str, Values]:
        """Bids on a listing; wakes the seller. Returns the offer's id and the seller.

        Raises:
            Refusal: unknown or closed listing, own listing, quantity, price or terms.
        """
        price, terms = command.offered_price, command.payment_terms_days
        listing = self.check_offer(firm, command.listing_id, price, command.qty, terms)
        world = self.world
        state = world.state
        offer = Offer(
            world.new_id("O"),
            listing.id,
            listing.seller,
            firm.name,
            listing.item,
            price,
            command.qty,
            terms,
            command.message,
            state.day,
            state.minute % 1440,
        )
        world.add_offer(offer)
        world.wake(listing.seller, "offer received")
        return offer.id, named_values({"seller": listing.seller})

    def check_offer(
        self, firm: FirmState, listing_id: str, price: float, qty: int, terms: int
    ) -> Listing:
        """The listing, if the firm may bid for so much of it.

        Raises:
            Refusal: as of :meth:`make_offer`.
        """
        world = self.world
        listing = self._open_listing(listing_id)
        if listing.seller == firm.name:
            raise Refusal("own_listing", "a firm cannot bid on its own listing")
        left = self.available(listing)
        if not 1 <= qty <= left:
            raise Refusal("offer_qty_out_of_range", f"{listing.id} has {left} kg left")
        world.checked_price(price)
        world.checked_terms(terms)
        return listing

    def available(self, listing: Listing) -> int:
        """Kilograms that a listing really offers under the rules in force."""
        if not self.world.rules.honest_listings:
            return listing.qty
        return min(listing.qty, self.world.state.firms[listing.seller].kg.get(listing.item, 0))

    def withdraw_offer(self, firm: FirmState, command: WithdrawOffer) -> None:
        """Takes an own pending bid back.

        Raises:
            Refusal: unknown, another's, or no longer pending.
        """
        offer = self.check_withdrawing(firm, command.offer_id)
        self.world.resolve_offer(offer, "withdrawn")

    def check_withdrawing(self, firm: FirmState, offer_id: str) -> Offer:
        """The bid, if the firm may take it back.

        Raises:
            Refusal: as of :meth:`withdraw_offer`.
        """
        return self._pending_offer(offer_id, firm.name, side="buyer")

    def reject_offer(self, firm: FirmState, command: RejectOffer) -> None:
        """Says no to a pending bid and wakes the bidder.

        Raises:
            Refusal: not available under these rules, unknown, another's or no longer pending.
        """
        offer = self.check_rejecting(firm, command.offer_id)
        world = self.world
        world.resolve_offer(offer, "rejected")
        why = f": {command.reason}" if command.reason else ""
        world.notify(world.state.firms[offer.buyer], f"{firm.name} rejected {offer.id}{why}")
        world.wake(offer.buyer, "offer rejected")

    def check_rejecting(self, firm: FirmState, offer_id: str) -> Offer:
        """The bid, if the firm may say no to it.

        Raises:
            Refusal: as of :meth:`reject_offer`.
        """
        self._extended("reject_offer")
        return self._pending_offer(offer_id, firm.name, side="seller")

    def accept_offer(self, firm: FirmState, command: AcceptOffer) -> tuple[str, Values]:
        """Turns a pending bid into a deal: the goods and their cost leave the seller now.

        The checks come in the original's order (note, S5).

        Raises:
            Refusal: the first check that fails.
        """
        offer, listing, total = self.check_accepting(firm, command.offer_id)
        world = self.world
        state = world.state
        buyer = state.firms[offer.buyer]
        qty = offer.qty
        world.resolve_offer(offer, "accepted")
        rest = listing.qty - qty
        if rest:
            world.replace_listing(listing._replace(qty=rest))
        else:
            told = "sold out" if world.rules.honest_listings else None
            self.close_listing(listing._replace(qty=0), "closed", told)
        pair = f"{firm.name}>{buyer.name}"
        nth = state.pairs.get(pair, 0)
        state.pairs[pair] = nth + 1
        cost = world.take(firm, offer.item, qty)
        deal = Deal(
            id=world.new_id("D"),
            listing=listing.id,
            offer=offer.id,
            seller=firm.name,
            buyer=buyer.name,
            item=offer.item,
            qty=qty,
            unit_price=offer.price,
            total=total,
            terms=offer.payment_terms_days,
            accepted_day=state.day,
            accepted_minute=state.minute % 1440,
            due_day=state.day + 1,
            cost=cost,
            nth=nth,
        )
        world.add_deal(deal)
        world.post(firm, "goods_in_transit", "inventory", cost, deal.id)
        world.expect(buyer, deal.item, qty)
        firm.deals += 1
        buyer.deals += 1
        world.event(
            "deal",
            firm.name,
            {
                "deal": deal.id,
                "listing": listing.id,
                "offer": offer.id,
                "seller": firm.name,
                "buyer": buyer.name,
                "item": deal.item,
                "qty": qty,
                "unit_price": offer.price,
                "total_price": dollars(total),
                "terms_days": deal.terms,
                "day": deal.accepted_day,
                "delivery_day": deal.due_day,
            },
        )
        world.wake(buyer.name, "offer accepted")
        values = {
            "buyer": buyer.name,
            "item": deal.item,
            "qty": qty,
            "unit_price": offer.price,
            "total": dollars(total),
            "delivery_day": deal.due_day,
        }
        return deal.id, named_values(values)

    def check_accepting(self, firm: FirmState, offer_id: str) -> tuple[Offer, Listing, int]:
        """The bid, its listing and what it comes to (micro-dollars), if the firm may accept it.

        Raises:
            Refusal: as of :meth:`accept_offer`.
        """
        world = self.world
        offer = self._pending_offer(offer_id, firm.name, side="seller")
        listing = self._open_listing(offer.listing)
        qty = offer.qty
        if qty > listing.qty:
            raise Refusal("offer_exceeds_listing", f"{listing.id} has only {listing.qty} kg left")
        if firm.kg.get(offer.item, 0) < qty:
            raise Refusal("seller_short_stock", f"only {firm.kg.get(offer.item, 0)} kg are held")
        buyer = world.state.firms[offer.buyer]
        if buyer.committed + qty > buyer.stock_cap:
            raise Refusal("buyer_inventory_cap", f"{buyer.name} has no room for {qty} kg")
        total = cents(offer.price * qty)
        if world.rules.credit_limited:
            self._check_credit(buyer, total)
        return offer, listing, total

    def set_retail_price(self, firm: FirmState, command: SetRetailPrice) -> Values:
        """Sets a storefront price; 0 takes the item off the shelf.

        Raises:
            Refusal: unknown item, negative price, or above what the rules admit.
        """
        item, price = command.item_id, command.price_per_unit
        self.check_retail_price(firm, item, price)
        firm.retail_prices[item] = price
        return named_values({"price": price})

    def check_retail_price(self, firm: FirmState, item: str, price: float) -> None:
        """Whether a firm may ask a price of consumers.

        Raises:
            Refusal: as of :meth:`set_retail_price`.
        """
        self.world.known_item(item)
        if price < 0:
            raise Refusal("invalid_price", f"a storefront price cannot be {price:g}")
        if price > 0:
            self.world.checked_price(price)

    def expire(self) -> None:
        """Evening: listings and bids that are too old lapse (rules ``hanse``)."""
        world = self.world
        if not world.rules.honest_listings:
            return
        oldest = world.state.day - world.rules.listing_days
        for listing in list(world.state.listings.values()):
            if listing.posted_day <= oldest:
                self.close_listing(listing, "expired", f"listing {listing.id} has expired")
        for offer in list(world.state.offers.values()):
            if offer.posted_day <= oldest:
                world.resolve_offer(offer, "expired")
                world.notify(world.state.firms[offer.buyer], f"offer {offer.id} has expired")

    def end_trade_of(self, firm: FirmState) -> None:
        """Bankruptcy under the rules ``hanse``: listings close and bids on both sides lapse."""
        world = self.world
        for listing in list(world.listings_of[firm.name].values()):
            self.close_listing(listing, "closed", f"{firm.name} is bankrupt")
        for offer in list(world.offers_by[firm.name].values()):
            world.resolve_offer(offer, "rejected")

    def _check_credit(self, buyer: FirmState, total: int) -> None:
        under_way = sum(d.total for d in self.world.deals_of[buyer.name] if d.buyer == buyer.name)
        owed = -buyer.balances["accounts_payable"] + under_way + total
        if owed > micros(self.world.rules.credit_limit):
            raise Refusal(
                "credit_limit",
                f"{buyer.name} would owe {dollars(owed):.2f}, more than its credit limit"
                f" of {self.world.rules.credit_limit:.2f}",
            )

    def _extended(self, command: str) -> None:
        if not self.world.rules.extended_commands:
            raise Refusal("unknown_command", f"{command} does not exist under these rules")

    def _open_listing(self, listing_id: str) -> Listing:
        listing = self.world.state.listings.get(listing_id)
        if listing is None:
            if _issued(listing_id, "L", self.world.state.counters["L"]):
                raise Refusal("listing_closed", f"{listing_id} is closed")
            raise Refusal("unknown_listing", f"there is no listing {listing_id}")
        return listing

    def _pending_offer(self, offer_id: str, firm: str, side: str) -> Offer:
        state = self.world.state
        offer = state.offers.get(offer_id) or state.resolved_offers.get(offer_id)
        if offer is None:
            if _issued(offer_id, "O", state.counters["O"]):
                raise Refusal("offer_closed", f"{offer_id} was closed long ago")
            raise Refusal("unknown_offer", f"there is no offer {offer_id}")
        owner = offer.seller if side == "seller" else offer.buyer
        if owner != firm:
            raise Refusal("not_owner", f"{offer_id} is for {owner} to answer")
        if offer.status != "pending":
            raise Refusal(f"offer_{offer.status}", f"{offer_id} is {offer.status}")
        return offer


def _issued(identifier: str, kind: str, last: int) -> bool:
    """Whether an identifier of that kind has ever been given out."""
    number = identifier[1:]
    if identifier[:1] != kind or not number.isascii() or not number.isdigit():
        return False
    return number[0] != "0" and int(number) <= last
