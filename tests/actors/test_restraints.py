"""What stands against an agent is enforced by its host as it sends, and ends."""

from __future__ import annotations

import json
from typing import Any

import msgpack
import pytest

from actors.context import Context
from actors.measures import (
    ApprovalRequest,
    Lift,
    Measure,
    Quarantine,
    RequireApproval,
    Throttle,
    Verdict,
)
from actors.restraints import HELD_LIMIT, Restraints
from services.config import InterventionConfig
from services.messages import Payload, Text


class Desk:
    """An agent, ann, and what stands against her on her host."""

    def __init__(self, *interventions: InterventionConfig) -> None:
        self.restraints = Restraints({"exchange", "warden"}, interventions)
        self.context = Context("ann", now=600)
        self.laid = 0

    def lay(self, control: Payload, by: str = "warden") -> None:
        self.laid += 1
        message = self.context.incoming(by, control, self.laid)
        self.context.handled = message
        self.restraints.take(message, self.context)
        self.context.handled = None

    def say(self, *words: str, to: str = "bob", channel: Any = None) -> list[tuple[str, str]]:
        """(recipient, text) of what goes out when she says these words."""
        for word in words:
            self.context.send(to, Text(text=word), channel=channel)
        return self.sent()

    def sent(self) -> list[tuple[str, str]]:
        if "ann" in self.restraints.restrained:
            self.restraints.sift("ann", self.context)
        out = [
            (m.recipient, getattr(m.payload, "text", m.payload_type)) for m in self.context.outbox
        ]
        self.context.outbox.clear()
        return out

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [json.loads(row[7]) for row in self.context.events if row[5] == kind]

    def again(self) -> Desk:
        """The same after the end of a day and a resume."""
        saved = msgpack.unpackb(msgpack.packb(self.restraints.save("ann")), strict_map_key=False)
        copy = Desk()
        copy.context = self.context
        copy.laid = self.laid
        copy.restraints.load("ann", saved)
        return copy


def quarantine(**values: Any) -> Quarantine:
    return Quarantine(**{"measure": "m", "until": 900, **values})


def test_who_is_under_no_measure_says_what_it_likes() -> None:
    desk = Desk()
    assert desk.restraints.restrained == set()
    assert desk.say("hello") == [("bob", "hello")]


def test_a_quarantined_agent_says_nothing_to_anybody() -> None:
    desk = Desk()
    desk.lay(quarantine())
    assert desk.say("hello") == []


def test_a_quarantined_firm_goes_on_trading_and_can_be_heard_by_who_has_quarantined_it() -> None:
    desk = Desk()
    desk.lay(quarantine())
    assert desk.say("a bid", to="exchange") == [("exchange", "a bid")]
    assert desk.say("why", to="warden") == [("warden", "why")]


def test_who_buys_for_firms_is_never_kept_from_it() -> None:
    desk = Desk()
    desk.restraints = Restraints({"ann"})
    desk.lay(quarantine())
    assert desk.say("buy 30 kg") == [("bob", "buy 30 kg")]


def test_an_edge_is_quarantined_and_the_others_stay_open() -> None:
    desk = Desk()
    desk.lay(quarantine(recipients=("bob",)))
    assert desk.say("hello") == []
    assert desk.say("hello", to="carl") == [("carl", "hello")]


def test_a_quarantine_of_a_channel_leaves_the_others_open() -> None:
    desk = Desk()
    desk.lay(quarantine(channels=("mem",)))
    assert desk.say("hello", channel="mem") == []
    assert desk.say("hello", channel="comm") == [("bob", "hello")]


def test_the_log_says_what_was_withheld_to_whom_and_why() -> None:
    desk = Desk()
    desk.lay(quarantine(reason="cascade-1"))
    desk.say("hello")
    assert desk.events("measure") == [
        {"measure": "m", "until": 900, "reason": "cascade-1", "by": "warden", "kind": "quarantine"}
    ]
    assert desk.events("withheld") == [
        {
            "message": "ann#1",
            "to": "bob",
            "channel": "comm",
            "type": "text",
            "measure": "m",
            "said": '{"text":"hello"}',
        }
    ]


def test_a_measure_ends_by_itself_at_its_minute() -> None:
    desk = Desk()
    desk.lay(quarantine(until=900))
    desk.context.clock.now = 899
    assert desk.say("early") == []
    desk.context.clock.now = 900
    assert desk.say("late") == [("bob", "late")]
    assert desk.events("measure_over") == [{"measure": "m", "how": "ended"}]
    assert desk.restraints.restrained == set()


def test_a_measure_can_be_lifted_before_its_end() -> None:
    desk = Desk()
    desk.lay(quarantine())
    desk.lay(Lift(measure="m"))
    assert desk.say("hello") == [("bob", "hello")]
    assert desk.events("measure_over") == [{"measure": "m", "how": "lifted"}]


def test_lifting_one_measure_leaves_the_others_in_force() -> None:
    desk = Desk()
    desk.lay(quarantine(measure="m"))
    desk.lay(quarantine(measure="n", recipients=("carl",)))
    desk.lay(Lift(measure="m"))
    assert desk.say("hello") == [("bob", "hello")]
    assert desk.say("hello", to="carl") == []


