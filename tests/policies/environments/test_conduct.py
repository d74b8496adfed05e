"""A firm's day, turn by turn."""

from __future__ import annotations

import pytest

from actors.exchange import Turn
from policies.environments.action_layout import ActionLayout
from policies.environments.conduct import RETRIES, Conduct
from policies.environments.view import LOOKS
from services.economy import commands as c
from services.economy.catalogue import GREEN
from services.economy.observation import Observation
from services.economy.results import Result
from services.economy.setup import TownSetup
from services.economy.town import Town
from services.errors import HanseError

FIRM = "roaster_A"
SETUP = TownSetup(days=5)
LAYOUT = ActionLayout("roaster", SETUP.catalogue)


class Desk:
    """A town in which one firm acts and everybody else waits."""

    def __init__(self, conduct: Conduct) -> None:
        self.town = Town(SETUP)
        self.conduct = conduct
        self.result: Result | None = None
        self.sent: list[c.Command] = []
        self.lose: set[int] = set()
        """Calls of the firm that come to nothing."""

    def next_decision(self) -> bool:
        """Plays until the firm is to decide; false when the town has closed."""
        while (minute := self.town.next_minute()) is not None:
            for name, reason in self.town.advance(minute):
                if name != FIRM:
                    self.town.apply(name, c.WaitForNextDay())
                    continue
                seen: Observation | None = None
                if reason is not None:
                    seen = self.town.observe(name, reason)
                turn = Turn(
                    day=self.town.state.day,
                    minute_of_day=minute % 1440,
                    reason=reason,
                    result=self.result,
                    observation=seen,
                )
                command = self.conduct.turn(turn)
                if command is None:
                    return True
                self.send(command)
        return False

    def send(self, command: c.Command) -> None:
        """Carries the firm's command out, unless it is lost."""
        self.sent.append(command)
        if len(self.sent) in self.lose:
            self.town.skip(FIRM)
            self.result = None
        else:
            self.result = self.town.apply(FIRM, command)


def _kinds(commands: list[c.Command]) -> list[str]:
    return [str(command.type) for command in commands]  # type: ignore[attr-defined]


def test_a_day_begins_with_the_looks_and_then_the_levers_are_asked_for() -> None:
    desk = Desk(Conduct(FIRM, "roaster", SETUP))
    assert desk.next_decision()
    assert tuple(desk.sent) == LOOKS
    view = desk.conduct.view
    assert view is not None and view.books is not None and view.observation is not None
    assert view.observation.reason == "morning"
    assert view.books.cash == desk.town.firms[FIRM].cash / 1e6


def test_after_its_commands_a_firm_waits_until_the_next_morning() -> None:
    desk = Desk(Conduct(FIRM, "roaster", SETUP))
    desk.next_decision()
    desk.send(desk.conduct.choose(LAYOUT.values(LAYOUT.usual)))
    assert desk.next_decision()
    assert desk.town.state.day == 1
    assert _kinds(desk.sent[4:]) == [
        "post_listing",  # it begins with 30 kg
        "view_listings",
        "wait_for_next_day",
        *_kinds(list(LOOKS)),
    ]


def test_a_decision_is_asked_for_on_every_day() -> None:
    desk = Desk(Conduct(FIRM, "roaster", SETUP))
    days = []
    while desk.next_decision():
        days.append(desk.town.state.day)
        desk.send(desk.conduct.choose(LAYOUT.values(LAYOUT.usual)))
    assert days == [0, 1, 2, 3, 4]


def test_with_the_cadence_turn_it_decides_before_every_command() -> None:
    desk = Desk(Conduct(FIRM, "roaster", SETUP, cadence="turn"))
    decisions = 0
    while desk.next_decision() and desk.town.state.day == 0:
        desk.send(desk.conduct.choose(LAYOUT.values(LAYOUT.usual)))
        decisions += 1
    assert decisions == 3
    assert _kinds(desk.sent[4:7]) == ["post_listing", "view_listings", "wait_for_next_day"]


def test_a_bid_is_answered_the_same_day() -> None:
    desk = Desk(Conduct(FIRM, "roaster", SETUP))
    town = desk.town
    desk.next_decision()
    desk.send(desk.conduct.choose(LAYOUT.values(LAYOUT.nearest({"accept": 0.9}))))
    listing = next(iter(town.state.listings.values()))
    bid = c.MakeOffer(listing_id=listing.id, offered_price=9.5, qty=10)
    town.apply("retailer_B", bid)
    desk.next_decision()
    assert _kinds(desk.sent)[:9].count("accept_offer") == 1
    assert [d.qty for d in town.state.past_deals.values()] == [10]


def test_a_look_that_is_lost_leaves_its_part_of_the_view_empty() -> None:
    desk = Desk(Conduct(FIRM, "roaster", SETUP))
    desk.lose = {1, 4}
    assert desk.next_decision()
    view = desk.conduct.view
    assert view is not None and view.books is None and view.listings == ()
    desk.send(desk.conduct.choose(LAYOUT.values(LAYOUT.usual)))
    assert desk.next_decision()


def test_a_bid_on_a_listing_that_has_gone_is_made_anew() -> None:
    conduct = Conduct(FIRM, "roaster", SETUP)
    town = Town(SETUP)
    town.advance(540)

    def list_anew() -> None:
        town.apply("farmer_A", c.PostListing(item_id=GREEN, qty=20, asking_price=4.0))

    def answer(command: c.Command) -> c.Command | None:
        result = town.apply(FIRM, command)
        return conduct.turn(Turn(day=0, minute_of_day=600, result=result))

    list_anew()
    morning = town.observe(FIRM, "morning")
    command = conduct.turn(Turn(day=0, minute_of_day=540, reason="morning", observation=morning))
    while command is not None:
        command = answer(command)
    levers = LAYOUT.values(LAYOUT.nearest({"position.green_coffee_kg": 45}))
    command = conduct.choose(levers)
    bids = 0
    while command is not None and not isinstance(command, c.WaitForNextDay):
        if isinstance(command, c.MakeOffer):
            bids += 1
            list_anew()  # each time just before the bid arrives
        command = answer(command)
    assert bids == 1 + RETRIES
    assert not town.world.offers_by[FIRM]


def test_levers_before_a_decision_or_an_unknown_cadence_are_refused() -> None:
    with pytest.raises(HanseError, match="no decision is pending"):
        Conduct(FIRM, "roaster", SETUP).choose({})
    with pytest.raises(HanseError, match="no cadence 'week'"):
        Conduct(FIRM, "roaster", SETUP, cadence="week")  # type: ignore[arg-type]
    with pytest.raises(HanseError, match="no role 'baker'"):
        Conduct(FIRM, "baker", SETUP)
