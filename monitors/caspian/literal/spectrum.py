"""From influence to the paper's signals: fusion, normalisation, spectrum, and the weak link.

Source: arXiv 2605.19240, equations 2-7, 23 and 24; note ``caspian`` 4 and 5.1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.literal.records import Constants, Signals

Matrix = NDArray[np.float64]


class Influence(NamedTuple):
    """The influence of one turn."""

    raw: Matrix
    """(N, N) A, the sum over channels, in nats."""
    normalised: Matrix
    """(N, N) Ã."""
    by_channel: Matrix
    """(4, N, N) Ã of every channel by itself."""


def influence(tensor: Matrix, epsilon: float) -> Influence:
    """Sums the channels and normalises, from influence (4, N, N)."""
    raw = tensor.sum(0)
    return Influence(raw, normalised(raw, epsilon), normalised(tensor, epsilon))


def normalised(matrix: Matrix, epsilon: float) -> Matrix:
    """Ã_ij = A_ij / (sqrt(r_i c_j) + ε), r and c being sums of rows and of columns.

    For A >= 0 that is not all zero the largest singular value is 1 but for ε: with ε = 0,
    sqrt(r) and sqrt(c) are its singular vectors, and Perron-Frobenius has no larger one.

    Args:
        matrix: (..., N, N).
        epsilon: ε.
    """
    rows = matrix.sum(-1, keepdims=True)
    columns = matrix.sum(-2, keepdims=True)
    quotient: Matrix = matrix / (np.sqrt(rows * columns) + epsilon)
    return quotient


def leading(matrix: Matrix, spectrum: str = "singular") -> tuple[float, float]:
    """The two largest singular values, or moduli of eigenvalues with ``spectrum="eigen"``."""
    if spectrum == "eigen":
        values = np.sort(np.abs(np.linalg.eigvals(matrix)))[::-1]
    else:
        values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[0]), float(values[1]) if values.size > 1 else 0.0


def entropy(by_channel: Matrix, epsilon: float, spectrum: str = "singular") -> float:
    """-Σ p log p / log 4, p being the channels' shares of the sum of their leading values."""
    if spectrum == "eigen":
        energies = np.abs(np.linalg.eigvals(by_channel)).max(1)
    else:
        energies = np.linalg.svd(by_channel, compute_uv=False)[:, 0]
    shares = energies / (energies.sum() + epsilon)
    used = shares[shares > 0]
    return float(-(used * np.log(used)).sum() / np.log(len(by_channel)))


def weak_link(matrix: Matrix, epsilon: float) -> bool:
    """Whether the widest simple path is no narrower than Σw²/Σw (equation 9).

    An edge is a path, and no path is wider than its widest edge: the widest path has the width
    of the largest weight, which no weighted mean of the weights exceeds. So this always holds.
    """
    total = float(matrix.sum())
    return float(matrix.max(initial=0.0)) >= float((matrix**2).sum()) / (total + epsilon)


def signals(
    tick: int, now: Influence, before: Signals | None, dropped: int, constants: Constants
) -> Signals:
    """The signals of a turn; the first is a baseline and never a watch turn."""
    epsilon = constants.epsilon
    first, second = leading(now.normalised, constants.spectrum)
    energy = first + second
    coupling = second / (first + epsilon)
    gap = 1 - coupling
    amplification = 0.0 if before is None else energy / (before.energy + epsilon)
    contraction = 0.0 if before is None else before.gap - gap
    phase = 0.0 if before is None else abs(coupling - before.coupling) / (before.coupling + epsilon)
    spread = entropy(now.by_channel, epsilon, constants.spectrum)
    return Signals(
        tick=tick,
        lambda1=first,
        lambda2=second,
        energy=energy,
        amplification=amplification,
        coupling=coupling,
        gap=gap,
        contraction=contraction,
        phase=phase,
        phase_shift=before is not None and phase > contraction,
        entropy=spread,
        cross_channel=spread >= constants.cross_channel,
        weak_link=weak_link(now.normalised, epsilon),
        watch=before is not None
        and amplification > 1
        and contraction > 0
        and first > before.lambda1,
        dropped=dropped,
    )
