"""Spines are widest paths from the origin whose edges light up one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.recent import Window
from monitors.caspian.spines import spines
from tests.monitors.caspian.test_attribution import graph_of

Row = tuple[int, str, str, float, int]
"""(tick, source, target, z, channel)."""


def found(graph: PossibilityGraph, rows: list[Row], origin: str) -> list[tuple[str, float, int]]:
    ordered = sorted(rows, key=lambda row: row[0])
    source = [graph.index(row[1]) for row in ordered]
    target = [graph.index(row[2]) for row in ordered]
    window = Window(
        graph.edge_ids(source, target),
        np.array([row[4] for row in ordered], np.int8),
        np.array([row[3] for row in ordered]),
        np.array([row[0] for row in ordered], np.intp),
    )
    return [
        ("".join(graph.nodes[agent] for agent in path.agents), path.bottleneck, path.channel)
        for path in spines(graph, window, graph.index(origin), 0.3)
    ]


LINE = graph_of("ab", "bc", "cd")


def test_a_path_is_as_wide_as_its_narrowest_edge() -> None:
    rows = [(0, "a", "b", 4.0, 0), (1, "b", "c", 3.0, 0), (2, "c", "d", 5.0, 0)]
    assert found(LINE, rows, "a") == [("abcd", 2.0, 0)]


def test_a_path_that_another_goes_on_from_is_not_named_by_itself() -> None:
    rows = [(0, "a", "b", 5.0, 0), (1, "b", "c", 1.5, 0)]
    assert [path for path, _, _ in found(LINE, rows, "a")] == ["abc"]


def test_of_two_ways_the_wider_is_taken() -> None:
    graph = graph_of("ab", "ac", "bd", "cd")
    rows = [
        (0, "a", "b", 2.5, 0),
        (0, "a", "c", 5.0, 0),
        (1, "b", "d", 5.0, 0),
        (1, "c", "d", 4.0, 0),
    ]
    assert ("acd", 3.0, 0) in found(graph, rows, "a")
    assert not any(path.endswith("bd") for path, _, _ in found(graph, rows, "a"))


def test_an_edge_that_was_lit_long_before_the_one_that_leads_to_it_is_not_taken() -> None:
    rows = [(0, "b", "c", 4.0, 0), (5, "a", "b", 4.0, 0)]
    assert [path for path, _, _ in found(LINE, rows, "a")] == ["ab"]
    soon = [(4, "b", "c", 4.0, 0), (5, "a", "b", 4.0, 0)]
    assert [path for path, _, _ in found(LINE, soon, "a")] == ["abc"]


def test_the_channel_is_the_one_that_has_carried_most_along_the_path() -> None:
    rows = [(0, "a", "b", 4.0, 2), (0, "a", "b", 2.0, 0), (1, "b", "c", 3.0, 2)]
    assert found(LINE, rows, "a")[0][2] == 2


def test_edges_without_excess_carry_nothing() -> None:
    assert found(LINE, [(0, "a", "b", 0.9, 0)], "a") == []
    assert found(LINE, [], "a") == []


def test_at_most_three_are_named_and_they_end_at_different_agents() -> None:
    graph = graph_of("ab", "ac", "ad", "ae", "af")
    rows = [(0, "a", end, 2.0 + place, 0) for place, end in enumerate("bcdef")]
    assert [path for path, _, _ in found(graph, rows, "a")] == ["af", "ae", "ad"]
    assert found(graph, rows, "a")[0][1] == pytest.approx(5.0)
