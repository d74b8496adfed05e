"""The exchange gives turns, takes one answer for each, and carries them out in order."""

from __future__ import annotations

import json

import msgpack

from actors.exchange import Join, TurnMissed
from services.economy.catalogue import GREEN
from services.economy.commands import SendMessage, ViewTrialBalance, WaitForNextDay
from services.messages import Letter, Text
from tests.actors.desk import FARMER, ROASTER, SHOP, Desk, turn_of, turns


def test_the_opening_balances_are_booked_before_anything_happens() -> None:
    desk = Desk()
    booked = [row[4:8] for row in desk.context.ledger if row[4] == FARMER]
    assert booked == [
        (FARMER, "cash", "capital", 15_000_000_000),
        (FARMER, "inventory", "capital", 120_000_000),
    ]
    assert desk.context.wakes == [540]


def test_every_morning_each_firm_has_a_turn() -> None:
    desk = Desk()
    sent = desk.wake(540)
    assert [m.recipient for m in sent] == [FARMER, ROASTER, SHOP]
    assert {turn_of(m).reason for m in sent} == {"morning"}
    assert (turn_of(sent[0]).day, turn_of(sent[0]).minute_of_day) == (0, 540)


def test_it_waits_until_all_have_answered_and_then_applies_in_the_order_of_dispatch() -> None:
    desk = Desk()
    farmer, roaster, shop = desk.wake(540)
    assert desk.exchange.waits
    assert desk.tell(SHOP, ViewTrialBalance(), shop) == []
    assert desk.exchange.waiting_for() == {FARMER: farmer.id, ROASTER: roaster.id}
    assert desk.tell(ROASTER, WaitForNextDay(), roaster) == []
    assert desk.actions() == []
    desk.tell(FARMER, ViewTrialBalance(), farmer)
    assert desk.actions() == [
        (FARMER, "view_trial_balance"),
        (ROASTER, "wait_for_next_day"),
        (SHOP, "view_trial_balance"),
    ]
    assert not desk.exchange.waits
    assert desk.context.wakes == [570]


def test_a_call_takes_half_an_hour_and_its_outcome_comes_with_the_next_turn() -> None:
    desk = Desk()
    desk.answer(desk.wake(540), ViewTrialBalance())
    [later] = desk.wake(570)
    assert later.recipient == FARMER
    turn = turn_of(later)
    assert turn.reason is None and turn.observation is None
    assert turn.result is not None and turn.result.command == "view_trial_balance"
    desk.answer([later])
    assert desk.context.wakes == [1140]


def test_only_firms_that_asked_for_it_are_shown_their_affairs() -> None:
    desk = Desk()
    desk.tell(FARMER, Join(observes=True))
    desk.tell(ROASTER, Join(observes=False))
    farmer, roaster, shop = (turn_of(m) for m in desk.wake(540))
    assert farmer.observation is not None
    assert (farmer.observation.firm, farmer.observation.stock) == (FARMER, {GREEN: 60})
    assert roaster.observation is None and shop.observation is None


def test_notices_come_with_the_next_observation_and_do_not_pile_up_for_who_never_looks() -> None:
    desk = Desk()
    desk.tell(FARMER, Join(observes=True))
    for name in (FARMER, ROASTER):
        desk.exchange.town.world.notify(desk.exchange.town.firms[name], "the road is closed")
    farmer, *_ = desk.wake(540)
    seen = turn_of(farmer).observation
    assert seen is not None and seen.notices == ("the road is closed",)
    assert desk.exchange.town.firms[FARMER].notices == []
    assert desk.exchange.town.firms[ROASTER].notices == []


def test_a_second_answer_to_the_same_turn_is_stray_and_changes_nothing() -> None:
    desk = Desk()
    farmer, *others = desk.wake(540)
    desk.tell(FARMER, WaitForNextDay(), farmer)
    desk.tell(FARMER, ViewTrialBalance(), farmer)
    desk.answer(others)
    assert desk.actions()[0] == (FARMER, "wait_for_next_day")
    assert desk.events("stray_command") == [{"message": f"{FARMER}#2"}]


