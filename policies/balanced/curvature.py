"""How far a task could go alone: the curvature h_i of its loss along its gradient."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mode = Literal["normalized", "secant", "common"]

DECAY = 0.9
"""Of the secant estimate's running mean."""
LEAST, MOST = 0.1, 1000.0
"""Bounds of the secant estimate, as multiples of the gradient's length."""


class Curvature:
    """One curvature per task, of the mode that was chosen.

    - `normalized`: h_i = |g_i|, so that every task's own best step has length 1. Exactly invariant
      to the unit of any loss. The default.
    - `secant`: h_i = |Δg_i·Δtheta| / |Δtheta|² between the last two steps, a running mean, within
      [0.1, 1000]·|g_i|. Invariant too, and the step has a natural length; both gradients should be
      of the same data.
    - `common`: h_i = 1. The literal isotropic Hessian; large losses win. Only to reproduce.

    Args:
        mode: One of these.
    """

    def __init__(self, mode: Mode = "normalized") -> None:
        self.mode = mode
        self._means: dict[str, float] = {}
        self._before: dict[str, Array] = {}

    def of(self, names: tuple[str, ...], gradients: Array, step: Array | None) -> Array:
        """The curvatures of tasks.

        Args:
            names: Of the tasks.
            gradients: (K, p), of the present point.
            step: (p,), the present point less the one before; None if there was none. Only
                `secant` looks at it and remembers the gradients.

        Returns:
            (K,).
        """
        lengths: Array = np.linalg.norm(gradients, axis=1)
        if self.mode == "common":
            return np.ones(len(names))
        if self.mode == "secant":
            return self._secant(names, gradients, lengths, step)
        return lengths

    def _secant(
        self, names: tuple[str, ...], gradients: Array, lengths: Array, step: Array | None
    ) -> Array:
        squared = 0.0 if step is None else float(step @ step)
        found = lengths.copy()
        for i, name in enumerate(names):
            before = self._before.get(name)
            if before is not None and step is not None and squared > 0:
                seen = abs(float((gradients[i] - before) @ step)) / squared
                mean = self._means.get(name)
                self._means[name] = seen if mean is None else DECAY * mean + (1 - DECAY) * seen
            if name in self._means:
                found[i] = self._means[name]
        # A task that was not looked at this time has no gradient of the point before next time.
        self._before = {name: gradients[i].copy() for i, name in enumerate(names)}
        clipped: Array = np.clip(found, LEAST * lengths, MOST * lengths)
        return clipped
