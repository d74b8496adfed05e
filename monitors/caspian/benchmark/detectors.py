"""Who is compared: every detector, from a statistic's series to evidence that thresholds judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from monitors.caspian.benchmark.baselines.branching import HawkesBranching, RobustMinimum
from monitors.caspian.benchmark.baselines.contents import (
    EmbeddingNovelty,
    MeanCosine,
    PcaResidual,
    RankPartialCorrelation,
    ThemeDistance,
)
from monitors.caspian.benchmark.baselines.counting import (
    CountSpectrum,
    MessageRate,
    SpectralResidual,
)
from monitors.caspian.benchmark.baselines.forest import IsolationForest, TickFeatures
from monitors.caspian.benchmark.statistic import Matrix, Statistic
from monitors.caspian.benchmark.watchers import Paper, Robust, Unconditional
from monitors.caspian.sequential import Sequential
from monitors.caspian.settings import Settings

STATISTICS: Final[dict[str, type[Statistic]]] = {
    statistic.__name__: statistic
    for statistic in (
        MessageRate,
        CountSpectrum,
        SpectralResidual,
        EmbeddingNovelty,
        ThemeDistance,
        PcaResidual,
        HawkesBranching,
        RobustMinimum,
        RankPartialCorrelation,
        TickFeatures,
        MeanCosine,
        Unconditional,
        Paper,
        Robust,
    )
}
"""By name, so that a job for another process can say which it wants."""

Layer = Literal["sequential", "forest", "as it is", "rule"]


@dataclass(frozen=True, slots=True)
class Detector:
    """A row of the comparison.

    Attributes:
        name: What the table calls it.
        statistic: Key in :data:`STATISTICS`.
        columns: Which of its columns are used.
        layer: ``sequential``: the robust mode's s and S of the column, so that no detector has a
            better change detector than another. ``forest``: the same of an isolation forest's
            score of the columns. ``as it is``: the columns are evidence already. ``rule``: the
            detector decides itself (the first column) and is ranked by the second.
    """

    name: str
    statistic: str
    columns: tuple[str, ...]
    layer: Layer = "sequential"


def _robust(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}.{kind}" for name in names for kind in ("s", "S"))


CASPIAN: Final = "CASPIAN-R"
_ALONE: Final = Settings().alarm == ("q1",)
CONDITIONAL: Final = CASPIAN if _ALONE else "conditional event mean (q1)"
"""Who differs from the unconditional mean in nothing but conditioning."""
UNCONDITIONAL: Final = "unconditional event mean"
RANKS: Final = "rank partial correlation (GAMMAF)"
COSINE: Final = "mean cosine(u, v)"
NOVELTY: Final = "embedding novelty"
FOREST: Final = "isolation forest, 10 tick features"
COUNTS: Final = "σ1 of message-count graph"
EXCESS: Final = "σ1 of excess matrix (q3)"
LITERAL: Final = "CASPIAN literal (the paper's rule)"
RAW: Final = "σ1 of literal influence, unnormalised"
KEYWORDS: Final = "keyword guardrail"

DETECTORS: Final = (
    Detector("message-rate CUSUM", "MessageRate", ("value",)),
    Detector(COUNTS, "CountSpectrum", ("value",)),
    Detector("graph spectral residual", "SpectralResidual", ("value",)),
    Detector(NOVELTY, "EmbeddingNovelty", ("value",)),
    Detector("theme-centroid distance (XG-Guard-like)", "ThemeDistance", ("value",)),
    Detector("PCA reconstruction (GUARDIAN-like)", "PcaResidual", ("value",)),
    Detector(FOREST, "TickFeatures", TickFeatures.columns, "forest"),
    Detector("Hawkes branching ratio", "HawkesBranching", ("value",)),
    Detector("robust min-z (authors' first code)", "RobustMinimum", ("value",), "as it is"),
    Detector(RANKS, "RankPartialCorrelation", ("value",)),
    Detector(COSINE, "MeanCosine", ("value",)),
    Detector(UNCONDITIONAL, "Unconditional", ("value",)),
    Detector(LITERAL, "Paper", ("alert", "lambda1"), "rule"),
    Detector(RAW, "Paper", ("raw",)),
    Detector(EXCESS, "Robust", _robust("q3"), "as it is"),
    Detector("edge-CUSUM mass (q2)", "Robust", _robust("q2"), "as it is"),
    Detector("sparse mixture (q4)", "Robust", ("sparse.all",), "as it is"),
    Detector("CASPIAN-R q1+q2", "Robust", _robust("q1", "q2"), "as it is"),
    *(() if _ALONE else (Detector(CONDITIONAL, "Robust", _robust("q1"), "as it is"),)),
    Detector(CASPIAN, "Robust", _robust(*Settings().alarm), "as it is"),
)


def evidence(
    detector: Detector, series: Sequence[Matrix], benign: Sequence[Matrix], seed: int
) -> list[Matrix]:
    """What thresholds are compared with, of each segment.

    Args:
        detector: Which.
        series: (T, F) all columns of its statistic, of each segment.
        benign: Those of the benign segments that a detector may learn from.
        seed: For a forest's splits.

    Returns:
        (T, K) of each segment; -inf during the warm-up, when nobody may raise an alarm.
    """
    of = STATISTICS[detector.statistic].columns
    places = [of.index(column) for column in detector.columns]
    if detector.layer == "forest":
        known = np.concatenate([_standardised(segment)[_warm_up() :] for segment in benign])
        forest = IsolationForest(known[np.isfinite(known).all(1)], np.random.default_rng(seed))
        return [
            sequential(forest.scores(np.nan_to_num(_standardised(segment)))) for segment in series
        ]
    if detector.layer == "sequential":
        return [sequential(segment[:, places[0]]) for segment in series]
    chosen = [segment[:, places].copy() for segment in series]
    for segment in chosen:
        segment[np.isnan(segment)] = -np.inf
        if detector.layer == "as it is":
            segment[: _warm_up()] = -np.inf
    return chosen


def sequential(values: Matrix) -> Matrix:
    """(T, 2) s and S of a series (T,), by the robust mode's own layer and its warm-up."""
    settings = Settings()
    layer = Sequential(settings)
    found = np.full((len(values), 2), -np.inf)
    for tick, value in enumerate(values.tolist()):
        if tick < settings.baseline_ticks or np.isnan(value):
            continue
        ready = layer.ready
        layer.step(value)
        if ready:
            found[tick] = layer.s, layer.sum
    return found


def _standardised(series: Matrix) -> Matrix:
    """Features in units of the segment's own warm-up."""
    usual = series[: _warm_up()]
    units: Matrix = (series - np.nanmean(usual, axis=0)) / (np.nanstd(usual, axis=0) + 1e-9)
    return units


def _warm_up() -> int:
    return Settings().warm_up
