"""A strategy written as a day's plan: one command a turn, each with the outcome of the last."""

from __future__ import annotations

import pytest

from actors.context import Context
from actors.exchange import Turn
from actors.strategies import DailyPlan, Plan, Strategy
from services.economy.commands import (
    ViewDeals,
    ViewListings,
    ViewOffers,
    ViewTrialBalance,
    WaitForNextDay,
)
from services.economy.results import Result
from tests.actors.strategies.turns import Turns, done, refused

WAIT = WaitForNextDay()


class Clerk(DailyPlan):
    """Looks at three things in the morning and at the offers when something happens."""

    def __init__(self, firm: str, role: str) -> None:
        super().__init__(firm, role)
        self.told: list[Result | None] = []

    def day(self) -> Plan:
        for command in (ViewTrialBalance(), ViewListings(), ViewDeals()):
            self.told.append((yield command))

    def news(self) -> Plan:
        self.told.append((yield ViewOffers()))


def clerk() -> tuple[Turns, list[Result | None]]:
    strategy = Clerk("farmer_A", "farmer")
    return Turns(strategy), strategy.told


def test_a_plan_takes_one_command_a_turn_and_then_waits() -> None:
    turns, _ = clerk()
    said = [turns.next("morning"), *(turns.next() for _ in range(4))]
    assert said == [ViewTrialBalance(), ViewListings(), ViewDeals(), WAIT, WAIT]


def test_each_yield_gives_the_outcome_of_its_own_command() -> None:
    turns, told = clerk()
    turns.next("morning")
    outcomes = [done("view_trial_balance"), refused("view_listings", "closed"), done("view_deals")]
    for outcome in outcomes:
        turns.next(None, outcome)
    assert told == outcomes


def test_an_outcome_counts_also_when_news_comes_with_it() -> None:
    turns, told = clerk()
    turns.next("morning")
    outcome = done("view_trial_balance")
    assert turns.next("message", outcome) == ViewListings(), "the plan goes on"
    assert told == [outcome]


def test_news_is_dealt_with_when_the_plan_is_finished_and_only_once() -> None:
    turns, told = clerk()
    turns.next("morning")
    turns.next("message", done("view_trial_balance"))
    turns.next("offer received", done("view_listings"))
    assert turns.next(None, done("view_deals")) == ViewOffers()
    seen = done("view_offers")
    assert turns.next(None, seen) == WAIT
    assert told[-1] == seen
    assert turns.next() == WAIT


def test_news_after_the_day_is_done_wakes_it_again() -> None:
    turns, _ = clerk()
    turns.next("morning")
    for _ in range(3):
        assert turns.next() != ViewOffers()
    assert turns.next("message", done("wait_for_next_day")) == ViewOffers()
    assert turns.next() == WAIT


def test_a_plan_that_was_not_finished_is_dropped_at_the_next_day() -> None:
    turns, told = clerk()
    turns.next("morning")
    turns.next(None, done("view_trial_balance"))
    assert turns.next("morning", done("view_listings"), day=1) == ViewTrialBalance()
    assert told == [done("view_trial_balance")], "yesterday's last outcome has no one to hear it"
    assert turns.next() == ViewListings()


def test_yesterdays_news_is_no_news_today() -> None:
    turns, _ = clerk()
    turns.next("morning")
    turns.next("message")
    turns.next("morning", day=1)
    assert [turns.next() for _ in range(3)] == [ViewListings(), ViewDeals(), WAIT]


def test_a_turn_without_a_reason_does_not_start_a_day() -> None:
    turns, _ = clerk()
    assert turns.next() == WAIT
    assert turns.next("morning") == ViewTrialBalance()


def test_by_default_news_changes_nothing() -> None:
    class Deaf(Clerk):
        news = DailyPlan.news

    turns = Turns(Deaf("farmer_A", "farmer"))
    turns.next("morning")
    for _ in range(3):
        turns.next("message")
    assert turns.next("message") == WAIT


def test_a_plan_knows_the_day_and_the_turn() -> None:
    class Curious(DailyPlan):
        seen: tuple[int, Turn, Context]

        def day(self) -> Plan:
            self.seen = self.today, self.turn, self.context
            yield ViewDeals()

    strategy = Curious("farmer_A", "farmer")
    turns = Turns(strategy)
    turns.next("morning", day=4)
    day, turn, context = strategy.seen
    assert (day, turn.reason, turn.day) == (4, "morning", 4)
    assert context is turns.context


def test_a_plan_that_fails_is_over_for_the_day_and_starts_anew_the_next_morning() -> None:
    class Clumsy(Clerk):
        def day(self) -> Plan:
            yield ViewTrialBalance()
            raise RuntimeError("dropped it")

    turns = Turns(Clumsy("farmer_A", "farmer"))
    turns.next("morning")
    with pytest.raises(RuntimeError, match="dropped it"):
        turns.next()
    assert turns.next() == WAIT
    assert turns.next("message") == ViewOffers()
    assert turns.next("morning", day=1) == ViewTrialBalance()


def test_an_empty_plan_waits() -> None:
    class Lazy(DailyPlan):
        def day(self) -> Plan:
            return
            yield

    assert Turns(Lazy("farmer_A", "farmer")).next("morning") == WAIT


def test_a_plan_has_to_be_written_and_says_so() -> None:
    with pytest.raises(TypeError, match="DailyPlan must define day"):
        Turns(DailyPlan("farmer_A", "farmer")).next("morning")
    with pytest.raises(TypeError, match="Strategy must define decide"):
        Turns(Strategy("farmer_A", "farmer")).next("morning")


def test_an_option_that_a_strategy_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="strategy DailyPlan has no option speed"):
        DailyPlan("farmer_A", "farmer", speed=3)
