"""Who played which part: origin, bridge and amplifier from the scored events around the onset.

Two stages (note ``caspian`` 8.5): an estimate of the onset from the series of s and S, then
statistics of agents over a window that begins there. No ranking by ratios of small numbers: the
paper's own formulas (arXiv 2605.19240, eqs 11-13) name the amplifier in 0 to 3 % of cases.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.recent import Recent, Window
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


def early_onset(recent: Recent, alarm: int) -> int:
    """The tick after the last one at which S was 0 before the alarm: rarely too late.

    Args:
        recent: The ticks.
        alarm: Ordinal number of the tick of the alarm.
    """
    _, sums = recent.series(recent.first, alarm)
    zero = np.flatnonzero(sums <= 0)
    return recent.first + int(zero[-1]) + 1 if len(zero) else recent.first


def likely_onset(recent: Recent, alarm: int) -> int:
    """The change-point with the largest standardised excess of s up to 3 ticks after the alarm.

    Args:
        recent: The ticks.
        alarm: Ordinal number of the tick of the alarm.
    """
    begin = max(recent.first, alarm - 60)
    s, _ = recent.series(begin, alarm + 4)
    after = np.cumsum((np.minimum(s, 6.0) - 0.5)[::-1])[::-1]
    length = np.arange(len(s), 0, -1)
    gain = (after / np.sqrt(length + 2))[: alarm - begin + 1]
    return begin + int(np.argmax(gain))


def flows(graph: PossibilityGraph, window: Window) -> Flows:
    """What agents have sent and received in the window."""
    nodes = len(graph)
    source, target = graph.source[window.edge], graph.target[window.edge]
    sent = sums(source, window.z, nodes)
    received = sums(target, window.z, nodes)
    sends = np.maximum(np.bincount(source, minlength=nodes), 1)
    receives = np.maximum(np.bincount(target, minlength=nodes), 1)
    return Flows(sent / np.sqrt(sends), received / np.sqrt(receives), sent)


def rank_origin(flow: Flows) -> Ranking:
    """Much goes out, little has come in: what it says came from outside."""
    return _ranked(flow.outflow - np.maximum(flow.inflow, 0.0))


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


def flagged(flow: Flows) -> int:
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
