"""What does not fit is dropped and counted by its reason; what fits is put into one order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.events import DIMENSIONS, TickEvents
from monitors.caspian.intake import Batch, admit
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.settings import Settings
from tests.monitors.caspian.traffic import chain, chatter, events, ring, shuffled


def admitted(
    tick: TickEvents, graph: PossibilityGraph, settings: Settings | None = None, segment: int = 0
) -> tuple[Batch, Counter[str]]:
    dropped: Counter[str] = Counter()
    batch = admit(tick, graph, settings or Settings(), segment, dropped)
    assert batch is not None
    return batch, dropped


def some(rows: list[tuple[int, int, int]]) -> TickEvents:
    vectors = np.random.default_rng(0).standard_normal((2, len(rows), DIMENSIONS))
    return events(3, rows, vectors[0], vectors[1])


def test_events_that_the_graph_does_not_allow_are_dropped() -> None:
    batch, dropped = admitted(some([(0, 1, 0), (1, 0, 0), (0, 9, 0), (-1, 1, 0)]), chain("a", "b"))
    assert (len(batch), dropped) == (1, {"off_graph": 3})


def test_events_on_a_channel_that_the_edge_does_not_carry_are_dropped() -> None:
    graph = PossibilityGraph.from_edges("ab", [("a", "b", ["mem"])])
    batch, dropped = admitted(some([(0, 1, 0), (0, 1, 1), (0, 1, 4), (0, 1, -1)]), graph)
    assert batch.channel.tolist() == [1]
    assert dropped == {"off_channel": 3}


@pytest.mark.parametrize(
    ("value", "reason"),
    [(np.nan, "not_finite"), (np.inf, "not_finite"), (1e30, "not_finite"), (0.0, "no_content")],
)
def test_vectors_that_say_nothing_are_dropped(value: float, reason: str) -> None:
    tick = some([(0, 1, 0), (0, 1, 1)])
    tick.v[0] = value
    batch, dropped = admitted(tick, chain("a", "b"))
    assert batch.channel.tolist() == [1]
    assert dropped == {reason: 1}


def test_a_batch_that_is_no_batch_is_refused_whole() -> None:
    good = some([(0, 1, 0), (0, 1, 1)])
    for bad in (
        replace(good, source=good.source[:1]),
        replace(good, u=good.u[:, :10]),
        replace(good, u=good.u.astype(object)),
        replace(good, channel=good.channel.astype(float)),
        replace(good, ids=("only one",)),
        replace(good, sampled=0.0),
        replace(good, sampled=float("nan")),
    ):
        dropped: Counter[str] = Counter()
        assert admit(bad, chain("a", "b"), Settings(), 0, dropped) is None
        assert dropped["malformed"] >= 1


def test_an_event_that_agrees_with_another_in_everything_counts_once() -> None:
    tick = some([(0, 1, 0), (0, 1, 0), (0, 1, 0)])
    tick.u[1], tick.v[1] = tick.u[0], tick.v[0]
    batch, dropped = admitted(replace(tick, ids=("m1", "m1", "m2")), chain("a", "b"))
    assert (len(batch), dropped) == (2, {"duplicate": 1})


def test_the_same_words_in_two_messages_are_two_events() -> None:
    tick = some([(0, 1, 0), (0, 1, 0)])
    tick.u[1], tick.v[1] = tick.u[0], tick.v[0]
    batch, dropped = admitted(replace(tick, ids=("m1", "m2")), chain("a", "b"))
    assert (batch.ids, dropped) == (("m1", "m2"), {})


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.sampled_from([10, 40, 1_000]))
def test_the_order_of_events_does_not_matter(seed: int, other: int, most: int) -> None:
    graph = ring()
    [tick] = chatter(graph, 1, seed)
    # Each event twice more, in other words: ties between the same ends.
    tick = replace(
        tick.take(np.tile(np.arange(len(tick)), 3)),
        u=np.concatenate([tick.u, -tick.u, 2 * tick.u]),
    )
    settings = Settings(max_events=most)
    one, _ = admitted(tick, graph, settings)
    two, _ = admitted(shuffled(tick, other), graph, settings)
    assert one.u.tobytes() == two.u.tobytes()
    assert one.ids == two.ids
    assert one.edge.tolist() == two.edge.tolist()


def test_of_too_many_events_so_many_are_drawn_and_it_says_their_share() -> None:
    graph = ring()
    [tick] = chatter(graph, 1, rate=1.0)
    batch, dropped = admitted(tick, graph, Settings(max_events=16))
    assert len(batch) == 16
    assert batch.sampled == 16 / 64
    assert dropped == {"sampled_out": 48}
    again, _ = admitted(replace(tick, sampled=0.5), graph, Settings(max_events=16))
    assert again.sampled == 0.5 * 16 / 64


def test_the_draw_differs_between_ticks_and_segments() -> None:
    graph = ring()
    [tick] = chatter(graph, 1, rate=1.0)
    draws = {
        admitted(replace(tick, tick=number), graph, Settings(max_events=16), segment)[0].ids
        for number in (0, 1)
        for segment in (0, 1)
    }
    assert len(draws) == 4


def test_every_event_is_drawn_equally_often() -> None:
    graph = ring()
    [tick] = chatter(graph, 1, rate=1.0)
    settings = Settings(max_events=16)
    drawn: Counter[str] = Counter()
    for number in range(400):
        drawn.update(admitted(replace(tick, tick=number), graph, settings)[0].ids)
    # Binomial(400, 1/4): mean 100, deviation 8.7; five of them either way.
    assert len(drawn) == 64
    assert min(drawn.values()) > 56 and max(drawn.values()) < 144
