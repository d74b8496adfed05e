"""Bridge and amplifier are named by what passed through them, not by ratios of small numbers."""

from __future__ import annotations

import numpy as np
import pytest

from monitors.caspian.attribution import (
    flows,
    rank_amplifier,
    rank_bridge,
    reached,
    strengths,
)
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.recent import Window
from tests.monitors.caspian.traffic import ring

Row = tuple[str, str, float]


def graph_of(*pairs: str) -> PossibilityGraph:
    """Edges written as ``ab`` for a -> b."""
    nodes = sorted({name for pair in pairs for name in pair})
    return PossibilityGraph.from_edges(
        nodes, [(pair[0], pair[1], ["comm", "mem"]) for pair in pairs]
    )


def window(graph: PossibilityGraph, rows: list[Row], channel: int = 0) -> Window:
    source = [graph.index(row[0]) for row in rows]
    target = [graph.index(row[1]) for row in rows]
    return Window(
        graph.edge_ids(source, target),
        np.full(len(rows), channel, np.int8),
        np.array([row[2] for row in rows]),
        np.zeros(len(rows), np.intp),
    )


def names(graph: PossibilityGraph, ranking: list[tuple[int, float]]) -> list[str]:
    return [graph.nodes[agent] for agent, _ in ranking]


# o reaches x and y by itself; whatever lies beyond the gate g only through it.
GATED = graph_of("ox", "oy", "xg", "yg", "gp", "gq", "pq", "qp", "xy")


def test_flows_are_sums_over_the_root_of_the_number() -> None:
    flow = flows(GATED, window(GATED, [("o", "x", 2.0), ("o", "y", 4.0), ("x", "g", 1.0)]))
    o, x, g = (GATED.index(name) for name in "oxg")
    assert flow.outflow[o] == pytest.approx(6.0 / np.sqrt(2))
    assert flow.sent[o] == 6.0
    assert flow.inflow[x] == 2.0
    assert flow.inflow[g] == 1.0
    assert reached(flow) == 2


def test_the_bridge_is_the_gate_to_those_that_were_reached() -> None:
    rows = [("o", "x", 5.0), ("x", "g", 3.0), ("g", "p", 4.0), ("p", "q", 4.0)]
    ranking = rank_bridge(GATED, flows(GATED, window(GATED, rows)), GATED.index("o"))
    assert names(GATED, ranking)[0] == "g"
    assert ranking[0][1] == pytest.approx(8.0)


def test_the_origin_is_never_the_bridge() -> None:
    rows = [("o", "x", 5.0), ("o", "y", 5.0)]
    ranking = rank_bridge(GATED, flows(GATED, window(GATED, rows)), GATED.index("o"))
    assert "o" not in names(GATED, ranking)


def test_without_a_gate_flow_times_betweenness_decides() -> None:
    graph = ring(6)
    a, b, c = graph.nodes[:3]
    flow = flows(graph, window(graph, [(a, b, 5.0), (b, c, 5.0)]))
    assert names(graph, rank_bridge(graph, flow, 0))[0] == b


def test_the_amplifier_was_clearly_reached_and_sends_most() -> None:
    rows = [
        *[("o", "x", 5.0)] * 9,
        ("x", "g", 5.0),
        *[("g", "p", 4.0)] * 2,
        *[("p", "q", 3.0)] * 6,
        *[("q", "p", 1.0)] * 2,
    ]
    flow = flows(GATED, window(GATED, rows))
    origin, bridge = GATED.index("o"), GATED.index("g")
    assert names(GATED, rank_amplifier(flow, origin, bridge)) == ["p", "x", "q"]


def test_an_agent_that_was_not_reached_is_no_amplifier() -> None:
    flow = flows(GATED, window(GATED, [("y", "g", 5.0), ("o", "x", 1.0)]))
    assert names(GATED, rank_amplifier(flow, GATED.index("o"), None)) == ["g"]


def test_strengths_tell_what_each_edge_carries_on_each_channel() -> None:
    comm = window(GATED, [("o", "x", 3.0)] * 4 + [("x", "g", 1.0)])
    mem = window(GATED, [("o", "x", 3.0)], channel=1)
    both = Window(
        np.concatenate([comm.edge, mem.edge]),
        np.concatenate([comm.channel, mem.channel]),
        np.concatenate([comm.z, mem.z]),
        np.concatenate([comm.place, mem.place]),
    )
    found = strengths(GATED, both)
    assert [tuple(each) for each in found] == [
        ("o", "x", "comm", 4, 5.0),
        ("o", "x", "mem", 1, 2.0),
    ]
