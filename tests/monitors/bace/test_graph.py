from typing import Any
from xml.etree import ElementTree

import pytest

from monitors.bace.drawing import svg
from monitors.bace.graph import CAUTION, Influence, InfluenceGraph
from services.messages import payload_class

SVG = "{http://www.w3.org/2000/svg}"


def edge(source: str, target: str, weight: float = 0.5, **others: Any) -> Influence:
    given = {"p_class": "strict", "var_p": 0.001} | others
    return Influence(source=source, target=target, weight=weight, **given)


def graph(*edges: Influence, **others: Any) -> InfluenceGraph:
    given = {"context": "calm", "state": "published", "nodes": ("a", "b", "c")} | others
    return InfluenceGraph(edges=edges, **given)


def test_it_is_a_payload_that_comes_back_from_its_dump() -> None:
    sent = graph(edge("a", "b"), edge("b", "c", -0.25, p_class="screening", by_way_of="a"))
    assert payload_class("influence_graph") is InfluenceGraph
    assert InfluenceGraph.model_validate_json(sent.model_dump_json()) == sent
    assert InfluenceGraph.model_validate(sent.model_dump()) == sent


def test_every_graph_carries_the_caution_that_it_is_no_proof_of_causes() -> None:
    assert "not causation" in graph().caution == CAUTION


def test_figures_are_rounded_so_that_json_is_the_same_on_any_machine() -> None:
    assert edge("a", "b", 0.123456789).weight == 0.123457


def test_in_networkx_edges_run_from_source_to_target() -> None:
    made = graph(edge("a", "b", 0.5), edge("c", "b", -0.1, p_class="screening")).to_networkx()
    assert sorted(made.edges) == [("a", "b"), ("c", "b")]
    assert made.edges["c", "b"]["weight"] == -0.1
    assert made.edges["a", "b"]["p_class"] == "strict"
    assert sorted(made.nodes) == ["a", "b", "c"]


def test_only_strict_edges_can_be_asked_for() -> None:
    both = graph(edge("a", "b"), edge("c", "b", p_class="screening"))
    assert [(each.source, each.target) for each in both.strict] == [("a", "b")]
    assert list(both.to_networkx(strict_only=True).edges) == [("a", "b")]


def test_the_drawing_shows_every_node_and_an_arrow_for_every_edge() -> None:
    drawn = ElementTree.fromstring(svg(graph(edge("a", "b"), edge("b", "c", -0.2))))
    assert [text.text for text in drawn.iter(f"{SVG}text")] == ["a", "b", "c"]
    arrows = [path for path in drawn.iter(f"{SVG}path") if path.get("marker-end")]
    assert [arrow.find(f"{SVG}title").text for arrow in arrows] == [  # type: ignore[union-attr]
        "b drives c: -0.200 (strict)",
        "a drives b: +0.500 (strict)",
    ]


def test_screening_edges_are_dashed_and_influence_against_has_another_colour() -> None:
    drawn = ElementTree.fromstring(
        svg(graph(edge("a", "b"), edge("b", "c", -0.2, p_class="screening")))
    )
    dashed, solid = (path for path in drawn.iter(f"{SVG}path") if path.get("marker-end"))
    assert dashed.get("stroke-dasharray") and not solid.get("stroke-dasharray")
    assert dashed.get("stroke") != solid.get("stroke")


@pytest.mark.parametrize("state", ["unreliable", "insufficient"])
def test_the_drawing_of_a_withheld_graph_says_so(state: str) -> None:
    assert f"withheld: {state}" in svg(graph(state=state))


def test_names_cannot_break_the_drawing() -> None:
    drawn = ElementTree.fromstring(svg(graph(nodes=("<a>", "b&b"), context='"x" <y>')))
    assert [text.text for text in drawn.iter(f"{SVG}text")] == ["<a>", "b&b"]


def test_a_graph_without_nodes_can_be_drawn() -> None:
    assert ElementTree.fromstring(svg(graph(nodes=()))).tag == f"{SVG}svg"
