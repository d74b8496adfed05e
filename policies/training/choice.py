"""Which policy of a training is kept: the best in validation, within the budget if that counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from policies.training.settings import TrainingConfig
from policies.training.tally import Outcome, profit_alone, score


@dataclass(frozen=True, slots=True)
class Verdict:
    """How good policies are in validation."""

    score: float
    """Of all firms that learn together: net income, or the weighted objectives of a day."""
    excess: float = 0.0
    """By how much the mean cost is above the budget, of the firm that is most above it; 0 if no
    firm is, or the budget does not count."""

    def better_than(self, other: Verdict | None) -> bool:
        """Whether it is to be kept in place of the other: the budget first, then the score."""
        if other is None:
            return True
        return (-self.excess, self.score) > (-other.excess, other.score)


def judged(outcomes: Iterable[Outcome], config: TrainingConfig) -> Verdict:
    """How good policies are.

    Args:
        outcomes: Of each firm that learns, its mean over the validation seeds.
        config: The training, with its objectives, and its budget.
    """
    given, about = list(outcomes), config.environment
    total = sum(score(one, about.objectives) for one in given)
    excess = max(max(one.cost - about.budget, 0.0) for one in given)
    return Verdict(float(total), float(excess) if config.lagrangian.enabled else 0.0)


def metrics_of(outcome: Outcome, config: TrainingConfig) -> dict[str, float]:
    """What a manifest and the figures tell of an outcome, by names that begin with validation."""
    weights = config.environment.objectives
    found = {"validation_net_income": outcome.net_income}
    if not profit_alone(weights):
        found["validation_score"] = score(outcome, weights)
    if len(weights) > 1:
        found |= {f"validation_{name}": value for name, value in outcome.objectives.items()}
    if config.lagrangian.enabled:
        found["validation_cost"] = outcome.cost
    return found
