"""The step that serves the worst-served task best: max over d of the least rate of improvement.

K tasks share parameters. With gradients g_i and curvatures h_i, a step theta - d improves task i by
g_i·d - h_i|d|²/2; alone it could improve by |g_i|²/(2 h_i). The ratio is its rate

    rho_i(d) = 2 p_i·d - q_i |d|²,   p_i = h_i g_i / |g_i|²,   q_i = h_i² / |g_i|²,

at most 1, and it does not depend on the unit of the loss. Only inner products of gradients are
needed. Our derivation (a closed form for the tasks that are worst off, and a search for them);
checked against minimisation of the dual.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

MOST_ENUMERATED = 10
"""Tasks up to which a search that goes in circles tries all sets."""
DESCENT_STEPS = 200
_SLACK = 1e-10
"""Weights above minus this count as not negative."""
_GAIN = 1e-11
"""A task that is left out must be worse off by more than this to come back."""


@dataclass(frozen=True, slots=True)
class Balance:
    """The balanced step and how each task fares."""

    weights: Array
    """(K,): the step is the sum of weights times gradients; none is below 0."""
    shares: Array
    """(K,): the multipliers lambda of the tasks, summing to 1; 0 for those that do not bind."""
    rates: Array
    """(K,): of its best improvement alone, how much each task gets; at most 1."""
    rate: float
    """The least of the rates; 0: no step improves all tasks."""
    active: tuple[int, ...]
    """The tasks that determine the step."""
    length: float
    """Of the step, |d|."""


def balance(gram: ArrayLike, curvatures: ArrayLike, ridge: float = 1e-10) -> Balance:
    """Solves max_d min_i rho_i(d).

    Args:
        gram: (K, K), inner products of the gradients; no gradient may be 0.
        curvatures: (K,), h_i > 0.
        ridge: Added to the diagonal of the gradients' cosines, so that opposite gradients give no
            step: 1e-10 in double precision, 1e-4 where gradients are in single precision.

    Raises:
        ValueError: a gradient of 0, a curvature that is not above 0, or shapes that do not fit.
    """
    inner = np.asarray(gram, np.float64)
    h = np.asarray(curvatures, np.float64)
    if inner.shape != (len(h), len(h)) or not len(h):
        raise ValueError(f"gram is {inner.shape} for {len(h)} curvatures")
    norms = np.diagonal(inner)
    if not (norms > 0).all() or not (h > 0).all() or not np.isfinite(inner).all():
        raise ValueError("gradients must not be 0 or infinite, and curvatures must be above 0")
    scale = h / norms
    # All rates are unchanged if p is divided by c and q by c²; this keeps them near 1.
    unit = float(np.sqrt(np.mean(h**2 / norms)))
    products = inner * np.outer(scale, scale) / unit**2
    q = h**2 / norms / unit**2
    beta, active = _search(products, q, ridge)
    rates, length = _rates(products, q, beta)
    return Balance(
        weights=beta * scale / unit**2,
        shares=beta / beta.sum(),
        rates=rates,
        rate=float(rates.min()),
        active=active,
        length=length / unit,
    )


def closed_form(products: Array, q: Array, ridge: float) -> tuple[float, Array]:
    """The common rate t and the weights beta of p_i, if exactly these tasks bind.

    N = P Pᵀ (with a ridge), a = qᵀN⁻¹q, b = 1ᵀN⁻¹q, e = 1ᵀN⁻¹1:
    t = 2 / (b + sqrt(a e)),  beta = t/2 · N⁻¹(1 + sqrt(e/a) q),  and so qᵀbeta = 1.
    """
    count = len(q)
    # The ridge is laid on cosines: tasks may differ in scale by orders of magnitude, and a share
    # of the mean diagonal would blur the small ones.
    size = np.sqrt(np.diagonal(products))
    cosines = products / np.outer(size, size) + ridge * np.eye(count)
    solved = np.linalg.solve(cosines, np.stack([1 / size, q / size], axis=1)) / size[:, None]
    e = float(solved[:, 0].sum())
    b = float(solved[:, 1].sum())
    a = float(q @ solved[:, 1])
    t = 2.0 / (b + np.sqrt(a * e))
    beta: Array = t / 2 * (solved[:, 0] + np.sqrt(e / a) * solved[:, 1])
    return float(t), beta


def _rates(products: Array, q: Array, beta: Array) -> tuple[Array, float]:
    along = products @ beta
    squared = max(float(beta @ along), 0.0)
    rates: Array = 2 * along - q * squared
    return rates, float(np.sqrt(squared))


def _search(products: Array, q: Array, ridge: float) -> tuple[Array, tuple[int, ...]]:
    """Drops the most negative weight, adds the worst-served task, until neither helps."""
    count = len(q)
    active = list(range(count))
    seen: set[frozenset[int]] = set()
    for _ in range(3 * count + 1):
        if frozenset(active) in seen:
            break
        seen.add(frozenset(active))
        beta = _spread(products, q, active, ridge)
        if beta.min() < -_SLACK:
            active.remove(int(np.argmin(beta)))
            continue
        rates, _ = _rates(products, q, beta)
        worst = int(np.argmin(rates))
        if worst not in active and rates[worst] < rates[active].min() - _GAIN:
            active = sorted([*active, worst])
            continue
        return beta.clip(0.0), tuple(active)
    return (
        _enumerate(products, q, ridge) if count <= MOST_ENUMERATED else _descend(products, q, ridge)
    )


def _spread(products: Array, q: Array, active: list[int], ridge: float) -> Array:
    _, some = closed_form(products[np.ix_(active, active)], q[active], ridge)
    beta = np.zeros(len(q))
    beta[active] = some
    return beta


def _enumerate(products: Array, q: Array, ridge: float) -> tuple[Array, tuple[int, ...]]:
    """The best of all sets of binding tasks."""
    count = len(q)
    best: tuple[float, Array, tuple[int, ...]] | None = None
    for size in range(1, count + 1):
        for active in combinations(range(count), size):
            beta = _spread(products, q, list(active), ridge)
            if beta.min() < -_SLACK:
                continue
            beta = beta.clip(0.0)
            least = float(_rates(products, q, beta)[0].min())
            if best is None or least > best[0]:
                best = (least, beta, active)
    assert best is not None  # one task alone always has a weight above 0
    return best[1], best[2]


def _descend(products: Array, q: Array, ridge: float) -> tuple[Array, tuple[int, ...]]:
    """Minimises the dual |Σ lambda p|² / Σ lambda q over the simplex, which is convex."""
    shares = np.full(len(q), 1.0 / len(q))
    step = 1.0
    value = _dual(products, q, shares)
    for _ in range(DESCENT_STEPS):
        along, weight = products @ shares, float(q @ shares)
        gradient = 2 * along / weight - q * float(shares @ along) / weight**2
        step = min(2 * step, 1e3)
        while True:
            moved = onto_simplex(shares - step * gradient)
            found = _dual(products, q, moved)
            if found <= value or step < 1e-12:
                break
            step /= 2
        shares, value = moved, min(found, value)
    return _polish(products, q, shares / float(q @ shares), ridge)


def _polish(products: Array, q: Array, beta: Array, ridge: float) -> tuple[Array, tuple[int, ...]]:
    """Solves in closed form for the tasks that a descent ended with, if that serves better."""
    best = (float(_rates(products, q, beta)[0].min()), beta)
    active = [int(i) for i in np.argsort(-beta) if beta[i] > 1e-9]
    found = tuple(sorted(active))
    while active:
        exact = _spread(products, q, sorted(active), ridge)
        if exact.min() >= -_SLACK:
            exact = exact.clip(0.0)
            least = float(_rates(products, q, exact)[0].min())
            if least > best[0]:
                best, found = (least, exact), tuple(sorted(active))
            active.pop()
        else:
            active.remove(int(np.argmin(exact)))
    return best[1], found


def _dual(products: Array, q: Array, shares: Array) -> float:
    return float(shares @ products @ shares) / float(q @ shares)


def onto_simplex(point: Array) -> Array:
    """The nearest point with entries from 0 up that sum to 1."""
    point = point - point.max()  # a constant changes nothing but the rounding
    ordered = np.sort(point)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(point) + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    nearest: Array = np.maximum(point - excess[last], 0.0)
    return nearest
