"""The possibility graph of a league: who can reach whom with content, on which channels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitors.caspian.possibility import PossibilityGraph

ANSWERED: Final = ("mem", "tool", "exec")
"""Channels on which what is asked is answered: a board shows what it keeps, a tool says what it
found, a supplier reports on itself. A note on ``comm`` asks for nothing."""


def league_graph(
    edges: Iterable[tuple[str, str, Iterable[str]]], agents: Iterable[str] = ()
) -> PossibilityGraph:
    """The graph of these edges and of their acknowledgements, which run the other way.

    Args:
        edges: (source, target, channels), as ``Cast.possibility_edges()`` tells them: firms and
            the agents that serve them (boards, forecasters), without exchanges and monitors, whose
            traffic is not watched.
        agents: Agents that may have no edge and are nodes all the same.

    Raises:
        HanseError: an edge has no channel or an unknown one, or leads from an agent to itself.
    """
    forth = [(source, target, tuple(channels)) for source, target, channels in edges]
    back = [
        (target, source, answered)
        for source, target, channels in forth
        if (answered := tuple(channel for channel in channels if channel in ANSWERED))
    ]
    nodes = {*agents, *(name for source, target, _ in forth for name in (source, target))}
    return PossibilityGraph.from_edges(nodes, [*forth, *back])
