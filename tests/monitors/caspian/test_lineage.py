"""Origin, onset and the infected are those of the likeliest history that could have happened."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitors.caspian.lineage import Lineage, trace
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.recent import Window
from monitors.caspian.settings import Settings
from tests.monitors.caspian.traffic import chain, ring

Row = tuple[int, int, int, float]
"""(tick, source, target, z)."""


def window(graph: PossibilityGraph, rows: list[Row]) -> Window:
    ordered = sorted(rows)
    source, target = ([row[at] for row in ordered] for at in (1, 2))
    return Window(
        graph.edge_ids(source, target),
        np.zeros(len(rows), np.int8),
        np.array([row[3] for row in ordered]),
        np.array([row[0] for row in ordered], np.intp),
    )


def found(graph: PossibilityGraph, rows: list[Row]) -> Lineage:
    lineage = trace(graph, window(graph, rows), Settings())
    assert lineage is not None
    return lineage


CHAIN = chain("a", "b", "c", "d")
HOT, COLD = 4.0, 0.0


def steady(hot_from: dict[int, int], ticks: int = 8) -> list[Row]:
    """Every edge of the chain every tick; an agent's events are hot from its tick on."""
    return [
        (tick, agent, agent + 1, HOT if tick >= hot_from.get(agent, ticks) else COLD)
        for tick in range(ticks)
        for agent in range(3)
    ]


def test_the_origin_is_where_the_chain_of_infections_begins() -> None:
    lineage = found(CHAIN, steady({0: 2, 1: 3, 2: 4}))
    assert lineage.ranking[0][0] == 0
    assert lineage.onset == 2
    assert lineage.infected.tolist() == [2, 3, 4, -1]


def test_an_agent_in_the_middle_is_the_origin_if_nobody_before_it_sends_anything_unusual() -> None:
    lineage = found(CHAIN, steady({1: 3, 2: 5}))
    assert (lineage.ranking[0][0], lineage.onset) == (1, 3)
    assert lineage.infected.tolist() == [-1, 3, 5, -1]


def test_who_sends_most_is_not_the_origin_if_it_was_infected() -> None:
    rows = steady({0: 2, 1: 3})
    loud = [(tick, 1, 2, HOT) for tick in range(3, 8) for _ in range(5)]
    assert found(CHAIN, rows + loud).ranking[0][0] == 0


def test_an_agent_that_is_unusual_before_it_can_have_been_infected_is_counted_from_later() -> None:
    # d -> c does not exist: c is hot from tick 1, but b, who alone reaches it, only from tick 4.
    lineage = found(CHAIN, steady({0: 3, 1: 4, 2: 1}))
    assert lineage.ranking[0][0] in (0, 2)
    if lineage.ranking[0][0] == 0:
        assert lineage.infected[2] >= 5


def test_a_history_by_hand() -> None:
    # One agent, one hot event: log((1 - 0.4) + 0.4 exp(3.5 * 4 - 3.5^2 / 2)).
    lineage = found(chain("a", "b"), [(0, 0, 1, HOT)])
    assert lineage.ranking[0][1] == pytest.approx(np.log(0.6 + 0.4 * np.exp(3.5 * 4 - 6.125)))


def test_of_an_empty_window_nothing_is_said() -> None:
    assert trace(CHAIN, window(CHAIN, []), Settings()) is None


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_nobody_is_infected_before_somebody_who_could_have_infected_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = ring(6)
    rows = [
        (tick, int(graph.source[edge]), int(graph.target[edge]), float(rng.normal(0.5, 2)))
        for tick in range(10)
        for edge in range(graph.edges)
        if rng.random() < 0.5
    ]
    lineage = found(graph, rows)
    origin = lineage.ranking[0][0]
    assert lineage.infected[origin] == lineage.onset
    for agent, tick in enumerate(lineage.infected.tolist()):
        if agent == origin or tick < 0:
            continue
        assert tick > lineage.onset
        # Through healthy-looking carriers too, so only that somebody could have: a hot event.
        assert any(row[0] < tick and row[2] == agent and row[3] > 1.5 for row in rows)


def test_cascades_through_a_noisy_ring_are_traced_to_their_origin() -> None:
    graph = ring(10)
    # From agent 4 at tick 10, on to the next two agents every tick.
    since = {(4 + step) % 10: 10 + (step + 1) // 2 for step in range(10)}
    exact = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = [
            (
                tick,
                int(source),
                int(target),
                float(rng.normal(3.5 if tick >= since[int(source)] else 0.0, 1.0)),
            )
            for tick in range(16)
            for source, target in zip(graph.source, graph.target, strict=True)
        ]
        lineage = found(graph, rows)
        exact += (lineage.ranking[0][0], lineage.onset) == (4, 10)
    assert exact >= 24, exact  # by chance one of 10 * 16
