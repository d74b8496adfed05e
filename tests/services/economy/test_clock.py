"""A town's time: who may act when, and what a call costs (note, S2)."""

from __future__ import annotations

from typing import Literal

import pytest

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import (
    AcceptOffer,
    Command,
    MakeOffer,
    PayInvoice,
    PostListing,
    ProduceItem,
    ReturnShipment,
    SendMessage,
    ViewTrialBalance,
    WaitForNextDay,
)
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.setup import TownSetup
from services.economy.town import Town, Turn
from tests.services.economy.by_hand import bid, calm_town, do, events, morning, trade

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)
NAMES = ["farmer_A", "farmer_B", "roaster_A", "roaster_B", "retailer_A", "retailer_B"]
WAIT = WaitForNextDay()


def at_work(rules: Rules = COFFEEBENCH) -> Town:
    """A calm town at 09:00 of day 0, where everybody but roaster_A waits for the next day."""
    town = calm_town(rules)
    for turn in morning(town, 0):
        if turn.firm != "roaster_A":
            town.apply(turn.firm, WAIT)
    return town


def next_turns(town: Town) -> tuple[int, list[Turn]]:
    """The minute of the day and the turns of the next minute at which somebody may act."""
    while (minute := town.next_minute()) is not None:
        turns = town.advance(minute)
        if turns:
            return minute % 1440, turns
    return -1, []


@BOTH
def test_the_day_opens_at_nine_with_a_turn_for_every_live_firm(rules: Rules) -> None:
    town = calm_town(rules)
    assert town.next_minute() == 540
    turns = morning(town, 0)
    assert sorted(turns) == sorted(Turn(name, "morning") for name in NAMES)


def test_the_original_asks_the_firms_in_their_fixed_order() -> None:
    assert [turn.firm for turn in morning(calm_town(COFFEEBENCH), 0)] == NAMES


def test_there_is_nothing_before_nine_and_after_nineteen() -> None:
    town = calm_town()
    minutes = set()
    while (minute := town.next_minute()) is not None and minute < 3 * 1440:
        minutes.add(minute % 1440)
        for turn in town.advance(minute):
            town.apply(turn.firm, ViewTrialBalance())
    assert minutes == set(range(540, 1141, 30))


@BOTH
def test_every_call_takes_half_an_hour_also_a_refused_one(rules: Rules) -> None:
    town = at_work(rules)
    assert town.apply("roaster_A", ViewTrialBalance()).ok
    assert next_turns(town) == (570, [Turn("roaster_A", None)])
    assert not town.apply("roaster_A", PayInvoice(invoice_id="I7")).ok
    assert next_turns(town) == (600, [Turn("roaster_A", None)])


@BOTH
def test_a_turn_without_an_answer_costs_as_much(rules: Rules) -> None:
    town = at_work(rules)
    town.skip("roaster_A")
    assert next_turns(town) == (570, [Turn("roaster_A", None)])


@BOTH
def test_who_waits_is_asked_again_the_next_morning(rules: Rules) -> None:
    town = at_work(rules)
    town.apply("roaster_A", WAIT)
    minute, turns = next_turns(town)
    assert (minute, len(turns), town.state.day) == (540, 6, 1)


@BOTH
def test_a_firm_that_never_waits_has_twenty_calls_a_day(rules: Rules) -> None:
    town = at_work(rules)
    calls = 0
    while town.state.day == 0:
        calls += 1
        town.apply("roaster_A", ViewTrialBalance())
        next_turns(town)
    assert calls == 20


@BOTH
def test_a_call_at_half_past_six_is_the_last_of_the_day(rules: Rules) -> None:
    town = at_work(rules)
    for _ in range(19):
        town.apply("roaster_A", ViewTrialBalance())
        minute, _turns = next_turns(town)
    assert minute == 1110
    town.apply("roaster_A", ViewTrialBalance())
    assert next_turns(town)[0] == 540


def told(town: Town, firm: str) -> str | None:
    """The reason with which a waiting firm is called back at the next minute it may act."""
    for turn in next_turns(town)[1]:
        if turn.firm == firm:
            return turn.reason
    return None


def test_events_call_a_waiting_firm_back_and_say_why() -> None:
    town = at_work()
    listing = do(town, "farmer_A", PostListing(item_id=GREEN, qty=10, asking_price=4.0)).new_id
    assert listing is not None
    town.apply("farmer_A", WAIT)
    command = MakeOffer(listing_id=listing, offered_price=4.0, qty=10)
    offer = do(town, "roaster_A", command).new_id
    assert told(town, "farmer_A") == "offer received"
    town.apply("roaster_A", WAIT)
    do(town, "farmer_A", AcceptOffer(offer_id=offer or ""))
    assert told(town, "roaster_A") == "offer accepted"
    do(
        town,
        "roaster_A",
        SendMessage(recipient="retailer_B", title="hello", body="we have coffee"),
    )
    assert told(town, "retailer_B") == "message"


