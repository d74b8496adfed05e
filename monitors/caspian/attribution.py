"""Who passed a cascade on: bridge and amplifier, from the scored events since its onset.

The second stage (note ``caspian`` 8.5), after :mod:`monitors.caspian.lineage` has found origin and
onset: statistics of agents over a window that begins there. No ranking by ratios of small numbers:
the paper's own formulas (arXiv 2605.19240, eqs 11-13) name the amplifier in 0 to 3 % of cases.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from monitors.caspian.alert import rounded
from monitors.caspian.events import CHANNELS
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.recent import Window
from monitors.caspian.scoring import Floats, sums

SUSPECTS: Final = 3
"""Most agents named for a role."""
_CLEAR: Final = 1.5
"""Standardised inflow of an agent that was clearly reached."""
_EXACT_BETWEENNESS: Final = 1_000
"""Agents up to which betweenness is computed from every one of them."""
_PIVOTS: Final = 64
"""Agents from which it is estimated in larger graphs."""

Ranking = list[tuple[int, float]]
"""(agent, score), the likeliest first."""


class Flows(NamedTuple):
    """What agents have sent and received in a window, in standard units."""

    outflow: Floats
    """(N,) sum of z over the events sent, over the root of their number."""
    inflow: Floats
    """(N,) the same of the events received."""
    sent: Floats
    """(N,) sum of z over the events sent."""


class Strength(NamedTuple):
    """How much an edge carries on a channel."""

    source: str
    target: str
    channel: str
    events: int
    weight: float
    """Excess sum(z)/sqrt(n) - 1 of its scores."""


def flows(graph: PossibilityGraph, window: Window) -> Flows:
    """What agents have sent and received in the window."""
    nodes = len(graph)
    source, target = graph.source[window.edge], graph.target[window.edge]
    sent = sums(source, window.z, nodes)
    received = sums(target, window.z, nodes)
    sends = np.maximum(np.bincount(source, minlength=nodes), 1)
    receives = np.maximum(np.bincount(target, minlength=nodes), 1)
    return Flows(sent / np.sqrt(sends), received / np.sqrt(receives), sent)


def strengths(graph: PossibilityGraph, window: Window) -> list[Strength]:
    """Which edges carry influence, by channel: those with any excess, the strongest first."""
    place, where = np.unique(
        window.edge.astype(np.int64) * len(CHANNELS) + window.channel, return_inverse=True
    )
    events = np.bincount(where, minlength=len(place))
    weight = sums(where, window.z, len(place)) / np.sqrt(events) - 1.0
    order = np.lexsort((place, -weight))
    edges, channels = np.divmod(place, len(CHANNELS))
    return [
        Strength(
            graph.nodes[graph.source[edges[at]]],
            graph.nodes[graph.target[edges[at]]],
            CHANNELS[channels[at]],
            int(events[at]),
            rounded(float(weight[at])),
        )
        for at in order.tolist()
        if weight[at] > 0
    ]


def rank_bridge(graph: PossibilityGraph, flow: Flows, origin: int) -> Ranking:
    """Through whom it must have passed: the inflow of the agents that only it leads to.

    Without anybody who is a gate to two others, by flow and betweenness.

    Args:
        graph: Who can reach whom.
        flow: Of the window.
        origin: Where it seems to have begun.
    """
    inflow = np.maximum(flow.inflow, 0.0)
    below, gates = _below(graph, inflow, origin)
    if not (gates >= 2).any():
        below = np.maximum(flow.outflow, 0.0) * inflow * _betweenness(graph)
    below[origin] = -np.inf
    # Equal scores (several gates in a row) go by what the agent has sent.
    return _ranked(below, flow.outflow)


def rank_amplifier(flow: Flows, origin: int, bridge: int | None) -> Ranking:
    """Who was clearly reached and then sent most of it on."""
    sent = np.where(flow.inflow > _CLEAR, flow.sent, -np.inf)
    sent[origin] = -np.inf
    if bridge is not None:
        sent[bridge] = -np.inf
    return _ranked(sent)


def reached(flow: Flows) -> int:
    """How many agents were clearly reached."""
    return int(np.count_nonzero(flow.inflow > _CLEAR))


def _ranked(score: Floats, tie: Floats | None = None) -> Ranking:
    order = np.lexsort(
        (np.arange(len(score)), np.zeros(len(score)) if tie is None else -tie, -score)
    )
    best = order[:SUSPECTS]
    return [(int(agent), float(score[agent])) for agent in best if np.isfinite(score[agent])]


def _below(graph: PossibilityGraph, weight: Floats, root: int) -> tuple[Floats, NDArray[np.int64]]:
    """For every agent the weight of those strictly below it in the dominator tree, and how many."""
    parents = nx.immediate_dominators(_structure(graph), root)
    total, count = np.zeros(len(graph)), np.zeros(len(graph), np.int64)
    depth = _depths(parents, root)
    for node in sorted(depth, key=lambda agent: (-depth[agent], agent)):
        if node != root:
            parent = parents[node]
            total[parent] += total[node] + weight[node]
            count[parent] += count[node] + 1
    return total, count


def _depths(parents: dict[int, int], root: int) -> dict[int, int]:
    depth = {root: 0}
    for node in sorted(parents):
        path = []
        at = node
        while at not in depth:
            path.append(at)
            at = parents[at]
        for step, passed in enumerate(reversed(path), depth[at] + 1):
            depth[passed] = step
    return depth


def _structure(graph: PossibilityGraph) -> nx.DiGraph:
    structure = nx.DiGraph()
    structure.add_nodes_from(range(len(graph)))
    structure.add_edges_from(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    return structure


def _betweenness(graph: PossibilityGraph) -> Floats:
    pivots = None if len(graph) <= _EXACT_BETWEENNESS else _PIVOTS
    found = nx.betweenness_centrality(_structure(graph), k=pivots, seed=0)
    # A thousandth, so that flow alone decides where nobody is between others.
    return np.array([found[node] for node in range(len(graph))]) + 1e-3
