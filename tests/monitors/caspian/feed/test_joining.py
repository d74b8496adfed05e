import json
import random

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitors.caspian.events import CHANNELS
from monitors.caspian.feed import Joiner, JoinSettings, by_tick
from monitors.caspian.feed.hashing import HashedText
from monitors.caspian.possibility import PossibilityGraph
from services.talk.vocabulary import sentence
from tests.monitors.caspian.feed.logs import Log, mesh


def vector(*texts):
    """The mean of the vectors of these texts, at length 1."""
    total = HashedText().vectors([(text,) for text in texts]).sum(axis=0)
    return total / np.linalg.norm(total)


def pairs(joiner, events):
    """(source, target, channel, id of the exposure) of every event."""
    nodes = joiner.graph.nodes
    return [
        (nodes[s], nodes[t], CHANNELS[c], name)
        for s, t, c, name in zip(
            events.source, events.target, events.channel, events.ids, strict=True
        )
    ]


def play(joiner, rows):
    """All events of a log, in order, with the ticks in which they came."""
    found = []
    for tick, some in by_tick(rows):
        found += [(tick, *pair) for pair in pairs(joiner, joiner.feed(tick, some))]
    return found


def test_a_message_is_no_event_until_its_target_has_acted():
    log, joiner = Log(), Joiner(mesh("a", "b"))
    assert len(joiner.feed(0, [log.row(5, "a", "b", "frost")])) == 0
    assert joiner.waiting == 1


def test_u_is_what_was_said_and_v_is_what_the_target_said_later():
    log, joiner = Log(), Joiner(mesh("a", "b", "c"))
    joiner.feed(0, [log.row(5, "a", "b", "frost in huila")])
    events = joiner.feed(3, [log.row(185, "b", "c", "rain in kivu")])
    assert events.tick == 3
    assert pairs(joiner, events) == [("a", "b", "comm", "a#1")]
    np.testing.assert_allclose(events.u[0], vector("frost in huila"), atol=1e-6)
    np.testing.assert_allclose(events.v[0], vector("rain in kivu"), atol=1e-6)


def test_what_is_said_in_the_same_round_is_no_answer():
    log, joiner = Log(), Joiner(mesh("a", "b"))
    crossing = [log.row(5, "a", "b", "frost"), log.row(5, "b", "a", "rain")]
    assert play(joiner, crossing) == []
    assert play(joiner, [log.row(65, "b", "a", "snow", round=1)]) == [(1, "a", "b", "comm", "a#1")]


def test_what_is_said_in_a_later_round_of_the_minute_is_an_answer():
    log, joiner = Log(), Joiner(mesh("a", "b"))
    rows = [log.row(5, "a", "b", "frost"), log.row(5, "b", "a", "rain", round=1)]
    assert play(joiner, rows) == [(0, "a", "b", "comm", "a#1")]


def test_a_broadcast_is_an_event_for_each_target_that_acts():
    log, joiner = Log(), Joiner(mesh("a", "b", "c", "d"))
    rows = [log.row(5, "a", to, "frost") for to in "bcd"]
    rows += [log.row(9, "b", "a", "x"), log.row(9, "c", "a", "y")]
    assert play(joiner, rows) == [(0, "a", "b", "comm", "a#1"), (0, "a", "c", "comm", "a#2")]


def test_all_exposures_that_wait_are_answered_by_the_next_emission_and_only_once():
    log, joiner = Log(), Joiner(mesh("a", "b", "c"))
    rows = [log.row(5, "a", "c", "frost"), log.row(6, "b", "c", "rain")]
    rows += [log.row(7, "c", "a", "x"), log.row(8, "c", "b", "y")]
    assert play(joiner, rows) == [(0, "a", "c", "comm", "a#1"), (0, "b", "c", "comm", "b#1")]


def test_several_messages_of_a_round_answer_with_their_mean():
    log, joiner = Log(), Joiner(mesh("a", "b", "c"))
    joiner.feed(0, [log.row(5, "a", "b", "frost")])
    events = joiner.feed(
        1, [log.row(60, "b", "a", "rain in kivu"), log.row(60, "b", "c", "snow in harrar")]
    )
    np.testing.assert_allclose(events.v[0], vector("rain in kivu", "snow in harrar"), atol=1e-6)


