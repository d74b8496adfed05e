"""A cascade from its alarm to its last report: when each role can be named.

A role is pending until its horizon allows anything, then provisional, then final and fixed (note
``caspian`` 8.5). A report is made at the alarm and whenever the state of a role changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from monitors.caspian import attribution
from monitors.caspian.alert import CascadeReport, Role, Spectrum, Spine, State, Suspect
from monitors.caspian.attribution import Flows
from monitors.caspian.events import CHANNELS
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.recent import Recent, Window
from monitors.caspian.settings import Settings
from monitors.caspian.spines import spines

_SETTLE: int = 3
"""Ticks after the alarm that the later estimate of the onset looks at."""
_EVIDENCE = 5

Kind = Literal["abrupt", "gradual"]


class Alarm(NamedTuple):
    """What is known of a cascade at its alarm."""

    number: int
    tick: int
    ordinal: int
    """Which tick with events it was."""
    kind: Kind
    score: float
    statistics: dict[str, float]
    thresholds: dict[str, float]
    calibration: str


@dataclass
class Case:
    """One cascade.

    Args:
        alarm: What is known at its alarm.
        early: Ordinal number of the onset, hardly ever too late: for origin and bridge.
        late: Ordinal number of the likeliest onset: for the amplifier of an abrupt cascade.
    """

    alarm: Alarm
    early: int
    late: int
    origin: Role = field(default_factory=Role)
    bridge: Role = field(default_factory=Role)
    amplifier: Role = field(default_factory=Role)
    quiet: int = 0
    """Quiet ticks in a row since the last report."""

    @classmethod
    def begin(cls, alarm: Alarm, recent: Recent) -> Case:
        """The case of an alarm that was raised by the newest tick."""
        early = attribution.early_onset(recent, alarm.ordinal)
        return cls(alarm, early, attribution.likely_onset(recent, alarm.ordinal))

    @property
    def final(self) -> bool:
        """Whether its last report is made."""
        return all(role.state == "final" for role in (self.origin, self.bridge, self.amplifier))

    def step(self, graph: PossibilityGraph, recent: Recent, settings: Settings) -> bool:
        """Goes on by a tick; says whether any role has changed its state."""
        now, branch = recent.count - 1, 0 if self.alarm.kind == "abrupt" else 1
        if now == self.alarm.ordinal + _SETTLE:
            self.late = attribution.likely_onset(recent, self.alarm.ordinal)
        first = settings.provisional_ticks
        origin = _state(now - self.early, first, settings.origin_ticks[branch])
        bridge = _state(now - self.early, first, settings.bridge_ticks[branch])
        start = self.early if branch else self.late
        horizon = settings.amplifier_ticks[branch]
        settled = now >= self.alarm.ordinal + _SETTLE
        amplifier = _state(now - start, horizon, horizon) if settled else "pending"
        wanted = (origin, bridge, amplifier)
        if wanted == (self.origin.state, self.bridge.state, self.amplifier.state):
            return False
        window = self._flows(graph, recent, self.early, min(settings.origin_ticks[branch], now))
        if origin != self.origin.state:
            self.origin = _role(graph, origin, attribution.rank_origin(window))
        source = graph.index(self.origin.best) if self.origin.best else None
        if source is not None and bridge != self.bridge.state:
            window = self._flows(graph, recent, self.early, settings.bridge_ticks[branch])
            ranking = attribution.rank_bridge(graph, window, source)
            self.bridge = _role(graph, bridge, ranking)
        if source is not None and amplifier != self.amplifier.state:
            window = self._flows(graph, recent, start, horizon)
            between = graph.index(self.bridge.best) if self.bridge.best else None
            ranking = attribution.rank_amplifier(window, source, between)
            self.amplifier = _role(graph, amplifier, ranking)
        return True

    def report(
        self, graph: PossibilityGraph, recent: Recent, settings: Settings, literal: Spectrum
    ) -> CascadeReport:
        """What is known by now."""
        window = recent.window(self.early - 1, recent.count)
        flow = attribution.flows(graph, window)
        return CascadeReport(
            id=f"cascade-{self.alarm.number}",
            alert_tick=self.alarm.tick,
            reported_tick=recent[recent.count - 1].tick,
            onset=recent[self.late].tick,
            kind=self.alarm.kind,
            score=self.alarm.score,
            statistics=self.alarm.statistics,
            thresholds=self.alarm.thresholds,
            origin=self.origin,
            bridge=self.bridge,
            amplifier=self.amplifier,
            spines=self._spines(graph, window, settings),
            agents_flagged=attribution.flagged(flow),
            calibration=self.alarm.calibration,
            sampled=recent.sampled(self.early - 1, recent.count),
            literal=literal,
            evidence=recent.evidence(self.early - 1, recent.count, _EVIDENCE),
        )

    def _flows(self, graph: PossibilityGraph, recent: Recent, start: int, horizon: int) -> Flows:
        return attribution.flows(graph, recent.window(start - 1, start + horizon + 1))

    def _spines(
        self, graph: PossibilityGraph, window: Window, settings: Settings
    ) -> tuple[Spine, ...]:
        if self.origin.best is None:
            return ()
        origin = graph.index(self.origin.best)
        return tuple(
            Spine(
                path=tuple(graph.nodes[agent] for agent in path.agents),
                bottleneck=path.bottleneck,
                channel=CHANNELS[path.channel],
            )
            for path in spines(graph, window, origin, settings.cusum_drift)
        )

    def save(self) -> dict[str, Any]:
        """The state, as plain data."""
        roles = {name: getattr(self, name).model_dump(mode="json") for name in _ROLES}
        return {
            "alarm": self.alarm._asdict(),
            "early": self.early,
            "late": self.late,
            "quiet": self.quiet,
            **roles,
        }

    @classmethod
    def load(cls, saved: dict[str, Any]) -> Case:
        """Takes back what :meth:`save` has returned."""
        roles = {name: Role.model_validate(saved[name]) for name in _ROLES}
        alarm = Alarm(**saved["alarm"])
        return cls(alarm, saved["early"], saved["late"], quiet=saved["quiet"], **roles)


_ROLES = ("origin", "bridge", "amplifier")


def _state(elapsed: int, provisional: int, final: int) -> State:
    if elapsed >= final:
        return "final"
    return "provisional" if elapsed >= provisional else "pending"


def _role(graph: PossibilityGraph, state: State, ranking: attribution.Ranking) -> Role:
    suspects = tuple(Suspect(agent=graph.nodes[agent], score=score) for agent, score in ranking)
    return Role(state=state, suspects=suspects)
