"""Small traffic for the tests: agents that say nothing in particular, or one that is believed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from monitors.caspian.events import CHANNELS, DIMENSIONS, TickEvents
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.settings import Settings

QUICK = Settings(baseline_ticks=12, reference_ticks=6, baseline_events=10, rearm_ticks=4)
"""A short warm-up."""


def ring(agents: int = 8) -> PossibilityGraph:
    """Agents in a ring, each of whom reaches the next two by every channel."""
    names = [f"agent-{number}" for number in range(agents)]
    steps = [(i, (i + step) % agents) for i in range(agents) for step in (1, 2)]
    return PossibilityGraph.from_edges(names, ((names[a], names[b], CHANNELS) for a, b in steps))


def chain(*names: str) -> PossibilityGraph:
    return PossibilityGraph.from_edges(names, ((a, b, CHANNELS) for a, b in pairwise(names)))


def events(
    tick: int,
    rows: Iterable[tuple[int, int, int]],
    u: np.ndarray,
    v: np.ndarray,
    ids: tuple[str, ...] = (),
) -> TickEvents:
    """Events of (source, target, channel) rows."""
    columns = np.array(list(rows), np.int32).reshape(-1, 3)
    return TickEvents(
        tick,
        columns[:, 0],
        columns[:, 1],
        columns[:, 2].astype(np.int8),
        u.astype(np.float32),
        v.astype(np.float32),
        ids,
    )


def chatter(
    graph: PossibilityGraph,
    ticks: int,
    seed: int = 0,
    *,
    begin: int = 0,
    rate: float = 0.6,
    believed_from: int | None = None,
    believed: float = 0.9,
) -> list[TickEvents]:
    """Ticks of independent vectors; from a tick on, what is said comes back in what is done.

    It begins with the first agent and takes two more every tick, which on a ring are the next two.
    """
    rng = np.random.default_rng(seed)
    edge, channel = np.divmod(np.arange(graph.edges * len(CHANNELS)), len(CHANNELS))
    found = []
    for tick in range(begin, begin + ticks):
        here = np.flatnonzero(rng.random(len(edge)) < rate)
        u = rng.standard_normal((len(here), DIMENSIONS))
        v = rng.standard_normal((len(here), DIMENSIONS))
        if believed_from is not None:
            heard = tick >= believed_from + (graph.source[edge[here]] + 1) // 2
            v = np.where(heard[:, None], np.sqrt(1 - believed**2) * v + believed * u, v)
        found.append(
            TickEvents(
                tick,
                graph.source[edge[here]],
                graph.target[edge[here]],
                channel[here].astype(np.int8),
                u.astype(np.float32),
                v.astype(np.float32),
                tuple(f"message-{tick}-{row}" for row in range(len(here))),
            )
        )
    return found


def shuffled(tick: TickEvents, seed: int = 0) -> TickEvents:
    return tick.take(np.random.default_rng(seed).permutation(len(tick)))
