"""The natural policy gradient as a regression of advantages on scores, and how far to follow it.

w = argmin mean (w . score - A)^2 + ridge |w|^2, where score is the gradient of log pi: then F w is
the gradient for the Fisher matrix F = mean score score', up to the ridge (note, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from policies.concave.scalarisation import Array

Solver = Literal["lstsq", "cg"]


def natural_direction(
    scores: Array,
    advantages: Array,
    *,
    weights: Array | None = None,
    ridge: float = 1e-3,
    solver: Solver = "lstsq",
) -> Array:
    """The direction w, (P,).

    Args:
        scores: (N, P), gradients of log pi(a | s).
        advantages: (N,), already scalarised.
        weights: (N,), how much each sample counts, such as gamma^t; None: all alike.
        ridge: Of the regression.
        solver: ``lstsq`` solves the regression, ``cg`` by conjugate gradients, for many parameters.
    """
    share = np.full(len(scores), 1.0) if weights is None else weights
    share = share / share.sum()
    if solver == "lstsq":
        root = np.sqrt(share)[:, None]
        width = scores.shape[1]
        stacked = np.concatenate([root * scores, np.sqrt(ridge) * np.eye(width)])
        wanted = np.concatenate([root[:, 0] * advantages, np.zeros(width)])
        return np.asarray(np.linalg.lstsq(stacked, wanted, rcond=None)[0])

    def product(w: Array) -> Array:
        return np.asarray(scores.T @ (share * (scores @ w)) + ridge * w)

    return conjugate_gradient(product, np.asarray(scores.T @ (share * advantages)))


def conjugate_gradient(
    product: Callable[[Array], Array],
    right: Array,
    *,
    iterations: int | None = None,
    tolerance: float = 1e-10,
) -> Array:
    """Solves ``product(x) = right``, where the product is by a positive definite matrix.

    Args:
        product: x to A x, without A itself.
        right: (P,).
        iterations: At most so many; None: 2 P.
        tolerance: Ends when the residual is that much shorter than `right`.
    """
    x = np.zeros_like(right)
    residual = right.copy()
    along = residual.copy()
    square = float(residual @ residual)
    enough = tolerance**2 * square
    for _ in range(iterations or 2 * len(right)):
        if square <= enough:
            break
        curved = product(along)
        length = square / float(along @ curved)
        x += length * along
        residual -= length * curved
        following = float(residual @ residual)
        along = residual + following / square * along
        square = following
    return x


def falling_rate(iteration: int, first: float, after: float = 200.0, power: float = 0.7) -> float:
    """The note's step sizes, first / (1 + t / after)^power."""
    return float(first / (1.0 + iteration / after) ** power)


def bounded_step(
    divergence: Callable[[float], float], step: float, most: float, halvings: int = 40
) -> float:
    """The largest of step, step / 2, step / 4, ... whose divergence is at most `most`; 0 if none.

    Args:
        divergence: From the length of a step to KL(old || new).
        step: The first to try.
        most: The bound.
        halvings: How often to try a shorter one.
    """
    for _ in range(halvings):
        if divergence(step) <= most:
            return step
        step /= 2
    return 0.0
