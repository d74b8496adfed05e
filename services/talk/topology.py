"""Who knows whom: neighbours within a town, and one gateway from each town to the next.

After the synthetic generator of the CASPIAN note, section 10.1: a random ring through each town's
firms and further edges at random, one gateway a town with edges to firms of the next town, the
towns in a ring, so that the whole is strongly connected and a town has one way out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from services.economy.luck import stream

if TYPE_CHECKING:
    import networkx as nx  # at run time only where somebody talks: importing it takes a while

ENTRIES = 3
"""Firms of the next town that a gateway writes to."""
MANY = 96
"""From so many firms on a town's firms know fewer of each other."""


@dataclass(frozen=True)
class Topology:
    """Who knows whom in a league."""

    neighbours: dict[str, tuple[str, ...]]
    """For every firm whom it writes to."""
    partners: dict[str, tuple[str, ...]]
    """For every firm those whom it asks how its orders stand."""
    gateways: dict[str, str] = field(default_factory=dict)
    """The gateway of each town; empty in a league of one town."""
    entries: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each town the firms of the next town that its gateway writes to."""
    careful: frozenset[str] = frozenset()
    """Firms that nobody convinces."""

    @property
    def graph(self) -> nx.DiGraph:
        """The neighbours as a graph."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.neighbours)
        graph.add_edges_from((a, b) for a, others in self.neighbours.items() for b in others)
        return graph


def topology(
    seed: int,
    towns: Mapping[str, Sequence[str]],
    probability: float | None = None,
    partner_share: float = 0.8,
    careful_share: float = 0.25,
    may_be_careful: Collection[str] | None = None,
) -> Topology:
    """Draws one; the same for the same arguments.

    Args:
        seed: The run's.
        towns: The firms of each town.
        probability: Of an edge between two firms of a town besides the ring; ``None``: 0.3, and
            0.2 in leagues of 96 firms or more.
        partner_share: The chance that a firm also follows up orders with somebody it writes to.
        careful_share: The share of the firms that nobody convinces, at most. Gateways and the
            busiest of those that they write to are not among them, and the other firms of a town
            reach each other without them.
        may_be_careful: Among whom they are; ``None``: all.
    """
    if probability is None:
        probability = 0.2 if sum(map(len, towns.values())) >= MANY else 0.3
    neighbours: dict[str, list[str]] = {}
    for town, firms in towns.items():
        rng = stream(seed, "talk", "town", town)
        ring = sorted(firms)
        rng.shuffle(ring)
        for place, firm in enumerate(ring):
            after = ring[(place + 1) % len(ring)]
            neighbours[firm] = [after] if after != firm else []
        for firm in ring:
            for other in ring:
                if other != firm and other not in neighbours[firm] and rng.random() < probability:
                    neighbours[firm].append(other)
    gateways: dict[str, str] = {}
    entries: dict[str, tuple[str, ...]] = {}
    hubs: set[str] = set()
    names = list(towns)
    if len(names) > 1:
        for town in names:
            gateways[town] = stream(seed, "talk", "gateway", town).choice(sorted(towns[town]))
        for place, town in enumerate(names):
            after = names[(place + 1) % len(names)]
            others = sorted(set(towns[after]) - {gateways[after]}) or sorted(towns[after])
            rng = stream(seed, "talk", "entries", town)
            entries[town] = tuple(sorted(rng.sample(others, min(ENTRIES, len(others)))))
            neighbours[gateways[town]] += entries[town]
            hubs |= {gateways[town], max(entries[town], key=lambda f: (len(neighbours[f]), f))}
    made = Topology(
        {firm: tuple(sorted(neighbours[firm])) for firm in sorted(neighbours)},
        {
            firm: tuple(f for f in sorted(neighbours[firm]) if rng.random() < partner_share)
            for firm in sorted(neighbours)
            for rng in (stream(seed, "talk", "partners", firm),)
        },
        gateways,
        entries,
    )
    if not gateways:
        hubs |= set(hub_and_neighbour(made))
    import networkx as nx

    careful: set[str] = set()
    graph = made.graph
    for town, firms in towns.items():
        free = sorted(set(firms if may_be_careful is None else may_be_careful) & set(firms) - hubs)
        stream(seed, "talk", "careful", town).shuffle(free)
        credulous = set(firms)
        for firm in free:
            if len(firms) - len(credulous) >= round(careful_share * len(firms)):
                break
            # Careful firms pass nothing on; the others must still reach each other.
            if nx.is_strongly_connected(graph.subgraph(credulous - {firm})):
                credulous.discard(firm)
        careful |= set(firms) - credulous
    return replace(made, careful=frozenset(careful))


def hub_and_neighbour(known: Topology) -> tuple[str, str]:
    """The firm through which most shortest ways lead, and the busiest of its neighbours."""
    import networkx as nx

    graph = known.graph
    between = nx.betweenness_centrality(graph)
    hub = max(between, key=lambda firm: (between[firm], firm))
    others = known.neighbours[hub] or tuple(sorted(set(known.neighbours) - {hub})) or (hub,)
    return hub, max(others, key=lambda firm: (len(known.neighbours[firm]), firm))
