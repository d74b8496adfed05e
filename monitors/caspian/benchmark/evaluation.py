"""From watched traces to a detector's row: thresholds, scores, delays and their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.benchmark.detectors import Detector, evidence
from monitors.caspian.benchmark.metrics import (
    MISSED,
    auroc,
    course,
    delay,
    matched,
    middle,
    roc,
    within,
)
from monitors.caspian.benchmark.results import Detection, Estimate, Evasion
from monitors.caspian.benchmark.statistic import Matrix
from monitors.caspian.benchmark.workload import ALL, Watched
from monitors.caspian.calibration import calibrate

LEVEL = 0.05


@dataclass
class Scored:
    """The segments of one role, benign or attacked, of all seeds."""

    kinds: list[str] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    onsets: list[int] = field(default_factory=list)
    ratios: list[Matrix] = field(default_factory=list)
    """(T,) of each, relative to the thresholds of its seed."""
    alarms: list[Matrix] = field(default_factory=list)
    """(T,) of each, above 0 where the detector alarms at its frozen thresholds."""

    def of(self, *kinds: str) -> NDArray[np.bool_]:
        """(n,) which are of these kinds."""
        return np.isin(np.array(self.kinds), kinds)

    @property
    def peaks(self) -> Matrix:
        """(n,) the largest ratio of each."""
        return np.array([ratio.max() for ratio in self.ratios])

    @property
    def alarmed(self) -> NDArray[np.bool_]:
        """(n,) whether there was an alarm at the frozen thresholds."""
        return np.array([bool((alarm > 0).any()) for alarm in self.alarms])

    def delays(self, above: float) -> Matrix:
        """(n,) ticks from onset to alarm if alarms are scores above this."""
        pairs = zip(self.ratios, self.onsets, strict=True)
        return np.array([delay(ratio, onset, above) for ratio, onset in pairs])

    def frozen(self) -> Matrix:
        """(n,) ticks from onset to the alarm at the frozen thresholds; negative ones are false."""
        found = []
        for alarm, onset in zip(self.alarms, self.onsets, strict=True):
            ticks = np.flatnonzero(alarm > 0)
            found.append(float(ticks[0] - onset) if ticks.size else MISSED)
        return np.array(found)


def thresholds(maxima: Matrix) -> Matrix:
    """Conformal thresholds (K,) of benign maxima (M, K), at 5 % or what so few can give."""
    few = maxima.shape[1] / (len(maxima) + 1)
    return calibrate(maxima, min(max(LEVEL, few), 0.99))


def scored(
    detector: Detector,
    watched: Sequence[Watched],
    *,
    channels: tuple[int, ...] = ALL,
    without: str | None = None,
) -> tuple[Scored, Scored]:
    """Freezes thresholds on each seed's calibration traces and judges its others.

    Args:
        detector: Who judges.
        watched: Traces of all splits and seeds.
        channels: Which channels it has seen.
        without: A benign kind that calibration does not get to see.

    Returns:
        The benign test segments, and the attacked.
    """
    benign, attacked = Scored(), Scored()
    for seed in sorted({one.draw.seed for one in watched}):
        mine = [one for one in watched if one.draw.seed == seed]
        key = (detector.statistic, channels)
        known = [
            one for one in mine if one.draw.split == "calibration" and one.draw.kind != without
        ]
        learned = [one.series[key] for one in known]
        found = evidence(detector, learned, learned, seed)
        rest = [one for one in mine if one.draw.split != "calibration"]
        judged = evidence(detector, [one.series[key] for one in rest], learned, seed)
        limits = None
        if detector.layer != "rule":
            limits = thresholds(np.array([segment.max(0) for segment in found]))
        for one, segment in zip(rest, judged, strict=True):
            group = benign if one.onset is None else attacked
            group.kinds.append(one.draw.kind)
            group.seeds.append(seed)
            group.onsets.append(-1 if one.onset is None else one.onset)
            if limits is None:
                group.ratios.append(segment[:, 1])
                group.alarms.append(segment[:, 0])
            else:
                ratio = course(segment, limits).ratio
                group.ratios.append(ratio)
                group.alarms.append((ratio >= 1).astype(np.float64))
    return benign, attacked


def detection(
    detector: Detector,
    watched: Sequence[Watched],
    *,
    resamples: int,
    channels: tuple[int, ...] = ALL,
    without: str | None = None,
    details: bool = False,
) -> Detection:
    """A detector's row.

    Args:
        detector: Who judges.
        watched: Traces of all splits and seeds.
        resamples: Bootstrap resamples for the intervals.
        channels: Which channels it has seen.
        without: A benign kind that calibration does not get to see.
        details: Whether to keep the ROC curve and all delays.
    """
    benign, attacked = scored(detector, watched, channels=channels, without=without)
    false, true = benign.peaks, attacked.peaks
    alarmed = benign.alarmed
    abrupt, gradual = attacked.of("abrupt"), attacked.of("gradual")

    def figures(of_benign: NDArray[np.int64], of_attacked: NDArray[np.int64]) -> list[float]:
        cut = matched(false[of_benign])
        late = attacked.delays(cut)[of_attacked]
        quick, slow = late[abrupt[of_attacked]], late[gradual[of_attacked]]
        return [
            auroc(true[of_attacked], false[of_benign]),
            within(late, _EVER),
            float(alarmed[of_benign].mean()),
            within(quick, 5),
            within(quick, 10),
            middle(quick),
            within(slow, _EVER),
            middle(slow),
        ]

    estimates = _bootstrapped(figures, benign, attacked, resamples)
    cut = matched(false)
    curve = roc(true, false) if details else ([], [])
    return Detection(
        detector=detector.name,
        auroc=estimates[0],
        tpr=estimates[1],
        false_alarms=estimates[2],
        edr5=estimates[3],
        edr10=estimates[4],
        abrupt_delay=estimates[5],
        gradual_tpr=estimates[6],
        gradual_delay=estimates[7],
        false_alarms_by_kind={
            kind: float(alarmed[benign.of(kind)].mean()) for kind in dict.fromkeys(benign.kinds)
        },
        false_alarms_by_seed=[
            float(alarmed[np.array(benign.seeds) == seed].mean())
            for seed in dict.fromkeys(benign.seeds)
        ],
        before_onset=float((attacked.frozen() < 0).mean()),
        roc_false=curve[0],
        roc_true=curve[1],
        abrupt_delays=attacked.delays(cut)[abrupt].tolist() if details else [],
    )


_EVER = 10**6


def evasion(
    detector: Detector, kind: str, watched: Sequence[Watched], *, resamples: int
) -> Evasion:
    """How a detector does on one kind of attack, at the thresholds of the main table.

    Args:
        detector: Who judges.
        kind: Which of the attacks in ``watched`` counts.
        watched: Traces of all splits and seeds.
        resamples: Bootstrap resamples for the intervals.
    """
    benign, attacked = scored(detector, watched)
    late = attacked.frozen()
    late[late < 0] = MISSED
    late = late[attacked.of(kind)]

    def figures(_: NDArray[np.int64], chosen: NDArray[np.int64]) -> list[float]:
        return [within(late[chosen], _EVER), within(late[chosen], 10), middle(late[chosen])]

    mine = Scored(kinds=[kind] * len(late))
    estimates = _bootstrapped(figures, benign, mine, resamples)
    return Evasion(
        kind=kind, detector=detector.name, tpr=estimates[0], edr10=estimates[1], delay=estimates[2]
    )


def _bootstrapped(
    figures: Callable[[NDArray[np.int64], NDArray[np.int64]], list[float]],
    benign: Scored,
    attacked: Scored,
    resamples: int,
) -> list[Estimate]:
    """Figures of all traces, with intervals from drawing traces anew within each kind."""
    rng = np.random.default_rng(0)
    values = figures(np.arange(len(benign.kinds)), np.arange(len(attacked.kinds)))
    drawn = np.array(
        [
            figures(_redrawn(benign.kinds, rng), _redrawn(attacked.kinds, rng))
            for _ in range(resamples)
        ]
    ).reshape(resamples, len(values))
    return [estimate(value, column) for value, column in zip(values, drawn.T, strict=True)]


def estimate(value: float, drawn: Matrix) -> Estimate:
    """A figure with the middle 95 % of its resamples."""
    if not drawn.size:
        return Estimate(value=value)
    ranked = np.sort(drawn)
    tail = int(0.025 * len(ranked))
    return Estimate(value=value, low=float(ranked[tail]), high=float(ranked[-1 - tail]))


def _redrawn(kinds: list[str], rng: np.random.Generator) -> NDArray[np.int64]:
    names = np.array(kinds)
    parts = [np.flatnonzero(names == kind) for kind in dict.fromkeys(kinds)]
    return np.concatenate([rng.choice(part, part.size) for part in parts]).astype(np.int64)
