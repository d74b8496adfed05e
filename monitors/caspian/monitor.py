"""Caspian: the monitor of one segment of traffic, from events to reports.

The whole life of a monitor, without a league::

    from monitors.caspian import Calibration, Caspian, PossibilityGraph, TickEvents

    caspian = Caspian(graph, Calibration.load(path))
    for events in ticks:
        signals = caspian.observe(events)
        for report in caspian.reports():
            print(report.id, report.kind, report.origin.best)
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np

from monitors.caspian.alert import CascadeReport, Spectrum
from monitors.caspian.attribution import Strength, strengths
from monitors.caspian.calibration import Calibration, Profile
from monitors.caspian.cases import Alarm, Case
from monitors.caspian.events import CHANNELS, TickEvents
from monitors.caspian.intake import Batch, admit
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.recent import Recent, Tick, strongest
from monitors.caspian.sequential import Sequential
from monitors.caspian.settings import Settings
from monitors.caspian.sharding import Coordinator, Scored
from monitors.caspian.signals import Signals
from monitors.caspian.sparse import Mixtures, Reference, binned, sparsely
from monitors.caspian.statistics import (
    STATISTICS,
    Excess,
    Spectral,
    conditional_mean,
    cusum_mass,
    entropy,
    iterate,
)
from services.errors import HanseError

__all__ = ["Caspian", "Settings", "Signals"]

_VERSION: Final = 2
_COLD_STEPS: Final = 30
"""Power iterations where no vectors are warm."""


class Caspian:
    """Watches a system of agents, tick by tick.

    What it says is a pure function of its arguments and of the ticks that it has seen, the same to
    the bit for any number of shards. A tick without events says nothing: it changes nothing, and
    takes no time. A channel without events in a tick changes nothing for itself either.

    Args:
        graph: Who can reach whom.
        calibration: Thresholds; without them there is no alarm, only signals.
        settings: The constants.
        shards: To how many shards the targets are dealt out.
        profile: Begins as a short session by this profile; for calibrating short sessions.

    Raises:
        HanseError: the calibration does not fit the graph or the settings.
    """

    def __init__(
        self,
        graph: PossibilityGraph,
        calibration: Calibration | None = None,
        settings: Settings | None = None,
        shards: int = 1,
        *,
        profile: Profile | None = None,
    ) -> None:
        settings = settings or Settings()
        if shards < 1:
            raise HanseError(f"a monitor needs at least one shard, not {shards}")
        if calibration is not None:
            calibration.check(graph, settings)
            if calibration.short and profile is None:
                profile = calibration.profile
        self.graph = graph
        self.calibration = calibration
        self.settings = settings
        self.shards = shards
        self.profile = profile
        self.tick: int | None = None
        """The last tick observed."""
        self.dropped: Counter[str] = Counter()
        """All events that were not scored so far, by reason."""
        self._segment = 0
        self._cascades = 0
        self._case: Case | None = None
        self._reports: list[CascadeReport] = []
        self._begin()

    @property
    def warm(self) -> bool:
        """Whether the warm-up is over."""
        return all(sequential.ready for sequential in self._sequential.values())

    @property
    def _learning(self) -> int:
        """Ticks before the first statistic: a short session has baselines, but no histories."""
        return 1 if self.profile is not None else self.settings.baseline_ticks

    def observe(self, events: TickEvents) -> Signals:
        """Takes a tick's events and says what they look like; never raises for bad ones."""
        if self.tick is not None and events.tick <= self.tick:
            return self._refuse(events, "stale_tick")
        dropped: Counter[str] = Counter()
        batch = admit(events, self.graph, self.settings, self._segment, dropped)
        self.dropped.update(dropped)
        if batch is None:
            return Signals(
                events.tick, alarm=self._case is not None, flags=("refused",), dropped=dict(dropped)
            )
        self.tick = batch.tick
        flags = self._standing_flags()
        if batch.sampled < 1:
            flags.append("sampled")
        if not len(batch):
            flags.append("silent")
            return self._signals(batch, {}, {}, None, flags, dropped)
        values = self._score(batch)
        evidence: dict[str, float] = {}
        score = None
        if values and self.warm:
            for name, sequential in self._sequential.items():
                evidence[f"{name}.s"], evidence[f"{name}.S"] = sequential.s, sequential.sum
            evidence |= self._mixtures.step(self._counts)
            score = self._judge(batch.tick, evidence)
        else:
            flags.append("warm_up" if self._scored <= self._learning or not self.warm else "silent")
        return self._signals(batch, values, evidence, score, flags, dropped)

    def reports(self) -> list[CascadeReport]:
        """The reports that are new or changed since the last call."""
        reports, self._reports = self._reports, []
        return reports

    def strengths(self, since: int) -> list[Strength]:
        """What edges have carried from a tick on, as far back as is remembered; see there."""
        window = self._recent.window(self._recent.since(since), self._recent.count)
        return strengths(self.graph, window)

    def regraph(self, graph: PossibilityGraph) -> None:
        """Goes on with another graph: histories of known agents stay, the warm-up begins anew.

        What was known of a cascade is given up: its edges may be gone. Signals say so.
        """
        old = self._coordinator
        self.graph = graph
        self._segment += 1
        self._case = None
        self._begin()
        self._coordinator.inherit(old)

    def learned(self) -> Profile:
        """What this segment has taught, for short sessions.

        Raises:
            HanseError: the warm-up is not over.
        """
        if not self.warm:
            raise HanseError("a profile can be taken only after the warm-up")
        channels = self._coordinator.channels
        references = {name: layer.reference for name, layer in self._sequential.items()}
        mean, deviation = channels.mean.tolist(), channels.deviation.tolist()
        return Profile(
            channel_mean=(mean[0], mean[1], mean[2], mean[3]),
            channel_variance=tuple(value * value for value in deviation),
            reference_mean={name: reference.mean for name, reference in references.items()},
            reference_deviation={
                name: float(np.sqrt(reference.variance)) for name, reference in references.items()
            },
        )

    def _begin(self) -> None:
        self._coordinator = Coordinator(self.graph, self.settings, self.shards)
        self._sequential = {name: Sequential(self.settings) for name in STATISTICS}
        known = None if self.calibration is None else self.calibration.reference
        self._mixtures = Mixtures(known or Reference.normal())
        self._counts = binned(np.zeros(0, np.int8), np.zeros(0))
        """Of the last tick."""
        self._spectral = Spectral(len(self.graph))
        self._recent = Recent(self.settings.memory)
        self._scored = 0
        """Ticks with events in this segment."""
        if self.profile is not None:
            self._coordinator.offsets = False
            self._coordinator.channels.assume(
                np.array(self.profile.channel_mean), np.array(self.profile.channel_variance)
            )
            for name, sequential in self._sequential.items():
                sequential.assume(
                    self.profile.reference_mean[name], self.profile.reference_deviation[name]
                )

    def _score(self, batch: Batch) -> dict[str, float]:
        """Scores a batch and moves all statistics on; empty while the baselines are learned."""
        # CUSUMs of edges take a while to be what they usually are: they begin before the reference.
        scored = self._coordinator.step(batch, cusum=self._scored >= self._learning // 2)
        self._scored += 1
        if self._scored <= self._learning or not scored.counted.any():
            return {}
        self._spectral.step(self._excess(scored))
        z = scored.z[scored.counted]
        values = {
            "q1": conditional_mean(z),
            "q2": cusum_mass(scored.cusum, self.settings.mass_floor),
            "q3": self._spectral.q3,
        }
        for name, sequential in self._sequential.items():
            sequential.step(values[name])
        kept = np.flatnonzero(scored.counted)
        self._counts = binned(batch.channel[kept], z)
        self._recent.add(
            Tick(
                batch.tick,
                batch.edge[kept].astype(np.int32),
                batch.channel[kept],
                z,
                strongest(scored.z, batch.ids),
                batch.sampled,
            )
        )
        return values

    def _excess(self, scored: Scored) -> Excess:
        value = scored.cusum - self.settings.excess_floor
        above = value > 0
        edges = scored.edges[above]
        return Excess(self.graph.source[edges], self.graph.target[edges], value[above])

    def _judge(self, tick: int, evidence: dict[str, float]) -> float | None:
        """Compares with the thresholds; opens, moves on and closes the case."""
        now = self._recent.count - 1
        if self.calibration is None:
            return None
        thresholds = self.calibration.thresholds
        ratios = {name: evidence[name] / threshold for name, threshold in thresholds.items()}
        score = max(ratios.values())
        if self._case is None and score >= 1:
            self._cascades += 1
            alarm = Alarm(
                self._cascades,
                tick,
                now,
                score,
                {name: evidence[name] for name in thresholds},
                dict(thresholds),
                self.calibration.id,
            )
            self._case = Case(alarm)
            self._case.step(self.graph, self._recent, self.settings)
            self._report(self._case)
        elif self._case is not None:
            if self._case.step(self.graph, self._recent, self.settings):
                self._report(self._case)
            self._close(self._case)
        return score

    def _close(self, case: Case) -> None:
        """A cascade is over when it has its last report and all has been quiet for a while."""
        s = max(self._sequential[name].s for name in self.settings.alarm)
        case.quiet = case.quiet + 1 if case.final and s < self.settings.quiet_s else 0
        if case.quiet >= self.settings.rearm_ticks:
            self._case = None
            self._mixtures.rest()
            for sequential in self._sequential.values():
                sequential.rest()

    def _report(self, case: Case) -> None:
        self._reports.append(case.report(self.graph, self._recent, self.settings, self._literal()))

    def _literal(self) -> Spectrum:
        """The paper's signals on the excess matrix, with the entropy over channels."""
        edges, channels, cusum = self._coordinator.by_channel()
        leading = np.zeros(len(CHANNELS))
        for channel in range(len(CHANNELS)):
            here = (channels == channel) & (cusum > self.settings.excess_floor)
            if here.any():
                chosen = edges[here]
                excess = Excess(
                    self.graph.source[chosen],
                    self.graph.target[chosen],
                    cusum[here] - self.settings.excess_floor,
                )
                start = Spectral(len(self.graph)).vectors
                _, (leading[channel], _) = iterate(excess, start, _COLD_STEPS)
        return Spectrum(entropy=entropy(leading), **self._spectral.signals())

    def _standing_flags(self) -> list[str]:
        flags = ["regraphed"] if self._segment and not self._scored else []
        calibration = self.calibration
        if calibration is not None and calibration.graph not in (None, self.graph.version):
            flags.append("recalibrate")
        return flags

    def _refuse(self, events: TickEvents, reason: str) -> Signals:
        dropped = {reason: max(len(events), 1)}
        self.dropped.update(dropped)
        return Signals(
            events.tick, alarm=self._case is not None, flags=("refused",), dropped=dropped
        )

    def _signals(
        self,
        batch: Batch,
        values: dict[str, float],
        evidence: dict[str, float],
        score: float | None,
        flags: list[str],
        dropped: Counter[str],
    ) -> Signals:
        return Signals(
            batch.tick,
            len(batch),
            values,
            evidence,
            score,
            self._case is not None,
            tuple(flags),
            dict(dropped),
            batch.sampled,
            sparsely(self._counts) if evidence else {},
        )

    def save(self) -> dict[str, Any]:
        """The state, as plain data: going on from it is the same to the bit."""
        return {
            "version": _VERSION,
            "graph": self.graph.version,
            "tick": self.tick,
            "dropped": dict(sorted(self.dropped.items())),
            "segment": self._segment,
            "cascades": self._cascades,
            "scored": self._scored,
            "case": None if self._case is None else self._case.save(),
            "reports": [report.model_dump(mode="json") for report in self._reports],
            "coordinator": self._coordinator.save(),
            "sequential": {name: layer.save() for name, layer in self._sequential.items()},
            "mixtures": self._mixtures.save(),
            "spectral": self._spectral.save(),
            "recent": self._recent.save(),
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Takes back what :meth:`save` has returned.

        Raises:
            HanseError: it is of another graph or version, or damaged.
        """
        if saved.get("version") != _VERSION:
            raise HanseError(f"a monitor's state of version {saved.get('version')}, not {_VERSION}")
        if saved.get("graph") != self.graph.version:
            raise HanseError(
                f"the monitor's state is of another possibility graph ({saved.get('graph')})"
            )
        try:
            self._load(saved)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise HanseError(f"a monitor's state is damaged: {error!r}") from error

    def _load(self, saved: dict[str, Any]) -> None:
        self.tick = saved["tick"]
        self.dropped = Counter(saved["dropped"])
        self._segment = saved["segment"]
        self._cascades = saved["cascades"]
        self._scored = saved["scored"]
        self._case = None if saved["case"] is None else Case.load(saved["case"])
        self._reports = [CascadeReport.model_validate(report) for report in saved["reports"]]
        self._coordinator.load(saved["coordinator"])
        for name, layer in self._sequential.items():
            layer.load(saved["sequential"][name])
        self._mixtures.load(saved["mixtures"])
        self._spectral.load(saved["spectral"])
        self._recent.load(saved["recent"])
