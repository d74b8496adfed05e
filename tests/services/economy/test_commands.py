"""Commands are checked where they enter; what needs the town's knowledge, the town checks."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from services.economy import commands as c
from services.economy.commands import COMMANDS, LIMIT
from services.messages import Payload, payload_class


def test_there_is_a_model_for_every_tool_of_the_original_and_three_of_ours() -> None:
    original = (
        *("post_listing", "view_listings", "make_offer", "withdraw_offer", "accept_offer"),
        *("view_offers", "view_deals", "send_message", "view_messages", "read_message"),
        *("view_payables", "view_receivables", "pay_invoice", "return_shipment"),
        *("view_trial_balance", "view_market_aggregate", "wait_for_next_day", "produce_item"),
        *("roast", "set_retail_price", "view_consumer_sales"),
    )
    ours = ("cancel_listing", "reject_offer", "order_abroad")
    assert set(COMMANDS) == {*original, *ours}
    assert all(payload_class(name) is kind for name, kind in COMMANDS.items())


def test_number_strings_and_whole_floats_are_numbers_as_in_the_original() -> None:
    command = c.PostListing.model_validate(
        {"item_id": "green_coffee_kg", "qty": "5", "asking_price": "4.5"}
    )
    assert (command.qty, command.asking_price) == (5, 4.5)
    assert c.Roast.model_validate({"green_item_id": "x", "qty_kg": 5.0}).qty_kg == 5


@pytest.mark.parametrize("quantity", ["five", 5.5, True, None, [5], LIMIT + 1, -LIMIT - 1, "1e3"])
def test_what_is_no_whole_number_is_no_quantity(quantity: object) -> None:
    with pytest.raises(ValidationError):
        c.ProduceItem.model_validate({"item_id": "green_coffee_kg", "quantity": quantity})


@pytest.mark.parametrize("price", ["nan", float("nan"), float("inf"), None, "dear", 2.0 * LIMIT])
def test_what_is_no_finite_amount_is_no_price(price: object) -> None:
    with pytest.raises(ValidationError):
        c.SetRetailPrice.model_validate({"item_id": "roasted_coffee_kg", "price_per_unit": price})


def test_arguments_that_do_not_exist_or_are_missing_are_refused() -> None:
    with pytest.raises(ValidationError):
        c.AcceptOffer.model_validate({"offer_id": "O1", "price": 4.0})
    with pytest.raises(ValidationError):
        c.AcceptOffer.model_validate({})


def test_a_command_cannot_be_changed_after_it_was_given() -> None:
    command = c.AcceptOffer(offer_id="O1")
    with pytest.raises(ValidationError):
        command.offer_id = "O2"  # type: ignore[misc]


def test_the_log_has_the_arguments_that_differ_from_their_defaults() -> None:
    command = c.MakeOffer(listing_id="L1", offered_price=4.0, qty=2, payment_terms_days=30)
    assert command.arguments() == {"listing_id": "L1", "offered_price": 4.0, "qty": 2}
    assert c.WaitForNextDay().arguments() == {}


def test_views_and_waiting_change_no_books() -> None:
    looking = {name for name, kind in COMMANDS.items() if not kind.changes_books}
    assert looking == {
        name
        for name in COMMANDS
        if name.startswith("view_") or name in ("read_message", "wait_for_next_day")
    }


def test_the_table_of_the_most_frequent_command_says_what_any_payload_would() -> None:
    for direction in ("all", "incoming", "outgoing"):
        for status in ("all", "pending"):
            command = c.ViewOffers.model_validate({"direction": direction, "status": status})
            assert command.log_body() == Payload.log_body(command)
