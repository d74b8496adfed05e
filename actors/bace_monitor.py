"""BACE as an agent: who drives whom, learned from how much each says and hears, hour by hour."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

from actors.context import Context
from actors.monitor import Monitor
from monitors.bace.connectivity import (
    TRAFFIC,
    WORKING_HOURS,
    ConnectivityMonitor,
    ConnectivitySettings,
    Job,
    Outcome,
    refit,
    traffic,
    working_tick,
)
from monitors.bace.graph import InfluenceGraph
from services.messages import MINUTES_PER_DAY

CONTEXTS: Final = ("normal", "festival")


class BaceMonitor(Monitor):
    """Watches the activity of firms, and notes an influence graph for each context now and then.

    A fit takes seconds to minutes. It runs in a thread beside the agent from the hour at which it
    is due; the day does not end before it is done, and what it has found is noted in the first hour
    of the next day: always then, so that a run is the same wherever the monitor lives.

    Args:
        name: Its name.
        firms: Whom it watches.
        refit_ticks: Working hours between two fits.
        festival: First and last day of the festival.
        seed: Of its fits.
    """

    def __init__(
        self,
        name: str,
        firms: Sequence[str],
        refit_ticks: int = 500,
        festival: tuple[int, int] = (40, 53),
        seed: int = 0,
    ) -> None:
        super().__init__(name)
        settings = ConnectivitySettings(refit_every=refit_ticks)
        # The day's rhythm is everybody's and nobody's influence.
        settings = replace(settings, analysis=replace(settings.analysis, period=WORKING_HOURS))
        self.firms = tuple(firms)
        self.festival = festival
        self.monitor = ConnectivityMonitor(self.firms, TRAFFIC, CONTEXTS, settings, seed)
        self._threads = ThreadPoolExecutor(1, "bace")
        self._fit: Future[Outcome] | None = None
        self._found: Outcome | None = None
        self._due_on = -1
        """The day on which the fit under way was due."""

    def observe(self, tick: int, rows: Sequence[tuple[Any, ...]], context: Context) -> None:
        """Counts an hour's messages; begins a fit when one is due; notes what one has found."""
        if not rows:
            return
        minute = rows[0][0]
        day, hour = minute // MINUTES_PER_DAY, working_tick(minute)
        if day > self._due_on and (self._fit is not None or self._found is not None):
            self._publish(context)
        if hour is None:
            return
        first, last = self.festival
        state = "festival" if first <= day <= last else "normal"
        self.monitor.observe(hour, traffic(rows, self.firms), state)
        if self.monitor.due and self._fit is None and self._found is None:
            self._begin(self.monitor.job(), day)

    def save(self) -> dict[str, Any]:
        """The monitor's state, and what a fit of this day has found."""
        found = self._outcome()
        return {
            "monitor": self.monitor.save(),
            "due_on": self._due_on,
            "found": None
            if found is None
            else {
                "number": found.number,
                "graphs": [graph.model_dump(mode="json") for graph in found.graphs],
                "refused": found.refused,
            },
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`."""
        self.monitor.load(saved["monitor"])
        self._due_on = saved["due_on"]
        self._fit, self._found = None, None
        found = saved["found"]
        if found is not None:
            graphs = tuple(InfluenceGraph.model_validate(graph) for graph in found["graphs"])
            self._found = Outcome(found["number"], graphs, found["refused"])
            self.monitor.goes_on(found["number"])

    def _begin(self, job: Job, day: int) -> None:
        self._due_on = day
        self._fit = self._threads.submit(refit, job)

    def _outcome(self) -> Outcome | None:
        if self._fit is not None:
            self._found, self._fit = self._fit.result(), None
        return self._found

    def _publish(self, context: Context) -> None:
        found = self._outcome()
        self._found = None
        assert found is not None
        if found.refused is not None:
            self.monitor.accept(found)
            context.record("influence_refused", "", {"reason": found.refused})
            return
        for graph in self.monitor.accept(found):
            context.record("influence_graph", "", graph.model_dump(mode="json"))
