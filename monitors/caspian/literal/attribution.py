"""Whom the paper's formulas name (arXiv 2605.19240, equations 11-14; note ``caspian`` 6)."""

from __future__ import annotations

from itertools import islice, pairwise

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from monitors.caspian.alert import Spine
from monitors.caspian.events import CHANNELS
from monitors.caspian.literal.spectrum import Influence
from monitors.caspian.possibility import PossibilityGraph

Matrix = NDArray[np.float64]


class Attribution:
    """Sums and maxima over the turns from the watch turn on; nothing else needs to be kept.

    Args:
        first: The influence of the watch turn.
        epsilon: ε of the ratios.
    """

    def __init__(self, first: Influence, epsilon: float) -> None:
        self._epsilon = epsilon
        self._outflow = first.normalised.sum(1)
        self._ratios = np.zeros(len(first.raw))
        self._flow = np.zeros(len(first.raw))
        self._widest = np.zeros_like(first.normalised)
        self._by_channel = np.zeros_like(first.by_channel)
        self.observe(first)

    def observe(self, turn: Influence) -> None:
        """Adds a turn; the first is in already."""
        into, out = turn.normalised.sum(0), turn.normalised.sum(1)
        self._ratios += out / (into + self._epsilon)
        self._flow += turn.raw.sum(1) * turn.raw.sum(0)
        np.maximum(self._widest, turn.normalised, out=self._widest)
        np.maximum(self._by_channel, turn.by_channel, out=self._by_channel)

    def origin(self) -> int:
        """argmax_i Σ_j Ã_ij at the watch turn (equation 11)."""
        return int(np.argmax(self._outflow))

    def amplifier(self) -> int:
        """argmax_i Σ_τ out_i/(in_i + ε) on Ã (equation 12): a source without inflow wins."""
        return int(np.argmax(self._ratios))

    def bridge(self) -> int:
        """argmax_i Σ_τ out_i in_i on A (equation 13)."""
        return int(np.argmax(self._flow))

    def spines(self, graph: PossibilityGraph, most: int, budget: int) -> tuple[Spine, ...] | None:
        """The ``most`` simple paths with the widest weakest link (equation 14).

        Weights are maxima over the turns, edge by edge, so a path need not respect time. Paths are
        no longer than the diameter of the possibility graph (of what is finite in it).

        Returns:
            The widest first, ties by name; None if there are more than ``budget`` paths.
        """
        network = nx.DiGraph()
        for i, j in zip(graph.source.tolist(), graph.target.tolist(), strict=True):
            if self._widest[i, j] > 0:
                network.add_edge(i, j)
        longest = diameter(graph)
        paths = (
            path
            for start in sorted(network)
            for path in nx.all_simple_paths(network, start, set(network) - {start}, longest)
        )
        found = [
            (-min(float(self._widest[i, j]) for i, j in pairwise(path)), path)
            for path in islice(paths, budget + 1)
        ]
        if len(found) > budget:
            return None
        return tuple(
            Spine(
                path=tuple(graph.nodes[node] for node in path),
                bottleneck=-width,
                channel=CHANNELS[
                    int(np.argmax(sum(self._by_channel[:, i, j] for i, j in pairwise(path))))
                ],
            )
            for width, path in sorted(found)[:most]
        )


def diameter(graph: PossibilityGraph) -> int:
    """The longest of all shortest paths; pairs that cannot reach each other do not count."""
    lengths = nx.all_pairs_shortest_path_length(graph.to_networkx())
    return max((max(of.values()) for _, of in lengths), default=0)
