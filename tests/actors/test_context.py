"""What an agent may do besides thinking."""

from __future__ import annotations

import json
import random

import pytest

from actors.context import Clock, Context
from services.economy.commands import SendMessage, WaitForNextDay
from services.messages import NOBODY, Letter, Text


def test_messages_are_numbered_by_their_sender_and_carry_the_time() -> None:
    context = Context("alice", now=1500)
    first = context.send("bob", Text(text="one"))
    second = context.send("carol", Text(text="two"))
    assert (first.id, second.id) == ("alice#1", "alice#2")
    assert (first.sender, first.recipient, first.sent_at) == ("alice", "bob", 1500)
    assert context.outbox == [first, second]
    assert context.day == 1


def test_a_reply_goes_back_to_the_sender_and_names_what_it_answers() -> None:
    context = Context("alice")
    asked = context.incoming("bob", Text(text="well?"), number=7)
    answer = context.reply(asked, Text(text="well."))
    assert (answer.recipient, answer.in_reply_to) == ("bob", "bob#7")


def test_a_message_travels_on_its_payloads_channel_unless_told_otherwise() -> None:
    context = Context("alice")
    letter = Letter(letter_id="M1", author="alice", title="t", body="b")
    assert context.send("bob", letter).channel == "comm"
    assert context.send("bob", WaitForNextDay()).channel == "tool"
    assert context.send("bob", SendMessage(recipient="x", title="t", body="b")).channel == "comm"
    assert context.send("bob", Text(text="x"), channel="mem").channel == "mem"


def test_the_same_seed_agent_purpose_and_day_give_the_same_random_numbers() -> None:
    def drawn(seed: int = 1, agent: str = "alice", purpose: str = "bids", now: int = 540) -> float:
        return Context(agent, seed, now).rng(purpose).random()

    assert drawn() == drawn() == drawn(now=1439)
    assert drawn() == random.Random("1:alice:bids:0").random()
    others = {drawn(seed=2), drawn(agent="bob"), drawn(purpose="asks"), drawn(now=1440)}
    assert len(others | {drawn()}) == 5


def test_streams_of_different_purposes_do_not_disturb_each_other() -> None:
    alone = [Context("alice").rng("bids").random()]
    context = Context("alice")
    context.rng("asks").random()
    assert [context.rng("bids").random()] == alone
    assert context.rng("bids").random() != alone[0], "a stream goes on within the day"


def test_a_stream_starts_anew_every_day_so_that_a_resumed_run_draws_the_same() -> None:
    clock = Clock(540)
    through = Context("alice", seed=3, clock=clock)
    [through.rng("bids").random() for _ in range(5)]
    clock.now = 1440 + 540
    resumed = Context("alice", seed=3, now=1440 + 540)
    assert through.rng("bids").random() == resumed.rng("bids").random()


def test_an_agent_can_be_woken_later_but_not_now_or_before() -> None:
    context = Context("alice", now=540)
    context.wake_at(541)
    assert context.wakes == [541]
    for minute in (540, 0):
        with pytest.raises(ValueError, match="not after now"):
            context.wake_at(minute)


def test_events_ledger_entries_and_their_order_share_one_counter() -> None:
    clock = Clock(540)
    clock.round = 2
    context = Context("exchange", clock=clock)
    context.record("deal", "farmer_A", {"qty": 3, "price": 0.1})
    context.book("farmer_A", "cash", "revenue", 1_000_000, "D1")
    context.record("news", "", '{"given":"as JSON"}')
    assert [row[:4] for row in context.events] == [(540, 2, "exchange", 1), (540, 2, "exchange", 3)]
    assert context.ledger == [
        (540, 2, "exchange", 2, "farmer_A", "cash", "revenue", 1_000_000, "D1")
    ]
    assert [json.loads(row[7]) for row in context.events] == [
        {"qty": 3, "price": 0.1},
        {"given": "as JSON"},
    ]


def test_figures_are_measured_by_day() -> None:
    context = Context("exchange")
    context.measure(4, "farmer_A", {"cash": 1.5})
    assert context.figures == [(4, "farmer_A", '{"cash":1.5}')]


def test_a_fork_can_be_thrown_away_without_a_trace() -> None:
    context = Context("alice", now=540)
    context.send("bob", Text(text="before"))
    fork = context.fork()
    fork.send("bob", Text(text="never"))
    fork.record("never", "", {})
    fork.wake_at(600)
    assert context.number == 1 and context.entries == 0
    assert len(context.outbox) == 1 and not context.events and not context.wakes
    assert context.send("bob", Text(text="after")).id == "alice#2"


def test_a_fork_that_is_absorbed_counts_as_if_it_had_been_the_context_itself() -> None:
    def work(context: Context) -> None:
        context.send("bob", Text(text="hello"))
        context.record("fact", "", {"a": 1})
        context.book("alice", "cash", "revenue", 5, "x")
        context.measure(0, "alice", {"cash": 1})
        context.wake_at(600)
        context.rng("bids").random()

    plain, other = Context("alice", now=540), Context("alice", now=540)
    work(plain)
    fork = other.fork()
    work(fork)
    other.absorb(fork)
    for name in ("outbox", "events", "ledger", "figures", "wakes", "number", "entries"):
        assert getattr(other, name) == getattr(plain, name)
    assert other.rng("bids").random() == plain.rng("bids").random()


def test_what_is_sent_and_recorded_names_the_message_that_is_being_handled() -> None:
    context = Context("alice", now=540)
    assert context.send("bob", Text(text="hi")).cause is None
    context.handled = context.incoming("zoe", Text(text="tell bob"), number=4)
    assert context.send("bob", Text(text="zoe says hi")).cause == "zoe#4"
    assert context.send("bob", Text(text="as ever"), origin=NOBODY).cause is None
    answer = context.reply(context.handled, Text(text="told"))
    assert (answer.in_reply_to, answer.cause) == ("zoe#4", None), "said once is enough"
    context.record("told", "bob", {})
    assert context.events[-1][4] == "zoe#4"
