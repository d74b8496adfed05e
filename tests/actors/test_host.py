"""A host delivers its agents' mail in rounds, keeps their records and can go back to a morning."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from actors.agent import Agent, handles
from actors.context import Context
from actors.host import Host
from actors.reports import Report
from services.errors import HanseError
from services.messages import Message, Text
from services.telemetry.timings import Timings


class Diarist(Agent):
    """Notes whatever happens to it and does what it is told: ``to bob: hello``, ``wake 600``."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.diary: list[str] = []

    def start(self, context: Context) -> None:
        context.wake_at(540)

    def wake(self, context: Context) -> None:
        self.note(context, f"woken at {context.now}")

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        assert isinstance(message.payload, Text)
        text = message.payload.text
        self.note(context, f"{message.id}: {text}")
        for order in text.split("; "):
            word, _, rest = order.partition(" ")
            if word == "to":
                recipient, _, said = rest.partition(": ")
                context.send(recipient, Text(text=said))
            elif word == "wake":
                context.wake_at(int(rest))
            elif word == "draw":
                self.note(context, f"drew {context.rng('diary').random()}")

    def note(self, context: Context, line: str) -> None:
        self.diary.append(line)
        context.record("note", self.name, {"line": line})

    def save(self) -> list[str]:
        return self.diary

    def load(self, saved: list[str]) -> None:
        self.diary = list(saved)

    def summary(self) -> dict[str, Any]:
        return {"lines": len(self.diary)}


class Echo(Agent):
    """Sends everything on to the other one of two, for ever."""

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        context.send("bob" if self.name == "ann" else "ann", message.payload)


def host(*names: str, elsewhere: dict[str, str] | None = None, **options: Any) -> Host:
    directory = {**dict.fromkeys(names, "here"), **(elsewhere or {})}
    return Host("here", 7, names, Diarist, directory, **{"trace_key": None, **options})


def mail(recipient: str, sender: str, number: int, text: str = "hello") -> Message:
    return Message(
        sender=sender,
        number=number,
        recipient=recipient,
        channel="comm",
        sent_at=540,
        payload=Text(text=text),
    )


def diary(of: Host, name: str) -> list[str]:
    agent = of.agents[name]
    assert isinstance(agent, Diarist)
    return agent.diary


def events(of: Host, kind: str) -> list[tuple[str, dict[str, Any]]]:
    """(subject, body) of the day's events of a kind; the day ends with that."""
    return [(row[6], json.loads(row[7])) for row in of.end_day().events if row[5] == kind]


def play(of: Host, minute: int, inbound: list[Message], rounds: int = 9) -> list[Report]:
    """Works a minute off as a league does that has only this host."""
    reports = [of.work(minute, 0, inbound)]
    while reports[-1].due and len(reports) < rounds:
        reports.append(of.work(minute, len(reports), []))
    return reports


# ---- rounds --------------------------------------------------------------------------------------


def test_the_start_tells_when_the_first_agent_wants_to_be_woken() -> None:
    report = host("ann", "bob").start()
    assert (report.next_wake, report.due, report.outbound, report.handled) == (540, False, {}, 0)


def test_whatever_the_order_of_arrival_mail_is_handled_by_recipient_sender_and_counter() -> None:
    letters = [
        mail(recipient, sender, number)
        for recipient in ("ann", "bob")
        for sender in ("xaver", "yves", "zoe")
        for number in (2, 9, 10)
    ]
    for seed in range(5):
        here = host(
            "bob",
            "ann",
        )
        shuffled = letters.copy()
        random.Random(seed).shuffle(shuffled)
        here.work(541, 0, shuffled)
        in_order = [
            f"{sender}#{n}: hello" for sender in ("xaver", "yves", "zoe") for n in (2, 9, 10)
        ]
        assert diary(here, "ann") == diary(here, "bob") == in_order
        notes = [row[2] for row in here.end_day().events]
        assert notes == ["ann"] * 9 + ["bob"] * 9


