"""The plain numbers of a checkpoint: how far a training is, how good it was, its prices of cost."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from policies.training.choice import Verdict
from policies.training.settings import TrainingConfig


@dataclass(frozen=True, slots=True)
class KeptNumbers:
    """What a training goes on with besides its networks."""

    iteration: int
    best: Verdict | None
    prices: dict[str, float]
    """By networks, 0 to ``lagrangian.most``."""
    acting_costs: dict[str, float]
    """By networks, the mean cost of a step in the last validation, 0 to 1; none before it."""


def kept_numbers(
    saved: Mapping[str, Any], modules: Collection[str], config: TrainingConfig
) -> KeptNumbers:
    """Reads them from a checkpoint, each within what it can be.

    Args:
        saved: The checkpoint.
        modules: The names of the networks.
        config: The training.

    Raises:
        ValueError: a number cannot be; it says which, and what is allowed.
        KeyError: networks have no price.
    """
    settings, best, costs = config.lagrangian, saved["best"], saved.get("acting_costs", {})
    # A training of before prices were kept has none.
    prices = saved.get("prices", dict.fromkeys(modules, settings.start))
    excess = _within(saved.get("best_excess", 0.0), 1.0, "best_excess")
    if best is not None and not math.isfinite(best):
        raise ValueError(f"best: {best}; allowed: a finite number")
    return KeptNumbers(
        int(saved["iteration"]),
        None if best is None else Verdict(float(best), excess),
        {name: _within(prices[name], settings.most, f"prices: {name}") for name in modules},
        {
            name: _within(costs[name], 1.0, f"acting_costs: {name}")
            for name in modules
            if name in costs
        },
    )


def _within(value: Any, most: float, name: str) -> float:
    found = float(value)
    if not 0.0 <= found <= most:  # nor is NaN
        raise ValueError(f"{name}: {found:g}; allowed: 0 to {most:g}")
    return found
