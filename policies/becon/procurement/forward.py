"""The estimator's networks in numpy, for one firm: so that a host needs no torch.

What is computed is `policies.becon.estimator`, `ensemble`, `gates`, `line_error` and `context`, to
the last digits that float32 training leaves; a test holds both against each other. One firm at a
time, since in a batch the last digits would depend on who else is there (as
`policies.training.acting` says).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from policies.becon.observation import Layout
from policies.becon.procurement.arrays import Array, Arrays
from policies.becon.procurement.values import Layers, forward, product

Source = Literal["gated", "history", "filter", "exposed"]
SOURCES: Final[tuple[Source, ...]] = ("gated", "history", "filter", "exposed")
"""Where the context comes from, as of `policies.becon.estimator`."""
# The constants are those of the modules in torch, which a host cannot import.
_SMALL: Final = 1e-4
_LEAST_LOG, _MOST_LOG = -8.0, 0.0
_LINE_LEAST, _LINE_MOST = -9.0, 0.0
_EPISTEMIC_WEIGHT: Final = 4.0


@dataclass(frozen=True, slots=True)
class Fused:
    """The context that is acted on."""

    preference: Array
    """(K,)."""
    budget: float
    safe_budget: float
    gates: Array
    """(2,): of w, of d."""
    epistemic: Array
    """(2,): calibrated variance between heads, of w and of d."""
    deviation: float
    """What the budget may be off by, as believed."""


class Networks:
    """Encoder, heads, gates and the error of the line.

    Args:
        layout: What lies where in an observation.
        weights: Arrays by the names that the estimator in torch gives them.
        prior_scale: Of the heads' priors.
        source: What an error names.
        prefix: What the names of its arrays begin with.

    Raises:
        HanseError: an array is missing, has another shape than the others ask for, or holds what
            cannot be.
    """

    def __init__(
        self,
        layout: Layout,
        weights: Mapping[str, NDArray[Any]],
        prior_scale: float,
        source: str = "policy",
        prefix: str = "",
    ) -> None:
        self.layout = layout
        self.prior_scale = prior_scale
        arrays = Arrays(weights, source, prefix)
        k, sizes = layout.objectives, layout.sizes
        seen = sum(sizes[part] for part in layout.history)
        hidden = self.hidden = arrays.take("encoder.gru.weight_hh_l0", None, None).shape[1]
        self._gru = [
            arrays.take("encoder.gru.weight_ih_l0", 3 * hidden, seen),
            arrays.take("encoder.gru.weight_hh_l0", 3 * hidden, hidden),
            arrays.take("encoder.gru.bias_ih_l0", 3 * hidden),
            arrays.take("encoder.gru.bias_hh_l0", 3 * hidden),
        ]
        inner = arrays.take("heads.inner", None, hidden + sizes["belief"], None)
        heads, _, width = inner.shape
        prior = arrays.take("heads.prior_inner", heads, hidden, None)
        self._heads = [
            inner,
            arrays.take("heads.inner_bias", heads, width),
            arrays.take("heads.outer", heads, width, k + 3),
            arrays.take("heads.outer_bias", heads, k + 3),
            prior,
            arrays.take("heads.prior_outer", heads, prior.shape[2], k + 1),
        ]
        self._gates = _perceptron(arrays, "gates.body", sizes["quality"])
        self._steepness = np.logaddexp(0.0, arrays.take("gates.steepness", 2))
        self._line = _perceptron(arrays, "line.body", sizes["quality"])
        self._calibration = arrays.take("calibration", 2)
        if not (self._calibration > 0.0).all():
            least = self._calibration.min()
            raise arrays.fault("calibration", f"holds {least:g}; allowed: numbers above 0")

    def encode(self, x: Array, state: Array) -> Array:
        """The state ``(H,)`` after an observation ``(D,)``."""
        seen = np.concatenate([x[self.layout.part(name)] for name in self.layout.history])
        weight_x, weight_h, bias_x, bias_h = self._gru
        of_x = (product(weight_x, seen) + bias_x).reshape(3, -1)
        of_h = (product(weight_h, state) + bias_h).reshape(3, -1)
        reset, update = _sigmoid(of_x[0] + of_h[0]), _sigmoid(of_x[1] + of_h[1])
        new = np.tanh(of_x[2] + reset * of_h[2])
        return np.asarray((1.0 - update) * new + update * state)

    def context(self, x: Array, state: Array, source: Source, kappa: float) -> Fused:
        """What is acted on at an observation ``(D,)``, with the encoder's state after it.

        Args:
            x: The observation.
            state: ``(H,)``.
            source: Where the context comes from.
            kappa: How many deviations of the budget are held back.
        """
        layout, k = self.layout, self.layout.objectives
        exposed = x[layout.part("exposed")]
        quality = x[layout.part("quality")]
        line = np.exp(np.clip(forward(self._line, quality), _LINE_LEAST, _LINE_MOST))
        if source == "exposed":
            # In torch it holds nothing back; here a study may ask what holding back alone is worth.
            return _made(exposed, np.zeros(2), np.zeros(2), float(np.sqrt(line[1])), kappa)
        features = x[layout.part("belief")]
        if source == "filter":
            belief = np.append(features[:k], features[2 * k])
            return _made(belief, np.ones(2), np.zeros(2), float(features[2 * k + 1]), kappa)
        belief, epistemic, aleatoric = self._estimate(state, features)
        if source == "history":
            deviation = float(np.sqrt(epistemic[1] + aleatoric[1]))
            return _made(belief, np.ones(2), epistemic, deviation, kappa)
        uncertainty = np.log(_EPISTEMIC_WEIGHT * epistemic + aleatoric + 1e-5) + 4.0
        gates = _sigmoid(forward(self._gates, quality) - self._steepness * uncertainty)
        spread = np.append(np.full(k, gates[0]), gates[1])
        fused = spread * belief + (1.0 - spread) * exposed
        variance = gates[1] ** 2 * (epistemic + aleatoric)[1] + (1.0 - gates[1]) ** 2 * line[1]
        return _made(fused, gates, epistemic, float(np.sqrt(variance)), kappa)

    def _estimate(self, state: Array, features: Array) -> tuple[Array, Array, Array]:
        """Belief (K + 1,), and epistemic and aleatoric variance (2,), calibrated."""
        k = self.layout.objectives
        inner, inner_bias, outer, outer_bias, prior_inner, prior_outer = self._heads
        x = np.concatenate([state, features])
        moved = np.einsum("i,eij->ej", x, inner)
        moved = np.einsum("ei,eij->ej", np.tanh(moved + inner_bias), outer) + outer_bias
        prior = np.tanh(np.einsum("i,eij->ej", state, prior_inner))
        prior = np.einsum("ei,eij->ej", prior, prior_outer)
        means = moved[:, : k + 1] + self.prior_scale * prior
        logits = np.log(np.maximum(features[:k], _SMALL)) + means[:, :k]
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        preference = weights / weights.sum(axis=1, keepdims=True)
        inside = min(max(float(features[2 * k]), _SMALL), 1.0 - _SMALL)
        budget = _sigmoid(np.log(inside / (1.0 - inside)) + means[:, k])
        stated = np.array([(features[k : 2 * k] ** 2).mean(), features[2 * k + 1] ** 2])
        log_variance = np.log(np.maximum(stated, _SMALL)) + moved[:, k + 1 :]
        aleatoric = np.exp(np.clip(log_variance, _LEAST_LOG, _MOST_LOG)).mean(axis=0)
        epistemic = np.array([preference.var(axis=0).mean(), budget.var()])
        belief = np.append(preference.mean(axis=0), budget.mean())
        return belief, epistemic * self._calibration, aleatoric * self._calibration


def _perceptron(arrays: Arrays, name: str, inputs: int) -> Layers:
    """One hidden layer and two outputs."""
    first = arrays.take(f"{name}.0.weight", None, inputs)
    width = len(first)
    return (
        (first, arrays.take(f"{name}.0.bias", width)),
        (arrays.take(f"{name}.2.weight", 2, width), arrays.take(f"{name}.2.bias", 2)),
    )


def _made(fused: Array, gates: Array, epistemic: Array, deviation: float, kappa: float) -> Fused:
    budget = float(fused[-1])
    safe = max(0.0, budget - kappa * deviation)
    return Fused(fused[:-1], budget, safe, gates, epistemic, deviation)


def _sigmoid(x: Any) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))
