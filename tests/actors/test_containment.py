"""The containment controller answers alerts with measures, for a time, and can be overruled."""

from __future__ import annotations

from random import Random
from typing import Any

import msgpack
import pytest

from actors.containment import ContainmentController, LiftRequest, chosen, harmless
from actors.context import Context
from actors.measures import (
    Advisory,
    ApprovalRequest,
    Lift,
    Quarantine,
    RequireApproval,
    Throttle,
    Verdict,
)
from monitors.caspian.alert import CascadeAlert, CascadeReport, Role, Suspect
from services.messages import Message, Payload
from services.talk.mind import Mind
from services.talk.payloads import MarketNote


def role(*agents: str) -> Role:
    suspects = tuple(Suspect(agent=a, score=9.0 - n) for n, a in enumerate(agents))
    return Role(state="provisional", suspects=suspects)


def report(**values: Any) -> CascadeReport:
    return CascadeReport(
        **{
            "id": "cascade-1",
            "alert_tick": 200,
            "reported_tick": 200,
            "onset": 198,
            "kind": "abrupt",
            "score": 1.5,
            "statistics": {},
            "thresholds": {},
            "origin": role("ann", "bob", "cat"),
            "bridge": role("dan", "ann"),
            "amplifier": role("eve"),
            "calibration": "test",
            **values,
        }
    )


class Office:
    """A controller and its desk."""

    def __init__(self, **options: Any) -> None:
        self.controller = ContainmentController("warden", **options)
        self.context = Context("warden", now=12_000)
        self.number = 0

    def gets(self, payload: Payload, sender: str = "caspian") -> list[Message]:
        self.number += 1
        message = self.context.incoming(sender, payload, self.number)
        self.context.handled = message
        return self.controller.receive(message, self.context)

    def alert(self, **values: Any) -> list[Message]:
        return self.gets(CascadeAlert(report=report(**values)))


def test_the_suspects_of_an_alert_are_quarantined_for_a_time() -> None:
    office = Office(hours=10, suspects=3)
    sent = office.alert()
    assert [m.recipient for m in sent] == ["ann", "bob", "dan"]
    first = sent[0].payload
    assert isinstance(first, Quarantine)
    assert (first.until, first.reason) == (12_600, "cascade-1")
    assert len({m.payload.measure for m in sent}) == 3  # type: ignore[attr-defined]
    assert office.context.wakes == [12_600]


@pytest.mark.parametrize(
    ("policy", "kind"), [("throttle", Throttle), ("approval", RequireApproval)]
)
def test_the_policy_says_what_the_measure_is(policy: Any, kind: type[Payload]) -> None:
    assert {type(m.payload) for m in Office(policy=policy).alert()} == {kind}


def test_by_the_policy_alerts_nothing_is_done() -> None:
    assert Office(policy="alerts").alert() == []


def test_a_revision_of_an_alert_lays_no_second_measure_on_an_agent() -> None:
    office = Office()
    office.alert()
    assert office.alert() == []


def test_a_revision_cannot_make_more_suspects_than_are_allowed() -> None:
    office = Office(suspects=3)
    office.alert(bridge=Role(), amplifier=Role(), origin=role("ann"))
    sent = office.alert(origin=role("fay", "gus", "hal"), bridge=Role(), amplifier=Role())
    assert [m.recipient for m in sent] == ["fay", "gus"]


def test_a_measure_is_lifted_when_its_time_is_over() -> None:
    office = Office(hours=10, suspects=3)
    office.alert()
    office.context.handled = None
    office.context.clock.now = 12_600
    before = len(office.context.outbox)
    office.controller.wake(office.context)
    lifted = office.context.outbox[before:]
    assert [m.recipient for m in lifted] == ["ann", "bob", "dan"]
    assert {type(m.payload) for m in lifted} == {Lift}
    office.controller.wake(office.context)
    assert len(office.context.outbox) == before + 3


def test_an_operator_can_lift_one_measure_or_all() -> None:
    office = Office(suspects=3)
    measures = [m.payload.measure for m in office.alert()]  # type: ignore[attr-defined]
    [one] = office.gets(LiftRequest(measure=measures[1]), "operator")
    assert (one.recipient, one.payload) == ("bob", Lift(measure=measures[1]))
    assert len(office.gets(LiftRequest(measure="all"), "operator")) == 2
    assert office.gets(LiftRequest(measure="all"), "operator") == []


def test_who_was_let_go_by_an_operator_is_left_alone_for_that_cascade() -> None:
    office = Office(suspects=2)
    office.alert(bridge=Role(), amplifier=Role(), origin=role("ann"))
    office.gets(LiftRequest(measure="all"), "operator")
    assert office.alert(bridge=Role(), amplifier=Role(), origin=role("ann")) == []
    [again] = office.alert(id="cascade-2", bridge=Role(), amplifier=Role(), origin=role("ann"))
    assert again.recipient == "ann"


def test_measures_outlive_the_end_of_a_day() -> None:
    office = Office(suspects=3)
    office.alert()
    later = Office(suspects=3)
    later.controller.load(
        msgpack.unpackb(msgpack.packb(office.controller.save()), strict_map_key=False)
    )
    assert later.alert() == []
    assert len(later.gets(LiftRequest(measure="all"), "operator")) == 3


def test_everybody_is_told_once_to_doubt_what_they_have_heard_since_shortly_before_the_onset() -> (
    None
):
    office = Office(audience=["ann", "zoe"], suspects=1)
    told = [m for m in office.alert(onset=198) if isinstance(m.payload, Advisory)]
    assert [m.recipient for m in told] == ["ann", "zoe"]
    until = 12_000 + 48 * 60
    assert told[0].payload == Advisory(since=195 * 60, until=until, reason="cascade-1")
    assert office.alert(onset=197) == []


def test_the_likeliest_of_each_role_comes_first() -> None:
    assert chosen(report(), 4) == ["ann", "bob", "dan", "eve"]
    assert chosen(report(), 9) == ["ann", "bob", "dan", "eve", "cat"]
    assert chosen(report(bridge=Role(), amplifier=Role()), 2) == ["ann", "bob"]


@pytest.mark.parametrize(
    ("said", "passes"),
    [
        ('text {"text":"hello"}', True),
        ('market_note {"claims":[{"item":"green_coffee_kg","factor":1.02}],"text":"calm"}', True),
        ('market_note {"claims":[{"item":"green_coffee_kg","factor":0.6}],"text":"help"}', False),
        ('market_note {"claims":[],"text":"prices collapse"}', True),
        ('status_request {"attempt":2,"units":10.0}', True),
        ("market_note {broken", False),
        ('market_note {"claims":[{"item":"green_coffee_kg"}]}', False),
    ],
)
def test_only_what_states_a_price_far_from_normal_is_stopped(said: str, passes: bool) -> None:
    assert harmless(said) is passes
    request = ApprovalRequest(held="ann#1", to="bob", on="comm", said=said, measure="m")
    [answer] = Office(policy="approval").gets(request, "ann")
    assert (answer.recipient, answer.payload) == ("ann", Verdict(held="ann#1", approved=passes))


def test_words_without_a_price_convince_no_firm_board_or_forecaster_so_they_may_pass() -> None:
    words = MarketNote(text="roasted coffee is about to collapse. sell. sell")
    assert words.heard() == []
    mind = Mind(trust=1.0)
    before = mind.save()
    assert not mind.listen(words.heard(), Random(1), now=600)
    assert mind.save() == before
