"""What the policy of a firm has decided, in words: how it has set the firm's levers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from services.telemetry.inspection.phrases import count, goods

Facts = Mapping[str, Any]

_LEVERS: Final[dict[str, Callable[[float, str], str]]] = {
    "position": lambda v, i: f"stocks up to {v:g} kg of {i}" if v else f"buys no {i}",
    "bid": lambda v, i: f"bids {v:.0%} of the ask for {i}",
    "limit": lambda v, i: f"pays at most {v:g} times the anchor for {i}",
    "grow": lambda v, i: f"grows {v:.0%} of the daily cap of {i}" if v else f"grows no {i}",
    "roast": lambda v, i: f"roasts {v:.0%} of the {i} that it could" if v else f"roasts no {i}",
    "list": lambda v, i: f"lists {v:.0%} of its {i}" if v else f"lists no {i}",
    "ask": lambda v, i: f"asks {v:g} times the anchor for {i}",
    "accept": lambda v, i: f"takes bids of {v:.0%} of its ask or more",
    "shelf": lambda v, i: (
        f"sells {i} at {v:g} times the anchor" if v else f"keeps {i} off the shelf"
    ),
    "pay": lambda v, i: f"pays {count(int(v), 'day')} early" if v else "pays on the due day",
    "terms": lambda v, i: f"asks for {count(int(v), 'day')} of credit",
}
"""By the lever's name, without the item that stands behind a point. The anchor of an item is the
price of which a policy's prices are multiples (`policies.environments.action_layout.anchor`)."""


def decision(firm: str, facts: Facts) -> str:
    """``roaster_B decides by its policy: lists 50% of its roasted coffee (expects 1.2)``.

    What is not told is as the scripted firm has it. What the policy expects is its discounted
    reward from there on, in the units of its training.
    """
    told = "; ".join(_lever(name, value) for name, value in facts["levers"].items())
    expects = f" (expects {facts['value']:g})" if "value" in facts else ""
    return f"{firm} decides by its policy: {told or 'all as the scripted firm does'}{expects}"


def _lever(name: str, value: float) -> str:
    stem, _, item = name.partition(".")
    tell = _LEVERS.get(stem)
    return f"{name} {value:g}" if tell is None else tell(value, goods(item))


EVENTS: Final[dict[str, Callable[[str, Facts], str]]] = {"policy_decision": decision}
