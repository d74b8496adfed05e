"""The literal mode as one object: events in, signals out, and at most one alert."""

from __future__ import annotations

from monitors.caspian.events import DIMENSIONS, TickEvents
from monitors.caspian.literal.attribution import Attribution
from monitors.caspian.literal.influence import InfluenceEstimator
from monitors.caspian.literal.onset import OnsetRule
from monitors.caspian.literal.records import Alert, Constants, Signals
from monitors.caspian.literal.spectrum import Influence, influence, signals
from monitors.caspian.possibility import PossibilityGraph
from services.errors import HanseError


class Literal:
    """The paper's monitor of one segment (arXiv 2605.19240).

    A turn is a call: give it quiet ticks as well. After the alert the signals go on, but nothing
    is declared any more.

    Example:
        >>> monitor = Literal(graph)
        >>> for events in ticks:
        ...     signals = monitor.observe(events)
        ...     if monitor.alert is not None:
        ...         break

    Args:
        graph: The possibility graph; events off it are dropped and counted.
        constants: What the paper leaves open.
        dimensions: Length of the vectors.
    """

    def __init__(
        self,
        graph: PossibilityGraph,
        constants: Constants | None = None,
        dimensions: int = DIMENSIONS,
    ) -> None:
        self._graph = graph
        self._constants = constants or Constants()
        self._estimator = InfluenceEstimator(graph, self._constants, dimensions)
        self._rule = OnsetRule(self._constants.epsilon)
        self._attribution: Attribution | None = None
        self._watch_tick = 0
        self._last: Signals | None = None
        self.influence: Influence | None = None
        """That of the last turn."""
        self.alert: Alert | None = None
        """What was declared; None as long as nothing was."""

    def observe(self, events: TickEvents) -> Signals:
        """Takes the next turn.

        Raises:
            HanseError: the tick is not after the last one.
        """
        if self._last is not None and events.tick <= self._last.tick:
            raise HanseError(f"tick {events.tick} is not after tick {self._last.tick}")
        tensor, dropped = self._estimator.observe(events)
        now = self.influence = influence(tensor, self._constants.epsilon)
        said = signals(events.tick, now, self._last, dropped, self._constants)
        self._last = said
        if self.alert is None:
            self._decide(said, now)
        return said

    def _decide(self, said: Signals, now: Influence) -> None:
        begun = self._rule.candidate
        self._rule.observe(said)
        if self._attribution is not None and begun:
            self._attribution.observe(now)
        elif self._rule.candidate:
            self._attribution = Attribution(now, self._constants.epsilon)
            self._watch_tick = said.tick
        if not self._rule.candidate:
            self._attribution = None
        elif self._rule.kind is not None:
            self.alert = self._declared(said.tick)

    def _declared(self, tick: int) -> Alert:
        assert self._attribution is not None and self._rule.kind is not None
        constants = self._constants
        spines = self._attribution.spines(self._graph, constants.spines, constants.path_budget)
        return Alert(
            kind=self._rule.kind,
            watch_tick=self._watch_tick,
            alert_tick=tick,
            origin=self._graph.nodes[self._attribution.origin()],
            bridge=self._graph.nodes[self._attribution.bridge()],
            amplifier=self._graph.nodes[self._attribution.amplifier()],
            spines=spines or (),
            exhausted=spines is None,
        )
