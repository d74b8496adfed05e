"""Scoring, dealt out to shards by target: the same result to the bit for any number of them.

What is remembered for scoring (histories, baselines and CUSUMs of edges) belongs to targets, so a
shard reads nothing of another. A shard takes and returns plain arrays: it can live in a process of
its own. The coordinator keeps what is common (the channels' baselines) and puts the shards' answers
back into canonical order before anything is summed, in double precision (note ``caspian`` 9).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.baselines import ChannelBaseline, EdgeBaseline
from monitors.caspian.events import CHANNELS
from monitors.caspian.intake import Batch
from monitors.caspian.packing import pack, unpack
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.scoring import Floats, Groups, Scorer, Vectors
from monitors.caspian.settings import Settings
from monitors.caspian.statistics import EdgeCusum

_CHANNELS = len(CHANNELS)


class Baseline(NamedTuple):
    """What a shard must know of the channels to score a tick."""

    mean: Floats
    """(4,)"""
    deviation: Floats
    """(4,)"""
    known: NDArray[np.bool_]
    """(4,) whether the channel's events count."""
    offsets: bool
    """Whether edges have offsets of their own."""
    cusum: bool
    """Whether the CUSUMs of edges run already."""


class Part(NamedTuple):
    """A shard's share of a tick's events, in canonical order."""

    target: NDArray[np.intp]
    channel: NDArray[np.int8]
    edge: NDArray[np.intp]
    u: Vectors
    v: Vectors
    uu: Floats
    vv: Floats


class Answer(NamedTuple):
    """What a shard says about its events and edges."""

    scores: Floats
    """(B,) Fisher-transformed correlations of its events."""
    z: Floats
    """(B,) the same in standard units; 0 where the channel's baseline is not known yet."""
    edges: NDArray[np.intp]
    """(A,) its edges with a CUSUM that counts."""
    cusum: Floats
    """(A,) their CUSUMs."""


class Scored(NamedTuple):
    """A tick's events after scoring, in canonical order."""

    z: Floats
    """(B,) in standard units."""
    counted: NDArray[np.bool_]
    """(B,) whether the channel's baseline was known."""
    edges: NDArray[np.intp]
    """(A,) edges with a CUSUM that counts, ascending."""
    cusum: Floats
    """(A,)"""