def test_the_message_that_names_the_exposure_answers_it_before_any_other():
    log, joiner = Log(), Joiner(mesh("a", "b", "c"))
    joiner.feed(0, [log.row(5, "a", "b", "frost")])
    rows = [
        log.row(60, "b", "c", "rain in kivu"),
        log.row(60, "b", "a", "frost indeed", reply="a#1"),
    ]
    events = joiner.feed(1, rows)
    np.testing.assert_allclose(events.v[0], vector("frost indeed"), atol=1e-6)


def test_a_message_that_names_the_exposure_as_its_cause_answers_it_on_whatever_channel():
    log, joiner = Log(), Joiner(mesh("a", "b", "board"))
    joiner.feed(0, [log.row(1, "b", "a", "hello"), log.row(5, "a", "b", "frost")])
    events = joiner.feed(1, [log.row(60, "b", "board", "frost", type="board_write", cause="a#1")])
    assert pairs(joiner, events) == [("a", "b", "comm", "a#1")]


def test_who_speaks_on_a_channel_answers_there():
    """b talks on comm and writes to the board; the note waits for b's next note."""
    log, joiner = Log(), Joiner(mesh("a", "b", "board"))
    rows = [log.row(1, "b", "board", "good morning", channel="comm"), log.row(5, "a", "b", "frost")]
    rows += [log.row(9, "b", "board", "rain", type="board_write")]
    assert play(joiner, rows) == []
    assert play(joiner, [log.row(65, "b", "a", "snow")])[-1] == (1, "a", "b", "comm", "a#1")


def test_who_does_not_speak_on_a_channel_answers_where_it_speaks():
    """A firm reads a forecast and passes it on by a note: the event is one of the tool."""
    log, joiner = Log(), Joiner(mesh("oracle", "b", "c"))
    joiner.feed(0, [log.row(5, "oracle", "b", "prices double", type="forecast")])
    events = joiner.feed(1, [log.row(60, "b", "c", "they say prices double")])
    assert pairs(joiner, events) == [("oracle", "b", "tool", "oracle#1")]
    np.testing.assert_allclose(events.v[0], vector("they say prices double"), atol=1e-6)


def test_who_has_been_silent_on_a_channel_for_the_window_speaks_there_no_more():
    log = Log()
    joiner = Joiner(mesh("a", "b", "board"), settings=JoinSettings(window=2))
    rows = [log.row(1, "b", "a", "good morning")]
    rows += [log.row(60 * hour, "a", "board", "x", type="board_write") for hour in (1, 2, 3)]
    rows += [log.row(190, "a", "b", "frost"), log.row(191, "b", "board", "y", type="board_write")]
    assert (3, "a", "b", "comm", "a#4") in play(joiner, rows)


def test_the_rule_of_the_same_channel_never_looks_at_another():
    log = Log()
    joiner = Joiner(mesh("oracle", "b", "c"), settings=JoinSettings(rule="same channel"))
    joiner.feed(0, [log.row(5, "oracle", "b", "prices double", type="forecast")])
    assert len(joiner.feed(1, [log.row(60, "b", "c", "they say prices double")])) == 0


def test_the_rule_of_any_channel_takes_what_comes_first():
    log = Log()
    joiner = Joiner(mesh("a", "b", "board"), settings=JoinSettings(rule="any channel"))
    rows = [log.row(1, "b", "board", "good morning", channel="comm"), log.row(5, "a", "b", "frost")]
    rows += [log.row(9, "b", "board", "rain", type="board_write")]
    assert play(joiner, rows) == [(0, "a", "b", "comm", "a#1")]


def numbers(rng):
    return {"load": round(rng.random(), 3), "latency": round(rng.gauss(9, 2), 3)}


def test_numbers_answer_numbers_and_words_answer_words():
    log, rng = Log(), random.Random(0)
    joiner = Joiner(mesh("a", "b", "c"), settings=JoinSettings(rule="any channel"))
    usual = [log.row(1, "c", "a", numbers(rng), type="status_request") for _ in range(50)]
    joiner.feed(0, usual)
    joiner.feed(1, [log.row(61, "a", "b", numbers(rng), type="status_request")])
    assert len(joiner.feed(2, [log.row(120, "b", "c", "a word")])) == 0
    events = joiner.feed(3, [log.row(180, "b", "c", numbers(rng), type="status_request")])
    assert pairs(joiner, events) == [("a", "b", "exec", "a#1")]


