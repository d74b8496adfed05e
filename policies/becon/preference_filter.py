"""What the client wants, inferred from satisfaction scores: a Kalman filter on w.

A score y = w . r + noise is linear in w, so a learned encoder is not needed for this part, and is
far worse at it: after 300 updates a plain GRU had hardly left the prior (squared error 0.158
against 0.167; the filter 0.062, note section 3). Contexts jump with a known hazard h, which the
prediction step treats as mixing with the prior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class PreferenceFilterSettings:
    """The constants of the note, section 3.1."""

    hazard: float = 1 / 24
    """Probability that the context jumps between two steps."""
    noise: float = 0.03
    """Standard deviation of a satisfaction score."""
    wander: float = 1e-4
    """Variance that a step adds even without a jump."""
    floor: float = 1e-3
    """Least weight of an objective."""
    simplex_prior: bool = True
    """Whether the prior knows that weights sum to 1: the full covariance of Dirichlet(1), whose
    off-diagonal is -1/(K^2 (K + 1)). False: the note's multiple of the identity."""


class PreferenceFilter:
    """Mean and covariance of w for B clients at once, float64.

    Args:
        batch: B.
        objectives: K.
        settings: Its constants.
    """

    def __init__(
        self,
        batch: int,
        objectives: int,
        settings: PreferenceFilterSettings = PreferenceFilterSettings(),
    ) -> None:
        self.settings = settings
        k = objectives
        self.prior_mean = np.full(k, 1.0 / k)
        variance = (k - 1) / (k**2 * (k + 1))
        self.prior_covariance = np.eye(k) * variance
        if settings.simplex_prior:
            self.prior_covariance += (np.eye(k) - 1.0) / (k**2 * (k + 1))
        self.mean = np.tile(self.prior_mean, (batch, 1))
        """(B, K)."""
        self.covariance = np.tile(self.prior_covariance, (batch, 1, 1))
        """(B, K, K)."""

    def predict(self) -> None:
        """A step passes, in which the context may have jumped."""
        hazard = self.settings.hazard
        off = self.mean - self.prior_mean
        spread = off[:, :, None] * off[:, None, :]
        self.covariance = (1 - hazard) * self.covariance + hazard * (self.prior_covariance + spread)
        self.covariance += self.settings.wander * np.eye(self.mean.shape[1])
        self.mean = (1 - hazard) * self.mean + hazard * self.prior_mean

    def update(self, reward: np.ndarray, satisfaction: np.ndarray) -> None:
        """A score arrives.

        Args:
            reward: (B, K), what the client got.
            satisfaction: (B,), how it liked that; NaN: no score, nothing is learned.
        """
        there = ~np.isnan(satisfaction)
        score = np.where(there, satisfaction, 0.0)
        moved = np.einsum("bij,bj->bi", self.covariance, reward)
        expected = (reward * moved).sum(axis=1) + self.settings.noise**2
        gain = np.where(there[:, None], moved / expected[:, None], 0.0)
        surprise = score - (self.mean * reward).sum(axis=1)
        mean = np.maximum(self.mean + gain * surprise[:, None], self.settings.floor)
        renormalised = mean / mean.sum(axis=1, keepdims=True)
        self.mean = np.where(there[:, None], renormalised, self.mean)
        self.covariance = self.covariance - gain[:, :, None] * moved[:, None, :]

    @property
    def deviation(self) -> np.ndarray:
        """(B, K): the standard deviation of each weight."""
        variance = np.einsum("bii->bi", self.covariance)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def reset(self, rows: np.ndarray) -> None:
        """Clients that are new: bool (B,)."""
        self.mean[rows] = self.prior_mean
        self.covariance[rows] = self.prior_covariance

    def get_state(self) -> dict[str, np.ndarray]:
        """All that it knows, copied."""
        return {"mean": self.mean.copy(), "covariance": self.covariance.copy()}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Goes on where `get_state` was called."""
        self.mean, self.covariance = state["mean"].copy(), state["covariance"].copy()
