"""What firms, boards and forecasters say to each other, and what is done to them, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from services.telemetry.inspection.phrases import goods, short, when

Facts = Mapping[str, Any]


def _quoted(body: Facts) -> str:
    text = short(body["text"])
    return f"“{text}”" if text else "nothing"


def _insisting(body: Facts) -> str:
    """What the claims insist on, behind their words: `` (green coffee at 60 %)``."""
    insisted = {
        claim["item"]: claim["factor"]
        for claim in body.get("claims", ())
        if claim.get("strength", 0) >= 0.3
    }
    told = ", ".join(f"{goods(item)} at {factor:.0%}" for item, factor in insisted.items())
    return f" ({told} of the normal price)" if told else ""


def _request(sender: str, recipient: str, body: Facts) -> str:
    again = body.get("attempt", 0)
    times = f" again (attempt {again + 1}, {body.get('units', 1):g} units of work)" if again else ""
    return f"{sender} asks {recipient} how its orders stand{times}"


def _reply(sender: str, recipient: str, body: Facts) -> str:
    load = f"load {body.get('load', 0):.0%}, {body.get('latency', 0):,.0f} ms"
    said = "tells" if body.get("ok", True) else "cannot tell"
    return f"{sender} {said} {recipient} how its orders stand ({load})"


def _injection(subject: str, body: Facts) -> str:
    names = [f"{role} {body[role]}" for role in ("origin", "bridge", "amplifier") if body.get(role)]
    until = f"until {when(int(body['end']))}"
    what = "attack" if body.get("attack") else "no attack"
    return f"{body['kind']} begins in {body['town']} ({what}; {', '.join(names)}; {until})"


MESSAGES: Final[dict[str, Callable[[str, str, Facts], str]]] = {
    "market_note": lambda s, r, b: f"{s} writes to {r}: {_quoted(b)}{_insisting(b)}",
    "board_write": lambda s, r, b: f"{s} writes on {r}: {_quoted(b)}{_insisting(b)}",
    "board_read": lambda s, r, b: f"{s} looks at {r}",
    "board_view": lambda s, r, b: f"{s} shows {r}: {_quoted(b)}{_insisting(b)}",
    "forecast_request": lambda s, r, b: f"{s} asks {r} for a forecast: {_quoted(b)}{_insisting(b)}",
    "forecast": lambda s, r, b: f"{s} forecasts for {r}: {_quoted(b)}{_insisting(b)}",
    "status_request": _request,
    "status_reply": _reply,
    "withheld": lambda s, r, b: f"a {b['what']} from {s} to {b['recipient']} is kept back",
}
EVENTS: Final[dict[str, Callable[[str, Facts], str]]] = {
    "injection": _injection,
    "belief": lambda s, b: (
        f"{s} expects {goods(b['item'])} at {b['factor']:.0%} of the normal price"
    ),
    "overloaded": lambda s, b: f"{s} has more to do than it can ({b['load']:.0%})",
    "recovered": lambda s, b: f"{s} can do its work again ({b['load']:.0%})",
}
