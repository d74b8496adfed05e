"""Which edges carry more conditional similarity than they used to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitors.caspian.events import CHANNELS
from monitors.caspian.monitor import Caspian


class Strength(NamedTuple):
    """How much an edge has in excess, on one channel."""

    source: str
    target: str
    channel: str
    events: int
    weight: float
    """max(0, sum z / sqrt(events) - 1), as the spines weigh it (note ``caspian`` 8.5)."""


def strengths(caspian: Caspian, since: int) -> list[Strength]:
    """The edges with an excess, the strongest first.

    Args:
        caspian: The monitor, after the last tick that counts.
        since: The first tick that counts, as far back as the monitor remembers.
    """
    recent, graph = caspian._recent, caspian.graph
    begin = recent.first
    while begin < recent.count and recent[begin].tick < since:
        begin += 1
    window = recent.window(begin, recent.count)
    keys, place = np.unique(
        window.edge.astype(np.int64) * len(CHANNELS) + window.channel, return_inverse=True
    )
    events = np.bincount(place, minlength=len(keys))
    total = np.bincount(place, window.z, minlength=len(keys))
    found = []
    for key, count, z in zip(keys.tolist(), events.tolist(), total.tolist(), strict=True):
        weight = z / count**0.5 - 1
        if weight > 0:
            edge, channel = divmod(key, len(CHANNELS))
            source, target = graph.nodes[graph.source[edge]], graph.nodes[graph.target[edge]]
            found.append(Strength(source, target, CHANNELS[channel], count, weight))
    return sorted(found, key=lambda one: (-one.weight, one.source, one.target, one.channel))
