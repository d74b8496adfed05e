"""Attribution without the robust mode's: the paper's formulas, and the earliest unusual agent."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

import numpy as np

from monitors.caspian.benchmark.statistic import Matrix
from monitors.caspian.benchmark.synthetic import Trace
from monitors.caspian.events import CHANNELS, DIMENSIONS
from monitors.caspian.intake import admit
from monitors.caspian.literal import Constants, Literal
from monitors.caspian.literal.attribution import Attribution
from monitors.caspian.literal.spectrum import influence
from monitors.caspian.scoring import Groups, Scorer
from monitors.caspian.settings import Settings
from monitors.caspian.sharding import Coordinator


class Named(NamedTuple):
    """Whom a method names for each role; None where it names nobody."""

    origin: str | None = None
    bridge: str | None = None
    amplifier: str | None = None


def literal(trace: Trace) -> Named:
    """Whom the literal mode names with its own alert, whenever that comes."""
    monitor = Literal(trace.graph, Constants(path_budget=0), DIMENSIONS)
    for events in trace.ticks:
        monitor.observe(events)
        if monitor.alert is not None:
            alert = monitor.alert
            return Named(alert.origin, alert.bridge, alert.amplifier)
    return Named()


def paper(trace: Trace, onset: int, alarm: int) -> Named:
    """Whom the paper's formulas name when given a better influence and onset than the paper's.

    Influence is -½ log(1 - r²) nats of the robust mode's partial correlations r > 0, the mean over
    an edge and channel's events of the tick. The literal estimate is too slow for any window.

    Args:
        trace: What was watched.
        onset: Estimate of the onset, for the paper's t_w.
        alarm: Tick of the alarm, for its t_0.
    """
    settings = Settings(dimensions=DIMENSIONS)
    scorer = Scorer(len(trace.graph), settings)
    nodes, constants = len(trace.graph), Constants()
    attribution: Attribution | None = None
    for events in trace.ticks:
        if events.tick > max(alarm, onset):
            break
        batch = admit(events, trace.graph, settings, 0, Counter())
        if batch is None:
            continue
        groups = Groups.of(batch.target * len(CHANNELS) + batch.channel)
        scores = scorer.score(groups, batch.u, batch.v, batch.uu, batch.vv)
        if events.tick < onset:
            continue
        information = -0.5 * np.log1p(-(np.tanh(np.maximum(scores, 0.0)) ** 2))
        source, target = trace.graph.source[batch.edge], trace.graph.target[batch.edge]
        place = (batch.channel.astype(np.int64) * nodes + source) * nodes + target
        size = len(CHANNELS) * nodes * nodes
        total = np.bincount(place, information, size)
        mean = total / np.maximum(np.bincount(place, minlength=size), 1)
        now = influence(mean.reshape(len(CHANNELS), nodes, nodes), constants.epsilon)
        if attribution is None:
            attribution = Attribution(now, constants.epsilon)
        else:
            attribution.observe(now)
    if attribution is None:
        return Named()
    names = trace.graph.nodes
    return Named(
        names[attribution.origin()],
        names[attribution.bridge()],
        names[attribution.amplifier()],
    )


EARLY: Final = 2
"""Ticks before the estimated onset at which an agent may already be unusual."""
UNUSUAL: Final = 3.0
"""Standard deviations of what an agent sends in a tick."""


def earliest(trace: Trace, onset: int) -> Named:
    """The first agent whose sending is unusual: the usual protocol of failure attribution.

    After Who&When (2505.00212): the agent of the earliest decisive step. Here that is the first
    agent whose events of a tick exceed three standard deviations, from just before the estimated
    onset on; of several in a tick, the one that exceeds most. It names an origin only.

    Args:
        trace: What was watched.
        onset: Estimate of the onset.
    """
    settings = Settings(dimensions=DIMENSIONS)
    coordinator = Coordinator(trace.graph, settings)
    for events in trace.ticks:
        batch = admit(events, trace.graph, settings, 0, Counter())
        if batch is None or not len(batch):
            continue
        z = coordinator.step(batch, cusum=False).z
        if events.tick < onset - EARLY:
            continue
        source = trace.graph.source[batch.edge]
        number = np.bincount(source, minlength=len(trace.graph))
        sent: Matrix = np.bincount(source, z, len(trace.graph)) / np.sqrt(np.maximum(number, 1))
        if sent.max() > UNUSUAL:
            return Named(origin=trace.graph.nodes[int(np.argmax(sent))])
    return Named()
