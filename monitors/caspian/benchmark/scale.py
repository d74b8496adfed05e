"""What a tick costs, in time and memory: acceptance A10 and A11's share (note ``caspian`` 9, 10.3).

A random graph of N agents is fed ticks of B events until the warm-up is over, then timed on the
clock of this process' own work: ``python -m monitors.caspian.benchmark.scale``.
"""

from __future__ import annotations

import resource
import sys
import time
import tracemalloc
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from monitors.caspian.events import CHANNELS, TickEvents
from monitors.caspian.monitor import Caspian
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.settings import Settings

GOAL_MILLISECONDS = 150.0
GOAL_MEGABYTES = 200.0


class Scale(NamedTuple):
    """What was measured with one size."""

    agents: int
    edges: int
    events: int
    """A tick."""
    ticks: int
    """How many were timed, after the warm-up."""
    milliseconds: tuple[float, float, float]
    """CPU of a tick: least, median, most."""
    megabytes: float
    """Growth of the process' peak memory from before the monitor was made."""
    temporary: float
    """Megabytes that one more tick takes for a while, at most: a matrix of 10,000 x 10,000 would
    be 100 at the very least."""

    @property
    def passes(self) -> bool:
        """Whether the goals of A10 are met (they are for 10,000 agents and 20,000 events)."""
        return self.milliseconds[1] <= GOAL_MILLISECONDS and self.megabytes <= GOAL_MEGABYTES


def measure(
    agents: int = 10_000,
    edges: int = 80_000,
    events: int = 20_000,
    *,
    ticks: int = 80,
    shards: int = 1,
    seed: int = 0,
) -> Scale:
    """Times a monitor on random traffic.

    Args:
        agents: N.
        edges: E, drawn at random.
        events: B, drawn at random from the edges each tick.
        ticks: How many to time after the warm-up.
        shards: As for :class:`Caspian`.
        seed: Of the traffic.
    """
    rng = np.random.default_rng(seed)
    graph = _graph(rng, agents, edges)
    # Four ticks in turn: drawing vectors must not count, and they must not fill the memory.
    traffic = [_tick(rng, graph, events) for _ in range(4)]
    settings = Settings(max_events=max(events, 1))
    before = _peak()
    caspian = Caspian(graph, settings=settings, shards=shards)
    times = []
    for tick in range(settings.warm_up + ticks):
        batch = traffic[tick % len(traffic)]
        moved = TickEvents(tick, batch.source, batch.target, batch.channel, batch.u, batch.v)
        began = time.process_time()
        caspian.observe(moved)
        times.append((time.process_time() - began) * 1e3)
    megabytes = _peak() - before
    timed = times[settings.warm_up :]
    return Scale(
        agents,
        graph.edges,
        events,
        ticks,
        (min(timed), float(np.median(timed)), max(timed)),
        megabytes,
        _temporary(caspian, settings.warm_up + ticks, traffic[0]),
    )


def show(scales: list[Scale], console: Console | None = None) -> None:
    """Prints what was measured."""
    table = Table(title="CASPIAN: CPU and memory of a tick")
    for heading in ("agents", "edges", "events", "ms (least)", "ms (median)", "ms (most)"):
        table.add_column(heading, justify="right")
    table.add_column("memory +MB", justify="right")
    table.add_column("temporary MB", justify="right")
    for scale in scales:
        sizes = (scale.agents, scale.edges, scale.events)
        table.add_row(
            *(f"{size:,}" for size in sizes),
            *(f"{value:.2f}" for value in scale.milliseconds),
            f"{scale.megabytes:.0f}",
            f"{scale.temporary:.1f}",
        )
    (console or Console()).print(table)


def _graph(rng: np.random.Generator, agents: int, edges: int) -> PossibilityGraph:
    ends = rng.integers(agents, size=(edges + edges // 50 + 100, 2))
    pairs = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    chosen = rng.permutation(len(pairs))[:edges]
    names = [f"agent-{number:05d}" for number in range(agents)]
    return PossibilityGraph.from_edges(
        names, ((names[a], names[b], CHANNELS) for a, b in pairs[chosen].tolist())
    )


def _tick(rng: np.random.Generator, graph: PossibilityGraph, events: int) -> TickEvents:
    edge = rng.integers(graph.edges, size=events)
    shape = (events, Settings().dimensions)
    return TickEvents(
        0,
        graph.source[edge],
        graph.target[edge],
        rng.integers(len(CHANNELS), size=events).astype(np.int8),
        rng.standard_normal(shape, np.float32),
        rng.standard_normal(shape, np.float32),
    )


def _peak() -> float:
    """Megabytes of the most memory that the process has had so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _temporary(caspian: Caspian, tick: int, batch: TickEvents) -> float:
    """Megabytes of the peak that one more tick allocates on top of the state."""
    tracemalloc.start()
    caspian.observe(TickEvents(tick, batch.source, batch.target, batch.channel, batch.u, batch.v))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


if __name__ == "__main__":
    show(
        [
            measure(),
            measure(1_000, 8_000, 2_000),
            measure(24, 130, 60, ticks=200),
            measure(6, 20, 15, ticks=200),
        ]
    )
