"""An agent handles each message by the class of its payload."""

from __future__ import annotations

import json
from typing import Literal

import pytest

from actors.agent import Agent, handles
from actors.context import Context
from services.messages import Message, Payload, Text


class Note(Payload):
    type: Literal["test_agent_note"] = "test_agent_note"
    number: int


class UrgentNote(Note):
    type: Literal["test_agent_urgent_note"] = "test_agent_urgent_note"  # type: ignore[assignment]


class Clerk(Agent):
    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        context.reply(message, Text(text="a text"))

    @handles(Note)
    def on_note(self, message: Message, context: Context) -> None:
        context.reply(message, Text(text="a note"))


class Apprentice(Clerk):
    @handles(Note)
    def on_any_note(self, message: Message, context: Context) -> None:
        context.reply(message, Text(text="learning"))


class Manager(Clerk):
    @handles(Text, UrgentNote)
    def on_what_matters(self, message: Message, context: Context) -> None:
        context.send("board", Text(text="it matters"))
        context.reply(message, Text(text="noted"))


def answers(agent: Agent, payload: Payload) -> list[str]:
    context = Context(agent.name, seed=0, now=540)
    sent = agent.receive(context.incoming("alice", payload), context)
    return [f"{m.recipient}: {m.payload.text}" for m in sent]  # type: ignore[attr-defined]


def test_a_message_goes_to_the_handler_marked_for_its_payload() -> None:
    assert answers(Clerk("clerk"), Text(text="hello")) == ["alice: a text"]
    assert answers(Clerk("clerk"), Note(number=1)) == ["alice: a note"]


def test_a_payload_without_a_handler_of_its_own_goes_to_that_of_its_base() -> None:
    assert answers(Clerk("clerk"), UrgentNote(number=1)) == ["alice: a note"]


def test_a_subclass_inherits_handlers_and_may_replace_them() -> None:
    assert answers(Apprentice("apprentice"), Text(text="hello")) == ["alice: a text"]
    assert answers(Apprentice("apprentice"), Note(number=1)) == ["alice: learning"]
    assert answers(Clerk("clerk"), Note(number=1)) == ["alice: a note"]


def test_one_handler_may_be_marked_for_several_payloads_and_send_several_messages() -> None:
    both = ["board: it matters", "alice: noted"]
    assert answers(Manager("manager"), Text(text="hello")) == both
    assert answers(Manager("manager"), UrgentNote(number=1)) == both
    assert answers(Manager("manager"), Note(number=1)) == ["alice: a note"]


def test_receive_returns_only_what_was_sent_in_answer_to_this_message() -> None:
    clerk, context = Clerk("clerk"), Context("clerk")
    first = clerk.receive(context.incoming("alice", Text(text="1")), context)
    second = clerk.receive(context.incoming("bob", Text(text="2")), context)
    assert [m.recipient for m in first] == ["alice"]
    assert [m.recipient for m in second] == ["bob"]
    assert context.outbox == first + second


def test_a_message_that_nobody_handles_is_noted_in_the_event_log() -> None:
    context = Context("idler", now=600)
    sent = Agent("idler").receive(context.incoming("alice", Note(number=1)), context)
    assert sent == []
    [(minute, round_, agent, ordinal, _, kind, subject, body)] = context.events
    assert (minute, round_, agent, ordinal, kind, subject) == (
        600, 0, "idler", 1, "unhandled", "alice",
    )  # fmt: skip
    assert json.loads(body) == {"message": "alice#1", "type": "test_agent_note"}


def test_what_a_handler_raises_is_for_the_host_to_deal_with() -> None:
    class Clumsy(Agent):
        @handles(Text)
        def on_text(self, message: Message, context: Context) -> None:
            raise RuntimeError("dropped it")

    context = Context("clumsy")
    with pytest.raises(RuntimeError, match="dropped it"):
        Clumsy("clumsy").receive(context.incoming("alice", Text(text="catch")), context)


def test_an_agent_that_keeps_nothing_saves_nothing_and_is_not_asked_to_load_it() -> None:
    class Forgetful(Agent):
        def load(self, saved: object) -> None:
            raise AssertionError("there was nothing to load")

    agent = Forgetful("forgetful")
    assert agent.save() is None
    agent.load_checked(agent.save())
    assert not agent.waits and agent.waiting_for() == {} and agent.summary() == {}
