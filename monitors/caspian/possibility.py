"""The structural possibility graph G0: who can reach whom, and through which channels.

It is a mask of what is feasible, not of what was seen (arXiv 2605.19240, section 3; note
``caspian`` 1). Frozen for a monitored segment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from monitors.caspian.events import CHANNELS
from services.errors import HanseError

ALL_CHANNELS: Final = (1 << len(CHANNELS)) - 1
"""The bit mask of an edge that carries every channel."""

_BIT: Final = {channel: 1 << place for place, channel in enumerate(CHANNELS)}


class PossibilityGraph:
    """Nodes and directed edges without self loops, as sorted arrays.

    Args:
        nodes: Names, unique; they are sorted here, and a node's index is its place then.
        edges: (source name, target name, channels); several lines for a pair are joined.

    Raises:
        HanseError: a name stands twice, an edge names an unknown node or channel, has no channel,
            or leads from a node to itself.
    """

    def __init__(
        self, nodes: Iterable[str], edges: Iterable[tuple[str, str, Iterable[str]]]
    ) -> None:
        self.nodes: tuple[str, ...] = tuple(sorted(nodes))
        """Sorted names."""
        self._index = {name: place for place, name in enumerate(self.nodes)}
        if len(self._index) != len(self.nodes):
            twice = next(a for a, b in zip(self.nodes, self.nodes[1:], strict=False) if a == b)
            raise HanseError(f"the possibility graph has two nodes of the name {twice!r}")
        count = len(self.nodes)
        masks: dict[int, int] = {}
        for source, target, channels in edges:
            mask = _mask(source, target, channels)
            if source == target:
                raise HanseError(f"the possibility graph leads from {source!r} to itself")
            key = self.index(source) * count + self.index(target)
            masks[key] = masks.get(key, 0) | mask
        self._keys = np.array(sorted(masks), np.int64)
        pairs = np.divmod(self._keys, max(count, 1))
        self.source: NDArray[np.int32] = pairs[0].astype(np.int32)
        """(E,) where each edge begins; edges are sorted by (source, target)."""
        self.target: NDArray[np.int32] = pairs[1].astype(np.int32)
        """(E,) where each edge ends."""
        self.channels: NDArray[np.uint8] = np.array(
            [masks[key] for key in self._keys.tolist()], np.uint8
        )
        """(E,) bit mask of the channels of each edge: bit c is ``CHANNELS[c]``."""
        self.version: str = self._digest()
        """Hash of names, edges and channels: graphs of one version are the same graph."""

    @classmethod
    def from_edges(
        cls, nodes: Iterable[str], edges: Iterable[tuple[str, str, Iterable[str]]]
    ) -> PossibilityGraph:
        """The graph of these nodes and (source, target, channels) edges; see the class."""
        return cls(nodes, edges)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph) -> PossibilityGraph:
        """The graph of a networkx graph, whose edges may have an attribute ``channels``.

        An edge without it carries all channels.
        """
        edges = (
            (str(source), str(target), data.get("channels", CHANNELS))
            for source, target, data in graph.edges(data=True)
        )
        return cls(map(str, graph.nodes), edges)

    def to_networkx(self) -> nx.DiGraph:
        """The same as a networkx graph of names; edges have ``channels``, a tuple of names."""
        graph = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        for source, target, mask in zip(
            self.source.tolist(), self.target.tolist(), self.channels.tolist(), strict=True
        ):
            names = tuple(channel for channel, bit in _BIT.items() if mask & bit)
            graph.add_edge(self.nodes[source], self.nodes[target], channels=names)
        return graph

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.source)

    def index(self, name: str) -> int:
        """The place of a name in :attr:`nodes`.

        Raises:
            HanseError: no node has that name.
        """
        try:
            return self._index[name]
        except KeyError:
            raise HanseError(f"no agent {name!r} in the possibility graph") from None

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def edge_ids(self, source: ArrayLike, target: ArrayLike) -> NDArray[np.int32]:
        """For each pair of nodes the place of its edge, -1 where there is none.

        Args:
            source: (B,) indices of nodes; numbers that are no node are on no edge.
            target: (B,) likewise.
        """
        count = len(self.nodes)
        sources = np.asarray(source, np.int64)
        targets = np.asarray(target, np.int64)
        inside = (sources >= 0) & (sources < count) & (targets >= 0) & (targets < count)
        if not len(self._keys):
            return np.full(len(sources), -1, np.int32)
        wanted = np.where(inside, sources * count + targets, -1)
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        found = self._keys[places] == wanted
        return np.where(found, places, -1).astype(np.int32)

    def _digest(self) -> str:
        digest = hashlib.sha256("\0".join((*CHANNELS, *self.nodes)).encode())
        for column in (self._keys.astype("<i8"), self.channels):
            digest.update(column.tobytes())
        return digest.hexdigest()[:16]

    def __repr__(self) -> str:
        return f"PossibilityGraph({len(self)} nodes, {self.edges} edges, {self.version})"

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, PossibilityGraph):
            return NotImplemented
        return self.version == other.version

    def __hash__(self) -> int:
        return hash(self.version)


def _mask(source: str, target: str, channels: Iterable[str]) -> int:
    mask = 0
    for channel in channels:
        if channel not in _BIT:
            raise HanseError(
                f"the edge {source!r} -> {target!r} has the unknown channel {channel!r};"
                f" channels: {', '.join(CHANNELS)}"
            )
        mask |= _BIT[channel]
    if not mask:
        raise HanseError(
            f"the edge {source!r} -> {target!r} of the possibility graph has no channel"
        )
    return mask
