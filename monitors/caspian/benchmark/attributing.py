"""How often whom is rightly blamed: a second pass over attacked traces, thresholds frozen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from monitors.caspian.alert import CascadeReport
from monitors.caspian.benchmark.baselines.blame import Named, earliest, literal, paper
from monitors.caspian.benchmark.evaluation import estimate
from monitors.caspian.benchmark.results import Attribution, Estimate
from monitors.caspian.benchmark.statistic import Matrix
from monitors.caspian.benchmark.synthetic import Trace
from monitors.caspian.benchmark.workload import Draw
from monitors.caspian.calibration import Calibration
from monitors.caspian.monitor import Caspian

ROBUST: Final = "CASPIAN-R"
PAPER: Final = "the paper's formulas, at the same estimated onset"
EARLIEST: Final = "earliest unusual agent, at the same estimated onset"
LITERAL: Final = "CASPIAN literal, at its own alert"
METHODS: Final = (ROBUST, PAPER, EARLIEST, LITERAL)
ROLES: Final = ("origin", "bridge", "amplifier")


@dataclass(frozen=True, slots=True)
class Blamed:
    """What was said about one attacked trace."""

    draw: Draw
    truth: Named
    named: dict[str, Named]
    """By method."""
    onset_error: int | None
    """Of the estimate; None without an alarm after the onset."""
    spine: float
    """Jaccard index of the best spine with the path of infection to its end."""


def blame(task: tuple[Draw, Calibration]) -> Blamed:
    """Watches a trace again, now with thresholds, and asks all methods."""
    draw, calibration = task
    trace = draw.trace()
    assert trace.onset is not None
    truth = Named(trace.origin, trace.bridge, trace.amplifier)
    named = dict.fromkeys(METHODS, Named())
    named[LITERAL] = literal(trace)
    report = last_report(trace, calibration)
    if report is None:
        return Blamed(draw, truth, named, None, 0.0)
    named[ROBUST] = Named(report.origin.best, report.bridge.best, report.amplifier.best)
    named[PAPER] = paper(trace, report.onset, report.alert_tick)
    named[EARLIEST] = earliest(trace, report.onset)
    return Blamed(draw, truth, named, report.onset - trace.onset, spine_overlap(trace, report))


def last_report(trace: Trace, calibration: Calibration) -> CascadeReport | None:
    """What the robust mode has said last of the first alarm that is not before the onset."""
    caspian = Caspian(trace.graph, calibration)
    last: CascadeReport | None = None
    for events in trace.ticks:
        caspian.observe(events)
        for report in caspian.reports():
            if report.alert_tick >= (trace.onset or 0) and (last is None or report.id == last.id):
                last = report
    return last


def spine_overlap(trace: Trace, report: CascadeReport) -> float:
    """The largest Jaccard index, by edges, of a reported spine and the infection path to its end.

    The infection path begins at the origin. A spine that ends at an agent that was never infected
    has 0.
    """
    parent = {child: source for source, child, _ in trace.tree}
    best = 0.0
    for spine in report.spines:
        path = [spine.path[-1]]
        while path[-1] in parent:
            path.append(parent[path[-1]])
        if path[-1] != trace.origin:
            continue
        true = set(pairwise(reversed(path)))
        said = set(pairwise(spine.path))
        best = max(best, len(true & said) / len(true | said)) if true | said else best
    return best


def attributions(blamed: Sequence[Blamed], resamples: int) -> list[Attribution]:
    """Rows for every method and kind of attack, in the order of METHODS."""
    rows = []
    for kind in dict.fromkeys(one.draw.kind for one in blamed):
        mine = [one for one in blamed if one.draw.kind == kind]
        seeds = list(dict.fromkeys(one.draw.seed for one in mine))
        for method in METHODS:
            right = {role: _right(mine, method, role) for role in ROLES}
            if method == EARLIEST:
                right = {"origin": right["origin"]}
            of_seed = np.array([one.draw.seed for one in mine])
            errors = [one.onset_error for one in mine if one.onset_error is not None]
            robust = method == ROBUST
            rows.append(
                Attribution(
                    method=method,
                    kind=kind,
                    cascades=len(mine),
                    by_seed={
                        role: [float(values[of_seed == seed].mean()) for seed in seeds]
                        for role, values in right.items()
                    },
                    spine_jaccard=_mean([one.spine for one in mine], resamples) if robust else None,
                    onset_error=float(np.median(errors)) if robust and errors else None,
                    **{role: _mean(values, resamples) for role, values in right.items()},
                )
            )
    return rows


def _right(blamed: Sequence[Blamed], method: str, role: str) -> Matrix:
    return np.array(
        [float(getattr(one.named[method], role) == getattr(one.truth, role)) for one in blamed]
    )


def _mean(values: Sequence[float] | Matrix, resamples: int) -> Estimate:
    table = np.asarray(values, np.float64)
    rng = np.random.default_rng(0)
    drawn = np.array(
        [table[rng.integers(len(table), size=len(table))].mean() for _ in range(resamples)]
    )
    return estimate(float(table.mean()), drawn)
