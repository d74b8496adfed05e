"""From a recording to one influence graph per context: fit, null, halves, autoregression.

    graphs = analyse(recording, seed=0).graphs
    graphs["festival"].edges[0]

A plain function of its arguments. It takes four fits (five with several contexts), so a shell runs
it in the background.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from monitors.bace.baselines import Autoregression, autoregression
from monitors.bace.graph import Class, Influence, InfluenceGraph, State
from monitors.bace.nulls import Thresholds, shifted
from monitors.bace.reliability import RELIABLE_FROM, contexts_pay, retest, split_halves
from monitors.bace.scores import off_diagonal, spearman
from monitors.bace.signals import Recording, Refused, refuse_unstable
from monitors.bace.windows import FEWEST_WINDOWS, Prepared, Shares, Windowing, prepare

if TYPE_CHECKING:
    from monitors.bace.training import Fit, FitSettings

DIRECT_FROM = 0.9
"""Share of the weaker of two steps from which an influence counts as direct."""

Progress = Callable[[str], None]
"""Told what is being done, a few words at a time."""


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """How a recording is analysed."""

    windowing: Windowing = field(default_factory=Windowing)
    shares: Shares = field(default_factory=Shares)
    fitting: FitSettings | None = None
    """None: the defaults of :class:`monitors.bace.training.FitSettings`."""
    lags: int = 2
    """Of the vector autoregression."""
    period: int = 1
    """Ticks of a rhythm that all nodes share, such as the working hours of a day."""
    stability_check: bool = True
    """Whether growing series are refused; no, where the caller has seen to them."""
    context_check: bool = True
    """Whether a fit without contexts is made to see if contexts pay."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What came of it."""

    graphs: dict[str, InfluenceGraph]
    """By context."""
    prepared: Prepared
    fitted: Fit
    null: Fit
    thresholds: Thresholds
    halves: np.ndarray | None
    """float64 (2, P, N, N): the graphs of two halves of the trials; None if there are none."""
    var: Autoregression
    pooled_loss: float | None
    """Validation loss of the fit without contexts, if one was made."""

    @property
    def reliability(self) -> np.ndarray:
        """Rank correlation of the halves' weights by context; NaN without halves; float64 (P,)."""
        if self.halves is None:
            return np.full(len(self.fitted.adjacency), np.nan)
        return retest(*self.halves)

    @property
    def repeated(self) -> np.ndarray:
        """Where both halves exceed the strict threshold with the sign of the whole; (P, N, N)."""
        if self.halves is None:
            return np.zeros(self.fitted.adjacency.shape, dtype=bool)
        again = self.halves * np.sign(self.fitted.adjacency) > self.thresholds.strict
        return np.asarray(again.all(axis=0))

    def found(self, strict: bool = True) -> np.ndarray:
        """Where |A| is above the threshold, published or not; bool (P, N, N)."""
        least = self.thresholds.strict if strict else self.thresholds.screening
        above = np.abs(self.fitted.adjacency) > least
        silent = self.prepared.silent
        return np.asarray(above & ~silent[:, :, None] & ~silent[:, None, :])


def analyse(
    recording: Recording,
    settings: AnalysisSettings | None = None,
    seed: int = 0,
    on_step: Progress | None = None,
) -> Analysis:
    """Fits everything that a published graph needs.

    Args:
        recording: The signals; several trials, or one cut into blocks.
        settings: How.
        seed: Decides the shares of trials, the surrogates and the fits.
        on_step: Told what is being done.

    Raises:
        Refused: the data do not bear an analysis.
        HanseError: torch is not installed.
    """
    tell = on_step or (lambda step: None)
    settings = settings or AnalysisSettings()
    if settings.stability_check:
        refuse_unstable(recording)
    prepared = _prepared(recording, settings, seed)
    kept = recording.with_nodes(prepared.recording.nodes)
    tell("fitting")
    fitted = fit_prepared(prepared, settings, seed)
    tell("fitting surrogates")
    surrogate = shifted(kept, _rng(seed, 1), settings.period)
    null = fit_prepared(_like(prepared, surrogate, settings, seed), settings, seed)
    tell("fitting halves")
    halves = _halves(prepared, kept, settings, seed)
    pooled_loss = None
    if settings.context_check and len(recording.contexts) > 1:
        tell("fitting without contexts")
        pooled_loss = fit_pooled(prepared, settings, seed).best_validation_loss
    var = autoregression(prepared.recording, prepared.scaling, settings.lags)
    # A context with next to no windows has next to no weights, which would lower the thresholds.
    enough = [name not in prepared.insufficient for name in recording.contexts]
    thresholds = Thresholds.of(null.adjacency[enough])
    made = Analysis({}, prepared, fitted, null, thresholds, halves, var, pooled_loss)
    graphs = {name: _graph(made, p) for p, name in enumerate(recording.contexts)}
    return replace(made, graphs=graphs)


def fit_prepared(prepared: Prepared, settings: AnalysisSettings, seed: int) -> Fit:
    """One fit to prepared windows."""
    training = _training()
    return training.fit(  # type: ignore[no-any-return]
        prepared.training,
        prepared.validation,
        len(prepared.recording.contexts),
        settings.fitting or training.FitSettings(),
        seed,
    )