def test_wake_ups_come_before_mail_and_in_the_order_of_names() -> None:
    here = host("ann", "bob")
    here.start()
    report = here.work(540, 0, [mail("ann", "zoe", 1, "wake 600; wake 600; wake 590")])
    assert diary(here, "ann") == ["woken at 540", "zoe#1: wake 600; wake 600; wake 590"]
    assert diary(here, "bob") == ["woken at 540"]
    assert report.next_wake == 590
    assert here.work(590, 0, []).next_wake == 600
    assert here.work(600, 0, []).next_wake is None
    assert diary(here, "ann")[2:] == ["woken at 590", "woken at 600"]


def test_what_is_sent_in_a_round_is_delivered_in_the_next_one() -> None:
    here = host("ann", "bob")
    reports = play(here, 541, [mail("ann", "zoe", 1, "to bob: to ann: well")])
    assert [(r.handled, r.due) for r in reports] == [(1, True), (1, True), (1, False)]
    assert diary(here, "bob") == ["ann#1: to ann: well"]
    assert diary(here, "ann") == ["zoe#1: to bob: to ann: well", "bob#1: well"]
    rounds = [(row[0], row[1], row[2]) for row in here.end_day().messages]
    assert rounds == [(541, 0, "ann"), (541, 1, "bob")]


def test_a_host_alone_in_a_minute_works_its_rounds_off_until_mail_leaves_it() -> None:
    here = host("ann", "bob", elsewhere={"carl": "there"})
    chain = "to bob: to ann: to carl: to ann: never before carl has it"
    report = here.work(541, 0, [mail("ann", "zoe", 1, chain)], alone_until=542)
    assert [m.id for m in report.outbound["there"]] == ["ann#2"]
    rounds = [(row[1], row[2]) for row in here.end_day().messages]
    assert rounds == [(0, "ann"), (1, "bob"), (2, "ann")]


def test_own_mail_and_that_of_other_hosts_are_handled_in_one_order() -> None:
    here = host("ann", "bob", elsewhere={"aaron": "there", "carl": "there"})
    here.work(541, 0, [mail("bob", "aaron", 1, "to ann: mine")])
    here.work(541, 1, [mail("ann", "carl", 1), mail("ann", "aaron", 2)])
    assert diary(here, "ann") == ["aaron#2: hello", "bob#1: mine", "carl#1: hello"]


def test_mail_for_agents_elsewhere_is_handed_out_by_host() -> None:
    here = host("ann", elsewhere={"bob": "there", "carl": "yonder", "dora": "there"})
    orders = "to bob: 1; to carl: 2; to dora: 3"
    report = here.work(541, 0, [mail("ann", "zoe", 1, orders)])
    assert not report.due
    assert {h: [m.id for m in batch] for h, batch in report.outbound.items()} == {
        "there": ["ann#1", "ann#3"],
        "yonder": ["ann#2"],
    }


def test_mail_that_comes_again_is_dropped_and_counted() -> None:
    here = host("ann", "bob", elsewhere={"zoe": "there"})
    here.work(541, 0, [mail("ann", "zoe", 1), mail("bob", "zoe", 2), mail("ann", "zoe", 1)])
    here.work(541, 1, [mail("ann", "zoe", 1), mail("ann", "zoe", 3), mail("bob", "zoe", 2)])
    assert diary(here, "ann") == ["zoe#1: hello", "zoe#3: hello"]
    assert diary(here, "bob") == ["zoe#2: hello"]
    assert here.end_day().counters == {"duplicates": 3}


