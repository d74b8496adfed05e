"""Firms that talk and believe."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.context import Context
from actors.exchange import Turn
from actors.measures import Advisory
from actors.strategies import make_strategy
from actors.strategies.informed import Informed, InformedFarmer, InformedRetailer, InformedRoaster
from actors.strategies.strategy import Plan
from services.economy.catalogue import GREEN, ROASTED, ROASTED_SPECIALTY
from services.economy.commands import ViewDeals, WaitForNextDay
from services.economy.results import Listing, Result
from services.errors import HanseError
from services.messages import Payload
from services.talk.claims import Claim
from services.talk.payloads import (
    BoardRead,
    BoardWrite,
    ForecastRequest,
    MarketNote,
    StatusReply,
    StatusRequest,
    told,
)

NINE = 540
COLLAPSE = [
    Claim(item, 0.6, 0.95, True, "late cherries fall santos today growers whisper")
    for item in (GREEN, ROASTED, ROASTED_SPECIALTY)
]
EVERYBODY: dict[str, Any] = {
    "neighbours": ["bob", "carol"],
    "board": "board",
    "forecaster": "forecaster",
    "suppliers": ["bob"],
}


def offered(price: float) -> Listing:
    return Listing("L1", "farmer_A", GREEN, 30, price, 30, 0, 540)


def convinced(strategy: Informed, context: Context, claims: list[Claim] = COLLAPSE) -> None:
    for _ in range(12):
        note = context.incoming("bob", told(MarketNote, claims))
        context.handled = note
        strategy.heard(note, context)


def test_it_talks_about_as_often_as_the_note_says() -> None:
    farmer = InformedFarmer("alice", "farmer", **EVERYBODY)
    sent: list[Payload] = []
    for day in range(60):
        context = Context("alice", now=day * 1440 + NINE)
        for hour in range(10):
            context.clock.now = day * 1440 + NINE + 60 * hour
            farmer.wake(context)
        sent += [m.payload for m in context.outbox]
    rates = {
        kind: sum(isinstance(p, kind) for p in sent) / 600
        for kind in (MarketNote, BoardWrite, BoardRead, ForecastRequest, StatusRequest)
    }
    expected = (2 * 0.55, 0.25, 0.25, 0.20, 0.45)
    assert list(rates.values()) == pytest.approx(expected, abs=0.06)


def test_it_is_woken_every_hour_from_nine_to_six() -> None:
    farmer = InformedFarmer("alice", "farmer")
    context = Context("alice")
    farmer.start(context)
    minutes = []
    for _ in range(11):
        minutes.append(context.wakes.pop())
        context = Context("alice", now=minutes[-1])
        farmer.wake(context)
    assert minutes == [*range(540, 1081, 60), 1440 + 540]


def test_it_declares_whom_it_reaches_and_how() -> None:
    assert InformedFarmer("alice", "farmer", **EVERYBODY).contacts() == {
        "bob": ("comm", "exec"),
        "carol": ("comm",),
        "board": ("mem",),
        "forecaster": ("tool",),
    }


def test_a_belief_is_recorded_with_the_message_that_brought_it_about() -> None:
    farmer = InformedFarmer("alice", "farmer", trust=1.0)
    context = Context("alice", now=NINE)
    convinced(farmer, context)
    kinds = {row[5] for row in context.events}
    assert kinds == {"belief"}
    assert {row[4] for row in context.events} == {"bob#1"}
    assert all(row[6] == "alice" for row in context.events)


def test_who_expects_prices_to_collapse_asks_bids_grows_and_charges_less() -> None:
    context = Context("x", now=NINE)
    farmer, calm_farmer = (InformedFarmer("f", "farmer", trust=1.0) for _ in range(2))
    roaster, calm_roaster = (InformedRoaster("r", "roaster", trust=1.0) for _ in range(2))
    retailer, calm_retailer = (InformedRetailer("s", "retailer", trust=1.0) for _ in range(2))
    for strategy in (farmer, roaster, retailer):
        convinced(strategy, context)
    assert farmer.expects(GREEN) == 0.65
    assert farmer.asks[GREEN] < calm_farmer.asks[GREEN]
    assert farmer.ceilings()[0][2] < 0.5 * calm_farmer.ceilings()[0][2]
    listing = offered(4.0)
    assert roaster.bid_for(listing) <= 0.65 * calm_roaster.bid_for(listing)
    assert retailer.shelf_prices(False)[0] <= 0.65 * calm_retailer.shelf_prices(False)[0]


def test_nobody_pays_much_more_than_it_thinks_the_goods_worth() -> None:
    roaster = InformedRoaster("r", "roaster")
    assert roaster.bid_for(offered(40.0)) == round(1.35 * 4.1, 2)


def test_with_normal_expectations_it_bids_as_the_scripted_firm_does() -> None:
    roaster = InformedRoaster("r", "roaster")
    assert roaster.bid_for(offered(4.0)) == 3.88


def test_a_status_request_is_answered_until_there_are_too_many() -> None:
    farmer = InformedFarmer("alice", "farmer", capacity=3.5)
    context = Context("alice", now=NINE)
    answers = []
    for number in range(1, 6):
        request = context.incoming("bob", StatusRequest(), number)
        farmer.heard(request, context)
        reply = context.outbox[-1]
        assert (reply.recipient, reply.in_reply_to) == ("bob", request.id)
        assert isinstance(reply.payload, StatusReply)
        answers.append(reply.payload.ok)
    assert answers == [True, True, True, False, False]
    assert [row[5] for row in context.events] == ["overloaded"]


class Numbered(InformedFarmer):
    """A plan of five steps that keeps what it is told of each."""

    def day(self) -> Plan:
        self.told: list[str] = []
        for _ in range(5):
            result = yield ViewDeals()
            self.told.append(result.detail or "")


def test_turns_that_are_lost_to_overload_cost_time_and_nothing_of_the_plan() -> None:
    firm, context = Numbered("farmer_A", "farmer"), Context("farmer_A", now=NINE)
    own: list[str] = []
    reason, result = "morning", None
    for number in range(200):
        firm.work.units = 100.0 if (number + 1) % 20 else 0.0  # one turn in twenty is in peace
        turn = Turn(day=0, minute_of_day=NINE, reason=reason or None, result=result)
        command = firm.decide(turn, context)
        if isinstance(command, ViewDeals):
            own.append(str(number))
        elif isinstance(command, WaitForNextDay):
            break
        result, reason = Result(command="x", ok=True, detail=str(number)), ""
    assert firm.told == own and len(own) == 5
    assert number > 20, "most turns came to nothing"


def test_at_an_advisory_it_doubts_what_it_was_told_and_asks_nobody_again() -> None:
    farmer, context = InformedFarmer("alice", "farmer", trust=1.0), Context("alice", now=NINE)
    convinced(farmer, context)
    farmer.work.open = {"bob": 2}
    usual = InformedFarmer("alice", "farmer").asks
    context.clock.now = 660
    farmer.heard(context.incoming("containment", Advisory(since=NINE)), context)
    told_ = [json.loads(row[7]) for row in context.events if row[0] == 660]
    assert told_ and all(belief["factor"] == 1.0 for belief in told_)
    assert (farmer.asks, farmer.work.open) == (usual, {})
    convinced(farmer, context)
    assert farmer.asks == usual, "for the rest of the hour it is wary"
    context.clock.now = 720
    convinced(farmer, context)
    assert farmer.asks != usual


def test_it_goes_on_from_what_it_saved() -> None:
    context = Context("s", now=NINE)
    retailer = InformedRetailer("s", "retailer", trust=1.0, **EVERYBODY)
    convinced(retailer, context)
    retailer.work.asked(20.0, context.rng("x"))
    other = InformedRetailer("s", "retailer", trust=1.0, **EVERYBODY)
    other.load(retailer.save())
    assert other.save() == retailer.save()
    assert other.shelf_prices(False) == retailer.shelf_prices(False)
    assert other.asks == retailer.asks


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"trust": 2.0}, "trust: 2.0 does not fit; allowed: 0 to 1"),
        ({"rate": -1.0}, "rate: -1.0 does not fit; allowed: 0 to 10"),
        ({"neighbours": "bob"}, "neighbours"),
        ({"volume": 3}, "volume"),
    ],
)
def test_options_that_do_not_fit_are_named(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(HanseError) as error:
        make_strategy("informed", "roaster_A", "roaster", options, "run.toml")
    assert complaint in str(error.value)
