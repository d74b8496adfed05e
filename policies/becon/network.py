"""The whole agent: estimator, policy, vector critic and multiplier, still without RLlib.

One class serves BECON and its baselines (`variants`): they differ in where the context comes from
and in how cost is priced.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn

from policies.becon.context import Context
from policies.becon.critic import VectorCritic
from policies.becon.ensemble import Estimate
from policies.becon.estimator import Estimator, EstimatorForm
from policies.becon.inferred import PreferenceInference
from policies.becon.multiplier import Multiplier, ScalarMultiplier
from policies.becon.observation import Layout
from policies.becon.scaling import ValueScale

FORBIDDEN = -1e9
"""The logit of an illegal level."""
Pricing = Literal["context", "scalar", "none"]
"""How cost is priced: by a net over contexts, by one number, or not at all."""


@dataclass(frozen=True, slots=True)
class AgentForm:
    """The shape of an agent."""

    estimator: EstimatorForm = field(default_factory=EstimatorForm)
    width: int = 64
    """Of the two hidden layers of policy and critic."""
    pricing: Pricing = "context"
    inferred: bool = False
    """Whether the preference is inferred from returns in the way of DPI (arXiv 2603.22813), not
    from descriptor or feedback."""


@dataclass(frozen=True, slots=True)
class Acted:
    """The context as it was acted on.

    It is stored with each step, so that training scores a decision by what was known then.
    """

    features: Tensor
    """(..., K + 3): what the policy saw of it."""
    plain: Tensor
    """(..., K + 1): w_bar and d_bar."""
    price: Tensor
    """(...): lambda."""
    gates: Tensor
    """(..., 2)."""
    epistemic: Tensor
    """(..., 2)."""
    aleatoric: Tensor
    """(..., 2)."""

    def packed(self) -> Tensor:
        """As one vector (..., 2 K + 11), for a column of a batch."""
        return torch.cat(
            [
                self.features,
                self.plain,
                self.price.unsqueeze(-1),
                self.gates,
                self.epistemic,
                self.aleatoric,
            ],
            dim=-1,
        )

    @classmethod
    def unpacked(cls, packed: Tensor, objectives: int) -> Acted:
        """The inverse of `packed`."""
        k = objectives
        sizes = [k + 3, k + 1, 1, 2, 2, 2]
        features, plain, price, gates, epistemic, aleatoric = packed.split(sizes, dim=-1)
        return cls(features, plain, price.squeeze(-1), gates, epistemic, aleatoric)


class Agent(nn.Module):  # type: ignore[misc]
    """Estimator, policy, critic and multiplier over observations laid out by `Layout`.

    Args:
        layout: What lies where.
        form: The shape.
    """

    def __init__(self, layout: Layout, form: AgentForm | None = None) -> None:
        super().__init__()
        self.layout, self.form = layout, form or AgentForm()
        k, width = layout.objectives, self.form.width
        self.estimator = Estimator(layout, self.form.estimator)
        self.inference = (
            PreferenceInference(layout, self.form.estimator.hidden) if self.form.inferred else None
        )
        self.policy = nn.Sequential(
            nn.Linear(layout.features + k + 3, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, layout.actions),
        )
        with torch.no_grad():
            self.policy[-1].weight.mul_(0.01)
            self.policy[-1].bias.zero_()
        self.critic = VectorCritic(layout.features + k + 1, k + 1, width)
        self.scale = ValueScale(k + 1)
        self.multiplier: nn.Module | None = None
        if self.form.pricing == "context":
            self.multiplier = Multiplier(layout.features + k + 1)
        elif self.form.pricing == "scalar":
            self.multiplier = ScalarMultiplier()

    def act(
        self, x: Tensor, state: Tensor | None = None
    ) -> tuple[Tensor, Acted, Estimate | None, Tensor]:
        """Decides at observations (B, T, D) after a state (B, H).

        Returns:
            Logits (B, T, A), the context that they stand on, what the heads say (None if the source
            has none), and the next state (B, H).
        """
        if self.inference is not None:
            context, last = self.inference.infer(x, state, self._worth)
            estimate = None
        else:
            context, estimate, last = self.estimator(x, state)
        acted = self._acted(x, context.detached())
        return self.logits(x, acted.features), acted, estimate, last

    def logits(self, x: Tensor, context: Tensor) -> Tensor:
        """The policy at observations (..., D) with context features (..., K + 3): (..., A)."""
        made: Tensor = self.policy(torch.cat([self._features(x), context], dim=-1))
        if self.layout.masked:
            made = torch.where(x[..., self.layout.part("mask")] > 0.5, made, FORBIDDEN)
        return made

    def normalised_values(self, x: Tensor, plain: Tensor) -> Tensor:
        """The critic in its own units: (..., K + 1), with w_bar and d_bar (..., K + 1)."""
        made: Tensor = self.critic(torch.cat([self._features(x), plain], dim=-1))
        return made

    def values(self, x: Tensor, plain: Tensor) -> Tensor:
        """What each objective and cost will come to, discounted: (..., K + 1)."""
        return self.scale.restored(self.normalised_values(x, plain))

    def price(self, x: Tensor, plain: Tensor) -> Tensor:
        """Lambda, with its gradient: (...). 0 where cost is not priced."""
        if self.multiplier is None:
            return torch.zeros(x.shape[:-1], device=x.device)
        made: Tensor = self.multiplier(torch.cat([self._features(x), plain], dim=-1))
        return made

    def initial_state(self, batch: int) -> Tensor:
        """(B, H): before the first step."""
        return self.estimator.encoder.initial_state(batch)

    def _acted(self, x: Tensor, context: Context) -> Acted:
        plain = context.plain()
        return Acted(
            context.features(),
            plain,
            self.price(x, plain).detach(),
            context.gates,
            context.epistemic,
            context.aleatoric,
        )

    def _worth(self, x: Tensor, plain: Tensor) -> Tensor:
        """Expected return under the preference that it is conditioned on, cost left out: (...)."""
        return (self.values(x, plain)[..., :-1] * plain[..., :-1]).sum(dim=-1)

    def _features(self, x: Tensor) -> Tensor:
        return x[..., self.layout.part("features")]
