"""Who knows whom."""

from __future__ import annotations

import networkx as nx
import pytest

from services.talk.topology import ENTRIES, hub_and_neighbour, topology

TOWNS = {f"town_{t}": [f"firm_{t}_{n}" for n in range(8)] for t in range(1, 4)}


@pytest.mark.parametrize("seed", range(10))
def test_everybody_reaches_everybody(seed: int) -> None:
    assert nx.is_strongly_connected(topology(seed, TOWNS).graph)


@pytest.mark.parametrize("seed", range(10))
def test_a_town_has_one_way_out_which_leads_to_the_next_town(seed: int) -> None:
    made = topology(seed, TOWNS)
    names = list(TOWNS)
    for place, town in enumerate(names):
        after = names[(place + 1) % 3]
        leaving = {(a, b) for a, b in made.graph.edges if a in TOWNS[town] and b not in TOWNS[town]}
        assert leaving == {(made.gateways[town], entry) for entry in made.entries[town]}
        assert len(leaving) == ENTRIES
        assert set(made.entries[town]) < set(TOWNS[after])


@pytest.mark.parametrize("seed", range(10))
def test_those_who_can_be_convinced_reach_each_other_without_the_careful(seed: int) -> None:
    made = topology(seed, TOWNS)
    assert made.careful and not made.careful & set(made.gateways.values())
    assert len(made.careful) <= 6, "a quarter"
    assert nx.is_strongly_connected(made.graph.subgraph(set(made.graph) - made.careful))


def test_only_who_may_be_careful_is() -> None:
    may = [firms[0] for firms in TOWNS.values()]
    assert topology(0, TOWNS, may_be_careful=may).careful <= set(may)
    assert not topology(0, TOWNS, careful_share=0.0).careful


def test_edges_besides_the_ring_are_drawn_with_their_probability() -> None:
    towns = {"town": [f"firm_{n}" for n in range(60)]}
    edges = topology(0, towns, probability=0.3).graph.number_of_edges()
    assert edges == pytest.approx(60 + 0.3 * 60 * 58, rel=0.1)
    assert topology(0, towns, probability=0.0).graph.number_of_edges() == 60


def test_partners_are_some_of_those_whom_one_writes_to() -> None:
    made = topology(0, TOWNS)
    assert all(set(made.partners[f]) <= set(made.neighbours[f]) for f in made.neighbours)
    share = sum(map(len, made.partners.values())) / made.graph.number_of_edges()
    assert 0.65 < share < 0.95


def test_the_same_seed_draws_the_same() -> None:
    assert topology(3, TOWNS) == topology(3, TOWNS) != topology(4, TOWNS)


def test_the_hub_of_a_single_town_is_the_firm_between_the_others() -> None:
    made = topology(0, {"town": list("abcdef")}, probability=0.2)
    hub, neighbour = hub_and_neighbour(made)
    between = nx.betweenness_centrality(made.graph)
    assert between[hub] == max(between.values())
    assert neighbour in made.neighbours[hub]
    assert not made.gateways and not {hub, neighbour} & made.careful