def test_a_command_without_a_turn_is_stray() -> None:
    desk = Desk()
    desk.tell(FARMER, ViewTrialBalance())  # long before the first turn
    asked = desk.wake(540)
    desk.tell(FARMER, ViewTrialBalance())  # it has a turn, but this does not answer it
    desk.tell("somebody", ViewTrialBalance(), asked[0])
    desk.answer(asked)
    assert [firm for firm, _ in desk.actions()] == [FARMER, ROASTER, SHOP]
    strays = [e[6] for e in desk.context.events if e[5] == "stray_command"]
    assert strays == [FARMER, FARMER, "somebody"]


def test_an_answer_to_yesterdays_turn_is_stray_today() -> None:
    desk = Desk()
    old = desk.wake(540)
    desk.answer(old)
    desk.wake(1140)
    today = desk.wake(1440 + 540)
    desk.tell(FARMER, ViewTrialBalance(), old[0])
    assert desk.exchange.waiting_for() == {m.recipient: m.id for m in today}


def test_a_firm_that_misses_its_turn_loses_half_an_hour_and_the_others_go_on() -> None:
    desk = Desk()
    farmer, *others = desk.wake(540)
    desk.answer(others)
    desk.tell(FARMER, TurnMissed(reason="timeout", detail="no answer within 10 s"), farmer)
    assert [firm for firm, _ in desk.actions()] == [ROASTER, SHOP]
    assert desk.events("turn_missed") == [
        {"agent": FARMER, "reason": "timeout", "detail": "no answer within 10 s"}
    ]
    assert [m.recipient for m in desk.wake(570)] == [FARMER]


def test_a_turn_that_was_answered_cannot_be_missed_any_more() -> None:
    desk = Desk()
    farmer, *others = desk.wake(540)
    desk.tell(FARMER, WaitForNextDay(), farmer)
    desk.tell(FARMER, TurnMissed(reason="error"), farmer)
    desk.answer(others)
    assert desk.events("turn_missed") == []
    assert desk.actions()[0] == (FARMER, "wait_for_next_day")


def test_when_nothing_else_is_due_whoever_has_not_answered_has_lost_the_turn() -> None:
    desk = Desk()
    farmer, roaster, _ = desk.wake(540)
    desk.tell(ROASTER, WaitForNextDay(), roaster)
    desk.exchange.quiet(desk.context)
    assert desk.actions() == [(ROASTER, "wait_for_next_day")]
    assert [body["agent"] for body in desk.events("turn_missed")] == [FARMER, SHOP]
    assert not desk.exchange.waits
    assert desk.tell(FARMER, ViewTrialBalance(), farmer) == []
    assert len(desk.events("stray_command")) == 1


def test_a_letter_is_handed_over_at_once_and_its_recipient_called() -> None:
    desk = Desk()
    desk.answer(desk.wake(540), ViewTrialBalance())
    [farmer] = desk.wake(570)
    letter = SendMessage(recipient=SHOP, title="beans", body="any time", ref_listing_id="L9")
    sent = desk.tell(FARMER, letter, farmer)
    assert [m.recipient for m in sent] == [SHOP, SHOP]
    assert sent[0].payload == Letter(
        letter_id="M1", author=FARMER, title="beans", body="any time", ref_listing_id="L9"
    )
    assert turn_of(sent[1]).reason == "message"


def test_a_message_that_is_no_answer_leaves_the_turns_as_they_are() -> None:
    desk = Desk()
    asked = desk.wake(540)
    desk.tell(FARMER, Text(text="good morning"))
    assert desk.exchange.waiting_for() == {m.recipient: m.id for m in asked}
    assert desk.events("unhandled") == [{"message": f"{FARMER}#1", "type": "text"}]


