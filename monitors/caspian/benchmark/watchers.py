"""CASPIAN's own modes as statistics of the comparison."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np

from monitors.caspian.benchmark.statistic import Statistic
from monitors.caspian.calibration import EVIDENCE
from monitors.caspian.events import TickEvents
from monitors.caspian.intake import admit
from monitors.caspian.literal import Constants, Literal
from monitors.caspian.monitor import Caspian
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.settings import Settings
from monitors.caspian.sharding import Coordinator
from monitors.caspian.statistics import conditional_mean


class Robust(Statistic):
    """All evidence of the robust mode: s and S of q1, q2 and q3, and the mixtures.

    Mixtures take scores to be normal here: the benchmark's are, and so no reference is needed.
    """

    columns: ClassVar[tuple[str, ...]] = EVIDENCE

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._caspian = Caspian(graph, settings=Settings(dimensions=dimensions))

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        evidence = self._caspian.observe(events).evidence
        return tuple(evidence.get(column, np.nan) for column in self.columns)


class Unconditional(Statistic):
    """q1 without conditioning: everything else is as in the robust mode.

    Histories are emptied before each tick, and nothing is conditioned on an empty one.
    """

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._settings = Settings(dimensions=dimensions)
        self._coordinator = Coordinator(graph, self._settings)

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        batch = admit(events, self.graph, self._settings, 0, Counter())
        if batch is None or not len(batch):
            return (np.nan,)
        for shard in self._coordinator.shards:
            shard.scorer.last.fill(0)
            shard.scorer.slow.fill(0)
        scored = self._coordinator.step(batch, cusum=False)
        z = scored.z[scored.counted]
        return (conditional_mean(z) if z.size else np.nan,)


class Paper(Statistic):
    """The literal mode: whether it has alerted, its λ1, and σ1 of the influence as it is.

    The last is the same estimate without the normalisation that pins λ1, for the robust mode's
    sequential layer: what the estimator alone is worth.
    """

    columns: ClassVar[tuple[str, ...]] = ("alert", "lambda1", "raw")

    def __init__(self, graph: PossibilityGraph, dimensions: int) -> None:
        super().__init__(graph, dimensions)
        self._literal = Literal(graph, Constants(path_budget=0), dimensions)

    def observe(self, events: TickEvents) -> tuple[float, ...]:
        """Takes the next tick."""
        signals = self._literal.observe(events)
        influence = self._literal.influence
        raw = 0.0 if influence is None else float(np.linalg.norm(influence.raw, 2))
        return (float(self._literal.alert is not None), signals.lambda1, raw)
