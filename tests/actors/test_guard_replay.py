"""Slow agents lose their turns; what cannot be computed again is journalled and given again."""

from __future__ import annotations

import time

import pytest

from actors.context import Context
from actors.exchange import Turn
from actors.firm import Firm
from actors.host import Host
from services.economy.commands import Command, ProduceItem, ViewListings
from services.messages import Message, Text
from tests.actors.scene import (
    GOOD,
    ODD,
    SLEEP,
    TIMEOUT,
    Decide,
    Scene,
    Steady,
    missed,
    scene,
)

# ---- time-outs -----------------------------------------------------------------------------------


def slow_on(*minutes: int) -> Decide:
    """Sleeps on these turns for longer than anyone would wait."""

    def decide(turn: Turn, context: Context) -> Command:
        if turn.day * 1440 + turn.minute_of_day in minutes:
            time.sleep(SLEEP)
        return ProduceItem(item_id="green_coffee_kg", quantity=context.rng("x").randint(1, 99))

    return decide


def test_a_slow_agent_loses_its_turn_and_holds_the_others_up_no_longer_than_the_limit() -> None:
    with scene(slow_on(540), turn_timeout=TIMEOUT) as stage:
        began = time.monotonic()
        answers = stage.turn(540)
        assert time.monotonic() - began < SLEEP
        assert answers[GOOD] == ViewListings()
        assert missed(answers[ODD]) == ("timeout", "no answer within 0.25 s")
        assert stage.host.end_day().counters == {"turns_missed": 1}
        [(minute, round_, agent, kind, _)] = stage.journal
        assert (minute, round_, agent, kind) == (540, 1, ODD, "timeout")


def test_after_a_time_out_it_goes_on_from_its_morning_state() -> None:
    with scene(slow_on(1440 + 570), turn_timeout=TIMEOUT) as stage:
        for minute in (540, 570):
            stage.turn(minute)
        stage.host.end_day()
        for minute in (1440 + 540, 1440 + 570):
            stage.turn(minute)
        # Two turns yesterday; today's two are forgotten, for what the slow call did is not known.
        assert stage.strategy(ODD).turns == 2
        assert stage.strategy(GOOD).turns == 4
        assert isinstance(stage.turn(1440 + 600)[ODD], ProduceItem)


def test_after_three_time_outs_it_is_suspended_until_the_next_morning() -> None:
    with scene(slow_on(540, 570, 600, 630, 660), turn_timeout=TIMEOUT) as stage:
        reasons = [missed(stage.turn(minute)[ODD])[0] for minute in (540, 570, 600, 630, 660)]
        assert reasons == ["timeout", "timeout", "timeout", "suspended", "suspended"]
        assert stage.turn(690)[GOOD] == ViewListings()
        assert len(stage.journal) == 3, "a suspension follows from the time-outs"
        stage.host.end_day()
        assert isinstance(stage.turn(1440 + 540)[ODD], ProduceItem)


def test_a_day_played_again_gives_the_journalled_time_outs_again_and_the_same_log() -> None:
    minutes = [1440 + minute for minute in (540, 570, 600, 630, 660, 690)]
    slow = {1440 + 570, 1440 + 600, 1440 + 660}
    with scene(slow_on(*slow), turn_timeout=TIMEOUT) as stage:
        stage.turn(540)
        saved = stage.host.end_day().saved
        for minute in minutes:
            stage.turn(minute)
        first = stage.host.end_day()
        journal = list(stage.journal)
        assert len(journal) == 3
        # On the host itself and on a new one; this time the agent would be quick.
        slow.clear()
        for player in (stage, Scene(slow_on(), turn_timeout=TIMEOUT)):
            player.host.restore(saved, journal)
            player.journal.clear()
            player.number = 1
            for minute in minutes:
                player.turn(minute)
            again = player.host.end_day()
            assert again.messages == first.messages
            assert again.events == first.events
            assert again.saved == first.saved
            assert player.journal == []
            player.host.close()


def test_two_messages_of_one_round_are_told_apart_when_they_are_given_again() -> None:
    def heard(message: Message, context: Context) -> None:
        time.sleep(SLEEP)

    def made() -> Scene:
        stage = Scene(lambda turn, context: ViewListings(), turn_timeout=TIMEOUT)
        stage.strategy(ODD).heard = heard  # type: ignore[method-assign]
        return stage

    first = made()
    context = Context(ODD, now=540)
    psst = context.incoming("asker", Text(text="psst"), number=1)
    turn = context.incoming("asker", Turn(day=0, minute_of_day=540), number=2)
    saved = first.host.end_day().saved
    journal = first.host.work(540, 0, [psst, turn]).journal
    told = first.host.end_day()
    again = made()
    again.host.restore(saved, journal)
    assert again.host.work(540, 0, [psst, turn]).journal == []
    assert again.host.end_day().messages == told.messages
    first.host.close()
    again.host.close()


# ---- answers that cannot be computed again -------------------------------------------------------


class Whim(Steady):
    """Never says the same twice; hears letters without an answer."""

    reproducible = False
    said = 0

    def decide(self, turn: Turn, context: Context) -> Command:
        Whim.said += 1
        return ProduceItem(item_id="green_coffee_kg", quantity=Whim.said)


@pytest.mark.parametrize("letter", [False, True])
def test_a_persons_answers_are_journalled_and_given_again_to_the_message_they_answered(
    letter: bool,
) -> None:
    def made() -> Host:
        return Host("here", 0, [ODD], lambda name: Firm(name, "asker", Whim(name)), {ODD: "here"})

    context = Context(ODD, now=540)
    inbound = [context.incoming("asker", Turn(day=0, minute_of_day=540), number=2)]
    if letter:
        inbound.insert(0, context.incoming("asker", Text(text="psst"), number=1))
    first = made()
    saved = first.end_day().saved
    report = first.work(540, 0, inbound)
    [(_, _, agent, kind, _)] = report.journal
    assert (agent, kind) == (ODD, "answer")
    rows = first.end_day().messages
    asked = Whim.said
    again = made()
    again.restore(saved, report.journal)
    assert again.work(540, 0, inbound).journal == []
    assert again.end_day().messages == rows
    assert Whim.said == asked, "nobody was asked again"