def test_a_full_mailbox_refuses_what_comes_last_and_counts_it() -> None:
    here = host("ann", "bob", mailbox_limit=3)
    flood = [mail("ann", "zoe", n) for n in range(1, 6)]
    here.work(541, 0, [*flood, mail("bob", "zoe", 6), mail("ann", "yves", 1)])
    assert diary(here, "ann") == [
        "yves#1: hello",
        *(f"zoe#{n}: hello" for n in (1, 2, 3)),
    ], "a flood takes nobody else's place"
    assert diary(here, "bob") == ["zoe#6: hello"]
    day = here.end_day()
    assert day.counters == {"mail_refused": 2}
    [refused] = [json.loads(row[7]) for row in day.events if row[5] == "mail_refused"]
    assert refused == {"count": 2, "limit": 3}
    here.work(542, 0, [mail("ann", "zoe", 7)])
    assert diary(here, "ann")[-1] == "zoe#7: hello", "the next minute has room again"


def test_mail_to_nobody_is_undeliverable_noted_and_counted() -> None:
    here = host("ann")
    here.work(541, 0, [mail("ann", "zoe", 1, "to nobody: hello; to ann: still here")])
    here.work(541, 1, [])
    assert diary(here, "ann")[-1] == "ann#2: still here"
    day = here.end_day()
    assert day.counters == {"undeliverable": 1}
    [body] = [json.loads(row[7]) for row in day.events if row[5] == "undeliverable"]
    assert body == {"message": "ann#1", "to": "nobody"}


