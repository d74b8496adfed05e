"""Which town a router has asked by its policy, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from services.telemetry.inspection.phrases import money

Facts = Mapping[str, Any]


def decision(subject: str, facts: Facts) -> str:
    """``for F3 of Bergen Riga is asked, at 4.00 $ a kg or more (not Visby, which is cheaper)``."""
    cheaper = facts["among"][: facts["rank"]]
    told = f"for {facts['order']} of {facts['town']} {facts['asks']} is asked, at"
    told = f"{told} {money(facts['ask'])} a kg or more"
    if not cheaper:
        return told
    which = "which is" if len(cheaper) == 1 else "which are"
    return f"{told} (not {', '.join(cheaper)}, {which} cheaper by the last quotes)"


EVENTS: Final[dict[str, Callable[[str, Facts], str]]] = {"routing_decision": decision}
