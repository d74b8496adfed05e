"""What BACE is measured against: a vector autoregression, correlations, a forecast of no change.

On linear signals the vector autoregression finds the graph as well as BACE and in milliseconds.
It is therefore always fitted too; where the two disagree is what is worth a look.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from monitors.bace.signals import Recording
from monitors.bace.windows import Scaling, Windows

FALSE_DISCOVERIES = 0.05
"""Expected share of false ones among the edges that count as significant (Benjamini-Hochberg)."""


@dataclass(frozen=True, slots=True)
class Autoregression:
    """A vector autoregression per context, with a Granger test for every edge.

    A pair of nodes has several coefficients if there are several channels or lags: the weight is
    the largest in size, the p value the smallest over the target's channels times their number.
    """

    weight: np.ndarray
    """float64 (P, N, N): [p, i, j] of j on i."""
    f_value: np.ndarray
    """float64 (P, N, N); 0 where a context has too little data."""
    p_value: np.ndarray
    """float64 (P, N, N); 1 where a context has too little data, and on the diagonal."""

    def significant(self, context: int) -> np.ndarray:
        """Edges that remain when 5 % of them may be false; bool (N, N)."""
        p = self.p_value[context]
        apart = ~np.eye(len(p), dtype=bool)
        found = np.zeros(p.shape, dtype=bool)
        found[apart] = stats.false_discovery_control(p[apart], method="bh") <= FALSE_DISCOVERIES
        return found


def autoregression(recording: Recording, scaling: Scaling, lags: int = 2) -> Autoregression:
    """Fits x_t = b + sum_l B_l x_{t-l} by least squares, context by context, on z-scores.

    The Granger test of j on i asks whether all coefficients of j are zero. With the coefficients b
    of j and their block V of (X'X)^-1, F = b' V^-1 b / (q s^2), q = len(b), which equals the test
    by two regressions.
    """
    contexts, nodes, channels = scaling.deviation.shape
    shape = (contexts, nodes, nodes)
    weight, f_value, p_value = np.zeros(shape), np.zeros(shape), np.ones(shape)
    for context in range(contexts):
        past, now = _lagged(recording, scaling, context, lags)
        moving = ~np.repeat(scaling.constant[context].ravel(), lags)
        owner = np.repeat(np.arange(nodes), channels * lags)[moving]
        design = np.column_stack([np.ones(len(past)), past[:, moving]])
        freedom = len(design) - design.shape[1]
        if freedom < 10 or not moving.any():
            continue
        inverse = np.linalg.pinv(design.T @ design)
        coefficients = inverse @ design.T @ now
        noise = ((now - design @ coefficients) ** 2).sum(axis=0) / freedom
        for source in range(nodes):
            mine = 1 + np.flatnonzero(owner == source)
            if not len(mine):
                continue
            block = coefficients[mine]
            form = (block * np.linalg.solve(inverse[np.ix_(mine, mine)], block)).sum(axis=0)
            f = np.maximum(form, 0) / len(mine) / np.maximum(noise, 1e-12)
            p = np.minimum(1.0, stats.f.sf(f, len(mine), freedom) * channels)
            alive = ~scaling.constant[context].ravel()
            for target in range(nodes):
                its = np.arange(target * channels, (target + 1) * channels)
                its = its[alive[its]]
                if target == source or not len(its):
                    continue
                f_value[context, target, source] = f[its].max()
                p_value[context, target, source] = p[its].min()
                part = block[:, its].ravel()
                weight[context, target, source] = part[np.abs(part).argmax()]
    return Autoregression(weight, f_value, p_value)


def _lagged(
    recording: Recording, scaling: Scaling, context: int, lags: int
) -> tuple[np.ndarray, np.ndarray]:
    """Regressors (M, N C lags), a node's together, and targets (M, N C); gaps left out."""
    width = scaling.deviation[context].size
    pasts, nows = [np.zeros((0, width * lags))], [np.zeros((0, width))]
    for trial in recording:
        if trial.length <= lags:
            continue
        series = scaling.apply(trial.values, context).reshape(width, -1)
        now = series[:, lags:].T
        past = np.zeros((len(now), width * lags))
        for lag in range(1, lags + 1):
            past[:, lag - 1 :: lags] = series[:, lags - lag : trial.length - lag].T
        good = (trial.context[lags:] == context) & ~np.isnan(now).any(1) & ~np.isnan(past).any(1)
        pasts.append(past[good])
        nows.append(now[good])
    return np.concatenate(pasts), np.concatenate(nows)


def correlations(recording: Recording, scaling: Scaling) -> np.ndarray:
    """Pearson correlation of nodes at the same tick, per context (P, N, N), zero diagonal.

    Of several channels the pair's largest in size counts. It has no direction.
    """
    contexts, nodes, channels = scaling.deviation.shape
    found = np.zeros((contexts, nodes, nodes))
    for context in range(contexts):
        _, now = _lagged(recording, scaling, context, 0)
        if len(now) < 3:
            continue
        spread = now.std(axis=0)
        scores = (now - now.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        pairs = (scores.T @ scores / len(now)).reshape(nodes, channels, nodes, channels)
        flat = pairs.transpose(0, 2, 1, 3).reshape(nodes, nodes, -1)
        best = np.abs(flat).argmax(axis=-1)[..., None]
        found[context] = np.take_along_axis(flat, best, axis=-1)[..., 0]
        np.fill_diagonal(found[context], 0.0)
    return found


def copy_last_error(windows: Windows) -> float:
    """Mean squared error of forecasting the last observation; NaN without windows."""
    if not len(windows):
        return float("nan")
    return float(np.mean((windows.y - windows.x[..., -1:]) ** 2))