class Patient(Agent):
    """Waits for an answer until nothing else is due."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.expecting = False
        self.gave_up: list[int] = []

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        self.expecting = True

    @property
    def waits(self) -> bool:
        return self.expecting

    def waiting_for(self) -> dict[str, str]:
        return {"godot": "pat#1"} if self.expecting else {}

    def quiet(self, context: Context) -> None:
        self.expecting = False
        self.gave_up.append(context.clock.round)


def test_an_agent_that_still_waits_is_told_when_the_minute_has_gone_quiet() -> None:
    here = Host("here", 0, ["pat"], Patient, {"pat": "here"})
    assert here.work(541, 0, [mail("pat", "zoe", 1)]).waits
    assert here.waiting_for() == [("pat", "godot", "pat#1")]
    assert not here.work(541, 1, [], quiet=True).waits
    assert here.agents["pat"].gave_up == [1]  # type: ignore[attr-defined]
    assert here.waiting_for() == []


# ---- days ----------------------------------------------------------------------------------------


def test_the_days_records_are_handed_over_once() -> None:
    here = host("ann", "bob")
    here.start()
    play(here, 541, [mail("ann", "zoe", 1, "to bob: hello")])
    day = here.end_day()
    [row] = day.messages
    assert row == (541, 0, "ann", 1, "bob", "comm", "text", None, "zoe#1", None, '{"text":"hello"}')
    assert [(r[0], r[1], r[2], r[3], r[5]) for r in day.events] == [
        (541, 0, "ann", 1, "note"),
        (541, 0, "ann", 2, "note"),
        (541, 0, "bob", 1, "note"),
        (541, 1, "bob", 2, "note"),
    ]
    again = here.end_day()
    assert (again.messages, again.events, again.ledger, again.metrics) == ([], [], [], [])
    assert again.counters == {}
    assert here.summaries() == {"ann": {"lines": 2}, "bob": {"lines": 2}}


def tomorrow(of: Host) -> tuple[list[Report], Any]:
    reports = play(of, 1440 + 541, [mail("ann", "zoe", 2, "draw; to bob: draw; wake 5000")])
    return reports, of.end_day()


def test_a_host_restored_to_a_day_plays_the_next_one_as_it_was_played_before() -> None:
    here = host("ann", "bob")
    here.start()
    play(here, 541, [mail("ann", "zoe", 1, "draw; to bob: wake 2500")])
    saved = here.end_day().saved
    first = tomorrow(here)
    assert here.restore(saved) == 2500
    assert tomorrow(here) == first
    elsewhere = host("ann", "bob")
    assert elsewhere.restore(saved) == 2500
    assert tomorrow(elsewhere) == first
    assert elsewhere.work(2500, 0, []).next_wake == 5000
    assert diary(elsewhere, "bob")[-1] == "woken at 2500"


def test_what_was_done_on_a_day_that_is_taken_back_leaves_no_trace() -> None:
    here = host("ann", "bob")
    here.start()
    here.work(540, 0, [])
    saved = here.end_day().saved
    here.work(1441, 0, [mail("ann", "zoe", 1, "to bob: on its way; wake 1500")])
    assert here.restore(saved) is None
    day = here.end_day()
    assert (day.messages, day.events, day.counters) == ([], [], {})
    assert here.work(1441, 0, [mail("ann", "zoe", 1)]).handled == 1, "it counts as new again"
    assert diary(here, "bob") == ["woken at 540"]


def test_rewound_to_before_the_first_day_it_starts_again() -> None:
    here = host("ann")
    first = (here.start(), here.work(540, 0, []), here.end_day())
    here.restore(None)
    assert diary(here, "ann") == []
    assert (here.start(), here.work(540, 0, []), here.end_day()) == first


def test_a_state_that_is_no_plain_data_is_refused_in_one_line() -> None:
    class Hoarder(Agent):
        def save(self) -> Any:
            return {"friends": {object()}}

    with pytest.raises(HanseError, match=r"hal: its save\(\) must return plain data"):
        Host("here", 0, ["hal"], Hoarder, {"hal": "here"})


def test_while_a_handler_runs_the_host_tells_what_it_is_busy_with() -> None:
    seen: list[dict[str, object] | None] = []

    class Nosy(Agent):
        @handles(Text)
        def on_text(self, message: Message, context: Context) -> None:
            seen.append(here.busy_with())

    here = Host("here", 0, ["nick"], Nosy, {"nick": "here"})
    assert here.busy_with() is None
    here.work(541, 0, [mail("nick", "zoe", 4)])
    assert here.busy_with() is None
    [busy] = seen
    assert busy is not None and float(str(busy.pop("seconds"))) >= 0
    assert busy == {"host": "here", "agent": "nick", "message": "zoe#4 (text)"}


def test_it_notes_when_it_handled_every_message_and_woke_every_agent() -> None:
    before = time.time_ns()
    here = host("ann", "bob", trace_key="k")
    here.start()
    play(here, 541, [mail("ann", "zoe", 1, "to bob: hello")])
    day = here.end_day()
    assert day.notes.timings is not None
    noted = Timings.unpack(day.notes.timings)
    assert list(noted.messages) == ["zoe#1", "ann#1"]
    assert list(noted.wakes) == [("ann", 0), ("bob", 0), ("ann", 540), ("bob", 540)]
    told, sent_on = noted.messages.values()
    assert before < told.arrived <= told.began < told.began + told.took <= sent_on.arrived
    assert here.end_day().notes.timings != day.notes.timings, "handed over once"


def test_what_was_sent_in_a_round_is_reported_for_monitors_but_for_the_mail_of_the_unwatched() -> (
    None
):
    here = host("ann", "bob", elsewhere={"carl": "there"}, unwatched=frozenset(["carl"]))
    report = here.work(541, 0, [mail("ann", "zoe", 1, "to bob: to ann: x; to carl: y")])
    [row] = report.watched
    assert row[:7] == (541, 0, "ann", 1, "bob", "comm", "text")
    assert [r[2:5] for r in here.work(541, 1, []).watched] == [("bob", 1, "ann")]
    assert here.work(541, 2, []).watched == [], "handed over once"


def test_without_monitors_nothing_is_reported_for_them() -> None:
    here = host("ann", "bob")
    assert here.work(541, 0, [mail("ann", "zoe", 1, "to bob: hello")]).watched == []


def test_agents_that_answer_each_other_without_end_are_stopped_by_their_mailboxes() -> None:
    names = ["ann", "bob"]
    here = Host("here", 0, names, Echo, dict.fromkeys(names, "here"), mailbox_limit=50)
    report = here.work(541, 0, [mail("ann", "zoe", 1, "hello")], alone_until=542)
    assert not report.due
    assert here.end_day().counters == {"mail_refused": 1}
