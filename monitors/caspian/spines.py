"""Along which paths influence travelled: widest paths from the origin that respect time.

Note ``caspian`` 8.5. The paper ranks simple paths over maxima of different turns (eq 14), which is
exponential and may run backwards in time; here a path's edges light up one after the other, and one
pass from the origin finds the widest path to every agent.
"""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.events import CHANNELS
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.recent import Window
from monitors.caspian.scoring import Floats, sums

PATHS: Final = 3
"""Most paths named; they end at different agents."""
_LIT: Final = 1.0
"""CUSUM from which an edge counts as lit."""
_SLACK: Final = 1
"""Ticks by which an edge may be lit before the one that leads to it: crossing is noisy."""
_MOST_EDGES: Final = 12
"""Longest path."""


class Path(NamedTuple):
    """A path of influence."""

    agents: tuple[int, ...]
    bottleneck: float
    channel: int


def spines(
    graph: PossibilityGraph, window: Window, origin: int, drift: float, paths: int = PATHS
) -> list[Path]:
    """The widest time-respecting paths from the origin, the widest first.

    Args:
        graph: Who can reach whom.
        window: The scored events since the onset.
        origin: Where the paths begin.
        drift: What an edge's CUSUM loses with every event.
        paths: Most paths.
    """
    if not len(window.z):
        return []
    edges, weight, lit = _weights(window, drift)
    carried = _channels(window, edges)
    ways: dict[int, list[int]] = {}
    for place in np.flatnonzero((weight > 0) & (lit >= 0)).tolist():
        ways.setdefault(int(graph.source[edges[place]]), []).append(place)
    found = _widest(graph, edges, weight, lit, ways, origin)
    ranked = sorted(found.items(), key=lambda item: (-item[1][0], -len(item[1][1]), item[0]))
    return [
        Path(
            (origin, *(int(graph.target[edges[place]]) for place in taken)),
            width,
            int(np.argmax(carried[list(taken)].sum(axis=0))),
        )
        for _, (width, taken) in _maximal(ranked)[:paths]
    ]


_Found = tuple[float, tuple[int, ...]]
"""(width, the places of the edges taken)."""


def _maximal(ranked: list[tuple[int, _Found]]) -> list[tuple[int, _Found]]:
    """Without the paths that another one goes on from: what matters is how far it has come."""
    longer = {taken[:-1] for _, (_, taken) in ranked}
    return [item for item in ranked if item[1][1] not in longer]


def _weights(window: Window, drift: float) -> tuple[NDArray[np.intp], Floats, NDArray[np.int64]]:
    """The edges with events, their excess sum(z)/sqrt(n) - 1, and when they were lit (or -1)."""
    edges, place = np.unique(window.edge, return_inverse=True)
    total = sums(place, window.z, len(edges))
    events = np.bincount(place, minlength=len(edges))
    weight = np.maximum(total / np.sqrt(events) - 1.0, 0.0)
    cusum, lit = np.zeros(len(edges)), np.full(len(edges), -1)
    bounds = np.searchsorted(window.place, np.arange(int(window.place[-1]) + 2))
    for tick, (begin, end) in enumerate(pairwise(bounds.tolist())):
        here = place[begin:end]
        np.add.at(cusum, here, window.z[begin:end] - drift)
        cusum = np.maximum(cusum, 0.0)
        lit[(lit < 0) & (cusum > _LIT)] = tick
    return edges.astype(np.intp), weight, lit


def _channels(window: Window, edges: NDArray[np.intp]) -> Floats:
    """(edges, 4) sum of z that each channel has carried."""
    place = np.searchsorted(edges, window.edge)
    key = place * len(CHANNELS) + window.channel
    return sums(key, window.z, len(edges) * len(CHANNELS)).reshape(-1, len(CHANNELS))


def _widest(
    graph: PossibilityGraph,
    edges: NDArray[np.intp],
    weight: Floats,
    lit: NDArray[np.int64],
    ways: dict[int, list[int]],
    origin: int,
) -> dict[int, _Found]:
    """Dijkstra for the largest smallest weight; an agent is settled by its widest path."""
    found: dict[int, _Found] = {}
    queue: list[tuple[float, int, int, tuple[int, ...]]] = [(-np.inf, 0, origin, ())]
    while queue:
        width, since, agent, taken = heapq.heappop(queue)
        if agent in found or (agent == origin and taken):
            continue
        if taken:
            found[agent] = (-width, taken)
        if len(taken) == _MOST_EDGES:
            continue
        for place in ways.get(agent, ()):
            if lit[place] >= since - _SLACK:
                step = (max(width, -float(weight[place])), int(lit[place]))
                heapq.heappush(queue, (*step, int(graph.target[edges[place]]), (*taken, place)))
    return found
