"""Other ways to combine the gradients of tasks, to compare with.

Plain numpy, without the tricks of their authors' code; each takes gradients (K, p) and losses (K,)
and returns a direction (p,), of which parameters are decreased.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

Array = NDArray[np.float64]


class Baseline:
    """A rule; `after` is told the losses after the step."""

    def direction(self, gradients: Array, losses: Array) -> Array:
        """The direction of the next step."""
        raise NotImplementedError

    def after(self, losses: Array) -> None:
        """What came of it."""


class MeanGradient(Baseline):
    """The plain sum of losses."""

    def direction(self, gradients: Array, losses: Array) -> Array:
        """The mean."""
        mean: Array = gradients.mean(axis=0)
        return mean


class MGDA(Baseline):
    """The shortest vector in the gradients' convex hull (Désidéri 2012; arXiv 1810.04650)."""

    def direction(self, gradients: Array, losses: Array) -> Array:
        """The minimum-norm point."""
        shortest: Array = shortest_weights(gradients) @ gradients
        return shortest


class CAGrad(Baseline):
    """Best worst improvement within a ball about the mean gradient (arXiv 2110.14048).

    Args:
        radius: Of the ball, as a share of the mean gradient's length.
    """

    def __init__(self, radius: float = 0.5) -> None:
        self.radius = radius

    def direction(self, gradients: Array, losses: Array) -> Array:
        """The mean gradient and a step towards what serves the worst."""
        unit = float(np.linalg.norm(gradients, axis=1).max())
        rows = gradients / unit
        mean = rows.mean(axis=0)
        inner, along = rows @ rows.T, rows @ mean
        reach = self.radius * float(np.linalg.norm(mean))

        def dual(w: Array) -> float:
            return float(w @ along + reach * np.sqrt(w @ inner @ w + 1e-16))

        count = len(rows)
        found = minimize(
            dual,
            np.full(count, 1 / count),
            bounds=[(0, 1)] * count,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            method="SLSQP",
            options={"maxiter": 200, "ftol": 1e-12},
        )
        worst = found.x @ rows
        length = float(np.linalg.norm(worst))
        direction: Array = mean if length < 1e-12 else mean + reach / length * worst
        return direction * unit


class NashMTL(Baseline):
    """The Nash bargaining solution: G Gᵀ alpha = 1/alpha (arXiv 2202.01017)."""

    def direction(self, gradients: Array, losses: Array) -> Array:
        """By Newton's method on the convex ½ alphaᵀGGᵀalpha - Σ log alpha, in normalised units."""
        lengths = np.linalg.norm(gradients, axis=1)
        rows = gradients / lengths[:, None]
        inner = rows @ rows.T + 1e-10 * np.eye(len(rows))
        alpha = np.ones(len(rows))

        def value(a: Array) -> float:
            return float(0.5 * a @ inner @ a - np.log(a).sum())

        for _ in range(100):
            slope = inner @ alpha - 1 / alpha
            if np.abs(slope).max() < 1e-10:
                break
            move = np.linalg.solve(inner + np.diag(1 / alpha**2), slope)
            size = 1.0
            while (alpha - size * move).min() <= 0 or value(alpha - size * move) > value(alpha):
                size /= 2
                if size < 1e-12:
                    break
            alpha = alpha - size * move
        direction: Array = alpha @ rows  # alpha of the raw gradients is this over their lengths
        return direction


class FAMO(Baseline):
    """Equal decrease of log losses with constant memory (arXiv 2306.03792); here exact gradients.

    Args:
        rate: Of the logits' steps.
        decay: Of the logits.
    """

    def __init__(self, rate: float = 0.5, decay: float = 0.01) -> None:
        self.rate = rate
        self.decay = decay
        self._logits: Array | None = None
        self._losses: Array | None = None

    def direction(self, gradients: Array, losses: Array) -> Array:
        """Gradients of log losses, weighted by the softmax of the logits."""
        if self._logits is None:
            self._logits = np.zeros(len(losses))
        self._losses = losses.clip(1e-8)
        weights = self._shares() / self._losses
        direction: Array = weights @ gradients / weights.sum()
        return direction

    def after(self, losses: Array) -> None:
        """Moves weight from tasks whose log loss fell fast to the others."""
        assert self._logits is not None and self._losses is not None
        fell = np.log(self._losses) - np.log(losses.clip(1e-8))
        z = self._shares()
        slope = z * (fell - z @ fell)
        self._logits = self._logits - self.rate * (slope + self.decay * self._logits)

    def _shares(self) -> Array:
        assert self._logits is not None
        power = np.exp(self._logits - self._logits.max())
        shares: Array = power / power.sum()
        return shares


class IMTLG(Baseline):
    """Equal projections on all unit gradients (IMTL-G, Liu et al., ICLR 2021).

    The authors' weights sum to 1, which may turn the direction round; here it always descends.
    """

    def direction(self, gradients: Array, losses: Array) -> Array:
        """In closed form."""
        lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
        direction: Array = equal_projection_weights(gradients) @ (gradients / lengths)
        return direction


def equal_projection_weights(gradients: Array) -> Array:
    """(K,) weights of unit gradients U with U d = 1: (U Uᵀ)⁻¹ 1. They may be below 0."""
    units = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    inner = units @ units.T
    weights: Array = np.linalg.solve(inner + 1e-12 * np.eye(len(units)), np.ones(len(units)))
    return weights


def shortest_weights(gradients: Array) -> Array:
    """(K,) from 0 up, summing to 1, of the shortest vector in the convex hull.

    Minimising |Gᵀu|² + (Σu - 1)² over u >= 0 gives them up to a factor: for shares w, the best
    multiple of w leaves n²/(1 + n²) with n = |Gᵀw|, which grows with n.
    """
    unit = float(np.linalg.norm(gradients, axis=1).max())
    found, _ = nnls(
        np.vstack([gradients.T / unit, np.ones(len(gradients))]),
        np.append(np.zeros(gradients.shape[1]), 1.0),
    )
    weights: Array = found / found.sum()
    return weights


BASELINES: Final[dict[str, Callable[[], Baseline]]] = {
    "mean gradient": MeanGradient,
    "MGDA": MGDA,
    "CAGrad .5": CAGrad,
    "Nash-MTL": NashMTL,
    "FAMO": FAMO,
    "IMTL-G": IMTLG,
}
