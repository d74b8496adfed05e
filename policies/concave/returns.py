"""What one episode says of J."""

from __future__ import annotations

from typing import Literal

import numpy as np

from policies.concave.scalarisation import Array

Kind = Literal["discounted", "sum", "mean"]


def episode_return(rewards: Array, gamma: float, kind: Kind = "discounted") -> Array:
    """The vector return of an episode, (M,).

    Args:
        rewards: (T, M).
        gamma: Discount per step.
        kind: ``discounted`` is (1 - gamma) times the sum of gamma^t r_t, which has the size of a
            reward; ``sum`` and ``mean`` over steps are not discounted. The policy gradient that
            goes with it is discounted in every case, as is usual.
    """
    if kind == "discounted":
        return np.asarray((1 - gamma) * (gamma ** np.arange(len(rewards)) @ rewards))
    total = rewards.sum(axis=0)
    return np.asarray(total if kind == "sum" else total / max(len(rewards), 1))
