"""The structure of a synthetic system: communities that meet only through their gateways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from monitors.caspian.events import CHANNELS
from monitors.caspian.possibility import PossibilityGraph

PRESENCE: Final = (1.0, 0.4, 0.3, 0.8)
"""Chance that an edge has the channel, in the order of CHANNELS."""
COMMUNITY: Final = 10
"""Agents a community, about: 8 to 12 whenever the number of agents allows."""
WAYS_OUT: Final = 3
"""Edges from a gateway into the next community."""
LARGE: Final = 96
"""Agents from which communities are sparser inside."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Who can reach whom.

    Attributes:
        graph: The possibility graph; agents are called ``a000``, ``a001``, ... by index.
        community: int64 (N,), the community of each agent; communities form a ring.
        gateways: int64 (K,), of each community the one agent with edges to the next.
    """

    graph: PossibilityGraph
    community: np.ndarray
    gateways: np.ndarray

    def entries(self, community: int) -> np.ndarray:
        """The agents of ``community`` that the gateway before it reaches, int64 (<=3,)."""
        before = self.gateways[(community - 1) % self.gateways.size]
        reached = self.graph.target[self.graph.source == before]
        return np.unique(reached[self.community[reached] == community]).astype(np.int64)


def communities(rng: np.random.Generator, agents: int) -> Topology:
    """Draws communities of a random directed ring each, extra edges, and a ring of gateways.

    Inside a community every ordered pair off the ring is an edge with probability 0.3 (0.2 from
    96 agents on). A gateway's three edges are the only way out of its community, so the graph is
    strongly connected and the gateway dominates everything behind it.

    Args:
        rng: Where the draws come from.
        agents: N >= 12.

    Raises:
        ValueError: there are too few agents for two communities.
    """
    if agents < 12:
        raise ValueError(f"a trace needs 12 agents or more for two communities, not {agents}")
    community = np.sort(np.arange(agents) % max(2, round(agents / COMMUNITY)))
    density = 0.2 if agents >= LARGE else 0.3
    edges: list[tuple[int, int]] = []
    members = [np.flatnonzero(community == c) for c in range(int(community[-1]) + 1)]
    for group in members:
        ring = rng.permutation(group)
        inside = rng.random((group.size, group.size)) < density
        np.fill_diagonal(inside, False)
        here = {(int(group[i]), int(group[j])) for i, j in zip(*np.nonzero(inside), strict=True)}
        here.update(zip(ring.tolist(), np.roll(ring, -1).tolist(), strict=True))
        edges.extend(sorted(here))
    gateways = np.array([rng.choice(group) for group in members])
    for place, gateway in enumerate(gateways.tolist()):
        following = members[(place + 1) % len(members)]
        ways = rng.choice(following, size=WAYS_OUT, replace=False)
        edges.extend((gateway, way) for way in sorted(ways.tolist()))
    present = rng.random((len(edges), len(CHANNELS))) < PRESENCE
    names = [f"a{index:03}" for index in range(agents)]
    graph = PossibilityGraph.from_edges(
        names,
        (
            (names[i], names[j], [c for c, there in zip(CHANNELS, row, strict=True) if there])
            for (i, j), row in zip(edges, present, strict=True)
        ),
    )
    return Topology(graph, community, gateways)
