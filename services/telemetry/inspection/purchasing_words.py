"""What a controller has bought for a firm by its policy, and what came of it, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from services.telemetry.inspection.phrases import goods, money

Facts = Mapping[str, Any]


def decision(firm: str, facts: Facts) -> str:
    """``roaster_A is to bid for 60 kg of green coffee, for at most 135.00 $``, and what it is by.

    A gate of 1 means that the controller goes by what it believes, 0 by what it is told
    (:mod:`policies.becon.gates`).
    """
    kilograms = [f"{kg:g} kg of {goods(item)}" for item, kg in facts["kg"].items()]
    told = f"{firm} is to bid for {' and '.join(kilograms) or 'nothing'}"
    if facts.get("at_most") is not None:
        told += f", for at most {money(facts['at_most'])}"
    if "becon.gate_w" not in facts:
        return told
    return (
        f"{told} (belief counts {facts['becon.gate_w']:.0%} in what it wants and"
        f" {facts['becon.gate_d']:.0%} in its budget, which is taken to be"
        f" {facts['becon.budget_safe']:.2f})"
    )


def outcome(firm: str, facts: Facts) -> str:
    """``day 7 was worth 0.41 to roaster_A; it bound 0.62 ..., above its budget of 0.55``."""
    side = "above" if facts["violated"] else "within"
    return (
        f"day {facts['day']} was worth {facts['utility']:.2f} to {firm}; it bound"
        f" {facts['cost']:.2f} of its unit of cost, {side} its budget of {facts['budget']:.2f}"
    )


EVENTS: Final[dict[str, Callable[[str, Facts], str]]] = {
    "purchasing_decision": decision,
    "purchasing_outcome": outcome,
}
