"""The monitor that watches what agents do while they do it, and says who drives whom.

It is plain Python: a shell feeds it tick by tick, runs :func:`refit` wherever it likes (it takes
seconds to minutes, so not on the message path), and hands the outcome back::

    monitor = ConnectivityMonitor(("farmer_A", "roaster_A"), ("price", "stock"), ("normal",))
    monitor.observe(tick, values, "normal")            # every tick; microseconds
    if monitor.due:
        outcome = refit(monitor.job())                 # in the background
        for graph in monitor.accept(outcome):
            ...                                        # publish it
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from monitors.bace.analysis import AnalysisSettings, analyse
from monitors.bace.graph import InfluenceGraph
from monitors.bace.signals import Recording, Refused, Trial, stabilised
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.talk.hours import FIRST_HOUR, LAST_HOUR

VERSION: Final = 1
WORKING_HOURS: Final = LAST_HOUR - FIRST_HOUR + 1
TRAFFIC: Final = ("sent", "received")
"""The channels of :func:`traffic`."""


@dataclass(frozen=True, slots=True)
class ConnectivitySettings:
    """How the monitor works."""

    analysis: AnalysisSettings = field(default_factory=AnalysisSettings)
    ring: int = 2000
    """Ticks kept of each context."""
    refit_every: int = 500
    """Ticks between two fits."""
    block: int = 200
    """Ticks of a trial: what lies together is cut into blocks, so that it can be halved."""
    tick_minutes: float = 60.0


@dataclass(frozen=True, slots=True)
class Job:
    """All that a fit depends on."""

    number: int
    """Which fit of the monitor's it is, from 1."""
    recording: Recording
    settings: AnalysisSettings
    seed: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a fit came to."""

    number: int
    graphs: tuple[InfluenceGraph, ...] = ()
    """One for each context; a withheld one says why."""
    refused: str | None = None
    """Why nothing could be fitted."""


def refit(job: Job) -> Outcome:
    """Fits; a pure function, for another thread or process.

    Raises:
        HanseError: torch is not installed.
    """
    try:
        found = analyse(job.recording, job.settings, job.seed)
    except Refused as refused:
        return Outcome(job.number, refused=str(refused))
    return Outcome(job.number, tuple(found.graphs.values()))


def working_tick(minute: int) -> int | None:
    """The working hour of a minute, counted without the nights between; None outside of them.

    With it as the number of a tick a night ends no trial, and a period of :data:`WORKING_HOURS`
    takes the day's rhythm out.
    """
    day, rest = divmod(minute, MINUTES_PER_DAY)
    hour = rest // 60
    if not FIRST_HOUR <= hour <= LAST_HOUR:
        return None
    return day * WORKING_HOURS + hour - FIRST_HOUR


def traffic(rows: Iterable[Sequence[Any]], nodes: Sequence[str]) -> np.ndarray:
    """How many messages each node has sent and received, variance-stabilised; float64 (N, 2).

    Args:
        rows: The messages of a tick, with the columns of the log's table.
        nodes: Whose are counted.
    """
    place = {node: n for n, node in enumerate(nodes)}
    counts = np.zeros((len(place), len(TRAFFIC)))
    for _, _, sender, _, recipient, *_ in rows:
        for column, agent in enumerate((sender, recipient)):
            if agent in place:
                counts[place[agent], column] += 1
    return stabilised(counts)


class ConnectivityMonitor:
    """Keeps the last ticks of every context and what was found in them.

    It never raises for what it is fed: bad input is counted in :attr:`dropped` and left out.

    Args:
        nodes: The agents, in the order of the rows that it is fed.
        channels: Their figures, in the order of the columns.
        contexts: The states of the market.
        settings: How it works.
        seed: Of all its fits.
    """

    def __init__(
        self,
        nodes: Sequence[str],
        channels: Sequence[str],
        contexts: Sequence[str],
        settings: ConnectivitySettings | None = None,
        seed: int = 0,
    ) -> None:
        self.nodes, self.channels = tuple(nodes), tuple(channels)
        self.contexts = tuple(contexts)
        self.settings = settings or ConnectivitySettings()
        self.seed = seed
        self.dropped: Counter[str] = Counter()
        """Ticks left out, by reason: `shape`, `context`, `late`."""
        self.refused: str | None = None
        """Why the last fit came to nothing, if it did."""
        self._rings: dict[str, deque[tuple[int, np.ndarray]]] = {
            context: deque(maxlen=self.settings.ring) for context in self.contexts
        }
        self._last_tick: int | None = None
        self._since_fit = 0
        self._number = 0
        self._accepted = 0
        self._graphs: dict[str, InfluenceGraph] = {}

    # ---- feeding ---------------------------------------------------------------------------------

    def observe(self, tick: int, values: np.ndarray, context: str) -> None:
        """Takes in one tick.

        Args:
            tick: Its number, larger than the last one's; where numbers are missing a trial ends
                (so hours are best numbered by :func:`working_tick`).
            values: float (N, C); NaN or infinite where nothing was measured.
            context: Its context.
        """
        seen = np.array(values, dtype=np.float64)
        if seen.shape != (len(self.nodes), len(self.channels)):
            self.dropped["shape"] += 1
        elif context not in self._rings:
            self.dropped["context"] += 1
        elif self._last_tick is not None and tick <= self._last_tick:
            self.dropped["late"] += 1
        else:
            seen[~np.isfinite(seen)] = np.nan
            self._rings[context].append((tick, seen))
            self._last_tick = tick
            self._since_fit += 1

    def recording(self) -> Recording:
        """What is kept, as trials of ticks without a break.

        With a period, every trial begins in phase 0, that is at a tick that is a multiple of it.
        """
        period = self.settings.analysis.period
        trials: list[Trial] = []
        run: list[tuple[int, int, np.ndarray]] = []
        for step in [*self._in_order(), None]:
            if run and (step is None or step[0] != run[-1][0] + 1):
                trials.append(
                    Trial(
                        np.stack([values for _, _, values in run], axis=-1),
                        np.array([place for _, place, _ in run], dtype=np.int64),
                    )
                )
                run = []
            if step is not None and (run or step[0] % period == 0):
                run.append(step)
        block = max(1, self.settings.block // period) * period
        return Recording(
            self.nodes, self.channels, self.contexts, tuple(trials), self.settings.tick_minutes
        ).blocks(block)

    def _in_order(self) -> list[tuple[int, int, np.ndarray]]:
        """(tick, context's place, values) of every tick that is kept, oldest first."""
        every = [
            (tick, place, values)
            for place, context in enumerate(self.contexts)
            for tick, values in self._rings[context]
        ]
        return sorted(every, key=lambda step: step[0])

    # ---- fitting ---------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether it is time for another fit; not while one is out."""
        return self._since_fit >= self.settings.refit_every and self._accepted == self._number

    def job(self) -> Job:
        """The next fit; the monitor goes on meanwhile."""
        self._number += 1
        self._since_fit = 0
        return Job(self._number, self.recording(), self.settings.analysis, self.seed + self._number)

    def accept(self, outcome: Outcome) -> tuple[InfluenceGraph, ...]:
        """Takes a fit's outcome and gives what is to be published; nothing for an old one.

        A context whose graph is withheld keeps none: what held before may not hold now.
        """
        if outcome.number <= self._accepted:
            return ()
        self._accepted = outcome.number
        self.refused = outcome.refused
        for graph in outcome.graphs:
            self._graphs[graph.context] = graph
        return outcome.graphs

    def goes_on(self, number: int) -> None:
        """After :meth:`load`: the fit of that number, out when it was saved, is not lost."""
        self._number = number
        self._since_fit -= self.settings.refit_every

    def graph(self, context: str) -> InfluenceGraph | None:
        """The last graph of a context, if there was a fit."""
        return self._graphs.get(context)

    # ---- from day to day -------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Everything that must survive, as plain data; a fit that is out is asked for again."""
        return {
            "version": VERSION,
            "nodes": list(self.nodes),
            "channels": list(self.channels),
            "rings": {
                context: {
                    "ticks": np.array([tick for tick, _ in ring], dtype="<i8").tobytes(),
                    "values": b"".join(values.astype("<f8").tobytes() for _, values in ring),
                }
                for context, ring in self._rings.items()
            },
            "last_tick": self._last_tick,
            "since_fit": self._since_fit
            if self._accepted == self._number
            else self.settings.refit_every + self._since_fit,
            "number": self._accepted,
            "graphs": [graph.model_dump(mode="json") for graph in self._graphs.values()],
            "refused": self.refused,
            "dropped": dict(self.dropped),
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`.

        Raises:
            HanseError: it was saved by another version, or of other nodes, channels or contexts.
        """
        here = (VERSION, list(self.nodes), list(self.channels), list(self.contexts))
        there = (saved["version"], saved["nodes"], saved["channels"], list(saved["rings"]))
        if here != there:
            raise HanseError(
                "a connectivity monitor was saved with other nodes, channels or contexts"
            )
        shape = (len(self.nodes), len(self.channels))
        for context, ring in saved["rings"].items():
            ticks = np.frombuffer(ring["ticks"], dtype="<i8")
            values = np.frombuffer(ring["values"], dtype="<f8").reshape(-1, *shape)
            steps = zip(ticks.tolist(), values.astype(np.float64), strict=True)
            self._rings[context] = deque(steps, maxlen=self.settings.ring)
        self._last_tick = saved["last_tick"]
        self._since_fit = saved["since_fit"]
        self._number = self._accepted = saved["number"]
        graphs = map(InfluenceGraph.model_validate, saved["graphs"])
        self._graphs = {graph.context: graph for graph in graphs}
        self.refused = saved["refused"]
        self.dropped = Counter(saved["dropped"])