def test_a_mere_request_neither_exposes_nor_answers():
    log, joiner = Log(), Joiner(mesh("b", "board"))
    rows = [
        log.row(1, "b", "board", type="board_read"),
        log.row(2, "board", "b", "frost", type="board_view"),
        log.row(3, "b", "board", type="board_read"),
    ]
    assert play(joiner, rows) == []
    assert (joiner.waiting, joiner.passed_over["no content"]) == (1, 2)


def test_a_board_answers_what_was_written_with_what_it_shows_next():
    log, joiner = Log(), Joiner(mesh("a", "b", "board"))
    rows = [
        log.row(1, "a", "board", "frost", type="board_write"),
        log.row(2, "b", "board", type="board_read"),
        log.row(2, "board", "b", "frost. rain", type="board_view", reply="b#1", round=1),
    ]
    assert play(joiner, rows) == [(0, "a", "board", "mem", "a#1")]


def test_an_exposure_whose_answer_never_comes_is_given_up_after_the_window():
    log = Log()
    joiner = Joiner(mesh("a", "b", "c"), settings=JoinSettings(window=3))
    play(joiner, [log.row(0, "a", "b", "frost")])
    play(joiner, [log.row(60 * hour, "a", "c", "x") for hour in range(1, 5)])
    assert joiner.passed_over["unanswered"] == 1  # in the fourth tick after it
    assert play(joiner, [log.row(300, "b", "a", "late")]) == []


def test_only_so_many_exposures_wait_for_one_target():
    log = Log()
    joiner = Joiner(mesh("a", "b"), settings=JoinSettings(crowd=2))
    rows = [log.row(minute, "a", "b", f"word{minute}") for minute in range(5)]
    assert [pair[-1] for pair in play(joiner, [*rows, log.row(9, "b", "a", "x")])] == [
        "a#4",
        "a#5",
    ]
    assert joiner.passed_over["crowded out"] == 3


def test_a_message_off_the_graph_is_dropped_and_still_is_behaviour_of_its_sender():
    log = Log()
    graph = PossibilityGraph.from_edges(["a", "b", "c"], [("a", "b", ["comm"])])
    joiner = Joiner(graph)
    rows = [log.row(1, "a", "b", "frost"), log.row(2, "b", "c", "rain")]
    rows += [log.row(3, "a", "b", "frost", type="board_write")]
    assert play(joiner, rows) == [(0, "a", "b", "comm", "a#1")]
    assert joiner.dropped == {"off the graph": 2}


def test_bad_input_is_counted_by_reason_and_changes_nothing():
    log = Log()
    good = [log.row(1, "a", "b", "frost"), log.row(2, "b", "a", "rain")]
    bad = [
        None,
        log.row(3, "c", "stranger", "hi"),
        log.row(3, "stranger", "c", "hi"),
        log.row(3, "c", "c", "hi"),
        log.row(3, "c", "b", "x")._replace(body="{"),
        log.row(63, "c", "b", "x"),
        log.row(3, "c", "b", "x", channel="smoke"),
        good[0],
    ]
    joiner = Joiner(mesh("a", "b", "c"))
    events = joiner.feed(0, [*bad, *good])
    assert pairs(joiner, events) == [("a", "b", "comm", "a#1")]
    assert joiner.dropped == {
        "malformed row": 1,
        "unknown agent": 2,
        "message to oneself": 1,
        "no JSON object": 1,
        "other tick": 1,
        "unknown channel": 1,
        "number seen already": 1,
    }


def test_a_batch_that_comes_twice_or_too_late_is_refused_whole():
    log, joiner = Log(), Joiner(mesh("a", "b"))
    rows = [log.row(130, "a", "b", "frost"), log.row(131, "b", "a", "rain")]
    assert len(joiner.feed(2, rows)) == 1
    assert len(joiner.feed(2, rows)) == 0
    assert len(joiner.feed(1, [log.row(70, "b", "a", "x")])) == 0
    assert joiner.dropped == {"tick seen already": 2, "time runs backwards": 1}


