"""What BACE and the message traffic say of the same influence; a pure function of both.

CASPIAN sees who tells whom. BACE sees who does something because another did something. Where both
see an edge the influence is explained; where only BACE does it is hidden (it runs through the
market, or outside); where only messages do, they are talk that changes nothing that is measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import networkx
from pydantic import BaseModel, ConfigDict

from monitors.bace.graph import CAUTION, Class, InfluenceGraph
from monitors.caspian.alert import Figure

Edge = tuple[str, str]
"""(source, target)."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Finding(_Record):
    """An influence that BACE sees, and what messages there are along it."""

    source: str
    target: str
    weight: Figure
    p_class: Class
    by_way_of: tuple[str, ...] = ()
    """The agents through which the shortest chain of messages runs; empty if it is direct, or if
    there is none."""


class Cascade(_Record):
    """A cascade of CASPIAN's, and how much of its path BACE sees too."""

    cascade: str
    edges: int
    """Edges of its paths."""
    followed: tuple[Edge, ...]
    """Those that BACE sees: here what was told was also acted upon."""
    severity: Figure
    """1 + the share of followed edges: what the cascade's score may be multiplied by."""


class Comparison(_Record):
    """Both views of one context side by side; findings are sorted, the strongest first."""

    context: str
    explained: tuple[Finding, ...] = ()
    """Seen by BACE, and a message goes straight from source to target."""
    relayed: tuple[Finding, ...] = ()
    """Seen by BACE; messages go from source to target only by way of others."""
    hidden: tuple[Finding, ...] = ()
    """Seen by BACE; no chain of messages leads from source to target."""
    talk_only: tuple[Edge, ...] = ()
    """Messages without an influence that BACE sees."""
    outside: tuple[str, ...] = ()
    """Agents that exchange messages but are no nodes of BACE's graph: nothing is said of them."""
    cascades: tuple[Cascade, ...] = ()
    caution: str = CAUTION


def compare(
    influence: InfluenceGraph,
    messages: Iterable[Edge],
    cascades: Iterable[tuple[str, Iterable[Sequence[str]]]] = (),
    go_betweens: Collection[str] = (),
    strict_only: bool = True,
) -> Comparison:
    """Compares an influence graph with the message traffic of the same time.

    Args:
        influence: What BACE found; one that is withheld has no edges, so nothing is hidden.
        messages: Who sends messages to whom; repetitions do not matter.
        cascades: The id of each of CASPIAN's cascades and its paths, each a sequence of agents.
        go_betweens: Agents through which no chain of messages counts, such as the exchange, which
            everybody writes to.
        strict_only: Whether only strict edges count as seen by BACE.
    """
    nodes = set(influence.nodes)
    traffic = networkx.DiGraph()
    traffic.add_edges_from(edge for edge in messages if edge[0] != edge[1])
    outside = sorted(set(traffic) - nodes)
    traffic.remove_nodes_from([agent for agent in go_betweens if agent in traffic])
    seen = influence.strict if strict_only else influence.edges
    sorted_out: dict[str, list[Finding]] = {"explained": [], "relayed": [], "hidden": []}
    for edge in seen:
        chain = _chain(traffic, edge.source, edge.target)
        kind = "hidden" if chain is None else "relayed" if chain else "explained"
        sorted_out[kind].append(
            Finding(
                source=edge.source,
                target=edge.target,
                weight=edge.weight,
                p_class=edge.p_class,
                by_way_of=chain or (),
            )
        )
    pairs = {(edge.source, edge.target) for edge in seen}
    talk = sorted(e for e in traffic.edges if e not in pairs and nodes.issuperset(e))
    return Comparison(
        context=influence.context,
        **{kind: tuple(found) for kind, found in sorted_out.items()},
        talk_only=tuple(talk) if influence.state == "published" else (),
        outside=tuple(outside),
        cascades=tuple(_followed(name, paths, pairs) for name, paths in cascades),
    )


def _chain(traffic: networkx.DiGraph, source: str, target: str) -> tuple[str, ...] | None:
    """The agents between source and target on a shortest path, the first by name of several."""
    if source not in traffic or target not in traffic:
        return None
    if traffic.has_edge(source, target):
        return ()
    if not networkx.has_path(traffic, source, target):
        return None
    path = min(networkx.all_shortest_paths(traffic, source, target))
    return tuple(path[1:-1])


def _followed(name: str, paths: Iterable[Sequence[str]], pairs: set[Edge]) -> Cascade:
    edges = sorted({step for path in paths for step in pairwise(path)})
    followed = tuple(edge for edge in edges if edge in pairs)
    share = len(followed) / len(edges) if edges else 0.0
    return Cascade(cascade=name, edges=len(edges), followed=followed, severity=1 + share)