class Shard:
    """Scores the events of its share of the targets: those with ``target % shards == place``.

    Args:
        graph: The whole graph.
        place: Which share.
        shards: How many there are.
        settings: The constants.
    """

    def __init__(
        self, graph: PossibilityGraph, place: int, shards: int, settings: Settings
    ) -> None:
        self.shards = shards
        self.settings = settings
        self.edges = np.flatnonzero(graph.target % shards == place)
        """(E_k,) the edges that end at its targets, ascending."""
        self.targets = np.arange(place, len(graph), shards)
        """(N_k,) its targets."""
        self._place_of = np.full(graph.edges, -1, np.int32)
        self._place_of[self.edges] = np.arange(len(self.edges))
        self.scorer = Scorer(len(self.targets), settings)
        self.baseline = EdgeBaseline(len(self.edges), settings)
        self.cusum = EdgeCusum(len(self.edges), settings)
        self.channel_cusum = EdgeCusum(len(self.edges) * _CHANNELS, settings)
        """As :attr:`cusum`, for each channel by itself."""

    def step(self, part: Part, baseline: Baseline) -> Answer:
        """Scores a tick's events, and learns from them."""
        targets = Groups.of((part.target // self.shards) * _CHANNELS + part.channel)
        scores = self.scorer.score(targets, part.u, part.v, part.uu, part.vv)
        places = self._place_of[part.edge].astype(np.intp)
        edges = Groups.of(places * _CHANNELS + part.channel)
        z = scores - baseline.mean[part.channel]
        if baseline.offsets:
            channel_means = baseline.mean[edges.keys % _CHANNELS]
            z -= self.baseline.offset(edges.keys, channel_means)[edges.of_row]
            self.baseline.learn(edges, scores)
        z = np.clip(
            z / baseline.deviation[part.channel], self.settings.clip_low, self.settings.clip_high
        )
        counted = baseline.known[part.channel]
        z = np.where(counted, z, 0.0)
        if baseline.cusum:
            self.cusum.step(places[counted], z[counted])
            self.channel_cusum.step((places * _CHANNELS + part.channel)[counted], z[counted])
        active, values = self.cusum.active()
        return Answer(scores, z, self.edges[active], values)

    def by_channel(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """(edges, channels, CUSUMs) of what is active on a channel by itself."""
        active, values = self.channel_cusum.active()
        return self.edges[active // _CHANNELS], active % _CHANNELS, values


class Coordinator:
    """Deals a tick's events out to shards and puts their answers together.

    Args:
        graph: Who can reach whom.
        settings: The constants.
        shards: How many there are.
    """

    def __init__(self, graph: PossibilityGraph, settings: Settings, shards: int = 1) -> None:
        self.graph = graph
        self.settings = settings
        self.channels = ChannelBaseline(settings)
        self.shards = [Shard(graph, place, shards, settings) for place in range(shards)]
        self.offsets = True
        """Whether edges have offsets of their own (not in short sessions)."""

    def step(self, batch: Batch, *, cusum: bool, frozen: bool = False) -> Scored:
        """Scores a tick's events, and learns from them.

        Args:
            batch: The events.
            cusum: Whether the CUSUMs of edges run already.
            frozen: Whether the channels' baselines stand still, because something is going on.
        """
        channels = self.channels
        known = channels.known
        baseline = Baseline(channels.mean, channels.deviation, known, self.offsets, cusum)
        count = len(batch)
        scores, z = np.empty(count), np.empty(count)
        edges, values = [], []
        for place, shard in enumerate(self.shards):
            rows = self._rows(batch, place)
            answer = shard.step(_part(batch, rows), baseline)
            scores[rows], z[rows] = answer.scores, answer.z
            edges.append(answer.edges)
            values.append(answer.cusum)
        channels.learn(batch.channel, scores, frozen=frozen)
        active = np.concatenate(edges)
        order = np.argsort(active, kind="stable")
        return Scored(z, known[batch.channel], active[order], np.concatenate(values)[order])

    def by_channel(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """(edges, channels, CUSUMs) of what is active on a channel by itself, sorted by both."""
        parts = [shard.by_channel() for shard in self.shards]
        edges, channels, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((channels, edges))
        return edges[order], channels[order], values[order]

    def inherit(self, old: Coordinator) -> None:
        """Takes over the histories of agents that are in both graphs; baselines begin anew."""
        for name in self.graph.nodes:
            if name not in old.graph:
                continue
            there, here = old.graph.index(name), self.graph.index(name)
            giver, taker = old.shards[there % len(old.shards)], self.shards[here % len(self.shards)]
            source, slots = _slots(there, len(old.shards)), _slots(here, len(self.shards))
            taker.scorer.last[slots] = giver.scorer.last[source]
            taker.scorer.slow[slots] = giver.scorer.slow[source]

    def _rows(self, batch: Batch, place: int) -> slice | NDArray[np.intp]:
        if len(self.shards) == 1:
            return slice(None)
        return np.flatnonzero(batch.target % len(self.shards) == place)

    def save(self) -> dict[str, Any]:
        """The state, as plain data: the same for any number of shards."""
        state: dict[str, Any] = {"offsets": self.offsets, "channels": self.channels.save()}
        for owner, name, by in _STATE:
            parts = [getattr(getattr(shard, owner), name) for shard in self.shards]
            owned = [getattr(shard, by) for shard in self.shards]
            count = sum(map(len, owned))
            width = sum(map(np.size, parts)) // count if count else 0
            whole = np.zeros((count, width), parts[0].dtype)
            for rows, part in zip(owned, parts, strict=True):
                whole[rows] = part.reshape(len(rows), width)
            state[f"{owner}.{name}"] = pack(whole)
        return state

    def load(self, saved: dict[str, Any]) -> None:
        """Takes back what :meth:`save` has returned.

        Raises:
            HanseError: an array is damaged.
            ValueError: one is of another graph.
        """
        self.offsets = saved["offsets"]
        self.channels.load(saved["channels"])
        for owner, name, by in _STATE:
            whole = unpack(saved[f"{owner}.{name}"])
            for shard in self.shards:
                holder = getattr(shard, owner)
                like = getattr(holder, name)
                part = np.ascontiguousarray(whole[getattr(shard, by)], like.dtype)
                setattr(holder, name, part.reshape(like.shape))


_STATE: Final = (
    ("scorer", "last", "targets"),
    ("scorer", "slow", "targets"),
    ("baseline", "mean", "edges"),
    ("baseline", "events", "edges"),
    ("cusum", "value", "edges"),
    ("channel_cusum", "value", "edges"),
)
"""(part of a shard, array, whose rows they are)."""


def _part(batch: Batch, rows: slice | NDArray[np.intp]) -> Part:
    return Part(
        batch.target[rows],
        batch.channel[rows],
        batch.edge[rows],
        batch.u[rows],
        batch.v[rows],
        batch.uu[rows],
        batch.vv[rows],
    )


def _slots(target: int, shards: int) -> slice:
    first = target // shards * _CHANNELS
    return slice(first, first + _CHANNELS)
