"""Whatever an agent does, it costs the agent its turn and nobody else anything."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.agent import Agent
from actors.context import Context
from actors.exchange import Turn
from actors.host import Host
from services.economy.commands import Command, ProduceItem, ViewListings, WaitForNextDay
from services.messages import Message, Payload, Text
from tests.actors.scene import GOOD, ODD, Decide, events, missed, scene


class Unregistered(Payload):
    """A payload whose class forgot to name its type."""


def raises(turn: Turn, context: Context) -> Command:
    raise ZeroDivisionError("division by zero")


def leaves(turn: Turn, context: Context) -> Command:
    raise SystemExit("I am off")


def interrupts(turn: Turn, context: Context) -> Command:
    raise KeyboardInterrupt


@pytest.mark.parametrize("untrusted", [True, False])
def test_an_agent_that_raises_loses_its_turn_and_is_logged(untrusted: bool) -> None:
    with scene(raises, untrusted=untrusted) as stage:
        answers = stage.turn(540)
        assert answers[GOOD] == ViewListings()
        assert missed(answers[ODD]) == ("error", "ZeroDivisionError: division by zero")
        day = stage.host.end_day()
        assert events(day, "agent_error") == [
            {
                "agent": ODD,
                "error": "ZeroDivisionError",
                "detail": "ZeroDivisionError: division by zero",
                "where": f"test_guard.py:{raises.__code__.co_firstlineno + 1} in raises",
            }
        ]
        assert day.counters == {"agent_errors": 1, "turns_missed": 1}
        assert stage.turn(570)[GOOD] == ViewListings()


@pytest.mark.parametrize("decide", [leaves, interrupts])
def test_not_even_an_exit_or_an_interrupt_of_its_own_ends_the_run(decide: Decide) -> None:
    with scene(decide) as stage:
        answers = stage.turn(540)
        assert answers[GOOD] == ViewListings()
        assert missed(answers[ODD])[0] == "error"


def test_the_place_of_an_error_is_in_the_users_code_even_when_a_library_raised_it() -> None:
    def decide(turn: Turn, context: Context) -> Command:
        json.loads("{")
        return ViewListings()

    with scene(decide) as stage:
        stage.turn(540)
        [error] = events(stage.host.end_day(), "agent_error")
        line = decide.__code__.co_firstlineno + 1
        assert error["where"] == f"test_guard.py:{line} in decide"
        assert "/" not in str(error), "no folder of this machine is in the log"


def test_an_exit_is_placed_too_and_rubbish_has_no_place() -> None:
    with scene(leaves) as stage:
        stage.turn(540)
        [error] = events(stage.host.end_day(), "agent_error")
        assert error["where"] == f"test_guard.py:{leaves.__code__.co_firstlineno + 1} in leaves"
    with scene(lambda turn, context: None) as stage:
        stage.turn(540)
        assert "where" not in events(stage.host.end_day(), "agent_error")[0]


def test_a_quantity_that_is_not_whole_is_told_in_a_sentence() -> None:
    def decide(turn: Turn, context: Context) -> Command:
        return ProduceItem(item_id="green_coffee_kg", quantity=2.5)  # type: ignore[arg-type]

    with scene(decide) as stage:
        assert missed(stage.turn(540)[ODD]) == (
            "error",
            "ValidationError: ProduceItem: quantities are whole kilograms; got 2.5",
        )


def test_an_address_in_an_error_does_not_reach_the_log_for_it_differs_between_runs() -> None:
    def decide(turn: Turn, context: Context) -> Command:
        raise ValueError(f"cannot use {object()}")

    with scene(decide) as stage:
        assert "<object object at 0x...>" in missed(stage.turn(540)[ODD])[1]


@pytest.mark.parametrize("rubbish", [None, 42, "produce_item", {"type": "produce_item"}])
def test_an_answer_that_is_no_command_is_rubbish(rubbish: Any) -> None:
    with scene(lambda turn, context: rubbish) as stage:
        answers = stage.turn(540)
        assert answers[GOOD] == ViewListings()
        assert missed(answers[ODD])[0] == "rubbish"


def forged(turn: Turn, context: Context) -> Command:
    return ProduceItem.model_construct(item_id=["beans"], quantity="many")  # type: ignore[arg-type]


def to_a_number(turn: Turn, context: Context) -> Command:
    context.send(7, Text(text="hello"))  # type: ignore[arg-type]
    return ViewListings()


def on_no_channel(turn: Turn, context: Context) -> Command:
    context.send(GOOD, Text(text="hello"), channel="smoke")  # type: ignore[arg-type]
    return ViewListings()


def unspeakable(turn: Turn, context: Context) -> Command:
    context.send(GOOD, Text.model_construct(text=object()))  # type: ignore[arg-type]
    return ViewListings()


def of_no_type(turn: Turn, context: Context) -> Command:
    context.send(GOOD, Unregistered())
    return ViewListings()


def sleeps_until_noon(turn: Turn, context: Context) -> Command:
    context.wakes.append("noon")  # type: ignore[arg-type]
    return ViewListings()


@pytest.mark.parametrize(
    "decide", [forged, to_a_number, on_no_channel, unspeakable, of_no_type, sleeps_until_noon]
)
def test_what_has_got_around_the_models_goes_no_further(decide: Decide) -> None:
    with scene(decide) as stage:
        answers = stage.turn(540)
        assert answers[GOOD] == ViewListings()
        assert missed(answers[ODD])[0] == "rubbish"
        day = stage.host.end_day()
        assert {row[2] for row in day.messages if row[4] != "asker"} == {"asker"}


@pytest.mark.parametrize("untrusted", [True, False])
def test_a_flood_is_refused_whole_and_costs_the_turn(untrusted: bool) -> None:
    def decide(turn: Turn, context: Context) -> Command:
        for _ in range(1_500):
            context.send(GOOD, Text(text="buy now"))
        return ViewListings()

    with scene(decide, untrusted=untrusted) as stage:
        answers = stage.turn(540)
        assert answers[GOOD] == ViewListings()
        assert missed(answers[ODD]) == ("rubbish", "sent 1501 messages at once")
        day = stage.host.end_day()
        assert events(day, "mail_refused") == [{"count": 1501, "limit": 1000}]
        assert day.counters == {"mail_refused": 1501, "turns_missed": 1}
        assert len(day.messages) == 4, "two turns and two answers"


def test_a_lively_agent_that_keeps_within_the_limit_is_heard() -> None:
    def decide(turn: Turn, context: Context) -> Command:
        for _ in range(999):
            context.send(GOOD, Text(text="buy now"))
        return ViewListings()

    with scene(decide) as stage:
        assert stage.turn(540)[ODD] == ViewListings()
        assert "mail_refused" not in stage.host.end_day().counters


def test_an_error_after_some_messages_takes_them_back() -> None:
    def decide(turn: Turn, context: Context) -> Command:
        context.send(GOOD, Text(text="half a thought"))
        context.record("half", "", {})
        raise RuntimeError("and then")

    with scene(decide) as stage:
        assert missed(stage.turn(540)[ODD])[0] == "error"
        day = stage.host.end_day()
        assert len(day.messages) == 4 and not events(day, "half")


def test_an_agent_that_the_run_cannot_do_without_ends_it_when_it_fails() -> None:
    class Broken(Agent):
        essential = True

        def handle(self, message: Message, context: Context) -> None:
            raise RuntimeError("the books are gone")

    host = Host("here", 0, ["exchange"], Broken, {"exchange": "here"})
    with pytest.raises(RuntimeError, match="the books are gone"):
        host.work(540, 0, [Context("exchange").incoming(GOOD, WaitForNextDay())])


def test_a_secret_in_an_error_stays_out_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sesame-street-42")

    def decide(turn: Turn, context: Context) -> Command:
        raise RuntimeError("401 for key sesame-street-42")

    with scene(decide) as made:
        made.turn(541)
        [error] = events(made.host.end_day(), "agent_error")
    assert error["detail"] == "RuntimeError: 401 for key [redacted]"
