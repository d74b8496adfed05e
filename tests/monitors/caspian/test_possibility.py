"""The possibility graph says who can reach whom, and finds edges by their ends."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.events import CHANNELS
from monitors.caspian.possibility import PossibilityGraph
from services.errors import HanseError

SHOP = [("roaster", "cafe", ["comm"]), ("farm", "roaster", ["comm", "exec"])]


def test_nodes_are_sorted_and_edges_follow_their_order() -> None:
    graph = PossibilityGraph.from_edges(["roaster", "cafe", "farm"], SHOP)
    assert graph.nodes == ("cafe", "farm", "roaster")
    assert graph.source.tolist() == [1, 2]
    assert graph.target.tolist() == [2, 0]
    assert graph.channels.tolist() == [0b1001, 0b0001]


def test_an_edge_is_found_by_its_ends_and_others_are_minus_one() -> None:
    graph = PossibilityGraph.from_edges(["roaster", "cafe", "farm"], SHOP)
    assert graph.edge_ids([2, 1, 0, 7, -1], [0, 2, 1, 0, 0]).tolist() == [1, 0, -1, -1, -1]


def test_a_graph_without_edges_finds_none() -> None:
    assert PossibilityGraph.from_edges(["a", "b"], []).edge_ids([0], [1]).tolist() == [-1]


def test_lines_for_one_pair_are_joined() -> None:
    graph = PossibilityGraph.from_edges("ab", [("a", "b", ["comm"]), ("a", "b", ["tool"])])
    assert graph.channels.tolist() == [0b0101]


def test_the_version_depends_on_names_edges_and_channels_but_not_on_their_order() -> None:
    graph = PossibilityGraph.from_edges(["roaster", "cafe", "farm"], SHOP)
    again = PossibilityGraph.from_edges(["farm", "roaster", "cafe"], SHOP[::-1])
    assert graph == again
    others = [
        PossibilityGraph.from_edges(["roaster", "cafe", "farm", "port"], SHOP),
        PossibilityGraph.from_edges(["roaster", "cafe", "farm"], SHOP[:1]),
        PossibilityGraph.from_edges(
            ["roaster", "cafe", "farm"], [SHOP[0], ("farm", "roaster", ["comm"])]
        ),
    ]
    assert len({graph.version, *(other.version for other in others)}) == 4


@pytest.mark.parametrize(
    ("nodes", "edge", "message"),
    [
        (["a", "a"], ("a", "a", ["comm"]), "two nodes of the name 'a'"),
        (["a", "b"], ("a", "a", ["comm"]), "leads from 'a' to itself"),
        (["a", "b"], ("a", "c", ["comm"]), "no agent 'c'"),
        (["a", "b"], ("a", "b", ["smoke"]), "unknown channel 'smoke'"),
        (["a", "b"], ("a", "b", []), "has no channel"),
    ],
)
def test_what_is_no_graph_is_refused_by_name(
    nodes: list[str], edge: tuple[str, str, list[str]], message: str
) -> None:
    with pytest.raises(HanseError, match=message):
        PossibilityGraph.from_edges(nodes, [edge])


def test_a_name_that_is_not_there_is_said() -> None:
    with pytest.raises(HanseError, match="no agent 'cafe'"):
        PossibilityGraph.from_edges(["a"], []).index("cafe")


@given(
    st.sets(
        st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] != pair[1])
    ),
)
def test_networkx_and_back_is_the_same_graph(pairs: set[tuple[int, int]]) -> None:
    edges = [(f"n{a}", f"n{b}", CHANNELS[: 1 + (a + b) % 4]) for a, b in sorted(pairs)]
    graph = PossibilityGraph.from_edges([f"n{i}" for i in range(7)], edges)
    assert PossibilityGraph.from_networkx(graph.to_networkx()) == graph
    assert graph.edge_ids(graph.source, graph.target).tolist() == list(range(len(pairs)))


def test_networkx_edges_without_channels_carry_all() -> None:
    graph = PossibilityGraph.from_networkx(nx.DiGraph([("a", "b")]))
    assert graph.channels.tolist() == [0b1111]
    assert np.array_equal(graph.edge_ids([0], [1]), [0])
