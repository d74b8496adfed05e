"""A trained estimator that holds back part of the budget in acting: the note's way, and ours.

Both leave everything else as it was trained, also the uncertainty that the policy reads. Holding
back while training teaches a policy to spend more again (`Estimator.hold_back`).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Final

from torch import Tensor

from policies.becon.context import Context, conservative_budget
from policies.becon.ensemble import Estimate
from policies.becon.estimator import Estimator

KAPPA: Final = 0.35
"""The note's, section 3.7."""


def as_ours(trained: Estimator) -> Estimator:
    """A copy that holds back kappa deviations of the fused budget."""
    made = deepcopy(trained)
    made.hold_back(KAPPA)
    return made


def as_noted(trained: Estimator) -> Estimator:
    """A copy that holds back kappa deviations of the belief, by the gate: the note, section 3.7."""
    made = _AsNoted(trained.layout, trained.form)
    made.load_state_dict(trained.state_dict())
    return made


def noted_variance(context: Context) -> Tensor:
    """(..., 2): what the note holds back for, g^2 (epi + ale); the descriptor's error is not in it.

    `Context.variance` is ours, with that error.
    """
    return context.gates**2 * (context.epistemic + context.aleatoric)


class _AsNoted(Estimator):
    def context(self, x: Tensor, estimate: Estimate | None) -> Context:
        made = super().context(x, estimate)
        safe = conservative_budget(made.budget, noted_variance(made)[..., 1], KAPPA)
        return replace(made, safe_budget=safe)
