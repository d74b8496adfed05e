"""Reading a run for tracing: days, causes, a message by its id, an order's whole story."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.league import League
from services.config import RunConfig
from services.errors import HanseError
from services.runs import Run
from services.telemetry.reader import TraceReader
from tests.services.telemetry.made_runs import event, meddle, message, sixty_days, timed, written

__all__ = ["sixty_days", "written"]

Written = Callable[..., TraceReader]


def test_the_days_are_those_that_are_whole(sixty_days: TraceReader) -> None:
    assert sixty_days.days == range(60)
    day = sixty_days.day(7)
    assert {m.day for m in day.messages} == {7} == {e.day for e in day.events}
    assert {m.minute // 1440 for m in day.messages} == {7}


def test_a_run_without_a_whole_day_has_none(tmp_path: Path) -> None:
    with League.create(RunConfig(days=3, placement="inline"), tmp_path / "run"):
        reader = TraceReader(Run(tmp_path / "run"))
        assert reader.days == range(0)
        assert reader.find_message("ann#1") is None
        assert list(reader.find_events()) == []
        with pytest.raises(HanseError, match="no day 0; the run has no whole day yet"):
            reader.day(0)


def test_a_run_is_read_while_it_is_written(tmp_path: Path) -> None:
    with League.create(RunConfig(days=5, placement="inline"), tmp_path / "run") as league:
        reader = TraceReader(Run(tmp_path / "run"))
        league.run(until_day=1)
        assert reader.days == range(2)
        assert reader.day(1).messages
        league.run(until_day=3)
        assert reader.days == range(4)
        last = reader.day(3).messages[-1]
        assert reader.find_message(last.id) == last


def test_a_day_that_is_not_there_is_refused_in_one_line(sixty_days: TraceReader) -> None:
    for day in (60, -1):
        with pytest.raises(HanseError, match=f"no day {day}; the run has days 0 to 59"):
            sixty_days.day(day)


def test_every_message_is_found_by_its_id(sixty_days: TraceReader) -> None:
    for day in (0, 31, 59):
        for sent in sixty_days.day(day).messages:
            assert sixty_days.find_message(sent.id) == sent
            assert sixty_days.find_message_day(sent.id) == day


@pytest.mark.parametrize(
    "id", ["", "#", "exchange", "exchange#", "exchange#0", "exchange#-1", "exchange#²", "x#1"]
)
def test_an_id_of_no_message_finds_nothing(sixty_days: TraceReader, id: str) -> None:
    assert sixty_days.find_message(id) is None


def test_a_number_beyond_all_numbers_finds_nothing(sixty_days: TraceReader) -> None:
    assert sixty_days.find_message("exchange#" + "9" * 4000) is None


def test_causes_and_effects_are_each_others_mirror(sixty_days: TraceReader) -> None:
    day = sixty_days.day(20)
    for sent in day.messages:
        for effect in day.sent_because_of(sent.id):
            assert effect.source == sent.id
        for brought in day.events_because_of(sent.id):
            assert brought.cause == sent.id
    caused = [m for m in day.messages if m.source is not None]
    assert sum(len(day.sent_because_of(m.id)) for m in day.messages) == len(caused) > 50


def test_a_message_is_in_the_trace_of_its_cause(sixty_days: TraceReader) -> None:
    day = sixty_days.day(20)
    for sent in day.messages:
        expected = (
            f"wake {sent.sender}@{sent.minute}" if sent.source is None else day.root(sent.source)
        )
        assert day.root(sent.id) == expected


def test_every_handled_message_has_its_time(sixty_days: TraceReader) -> None:
    day = sixty_days.day(20)
    for sent in day.messages:
        timing = day.timing(sent.id)
        assert timing is not None
        assert timing.arrived <= timing.began


def test_a_run_of_before_tracing_has_no_times(written: Written) -> None:
    reader = written({"messages": [message(1)]})
    reader = meddle(reader, "DROP TABLE timings", "DROP TABLE spans")
    assert reader.day(0).timing("ann#1") is None
    assert reader.day(0).recorded == []


def test_a_cause_that_came_later_or_never_begins_a_trace(written: Written) -> None:
    rows = [
        message(1, in_reply_to="ann#2"),
        message(2, in_reply_to="ann#1", round=1),
        message(3, in_reply_to="ann#3", round=2),
        message(4, in_reply_to="nobody at all", round=3),
    ]
    day = written({"messages": rows, "timings": timed(*rows)}).day(0)
    assert day.root("ann#1") == day.root("ann#2") == "wake ann@540"
    assert [m.id for m in day.sent_because_of("ann#1")] == ["ann#2"]
    assert day.sent_because_of("ann#2") == day.sent_because_of("ann#3") == []


def test_a_cause_of_an_earlier_day_begins_a_trace(written: Written) -> None:
    late = message(2, minute=2000, in_reply_to="ann#1")
    reader = written({"messages": [message(1)]}, {"messages": [late]})
    assert reader.day(1).root("ann#2") == "wake ann@2000"


def test_events_are_found_by_what_they_say(sixty_days: TraceReader) -> None:
    [deal] = sixty_days.find_events("deal", deal="D12")
    assert deal.facts["deal"] == "D12"
    kinds = {found.kind for found in sixty_days.find_events(deal="D12")}
    assert {"deal", "delivery", "invoice"} <= kinds
    assert list(sixty_days.find_events("deal", deal="D1", qty=-1)) == []
    assert list(sixty_days.find_events("deal", recorder="nobody")) == []


def test_events_are_found_within_days(sixty_days: TraceReader) -> None:
    found = list(sixty_days.find_events("day_end", days=range(10, 13)))
    assert [e.facts["day"] for e in found] == [10, 11, 12]
    assert len(list(sixty_days.find_events("day_end", days=range(55, 999)))) == 5


def test_facts_are_found_however_json_writes_them(written: Written) -> None:
    rows = [event(1, "note", '{"who":"J\\u00f6rg \\/ \\"x\\"","n":1}')]
    reader = written({"events": rows})
    assert len(list(reader.find_events("note", who='Jörg / "x"', n=1))) == 1


def test_an_order_is_told_from_offer_to_payment(sixty_days: TraceReader) -> None:
    payment = next(sixty_days.find_events("payment"))
    offer = payment.facts["offer"]
    story = sixty_days.business(payment.agent, offer)
    told = [e.facts["tool"] if e.kind == "action" else e.kind for e in story]
    expected = ["make_offer", "accept_offer", "deal", "delivery", "invoice", "pay_invoice"]
    assert set(expected) | {"payment"} == set(told)
    assert told[0] == "make_offer"
    assert [e.minute for e in story] == sorted(e.minute for e in story)


def test_an_order_is_told_too_where_events_do_not_name_their_offer(written: Written) -> None:
    rows = [
        event(1, "action", {"tool": "make_offer", "args": {}, "status": "success", "new_id": "O1"}),
        event(2, "deal", {"deal": "D1", "offer": "O1"}),
        event(3, "delivery", {"deal": "D1", "outcome": "delivered"}),
        event(4, "invoice", {"invoice": "I1", "deal": "D1"}),
        event(5, "action", {"tool": "pay_invoice", "args": {"invoice_id": "I1"}}),
        event(6, "payment", {"invoice": "I1"}),
        event(7, "deal", {"deal": "D2", "offer": "O2"}),
        event(8, "note", {"text": '"O1" and "D1"'}),
        event(9, "deal", {"deal": "D1", "offer": "O1"}, agent="exchange_west"),
    ]
    reader = written({"events": rows})
    assert [e.ordinal for e in reader.business("exchange", "O1")] == [1, 2, 3, 4, 5, 6]
    assert reader.offer_of("exchange", "I1") == reader.offer_of("exchange", "D1") == "O1"
    assert reader.offer_of("exchange_west", "I1") is None


def test_an_order_that_never_was_has_no_story(sixty_days: TraceReader) -> None:
    assert sixty_days.business("exchange", "O99999") == []


def test_a_mailbox_that_was_full_names_what_it_refused(written: Written) -> None:
    rows = [message(n) for n in range(1, 6)] + [message(1, sender="zoe")]
    refusal = event(1, "mail_refused", {"count": 2, "limit": 3}, agent="bob", subject="bob")
    day = written({"messages": rows, "events": [refusal]}).day(0)
    assert day.refused == {"ann#4", "ann#5"}


def test_a_copy_that_may_not_be_written_is_read(sixty_days: TraceReader, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(sixty_days.run.folder, folder)
    for path in (folder / "run.db", folder):
        path.chmod(0o555)
    try:
        assert TraceReader(Run(folder)).day(3).messages == sixty_days.day(3).messages
    finally:
        folder.chmod(0o755)
