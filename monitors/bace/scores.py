"""How close a recovered graph is to the true one. All scores leave the diagonal out."""

from __future__ import annotations

import numpy as np
from scipy import stats


def off_diagonal(graphs: np.ndarray) -> np.ndarray:
    """The entries of (..., N, N) off the diagonal, one after the other: (..., N (N - 1))."""
    apart = ~np.eye(graphs.shape[-1], dtype=bool)
    return np.asarray(graphs[..., apart])


def auroc(strength: np.ndarray, truth: np.ndarray) -> float:
    """Area under the ROC curve of |strength| for truth != 0 (Mann-Whitney, ties count half).

    NaN if all entries of the truth are alike.
    """
    score = np.abs(off_diagonal(strength)).ravel()
    real = off_diagonal(truth).ravel() != 0
    positives, negatives = int(real.sum()), int((~real).sum())
    if not positives or not negatives:
        return float("nan")
    ranks = stats.rankdata(score)
    above = ranks[real].sum() - positives * (positives + 1) / 2
    return float(above / (positives * negatives))


def average_precision(strength: np.ndarray, truth: np.ndarray) -> float:
    """Mean over true edges of the precision at their rank; NaN without true edges."""
    score = np.abs(off_diagonal(strength)).ravel()
    real = off_diagonal(truth).ravel() != 0
    if not real.any():
        return float("nan")
    hits = real[np.argsort(-score, kind="stable")]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())


def f1_of_top(strength: np.ndarray, truth: np.ndarray, top: int = 2) -> float:
    """F1 of the `top` strongest sources of every row against the true sources (note 3)."""
    chosen = np.zeros(truth.shape, dtype=bool)
    weight = np.abs(np.array(strength, dtype=float))
    weight[..., np.eye(truth.shape[-1], dtype=bool)] = -np.inf
    places = np.argsort(-weight, axis=-1, kind="stable")[..., :top]
    np.put_along_axis(chosen, places, True, axis=-1)
    found, real = off_diagonal(chosen), off_diagonal(truth) != 0
    both = int((found & real).sum())
    return 2 * both / max(1, int(found.sum()) + int(real.sum()))


def sign_accuracy(strength: np.ndarray, truth: np.ndarray) -> float:
    """Share of true edges whose sign was found; NaN without true edges."""
    real = off_diagonal(truth)
    found = np.sign(off_diagonal(strength))[real != 0]
    return float(np.mean(found == np.sign(real[real != 0]))) if len(found) else float("nan")


def correlation(strength: np.ndarray, truth: np.ndarray) -> float:
    """Pearson correlation of |strength| and |truth| (the paper's measure); NaN if one is flat."""
    a, b = np.abs(off_diagonal(strength)).ravel(), np.abs(off_diagonal(truth)).ravel()
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def transposed(graphs: np.ndarray) -> np.ndarray:
    """Every edge turned round: what a method that cannot tell direction is as good as."""
    return np.swapaxes(graphs, -1, -2)


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Rank correlation of |a| and |b| off the diagonal; 0 if one of them is flat."""
    left, right = np.abs(off_diagonal(a)).ravel(), np.abs(off_diagonal(b)).ravel()
    if len(left) < 2 or np.ptp(left) == 0 or np.ptp(right) == 0:
        return 0.0
    return float(stats.spearmanr(left, right).statistic)