def test_payment_and_returned_goods_call_the_other_side_back() -> None:
    for command, reason in (
        (PayInvoice(invoice_id="I1"), "invoice paid"),
        (ReturnShipment(invoice_id="I1", quantity_kg=1), "goods came back"),
    ):
        town = calm_town(COFFEEBENCH)
        morning(town, 0)
        trade(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
        for turn in morning(town, 1):
            if turn.firm != "roaster_A":
                town.apply(turn.firm, WAIT)
        do(town, "roaster_A", command)
        assert told(town, "farmer_A") == reason


def test_in_the_morning_firms_with_goods_or_batches_come_first_and_know_only_it_is_morning() -> (
    None
):
    town = calm_town(COFFEEBENCH)
    morning(town, 0)
    do(town, "farmer_B", ProduceItem(item_id=GREEN, quantity=1))
    morning(town, 1)
    trade(town, "roaster_A", "retailer_B", ROASTED, 5, 10.0)
    turns = morning(town, 2)
    assert [turn.firm for turn in turns[:2]] == ["farmer_B", "retailer_B"]
    assert {turn.reason for turn in turns} == {"morning"}
    assert len(turns) == 6


def test_after_the_last_day_nothing_is_due_any_more() -> None:
    town = calm_town(days=1)
    while (minute := town.next_minute()) is not None:
        town.advance(minute)
    assert town.closed
    assert town.state.closed_on == 0


def test_every_command_is_an_event_with_its_number_arguments_and_outcome() -> None:
    town = at_work()
    town.drain()
    town.apply("roaster_A", PostListing(item_id=ROASTED, qty=5, asking_price=9.5))
    town.apply("roaster_A", PayInvoice(invoice_id="I7"))
    posted, refused = events(town, "action")
    assert posted == {
        "seq": 6,
        "tool": "post_listing",
        "args": {"item_id": ROASTED, "qty": 5, "asking_price": 9.5},
        "status": "success",
        "new_id": "L1",
        "day": 0,
        "minute_of_day": 540,
    }
    assert (refused["status"], refused["error_code"]) == ("error", "unknown_invoice")


@BOTH
def test_a_town_that_is_written_out_and_read_back_goes_on_as_if_nothing_had_been(
    rules: Rules,
) -> None:
    """Also in the middle of a day, with goods on the road, bids pending and wakes scheduled."""
    setup = TownSetup(rules=rules, loss_probability=0.3, delay_probability=0.3)
    town = Town(setup)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
    trade(town, "roaster_B", "retailer_A", ROASTED, 10, 9.0)
    bid(town, "farmer_B", "roaster_B", GREEN, 10, 4.0)
    other = Town.load(setup, town.dump())
    town.drain()
    for one in (town, other):
        while (minute := one.next_minute()) is not None:
            for turn in one.advance(minute):
                one.apply(turn.firm, WAIT)
    assert other.drain() == town.drain()
    assert other.dump() == town.dump()


def test_a_firm_that_is_busy_until_closing_time_is_not_called_back_any_more_that_day() -> None:
    town = calm_town(HANSE)
    morning(town, 1)
    town.clock(1440 + 1110)
    town.apply("roaster_A", WAIT)
    do(town, "farmer_A", SendMessage(recipient="roaster_A", title="hello", body="still there?"))
    late = town.next_minute()
    while late is not None and late < 2 * 1440:
        assert "roaster_A" not in [turn.firm for turn in town.advance(late)]
        late = town.next_minute()
    assert "roaster_A" in [turn.firm for turn in morning(town, 2)]


def test_a_command_that_is_not_the_economys_is_refused_and_costs_its_time() -> None:
    class Dance(Command):
        type: Literal["dance_for_the_clock_test"] = "dance_for_the_clock_test"

    town = at_work()
    result = town.apply("roaster_A", Dance())
    assert (result.ok, result.code) == (False, "unknown_command")
    assert next_turns(town)[0] == 570


def test_the_log_has_the_name_of_any_command_whatever_is_in_it() -> None:
    """A name with a quote and a line break would otherwise make a row that nobody can read."""

    class Sing(Command):
        type: str = 'sing "\n\\'
        verse: int

    town = at_work()
    town.drain()
    town.apply("roaster_A", Sing(verse=2))
    town.apply("roaster_A", WAIT)
    sung, waited = events(town, "action")
    assert (sung["tool"], sung["args"]) == ('sing "\n\\', {"verse": 2})
    assert (sung["status"], sung["error_code"]) == ("error", "unknown_command")
    assert (waited["tool"], waited["status"]) == ("wait_for_next_day", "success")


def test_who_wants_no_observations_loses_its_notices_on_request() -> None:
    town = at_work()
    town.world.notify(town.firms["roaster_A"], "news")
    town.dismiss_notices("roaster_A")
    assert town.firms["roaster_A"].notices == []