def fit_pooled(prepared: Prepared, settings: AnalysisSettings, seed: int) -> Fit:
    """One fit to the same windows, all under one label."""
    training = _training()
    parts = (prepared.training, prepared.validation)
    alike = [part.relabelled(np.zeros_like(part.context)) for part in parts]
    return training.fit(  # type: ignore[no-any-return]
        *alike, 1, settings.fitting or training.FitSettings(), seed
    )


def _training() -> ModuleType:
    """The part that needs torch, imported only where something is fitted."""
    from monitors.bace import needs_torch

    needs_torch()
    from monitors.bace import training

    return training


def _rng(seed: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng([seed, purpose])


def _prepared(recording: Recording, settings: AnalysisSettings, seed: int) -> Prepared:
    return prepare(recording, settings.windowing, _rng(seed, 0), settings.shares, settings.period)


def _like(
    prepared: Prepared, recording: Recording, settings: AnalysisSettings, seed: int
) -> Prepared:
    """A recording of the same nodes, shared out among training, validation and test likewise."""
    made = _prepared(recording, settings, seed)
    if made.recording.nodes != prepared.recording.nodes:
        raise Refused("some nodes hardly ever move; leave them out or record more")
    return made


def _halves(
    prepared: Prepared, recording: Recording, settings: AnalysisSettings, seed: int
) -> np.ndarray | None:
    """The graphs of fits to two halves of the trials, (2, P, N, N); None if there are no halves."""
    try:
        halves = split_halves(recording, _rng(seed, 2))
        # Halves need no test trials: the more there is to learn from, the fairer the comparison.
        shared = replace(settings, shares=Shares(0.85, 0.15))
        fits = [
            fit_prepared(_like(prepared, half, shared, other), shared, other)
            for half, other in zip(halves, (seed + 1, seed + 2), strict=True)
        ]
    except Refused:
        return None
    return np.stack([each.adjacency for each in fits])


def _graph(made: Analysis, p: int) -> InfluenceGraph:
    prepared = made.prepared
    context, nodes = prepared.recording.contexts[p], prepared.recording.nodes
    weights, f_value = made.fitted.adjacency[p], made.var.f_value[p]
    windows = int((prepared.training.context == p).sum())
    reliability = float(made.reliability[p])
    notes = [note for note in prepared.notes if note.endswith(f" context {context}")]
    notes += [f"{node} does not move and was left out" for node in prepared.dropped]
    shown = made.found(strict=False)[p]
    state: State = "published"
    if context in prepared.insufficient:
        state = "insufficient"
        notes.append(f"{windows} training windows; {FEWEST_WINDOWS} are needed")
    elif made.halves is None:
        state = "unreliable"
        notes.append("the data could not be halved")
    elif reliability < RELIABLE_FROM:
        shown &= made.repeated[p]
        state = "partial" if shown.any() else "unreliable"
        notes.append(f"halves of the data agree to {reliability:.2f}; {RELIABLE_FROM} is needed")
    if state not in ("published", "partial"):
        shown = np.zeros_like(shown)
    if made.pooled_loss is not None and not contexts_pay(
        made.fitted.best_validation_loss, made.pooled_loss
    ):
        notes.append("contexts do not help to forecast: one graph for all may hold")
    significant = made.var.significant(p)
    between = go_betweens(weights)
    edges = [
        Influence(
            source=nodes[j],
            target=nodes[i],
            weight=float(weights[i, j]),
            p_class=_class(abs(float(weights[i, j])), made.thresholds),
            var_p=float(made.var.p_value[p, i, j]),
            by_way_of=None if between[i, j] < 0 else nodes[between[i, j]],
        )
        for i, j in zip(*np.nonzero(shown), strict=True)
    ]
    edges.sort(key=lambda edge: (-abs(edge.weight), edge.source, edge.target))
    missed = significant & ~shown & (state == "published")
    return InfluenceGraph(
        context=context,
        state=state,
        nodes=nodes,
        edges=tuple(edges),
        reliability=0.0 if np.isnan(reliability) else reliability,
        agreement=spearman(weights, f_value),
        auroc_vs_var=_ranks_first(weights, significant),
        var_only=tuple(
            sorted((nodes[j], nodes[i]) for i, j in zip(*np.nonzero(missed), strict=True))
        ),
        threshold_screening=made.thresholds.screening,
        threshold_strict=made.thresholds.strict,
        windows=windows,
        tick_minutes=prepared.recording.tick_minutes,
        notes=tuple(notes),
    )


def go_betweens(weights: np.ndarray) -> np.ndarray:
    """Through whom each influence may run: the node's index, -1 where it seems direct; int (N, N).

    A forecast over several ticks also shows what reaches i from j by way of k. Such an influence is
    weaker than either of its steps (the data processing inequality, as in ARACNE, Margolin et al.
    2006), here by a tenth at least. Of several k the one with the strongest weaker step counts.
    """
    size = np.abs(weights) * ~np.eye(len(weights), dtype=bool)
    steps = np.minimum(size[:, :, None], size[None, :, :])  # i <- k, k <- j
    best = steps.argmax(axis=1)
    strongest = np.take_along_axis(steps, best[:, None, :], axis=1)[:, 0, :]
    return np.where(size < DIRECT_FROM * strongest, best, -1)


def _class(weight: float, thresholds: Thresholds) -> Class:
    return "strict" if weight > thresholds.strict else "screening"


def _ranks_first(weights: np.ndarray, significant: np.ndarray) -> float | None:
    from monitors.bace.scores import auroc

    real = off_diagonal(significant)
    return None if real.all() or not real.any() else auroc(weights, significant)
