"""What a controller has bought for a firm by its policy, and what came of it, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from services.telemetry.inspection.phrases import goods, money

Facts = Mapping[str, Any]


def decision(firm: str, facts: Facts) -> str:
    """``roaster_A is to bid for 60 kg of green coffee, for at most 135.00 $``, and what it is by.

    A gate of 1 means that the controller goes by what it infers, 0 by what it is told
    (:mod:`policies.becon.gates`).
    """
    kilograms = [f"{kg:g} kg of {goods(item)}" for item, kg in facts["kg"].items()]
    most = facts.get("at_most")
    if not kilograms:
        told = f"{firm} is to bid for nothing"
    elif most is not None and most <= 0:
        told = f"{firm} is to bid for nothing, as no money is left for it"
    else:
        told = f"{firm} is to bid for {' and '.join(kilograms)}"
        if most is not None:
            told += f", for at most {money(most)}"
    if "becon.gate_w" not in facts:
        return told
    return (
        f"{told} (what it may spend is taken to be"
        f" {money(facts['becon.budget_safe'] * facts['unit'])}; inferred, not told, are"
        f" {facts['becon.gate_d']:.0%} of that and {facts['becon.gate_w']:.0%} of what it wants)"
    )


def outcome(firm: str, facts: Facts) -> str:
    """``day 7 was worth 0.41 of 1 to roaster_A; it bid 93.00 $, above its budget of 82.50 $``."""
    side = "above" if facts["violated"] else "within"
    spent, budget = facts["cost"] * facts["unit"], facts["budget"] * facts["unit"]
    return (
        f"day {facts['day']} was worth {facts['utility']:.2f} of 1 to {firm}; it bid"
        f" {money(spent)} for green coffee, {side} its budget of {money(budget)}"
    )


EVENTS: Final[dict[str, Callable[[str, Facts], str]]] = {
    "purchasing_decision": decision,
    "purchasing_outcome": outcome,
}