def test_the_same_measure_again_is_prolonged() -> None:
    desk = Desk()
    desk.lay(quarantine(until=700))
    desk.lay(quarantine(until=900))
    desk.context.clock.now = 800
    assert desk.say("hello") == []


def test_a_throttled_agent_says_so_many_things_an_hour() -> None:
    desk = Desk()
    desk.lay(Throttle(measure="m", until=900, per_hour=2))
    assert desk.say("one", "two", "three") == [("bob", "one"), ("bob", "two")]
    desk.context.clock.now = 659
    assert desk.say("four") == []
    desk.context.clock.now = 660
    assert desk.say("five") == [("bob", "five")]


def test_what_needs_approval_is_held_and_its_judge_is_asked() -> None:
    desk = Desk()
    desk.lay(RequireApproval(measure="m", until=900))
    desk.context.send("bob", Text(text="prices double"))
    desk.restraints.sift("ann", desk.context)
    [request] = desk.context.outbox
    assert request.recipient == "warden"
    assert request.payload == ApprovalRequest(
        held="ann#1", to="bob", on="comm", said='text {"text":"prices double"}', measure="m"
    )


def test_what_is_approved_goes_out_though_approval_is_still_required() -> None:
    desk = Desk()
    desk.lay(RequireApproval(measure="m", until=900))
    assert desk.say("hello") == [("warden", "approval_request")]
    desk.lay(Verdict(held="ann#1", approved=True))
    assert desk.sent() == [("bob", "hello")]
    assert desk.say("again") == [("warden", "approval_request")]


def test_what_is_released_has_a_new_number_as_its_recipient_may_have_seen_later_ones() -> None:
    desk = Desk()
    desk.lay(RequireApproval(measure="m", until=900, recipients=("bob",)))
    desk.say("held")
    desk.say("later", to="carl")
    desk.lay(Verdict(held="ann#1", approved=True))
    [message] = desk.context.outbox
    assert message.number == desk.context.number == 4


def test_what_is_not_approved_is_withheld_for_good() -> None:
    desk = Desk()
    desk.lay(RequireApproval(measure="m", until=900))
    desk.say("prices double")
    desk.lay(Verdict(held="ann#1", approved=False))
    assert desk.sent() == []
    assert [e["message"] for e in desk.events("withheld")] == ["ann#1"]
    desk.lay(Lift(measure="m"))
    assert desk.sent() == []


def test_a_verdict_on_nothing_that_is_held_does_nothing() -> None:
    desk = Desk()
    desk.lay(Verdict(held="ann#7", approved=True))
    assert desk.sent() == []
    assert desk.restraints.save("ann") is None


def test_what_is_held_goes_out_when_its_measure_is_lifted() -> None:
    desk = Desk()
    desk.lay(RequireApproval(measure="m", until=900))
    desk.say("hello")
    desk.lay(Lift(measure="m"))
    assert desk.sent() == [("bob", "hello")]


def test_no_more_is_held_than_the_limit() -> None:
    desk = Desk()
    desk.lay(RequireApproval(measure="m", until=900))
    for number in range(HELD_LIMIT + 1):
        desk.say(str(number))
    assert len(desk.events("withheld")) == 1


@pytest.mark.parametrize(
    "measure",
    [
        quarantine(),
        Throttle(measure="m", until=900, per_hour=1),
        RequireApproval(measure="m", until=900),
    ],
    ids=lambda measure: measure.type,
)
def test_measures_outlive_the_end_of_a_day(measure: Measure) -> None:
    desk = Desk()
    desk.lay(measure)
    said = desk.say("one")
    other = desk.again()
    assert other.say("two") == ([] if isinstance(measure, Throttle) else said)
    other.lay(Lift(measure="m"))
    held = isinstance(measure, RequireApproval)
    assert other.sent() == ([("bob", "one"), ("bob", "two")] if held else [])


def test_a_muted_agent_says_nothing_from_that_minute_on() -> None:
    desk = Desk(InterventionConfig(kind="mute", agent="ann", begin=660))
    assert desk.say("early") == [("bob", "early")]
    desk.context.clock.now = 660
    assert desk.say("late") == []
    assert desk.events("withheld")[0]["measure"] == "mute"


def test_an_edge_can_be_cut() -> None:
    desk = Desk(InterventionConfig(kind="cut", agent="ann", recipient="bob"))
    assert desk.say("hello") == []
    assert desk.say("hello", to="carl") == [("carl", "hello")]


def test_one_message_can_be_dropped() -> None:
    desk = Desk(InterventionConfig(kind="drop", drop="ann#2"))
    assert desk.say("one", "two", "three") == [("bob", "one"), ("bob", "three")]


def test_interventions_outlive_measures_and_going_back() -> None:
    desk = Desk(InterventionConfig(kind="mute", agent="ann"))
    desk.lay(quarantine())
    desk.lay(Lift(measure="m"))
    assert desk.say("hello") == []
    desk.restraints.begin()
    assert desk.say("hello") == []
