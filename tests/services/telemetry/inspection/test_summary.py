"""Summary: a run at a glance."""

from __future__ import annotations

import pytest

from services.telemetry.inspection.summary import summary


def test_every_message_has_its_spans_and_all_are_found(play):
    found = summary(play)
    messages = play.run.count("messages")
    assert (found.days, found.messages) == (6, messages)
    assert found.kinds["send"] == found.kinds["process"] == messages
    assert found.found == found.expected == sum(found.kinds.values())


def test_the_run_is_called_by_its_folder_and_its_id(play):
    found = summary(play)
    assert (found.folder, found.run) == (play.run.folder.name, play.run.manifest.id)


def test_spans_of_messages_are_counted_by_themselves(play):
    found = summary(play)
    assert found.of_messages == sum(found.kinds[kind] for kind in ("send", "receive", "process"))
    assert 0 < found.of_messages < found.found


def test_handlers_of_many_agents_are_told_by_what_agents_are(play):
    few, many = summary(play), summary(play, agents_apart=3)
    assert (few.by_agent, many.by_agent) == (True, False)
    assert {handler.agents for handler in few.handlers} == {"exchange", "ann", "bob", "cid"}
    assert {handler.agents for handler in many.handlers} == {
        "exchange",
        "farmer",
        "roaster",
        "retailer",
    }
    assert sum(h.times for h in few.handlers) == sum(h.times for h in many.handlers)


def test_handlers_are_sorted_by_their_99th_percentile_and_add_up_to_the_busy_time(play):
    found = summary(play)
    shares = [handler.p99 for handler in found.handlers]
    assert shares == sorted(shares, reverse=True)
    assert sum(h.total for h in found.handlers) == pytest.approx(found.busy_seconds * 1000)


def test_handlers_are_told_agent_by_agent(play):
    handlers = {(handler.agents, handler.message): handler for handler in summary(play).handlers}
    deciding = handlers["bob", "turn"]
    assert deciding.times == sum(
        message.recipient == "bob" and message.type == "turn"
        for day in play.days
        for message in play.day(day).messages
    )
    assert 0 < deciding.p50 <= deciding.p95 <= deciding.p99 <= deciding.longest
    assert deciding.slowest.startswith("exchange#")


def test_busiest_pairs_count_both_ways(play):
    pair = summary(play).pairs[0]
    both = {pair.one, pair.two}
    counted = sum(
        {message.sender, message.recipient} == both
        for day in play.days
        for message in play.day(day).messages
    )
    assert pair.messages == counted


def test_refused_commands_are_counted_with_their_code(play):
    commands, refused, code = summary(play).refused["bob"]
    assert (refused, code) == (1, "listing_closed")
    assert commands > 10


def test_virtual_and_wall_time_stand_side_by_side(play):
    found = summary(play)
    assert found.virtual_minutes == 6 * 1440
    assert found.wall_seconds is not None and found.busy_seconds is not None
    assert 0 < found.busy_seconds <= found.wall_seconds


def test_the_days_are_counted_as_they_are_read(play):
    told: list[tuple[int, int]] = []
    summary(play, lambda day, days: told.append((day, days)))
    assert told == [(day, 6) for day in range(6)]


def test_invoices_that_were_paid_late_are_added_up(play):
    late = summary(play).late
    assert (late.paid, late.most_days, late.longest, late.open) == (1, 2, "I1", 0)
    assert late.payers == {"bob": 1}