def test_at_the_end_of_a_day_the_figures_of_every_firm_are_measured() -> None:
    desk = Desk()
    desk.answer(desk.wake(540))
    desk.wake(1140)
    assert [(day, firm) for day, firm, _ in desk.context.figures] == [
        (0, FARMER), (0, ROASTER), (0, SHOP),
    ]  # fmt: skip
    # 15,000 less a day's 25 dollars of running costs.
    assert json.loads(desk.context.figures[0][2])["cash"] == 14_975.0


def test_after_the_last_day_it_sleeps_for_good() -> None:
    desk = Desk()
    for day in range(3):
        desk.answer(desk.wake(day * 1440 + 540))
        desk.wake(day * 1440 + 1140)
    assert desk.context.wakes == []
    assert desk.exchange.town.closed
    summary = desk.exchange.summary()
    assert summary["actions"] == 9
    assert [(row["firm"], row["role"]) for row in summary["firms"]] == [
        (FARMER, "farmer"), (ROASTER, "roaster"), (SHOP, "retailer"),
    ]  # fmt: skip


def test_an_exchange_read_back_goes_on_as_if_nothing_had_happened() -> None:
    first = Desk()
    first.tell(FARMER, Join(observes=True))
    first.answer(first.wake(540), ViewTrialBalance())
    # Its last call of the day is told next morning: outcomes must survive the night.
    for minute in range(570, 1140, 30):
        first.answer(first.wake(minute), ViewTrialBalance())
    first.wake(1140)
    second = Desk()
    second.exchange.load(msgpack.unpackb(msgpack.packb(first.exchange.save())))
    second.context.number = first.context.number
    mornings = [desk.wake(1440 + 540) for desk in (first, second)]
    assert mornings[0] == mornings[1]
    assert turn_of(mornings[1][0]).result is not None
    assert turn_of(mornings[1][0]).observation is not None
    assert first.exchange.save() == second.exchange.save()


LETTER = SendMessage(recipient=FARMER, title="coffee", body="?")


def test_a_turn_comes_from_the_message_that_brought_its_news_or_from_the_last_command() -> None:
    desk = Desk()
    morning = desk.wake(540)
    assert [m.cause for m in morning] == [None, None, None], "nobody's message begins the day"
    sent = desk.answer(morning, WaitForNextDay(), ViewTrialBalance(), LETTER)
    [called] = turns(sent)
    assert (called.recipient, called.cause) == (FARMER, f"{SHOP}#1"), "it waited, and has a letter"
    desk.answer([called])
    assert {m.recipient: m.cause for m in desk.wake(570)}[ROASTER] == f"{ROASTER}#1"


def test_what_happens_in_the_town_names_the_command_that_brought_it_about() -> None:
    desk = Desk()
    sent = desk.answer(desk.wake(540), WaitForNextDay(), WaitForNextDay(), LETTER)
    causes = [(row[4], row[6]) for row in desk.context.events if row[5] == "action"]
    assert causes == [(f"{firm}#1", firm) for firm in (FARMER, ROASTER, SHOP)]
    [letter] = [m for m in sent if isinstance(m.payload, Letter)]
    assert letter.cause == f"{SHOP}#1"


def test_what_comes_with_the_time_of_day_has_no_cause() -> None:
    desk = Desk()
    desk.answer(desk.wake(540))
    desk.wake(1140)
    [evening] = [row for row in desk.context.events if row[5] == "day_end"]
    assert evening[4] is None


def test_causes_survive_the_end_of_a_day() -> None:
    desk = Desk()
    desk.answer(desk.wake(540), ViewTrialBalance())
    saved = msgpack.unpackb(msgpack.packb(desk.exchange.save()), strict_map_key=False)
    again = Desk()
    again.exchange.load(saved)
    assert again.exchange.save() == desk.exchange.save()
    assert {m.recipient: m.cause for m in again.wake(570)} == {FARMER: f"{FARMER}#1"}
