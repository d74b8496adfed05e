"""Conditional mutual information of Gaussian copulas, from covariance blocks.

Source: arXiv 2605.19240, equations 1 and 16-19 and appendix C step 6; note ``caspian`` 3.2. All
information is in nats.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

Matrix = NDArray[np.float64]


def normal_scores(samples: Matrix) -> Matrix:
    """(n, k) samples with every column made standard normal by its mid-ranks."""
    ranks = rankdata(samples, axis=0, method="average")
    scores: Matrix = ndtri((ranks - 0.5) / len(samples))
    return scores


def regularised(covariance: Matrix, shrinkage: float, jitter: float) -> Matrix:
    """(1 - λ) Σ + λ diag(Σ) + ε I, of covariances (..., k, k)."""
    identity = np.eye(covariance.shape[-1])
    return (1 - shrinkage * (1 - identity)) * covariance + jitter * identity


def conditional_information(covariance: Matrix, sizes: tuple[int, int, int]) -> Matrix:
    """I(u; v | h) >= 0 of jointly normal u, v and h, by Schur complements.

    Args:
        covariance: (..., k, k) of (u, v, h) one after the other, positive definite.
        sizes: Dimensions of u, v and h, k in all; h may have none.

    Returns:
        (...) information; both u and v are conditioned on h.

    Raises:
        numpy.linalg.LinAlgError: the block of h is singular.
    """
    of_u, of_v, of_h = sizes
    both = of_u + of_v
    joint = covariance[..., :both, :both]
    if of_h:
        across = covariance[..., :both, both:]
        inner = np.linalg.solve(covariance[..., both:, both:], np.swapaxes(across, -1, -2))
        joint = joint - across @ inner
    log_u = _log_determinant(joint[..., :of_u, :of_u])
    log_v = _log_determinant(joint[..., of_u:, of_u:])
    information: Matrix = np.maximum(0.0, 0.5 * (log_u + log_v - _log_determinant(joint)))
    return information


def by_determinants(covariance: Matrix, sizes: tuple[int, int, int]) -> Matrix:
    """The same by ½ log(|Σ_uh| |Σ_vh| / (|Σ_h| |Σ_uvh|)): another road, to check the first."""
    of_u, of_v, of_h = sizes
    places = np.arange(of_u + of_v + of_h)
    u, v, h = np.split(places, [of_u, of_u + of_v])

    def log(*parts: NDArray[np.int64]) -> Matrix:
        keep = np.concatenate(parts)
        return _log_determinant(covariance[..., keep[:, None], keep])

    information: Matrix = np.maximum(0.0, 0.5 * (log(u, h) + log(v, h) - log(h) - log(u, v, h)))
    return information


def copula_information(
    u: Matrix, v: Matrix, h: Matrix, *, shrinkage: float = 0.0, jitter: float = 0.0
) -> float:
    """I(u; v | h) of n samples under a Gaussian copula, offline: for audits of a whole segment.

    Args:
        u: (n, a) samples.
        v: (n, b).
        h: (n, c); c may be 0.
        shrinkage: See :func:`regularised`.
        jitter: Likewise.
    """
    joint = np.cov(normal_scores(np.hstack([u, v, h])), rowvar=False)
    sizes = (u.shape[1], v.shape[1], h.shape[1])
    return float(conditional_information(regularised(joint, shrinkage, jitter), sizes))


def _log_determinant(matrices: Matrix) -> Matrix:
    logarithm: Matrix = np.linalg.slogdet(matrices)[1]
    return logarithm
