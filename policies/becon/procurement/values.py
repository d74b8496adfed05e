"""What levers are worth, objective by objective, and the best of them within a budget.

A network says for each combination of levers what the firm's objectives will come to a day, on
average over the days ahead, if the levers are held. The best combination for a preference within a
budget is then found by trying all of them, as at the desk (`policies.environments.tradeoff_desk`),
only that here nobody knows the tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.becon.procurement.levers import PURSES, choices, encoded

Array = NDArray[np.float64]
Layers = tuple[tuple[Array, Array], ...]
DEAREST = 20.0
"""The most that a price of the budget may be, as of `policies.becon.multiplier`."""


def product(weight: Array, seen: Array) -> Array:
    """Weights (out, in) times inputs (..., in): (..., out).

    Not by BLAS: the order of its sums, and with it the last digits, may depend on how many threads
    a host has, and a run must be the same to the byte on any layout.
    """
    return np.asarray(np.einsum("...i,ji->...j", seen, weight))


def forward(layers: Layers, seen: Array) -> Array:
    """A perceptron with tanh: inputs (..., D) to outputs (..., K)."""
    *hidden, last = layers
    for weight, bias in hidden:
        seen = np.tanh(product(weight, seen) + bias)
    return product(last[0], seen) + last[1]


@dataclass(frozen=True, slots=True)
class Choice:
    """The best levers for a context."""

    levels: tuple[int, ...]
    worth: float
    """w . r a day that is expected."""
    price: float
    """Lambda: how much worth a day one more unit of budget would bring, at the best purse beyond
    it: the least price at which keeping the budget pays. 0 where it does not bind."""


class Values:
    """The network of values.

    Args:
        layers: Weights (out, in) and biases of each layer; inputs are state, then levers.
    """

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        self._choices = choices()
        self._levers = encoded(self._choices)
        self._purse = np.array(PURSES)[self._choices[:, -1]]

    def table(self, features: Array) -> Array:
        """What each combination of levers comes to in a state ``(F,)``: ``(500, K)``."""
        state = np.broadcast_to(features, (len(self._levers), len(features)))
        return forward(self.layers, np.concatenate([state, self._levers], axis=1))

    def best(self, features: Array, preference: Array, budget: float) -> Choice:
        """The most worth among what keeps to a budget; nothing is bid if nothing does.

        Args:
            features: ``(F,)``.
            preference: ``(K,)``.
            budget: What the purse may be at most.
        """
        worth = np.einsum("mk,k->m", self.table(features), preference)
        over = self._purse - max(budget, 0.0)
        kept = over <= 0.0
        chosen = int(np.where(kept, worth, -np.inf).argmax())
        gains = (worth[~kept] - worth[chosen]) / np.maximum(over[~kept], 1e-3)
        price = float(np.clip(gains.max(initial=0.0), 0.0, DEAREST))
        return Choice(tuple(self._choices[chosen].tolist()), float(worth[chosen]), price)
