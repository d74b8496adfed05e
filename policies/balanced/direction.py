"""From the gradients of tasks to one step, mini-batch after mini-batch.

`Balancer` wraps the solver in what noisy gradients need: running means of inner products, tasks
that are set aside, a way out where no step improves all, and a sample where there are many tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.balanced.curvature import Curvature, Mode
from policies.balanced.solver import Balance, balance

Array = NDArray[np.float64]

CONVERGED = 1e-12
"""A gradient shorter than this has arrived."""
STALLED = 1e-3
"""A rate below which a step hardly helps the worst-served task."""


@dataclass(frozen=True, slots=True)
class BalanceSettings:
    """How steps are balanced."""

    mode: Mode = "normalized"
    ridge: float = 1e-4
    """For gradients in single precision; 1e-10 for double."""
    decay: float = 0.0
    """Of the running mean of inner products; 0.9 for reinforcement learning."""
    most_tasks: int = 8
    """Tasks of a step; where there are more they are sampled."""
    noise_factor: float = 3.0
    """A task is set aside while its gradient is shorter than this many times its noise."""
    stall_steps: int = 50
    """Steps with hardly a rate after which a little of the mean gradient is mixed in."""
    stall_share: float = 0.05
    most_length: float = float("inf")
    """Of a step, before it is scaled; a `secant` step may be long."""


@dataclass(frozen=True, slots=True)
class Direction:
    """One step."""

    weights: Mapping[str, float]
    """By task: the step is the sum of weights times gradients."""
    rates: Mapping[str, float]
    """By task: what it gets of its best improvement alone."""
    rate: float
    """The least of them; NaN if no task is left."""
    active: tuple[str, ...]
    """The tasks that determine the step, those with the largest multipliers first."""
    converged: tuple[str, ...]
    """Tasks without a gradient."""
    frozen: tuple[str, ...]
    """Tasks whose gradient is within its noise."""
    scale: float
    """What the step is multiplied by, so that learning rates keep their usual size: the mean length
    of the gradients for `normalized`, otherwise 1. Already in the weights."""


class Balancer:
    """Keeps what one sequence of steps needs.

    Args:
        settings: How steps are balanced.
        seed: Of the sampling of tasks.
    """

    def __init__(self, settings: BalanceSettings | None = None, seed: int = 0) -> None:
        self.settings = settings or BalanceSettings()
        self.curvature = Curvature(self.settings.mode)
        self._rng = np.random.default_rng(seed)
        self._inner: dict[tuple[str, str], float] = {}
        self._noise: dict[str, float] = {}
        self._bottleneck: tuple[str, ...] = ()
        self._stalled = 0

    def choose(self, names: Sequence[str]) -> tuple[str, ...]:
        """The tasks whose gradients the next step needs, in the order given.

        All, or a sample that includes those that determined the last step; two places are always
        left to others.
        """
        most = self.settings.most_tasks
        if len(names) <= most:
            return tuple(names)
        kept = [name for name in self._bottleneck if name in names][: max(most - 2, 0)]
        others = [name for name in names if name not in kept]
        drawn = self._rng.choice(len(others), size=most - len(kept), replace=False)
        chosen = {*kept, *(others[int(i)] for i in drawn)}
        return tuple(name for name in names if name in chosen)

    def heard(self, noise: Mapping[str, float]) -> None:
        """Takes estimates of the noise of gradients: half the distance of two half-batches'.

        Args:
            noise: By task, in the unit of the gradient's length.
        """
        for name, value in noise.items():
            known = self._noise.get(name)
            self._noise[name] = value if known is None else 0.9 * known + 0.1 * value

    def direction(
        self, names: Sequence[str], gradients: Array, step: Array | None = None
    ) -> Direction:
        """The balanced step.

        Args:
            names: Of the tasks.
            gradients: (K, p).
            step: (p,), what the parameters moved by since the last call (for `secant`).
        """
        gradients = np.asarray(gradients, np.float64)
        lengths = np.linalg.norm(gradients, axis=1)
        converged = tuple(n for n, size in zip(names, lengths, strict=True) if size < CONVERGED)
        least = self.settings.noise_factor
        frozen = tuple(
            n
            for n, size in zip(names, lengths, strict=True)
            if n not in converged and size < least * self._noise.get(n, 0.0)
        )
        if len(converged) + len(frozen) == len(names):
            frozen = ()  # all are noise alike, and a noisy step is better than none
        keep = [i for i, n in enumerate(names) if n not in converged and n not in frozen]
        left = tuple(names[i] for i in keep)
        if not left:
            return Direction({}, {}, float("nan"), (), converged, frozen, 0.0)
        rows = gradients[keep]
        curvatures = self.curvature.of(left, rows, step)
        inner = self._smoothed(left, rows @ rows.T)
        if self.settings.mode == "normalized":
            curvatures = np.sqrt(np.diagonal(inner))
        found = balance(inner, curvatures, self.settings.ridge)
        binding = sorted(found.active, key=lambda i: -found.shares[i])
        self._bottleneck = tuple(left[i] for i in binding)
        scale = float(lengths[keep].mean()) if self.settings.mode == "normalized" else 1.0
        weights = self._escape(found, lengths[keep])
        if found.length > self.settings.most_length:
            weights = weights * (self.settings.most_length / found.length)
        return Direction(
            weights=dict(zip(left, (weights * scale).tolist(), strict=True)),
            rates=dict(zip(left, found.rates.tolist(), strict=True)),
            rate=found.rate,
            active=self._bottleneck,
            converged=converged,
            frozen=frozen,
            scale=scale,
        )

    def save(self) -> dict[str, Any]:
        """Plain numbers and lists; `load` takes them back. Secants begin anew."""
        return {
            "inner": [[one, two, value] for (one, two), value in self._inner.items()],
            "noise": dict(self._noise),
            "bottleneck": list(self._bottleneck),
            "stalled": self._stalled,
            "random": self._rng.bit_generator.state,
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Continues where `save` was called."""
        self._inner = {(one, two): float(value) for one, two, value in saved["inner"]}
        self._noise = {name: float(value) for name, value in saved["noise"].items()}
        self._bottleneck = tuple(saved["bottleneck"])
        self._stalled = int(saved["stalled"])
        self._rng.bit_generator.state = saved["random"]

    def _smoothed(self, names: tuple[str, ...], inner: Array) -> Array:
        """Running means of the inner products, made a Gram matrix again."""
        decay = self.settings.decay
        if decay == 0:
            return inner
        smooth = inner.copy()
        for i, one in enumerate(names):
            for j, two in enumerate(names[: i + 1]):
                key = (min(one, two), max(one, two))
                known = self._inner.get(key)
                value = float(inner[i, j])
                self._inner[key] = value if known is None else decay * known + (1 - decay) * value
                smooth[i, j] = smooth[j, i] = self._inner[key]
        # Pairs that were not sampled equally often need not fit each other.
        values, vectors = np.linalg.eigh(smooth)
        if values[0] < 0:
            smooth = (vectors * values.clip(0.0)) @ vectors.T
        return smooth

    def _escape(self, found: Balance, lengths: Array) -> Array:
        """The best worst case may be no step at all: after a while, go where most gain."""
        self._stalled = self._stalled + 1 if found.rate < STALLED else 0
        if self._stalled < self.settings.stall_steps:
            return found.weights
        unit = 1.0 / lengths / len(lengths)
        pushed: Array = found.weights + self.settings.stall_share * unit
        return pushed
