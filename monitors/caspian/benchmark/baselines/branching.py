"""Detectors of spreading: does what is flagged bring about more of what is flagged?"""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.benchmark.statistic import Matrix, Statistic, cosines
from monitors.caspian.events import CHANNELS, TickEvents
from monitors.caspian.possibility import PossibilityGraph


class HawkesBranching(Statistic):
    """Flags that follow from flags, for each flag: the branching ratio of a marked Hawkes process.

    An event is flagged when u and v are unusually alike for its channel; it follows from a flag
    if its source was the target of a flagged event in one of the last two ticks. The ratio over a
    window is supercritical above 1: each flag brings about more than one other.
    """

    WINDOW: Final = 10
    REACH: Final = 2
    """Ticks within which a flag may bring about another."""
    UNUSUAL: Final = 2.0
    """Standard deviations."""
    WEIGHT: Final = 0.02

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._mean = np.zeros(len(CHANNELS))
        self._variance = np.full(len(CHANNELS), 1 / dimensions)
        self._exposed: deque[NDArray[np.bool_]] = deque(maxlen=self.REACH)
        self._flags: deque[tuple[int, int]] = deque(maxlen=self.WINDOW)

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        alike = cosines(events.u, events.v)
        unusual = self._mean + self.UNUSUAL * np.sqrt(self._variance)
        flagged = alike > unusual[events.channel]
        reached = np.zeros(len(self.graph), bool)
        for targets in self._exposed:
            reached |= targets
        follows = int((flagged & reached[events.source]).sum())
        self._flags.append((int(flagged.sum()), follows))
        exposed = np.zeros(len(self.graph), bool)
        exposed[events.target[flagged]] = True
        self._exposed.append(exposed)
        for channel in np.unique(events.channel):
            here = alike[events.channel == channel]
            apart = here - self._mean[channel]
            self._mean[channel] += self.WEIGHT * apart.mean()
            self._variance[channel] += self.WEIGHT * ((apart**2).mean() - self._variance[channel])
        parents = sum(count for count, _ in list(self._flags)[:-1])
        children = sum(count for _, count in list(self._flags)[1:])
        return (children / parents if parents else np.nan,)


class RobustMinimum(Statistic):
    """The smallest of three robust z values: the rule of the authors' first code (note 5.4).

    λ1 and λ2/λ1 of the channel-normalised influence, and the share of active two-hop paths that
    change their dominant channel in the middle, each against median and MAD of the past 20 ticks.
    Influence is LRTS at lag 0: the squared partial correlation of u and v given the target's last
    behaviour. An onset needs all three to rise at once; the rule's own threshold is 2.5.
    """

    WINDOW: Final = 20

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._last = np.zeros((len(graph) * len(CHANNELS), dimensions))
        self._past: deque[tuple[float, ...]] = deque(maxlen=self.WINDOW)

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick; nothing is said before 20 are past."""
        tensor = self._influence(events)
        highest = tensor.max((1, 2), keepdims=True)
        fused = np.divide(tensor, highest, out=np.zeros_like(tensor), where=highest > 0).sum(0)
        values = np.linalg.svd(fused, compute_uv=False)
        ratio = float(values[1] / values[0]) if values[0] > 0 else 0.0
        now = (float(values[0]), ratio, _changing(tensor))
        smallest = np.nan
        if len(self._past) == self.WINDOW:
            past = np.array(self._past)
            middle = np.median(past, axis=0)
            spread = 1.4826 * np.median(np.abs(past - middle), axis=0) + 1e-9
            smallest = float(((now - middle) / spread).min())
        self._past.append(now)
        return (smallest,)

    def _influence(self, events: TickEvents) -> Matrix:
        """(4, N, N) mean squared partial correlation of the events of each edge and channel."""
        nodes = len(self.graph)
        slot = events.target.astype(np.int64) * len(CHANNELS) + events.channel
        history = self._last[slot]
        energy = (history**2).sum(1, keepdims=True)
        along = (events.v * history).sum(1, keepdims=True)
        rest = events.v - np.divide(along, energy, out=np.zeros_like(energy), where=energy > 0) * (
            history
        )
        score = cosines(events.u, rest.astype(np.float32)) ** 2
        flat = (events.channel.astype(np.int64) * nodes + events.source) * nodes + events.target
        size = len(CHANNELS) * nodes * nodes
        total = np.bincount(flat, score, size) / np.maximum(np.bincount(flat, minlength=size), 1)
        self._last[slot] = events.v
        tensor: Matrix = total.reshape(len(CHANNELS), nodes, nodes)
        return tensor


def _changing(tensor: Matrix) -> float:
    """Share of the active paths i -> j -> k whose two edges have different dominant channels."""
    dominant = np.where(tensor.any(0), tensor.argmax(0), -1)
    into = np.stack([(dominant == channel).sum(0) for channel in range(len(CHANNELS))])
    out = np.stack([(dominant == channel).sum(1) for channel in range(len(CHANNELS))])
    paths = int((into.sum(0) * out.sum(0)).sum())
    same = int((into * out).sum())
    return (paths - same) / paths if paths else 0.0
