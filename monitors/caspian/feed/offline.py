"""The monitor beside a run that is finished, or still going on: the same result as in the league.

The whole use::

    nodes, edges = cast.possibility_edges()
    graph = league_graph(edges, nodes)
    for seen in watch_run(Run(folder), graph, lambda graph: Caspian(graph, calibration)):
        print(seen.tick, seen.signals.score, [report.id for report in seen.reports])
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from monitors.caspian.alert import CascadeReport
from monitors.caspian.events import TickEvents
from monitors.caspian.feed.joining import Joiner
from monitors.caspian.feed.rows import by_tick
from monitors.caspian.monitor import Signals
from monitors.caspian.possibility import PossibilityGraph
from services.runs import Run


class Observer(Protocol):
    """What looks at events: `Caspian`, or another that speaks like it."""

    def observe(self, events: TickEvents) -> Signals:
        """Takes a tick's events and says what they look like."""

    def reports(self) -> list[CascadeReport]:
        """The reports that are new or changed since the last call."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A tick, and what a monitor said about it."""

    tick: int
    events: TickEvents
    signals: Signals
    reports: tuple[CascadeReport, ...]

    def light(self) -> Seen:
        """The same without the events, whose vectors are most of it."""
        return replace(self, events=TickEvents.empty(self.tick))


def watch_rows(rows: Iterable[Any], joiner: Joiner, observer: Observer) -> Iterator[Seen]:
    """Feeds an observer with rows in the order of the log.

    Args:
        rows: All watched messages, sorted by minute at least.
        joiner: Makes events of them; it keeps its state, so one log may come in parts, each of
            whole ticks.
        observer: Looks at the events.
    """
    for tick, batch in by_tick(rows, joiner.settings.tick_minutes):
        events = joiner.feed(tick, batch)
        signals = observer.observe(events)
        yield Seen(tick, events, signals, tuple(observer.reports()))


def watch_run(
    run: Run,
    graph: PossibilityGraph,
    make: Callable[[PossibilityGraph], Observer],
    *,
    unwatched: Collection[str] = (),
    joiner: Joiner | None = None,
) -> Iterator[Seen]:
    """Watches a run day by day; of one that is going on, the days that are whole by then.

    Args:
        run: The run.
        graph: Who can reach whom in it (`league_graph`).
        make: Makes the observer for this graph.
        unwatched: Agents whose mail is not watched: exchanges, monitors, containment controllers.
        joiner: Makes the events; one with the usual settings if None.
    """
    observer = make(graph)
    joiner = Joiner(graph) if joiner is None else joiner
    hidden = frozenset(unwatched)
    for rows in _days(run):
        watched = (row for row in rows if row[2] not in hidden and row[4] not in hidden)
        yield from watch_rows(watched, joiner, observer)


def _days(run: Run) -> Iterator[list[Any]]:
    """The messages of each whole day, also of days that become whole meanwhile."""
    day = 0
    while (last := run.day) is not None and day <= last:
        # Read at once: while rows are being read, the run's writer cannot shorten its log.
        yield list(run.rows("messages", days=range(day, day + 1)))
        day += 1
