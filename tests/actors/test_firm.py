"""A firm: turn in, command out; the rest is its strategy's."""

from __future__ import annotations

from typing import Any

import pytest

from actors.context import Context
from actors.customs import Rubbish
from actors.exchange import Join, Turn
from actors.firm import Firm
from actors.strategies import Strategy
from services.economy.commands import Command, ViewListings
from services.messages import Letter, Message, Text

TURN = Turn(day=0, minute_of_day=540, reason="morning")


class Note(Strategy):
    """Looks at the listings, and keeps what it heard."""

    def __init__(self, firm: str, role: str) -> None:
        super().__init__(firm, role)
        self.told: list[str] = []

    def decide(self, turn: Turn, context: Context) -> Command:
        return ViewListings()

    def heard(self, message: Message, context: Context) -> None:
        self.told.append(message.payload_type)

    def save(self) -> Any:
        return self.told

    def load(self, saved: Any) -> None:
        self.told = list(saved)


def firm(strategy: Strategy | None = None) -> Firm:
    return Firm("farmer_A", "exchange", strategy or Note("farmer_A", "farmer"))


@pytest.mark.parametrize("observes", [True, False])
def test_at_the_start_it_tells_the_exchange_that_it_is_there_and_whether_it_looks(
    observes: bool,
) -> None:
    class Looking(Note):
        pass

    Looking.observes = observes
    context = Context("farmer_A")
    firm(Looking("farmer_A", "farmer")).start(context)
    [joined] = context.outbox
    assert (joined.recipient, joined.payload) == ("exchange", Join(observes=observes))


def test_it_answers_its_turn_with_the_command_of_its_strategy() -> None:
    context = Context("farmer_A", now=540)
    [answer] = firm().receive(context.incoming("exchange", TURN, number=12), context)
    assert (answer.recipient, answer.in_reply_to) == ("exchange", "exchange#12")
    assert answer.payload == ViewListings()
    assert answer.channel == "tool"


@pytest.mark.parametrize("answer", [None, "view_listings", Text(text="hello"), ViewListings])
def test_an_answer_that_is_no_command_is_rubbish(answer: Any) -> None:
    class Confused(Strategy):
        def decide(self, turn: Turn, context: Context) -> Command:
            return answer  # type: ignore[no-any-return]

    context = Context("farmer_A", now=540)
    with pytest.raises(Rubbish, match="not a command"):
        firm(Confused("farmer_A", "farmer")).receive(context.incoming("exchange", TURN), context)


def test_everything_but_a_turn_is_for_the_strategy_to_hear() -> None:
    business = firm()
    context = Context("farmer_A", now=540)
    letter = Letter(letter_id="M1", author="roaster_A", title="t", body="b")
    for payload in (letter, Text(text="psst")):
        assert business.receive(context.incoming("exchange", payload), context) == []
    assert business.strategy.told == ["letter", "text"]  # type: ignore[attr-defined]


def test_what_it_remembers_is_what_its_strategy_remembers() -> None:
    before, after = firm(), firm()
    before.strategy.load(["letter"])
    after.load(before.save())
    assert after.strategy.told == ["letter"]  # type: ignore[attr-defined]


def test_whether_it_is_to_be_trusted_is_a_matter_of_its_strategy() -> None:
    strategy = Note("farmer_A", "farmer")
    assert not firm(strategy).untrusted and firm(strategy).reproducible
    strategy.untrusted, strategy.reproducible = True, False
    assert firm(strategy).untrusted and not firm(strategy).reproducible