def test_a_message_that_comes_again_in_a_later_batch_is_dropped():
    log, joiner = Log(), Joiner(mesh("a", "b"))
    row = log.row(5, "a", "b", "frost")
    joiner.feed(0, [row])
    joiner.feed(1, [row._replace(minute=65)])
    assert joiner.dropped == {"number seen already": 1}
    assert joiner.waiting == 1


def test_a_batch_that_never_comes_only_leaves_out_its_own_events():
    log, joiner = Log(), Joiner(mesh("a", "b"))
    hours = [
        [log.row(60 * h, "a", "b", f"frost{h}"), log.row(60 * h + 1, "b", "a", f"rain{h}")]
        for h in range(4)
    ]
    found = [pair for tick in (0, 1, 3) for pair in pairs(joiner, joiner.feed(tick, hours[tick]))]
    assert [name for *_, name in found] == ["a#1", "b#1", "a#2", "b#2", "a#4"]


def test_after_a_change_of_the_graph_exposures_on_edges_that_are_gone_are_forgotten():
    log, joiner = Log(), Joiner(mesh("a", "b", "c"))
    joiner.feed(0, [log.row(1, "a", "b", "frost"), log.row(1, "c", "b", "rain")])
    joiner.regraph(mesh("b", "c", "d"))
    events = joiner.feed(1, [log.row(61, "b", "d", "snow")])
    assert pairs(joiner, events) == [("c", "b", "comm", "c#1")]


def test_the_default_settings_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match="windows"):
        JoinSettings(windows=3)


def traffic(seed, hours=30):
    """A small league's talk, with rounds and all kinds of payloads."""
    rng, log, rows = random.Random(seed), Log(), []
    names = ("a", "b", "c", "d", "board")
    for hour in range(hours):
        for round_ in range(3):
            for sender in rng.sample(names, rng.randrange(len(names) + 1)):
                other = rng.choice([name for name in names if name != sender])
                kind = rng.choice(["market_note", "board_write", "board_read", "status_reply"])
                said = numbers(rng) if kind == "status_reply" else sentence(rng)
                reply = f"{other}#{rng.randrange(1, 20)}" if rng.random() < 0.2 else None
                rows.append(
                    log.row(60 * hour, sender, other, said, round=round_, type=kind, reply=reply)
                )
    return rows, mesh(*names)


def as_bytes(events):
    arrays = (events.source, events.target, events.channel, events.u, events.v)
    return (events.tick, *(array.tobytes() for array in arrays), events.ids)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_of_rows_within_a_tick_changes_nothing(seed, rng):
    rows, graph = traffic(seed)
    straight, mixed = Joiner(graph), Joiner(graph)
    for tick, some in by_tick(rows):
        shuffled = list(some)
        rng.shuffle(shuffled)
        assert as_bytes(straight.feed(tick, some)) == as_bytes(mixed.feed(tick, shuffled))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 29))
def test_what_was_saved_goes_on_exactly(seed, stop):
    rows, graph = traffic(seed)
    straight, resumed = Joiner(graph), Joiner(graph)
    for tick, some in by_tick(rows):
        assert as_bytes(straight.feed(tick, some)) == as_bytes(resumed.feed(tick, some))
        if tick == stop:
            saved = msgpack.unpackb(msgpack.packb(resumed.save()))
            resumed = Joiner(graph)
            resumed.load(saved)
    assert straight.save() == resumed.save()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_v_is_never_the_message_itself_and_every_event_is_a_message_between_known_agents(seed):
    rows, graph = traffic(seed)
    bodies = {row.id: json.loads(row.body) for row in rows}
    joiner = Joiner(graph)
    seen = []
    for tick, some in by_tick(rows):
        events = joiner.feed(tick, some)
        seen += events.ids
        assert np.isfinite(events.u).all() and np.isfinite(events.v).all()
        assert (events.source != events.target).all()
        # No sentence comes twice here, so equal vectors would be the same message.
        words = [row for row, name in enumerate(events.ids) if "text" in bodies[name]]
        assert all(events.u[row].tobytes() != events.v[row].tobytes() for row in words)
    assert len(seen) == len(set(seen))
