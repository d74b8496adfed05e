"""From observations to the fused context: encoder, heads, gates, and which of them are used.

The baselines of the note (section 6) differ from BECON in where their context comes from, and in
nothing else: `Source` says it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor, nn

from policies.becon.context import Context, conservative_budget
from policies.becon.ensemble import Ensemble, EnsembleForm, Estimate
from policies.becon.gates import Evidence, Gates, fuse
from policies.becon.history import HistoryEncoder
from policies.becon.line_error import LineError
from policies.becon.observation import Layout

Source = Literal["gated", "history", "filter", "exposed", "fixed"]
"""Where the context comes from.

`gated`: belief and descriptor, by the gates (BECON). `history`: the heads alone, both gates 1.
`filter`: the analytic filters alone. `exposed`: the descriptor alone, both gates 0. `fixed`: the
same weight for every objective and a budget of 0.5.
"""
FIXED_BUDGET = 0.5


@dataclass(frozen=True, slots=True)
class EstimatorForm:
    """The shape of the estimator."""

    hidden: int = 48
    """H, of the encoder."""
    ensemble: EnsembleForm = field(default_factory=EnsembleForm)
    source: Source = "gated"
    belief_sees_exposed: bool = False
    """Whether the encoder reads the descriptor, too."""
    kappa: float = 0.0
    """How many standard deviations of the fused budget are held back; see `hold_back`. The note's
    value is 0.35 where a violation is dear."""


class Estimator(nn.Module):  # type: ignore[misc]
    """Encoder, heads and gates over observations laid out by `Layout`.

    Args:
        layout: What lies where.
        form: The shape.
    """

    def __init__(self, layout: Layout, form: EstimatorForm | None = None) -> None:
        super().__init__()
        self.layout, self.form = layout, form or EstimatorForm()
        parts = layout.history + (("exposed", "line") if self.form.belief_sees_exposed else ())
        columns = [torch.arange(layout.width)[layout.part(name)] for name in parts]
        self.register_buffer("columns", torch.cat(columns), persistent=False)
        self.encoder = HistoryEncoder(len(self.columns), self.form.hidden)
        self.heads = Ensemble(self.form.hidden, layout.objectives, self.form.ensemble)
        self.gates = Gates()
        self.line = LineError()
        self.register_buffer("calibration", torch.ones(2))
        """What both variances (of w, of d) are multiplied by; see `calibration`."""

    def encode(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Histories (B, T, H) of observations (B, T, D), and the state after them (B, H)."""
        encoded: tuple[Tensor, Tensor] = self.encoder(x[..., self.columns], state)
        return encoded

    def estimate(self, x: Tensor, history: Tensor) -> Estimate:
        """What the heads say of observations (..., D) with histories (..., H)."""
        made: Estimate = self.heads(history, x[..., self.layout.part("belief")])
        return made

    def evidence(self, x: Tensor, estimate: Estimate, truth: Tensor) -> Evidence:
        """What the gates learn from: observations (M, D), truth (M, K + 1)."""
        epistemic, aleatoric = self.uncertainty(estimate)
        return Evidence(
            x[..., self.layout.part("quality")],
            epistemic,
            aleatoric,
            _joined(estimate.mean_preference, estimate.mean_budget),
            x[..., self.layout.part("exposed")],
            truth,
        )

    def uncertainty(self, estimate: Estimate) -> tuple[Tensor, Tensor]:
        """Calibrated epistemic and aleatoric variance, (..., 2) each."""
        return estimate.epistemic * self.calibration, estimate.aleatoric * self.calibration

    def context(self, x: Tensor, estimate: Estimate | None) -> Context:
        """The fused context of observations (..., D).

        Args:
            x: Observations.
            estimate: What the heads say; sources other than `gated` and `history` do without.
        """
        source, layout = self.form.source, self.layout
        exposed = x[..., layout.part("exposed")]
        nothing = torch.zeros(*x.shape[:-1], 2, device=x.device)
        if source == "fixed":
            fixed = torch.full_like(exposed, 1.0 / layout.objectives)
            fixed[..., -1] = FIXED_BUDGET
            return self._made(fixed, nothing, nothing, nothing, nothing)
        if source == "exposed":
            return self._made(exposed, nothing, nothing, nothing, nothing)
        if source == "filter":
            belief, variance = self._filtered(x)
            return self._made(belief, nothing + 1.0, nothing, variance, nothing)
        assert estimate is not None, f"source {source!r} needs the heads"
        epistemic, aleatoric = self.uncertainty(estimate)
        belief = _joined(estimate.mean_preference, estimate.mean_budget)
        if source == "history":
            return self._made(belief, nothing + 1.0, epistemic, aleatoric, nothing)
        quality = x[..., layout.part("quality")]
        gates = self.gates(quality, epistemic.detach(), aleatoric.detach())
        line = self.line(quality).detach()
        return self._made(fuse(gates, belief, exposed), gates, epistemic, aleatoric, line)

    def forward(
        self, x: Tensor, state: Tensor | None = None
    ) -> tuple[Context, Estimate | None, Tensor]:
        """Context, estimate and next state of observations (B, T, D) after state (B, H)."""
        if not self.learns:
            kept = state if state is not None else self.encoder.initial_state(len(x))
            return self.context(x, None), None, kept
        history, last = self.encode(x, state)
        estimate = self.estimate(x, history)
        return self.context(x, estimate), estimate, last

    def hold_back(self, kappa: float) -> None:
        """Sets kappa for acting.

        Set it after training: a policy that is trained with it learns to spend more again
        (measured at level 2: no fewer violations).
        """
        self.form = replace(self.form, kappa=kappa)

    @property
    def learns(self) -> bool:
        """Whether the source uses encoder and heads at all."""
        return self.form.source in ("gated", "history")

    def _filtered(self, x: Tensor) -> tuple[Tensor, Tensor]:
        k = self.layout.objectives
        features = x[..., self.layout.part("belief")]
        deviation_w, deviation_d = features[..., k : 2 * k], features[..., 2 * k + 1]
        variance = torch.stack([(deviation_w**2).mean(dim=-1), deviation_d**2], dim=-1)
        return _joined(features[..., :k], features[..., 2 * k]), variance

    def _made(
        self, fused: Tensor, gates: Tensor, epistemic: Tensor, aleatoric: Tensor, line: Tensor
    ) -> Context:
        budget = fused[..., -1]
        made = Context(fused[..., :-1], budget, budget, gates, epistemic, aleatoric, line)
        safe = conservative_budget(budget, made.variance[..., 1], self.form.kappa)
        return replace(made, safe_budget=safe)


def _joined(preference: Tensor, budget: Tensor) -> Tensor:
    return torch.cat([preference, budget.unsqueeze(-1)], dim=-1)
