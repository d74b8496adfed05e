"""A cascade from its alarm to its last report: when each role can be named.

A role is pending until its horizon allows anything, then provisional, then final and fixed (note
``caspian`` 8.5). A report is made at the alarm and whenever the state of a role changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from monitors.caspian import attribution, lineage
from monitors.caspian.alert import CascadeReport, Role, Spectrum, Spine, State, Suspect
from monitors.caspian.attribution import Flows
from monitors.caspian.events import CHANNELS
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.recent import Recent, Window
from monitors.caspian.settings import Settings
from monitors.caspian.spines import spines

_EVIDENCE = 5

Kind = Literal["abrupt", "gradual"]


class Alarm(NamedTuple):
    """What is known of a cascade at its alarm."""

    number: int
    tick: int
    ordinal: int
    """Which tick with events it was."""
    score: float
    statistics: dict[str, float]
    thresholds: dict[str, float]
    calibration: str


@dataclass
class Case:
    """One cascade.

    Args:
        alarm: What is known at its alarm.
    """

    alarm: Alarm
    kind: Kind = "abrupt"
    """By how long after its onset the alarm has come."""
    onset: int = 0
    """Ordinal number of the tick at which it seems to have begun."""
    suspected: attribution.Ranking = field(default_factory=list)
    """Agents with whom it may have begun, the likeliest first."""
    origin: Role = field(default_factory=Role)
    bridge: Role = field(default_factory=Role)
    amplifier: Role = field(default_factory=Role)
    quiet: int = 0
    """Quiet ticks in a row since the last report."""

    @property
    def leading(self) -> str:
        """The statistic that has raised the alarm: the largest of all over its threshold."""
        alarm = self.alarm
        ratios = {n: alarm.statistics[n] / limit for n, limit in alarm.thresholds.items()}
        return max(sorted(ratios), key=lambda name: ratios[name])

    @property
    def channel(self) -> int | None:
        """The channel of a cascade that a dense mixture has seen on one channel alone.

        It says nothing on the others, whose noise would hide who began it.
        """
        shape, _, view = self.leading.partition(".")
        return CHANNELS.index(view) if shape == "dense" and view in CHANNELS else None

    @property
    def final(self) -> bool:
        """Whether its last report is made."""
        return all(role.state == "final" for role in (self.origin, self.bridge, self.amplifier))

    def step(self, graph: PossibilityGraph, recent: Recent, settings: Settings) -> bool:
        """Goes on by a tick (the first is that of the alarm); says whether a role has changed."""
        now = recent.count - 1
        since = now - self.alarm.ordinal
        if since == 0 or since == settings.settle_ticks:
            self._look(graph, recent, settings)
        branch = 0 if self.kind == "abrupt" else 1
        elapsed, settled = now - self.onset, since >= settings.settle_ticks
        early, late = settings.provisional_ticks, settings.amplifier_provisional[branch]
        origin = _state(self.origin, elapsed, early, settings.origin_ticks[branch], settled)
        bridge = _state(self.bridge, elapsed, early, settings.bridge_ticks[branch], settled)
        horizon = settings.amplifier_ticks[branch]
        amplifier = _state(self.amplifier, elapsed, late, horizon, settled)
        wanted = (origin, bridge, amplifier)
        if wanted == (self.origin.state, self.bridge.state, self.amplifier.state):
            return False
        if origin != self.origin.state:
            self.origin = _role(graph, origin, self.suspected)
        if self.suspected and bridge != self.bridge.state:
            flow = self._flows(graph, recent, settings.bridge_ticks[branch])
            ranking = attribution.rank_bridge(graph, flow, self.suspected[0][0])
            self.bridge = _role(graph, bridge, ranking)
        if self.suspected and amplifier != self.amplifier.state:
            between = graph.index(self.bridge.best) if self.bridge.best else None
            flow = self._flows(graph, recent, horizon)
            ranking = attribution.rank_amplifier(flow, self.suspected[0][0], between)
            self.amplifier = _role(graph, amplifier, ranking)
        return True

    def report(
        self, graph: PossibilityGraph, recent: Recent, settings: Settings, literal: Spectrum
    ) -> CascadeReport:
        """What is known by now."""
        window = recent.window(self.onset - 1, recent.count).on(self.channel)
        return CascadeReport(
            id=f"cascade-{self.alarm.number}",
            alert_tick=self.alarm.tick,
            reported_tick=recent[recent.count - 1].tick,
            onset=recent[self.onset].tick,
            kind=self.kind,
            score=self.alarm.score,
            statistics=self.alarm.statistics,
            thresholds=self.alarm.thresholds,
            origin=self.origin,
            bridge=self.bridge,
            amplifier=self.amplifier,
            spines=self._spines(graph, window, settings),
            agents_flagged=attribution.reached(attribution.flows(graph, window)),
            calibration=self.alarm.calibration,
            sampled=recent.sampled(self.onset - 1, recent.count),
            literal=literal,
            evidence=recent.evidence(self.onset - 1, recent.count, _EVIDENCE),
        )

    def _look(self, graph: PossibilityGraph, recent: Recent, settings: Settings) -> None:
        """Looks for origin and onset in what is known by now."""
        begin = max(self.alarm.ordinal - settings.lineage_ticks, recent.first)
        if self.leading.startswith("dense."):
            changed = {
                "lineage_shift": settings.dense_shift,
                "lineage_share": settings.dense_share,
            }
            settings = settings.model_copy(update=changed)
        window = recent.window(begin, recent.count).on(self.channel)
        found = lineage.trace(graph, window, settings)
        self.onset = self.alarm.ordinal if found is None else begin + found.onset
        quick = self.alarm.ordinal - self.onset <= settings.abrupt_ticks
        self.kind = "abrupt" if quick else "gradual"
        self.suspected = [] if found is None else found.ranking[: attribution.SUSPECTS]

    def _flows(self, graph: PossibilityGraph, recent: Recent, horizon: int) -> Flows:
        window = recent.window(self.onset - 1, self.onset + horizon + 1).on(self.channel)
        return attribution.flows(graph, window)

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
            "kind": self.kind,
            "onset": self.onset,
            "suspected": [list(suspect) for suspect in self.suspected],
            "quiet": self.quiet,
            **roles,
        }

    @classmethod
    def load(cls, saved: dict[str, Any]) -> Case:
        """Takes back what :meth:`save` has returned."""
        roles = {name: Role.model_validate(saved[name]) for name in _ROLES}
        alarm = Alarm(**saved["alarm"])
        suspected = [(int(agent), float(score)) for agent, score in saved["suspected"]]
        return cls(alarm, saved["kind"], saved["onset"], suspected, quiet=saved["quiet"], **roles)


_ROLES = ("origin", "bridge", "amplifier")


def _state(role: Role, elapsed: int, provisional: int, final: int, settled: bool) -> State:
    """Where a role stands by now; it never goes back, though the onset may be revised."""
    if role.state == "final" or (settled and elapsed >= final):
        return "final"
    if role.state == "provisional" or elapsed >= provisional:
        return "provisional"
    return "pending"


def _role(graph: PossibilityGraph, state: State, ranking: attribution.Ranking) -> Role:
    suspects = tuple(Suspect(agent=graph.nodes[agent], score=score) for agent, score in ranking)
    return Role(state=state, suspects=suspects)
