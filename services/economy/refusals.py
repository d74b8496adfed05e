"""The codes with which a town refuses commands, each as a sentence for a person."""

from __future__ import annotations

from typing import Final

REFUSALS: Final[dict[str, str]] = {
    "amount_out_of_range": "a payment is above 0 and at most what is open on the invoice",
    "buyer_inventory_cap": "the buyer has no room for the goods",
    "credit_limit": "the buyer would owe more than its credit limit",
    "daily_cap": "more than can be made in a day",
    "empty_message": "a letter needs a title and a body",
    "exceeds_stock": "more than is in stock",
    "insufficient_cash": "there is not enough cash",
    "invalid_price": "the price is outside what the rules allow",
    "invalid_terms": "the terms of payment are outside what the rules allow",
    "inventory_cap": "the goods do not fit into the store",
    "invoice_closed": "nothing is open on the invoice",
    "listing_closed": "the listing is closed",
    "no_foreign_trade": "no router joins the town to another",
    "not_owner": "what the command names belongs to another firm",
    "offer_accepted": "the bid is accepted already",
    "offer_closed": "the bid was closed long ago",
    "offer_exceeds_listing": "the listing has less left than the bid asks for",
    "offer_expired": "the bid has lapsed",
    "offer_qty_out_of_range": "a bid is for at least 1 kg and at most what the listing has left",
    "offer_rejected": "the bid was rejected",
    "offer_withdrawn": "the bid was withdrawn",
    "own_listing": "a firm cannot bid on its own listing",
    "own_message": "a firm cannot write to itself",
    "part_payment": "these rules know full payment only",
    "quantity_out_of_range": "a quantity is at least 1 kg",
    "return_exceeds_deal": "more than was delivered",
    "return_exceeds_stock": "more than is in stock",
    "return_window_closed": "it is too late to send the goods back",
    "seller_bankrupt": "the seller is bankrupt",
    "seller_short_stock": "the seller has less in stock than the bid asks for",
    "title_too_long": "the title of the letter is too long",
    "unknown_command": "these rules do not know the command",
    "unknown_firm": "there is no such firm in the town",
    "unknown_invoice": "there is no such invoice",
    "unknown_item": "there is no such item",
    "unknown_listing": "there is no such listing",
    "unknown_message": "there is no such letter",
    "unknown_offer": "there is no such bid",
    "wrong_role": "the firm's role does not do this",
}
"""What each code means."""
