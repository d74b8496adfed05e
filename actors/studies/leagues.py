"""The leagues of the studies: firms that talk, with something done to them or nothing."""

from __future__ import annotations

from typing import Any, Final

from services.config import RunConfig

TOWNS: Final = {6: 1, 24: 3, 96: 8}
"""Towns by firms."""
DAYS: Final = 14
"""Eight to learn what is usual, six in which something happens."""
DAY: Final = 8
HOUR: Final = 9
ONSET: Final = DAY * 1440 + HOUR * 60
"""The minute at which it happens."""
ATTACKS: Final = ("price_rumour", "corrupted_memory", "faulty_tool", "retry_storm", "mixed")
LOOK_ALIKES: Final = ("harvest_shock", "promotion_burst", "contract_handover")
"""What only looks like an attack."""


def talking_league(firms: int, seed: int, kind: str = "steady", **changes: Any) -> RunConfig:
    """A league that talks.

    Args:
        firms: 6, 24 or 96.
        seed: Draws the firms, who knows whom, and all that happens.
        kind: What is done to it on the ninth day: an attack, a look-alike, or ``steady``.
        changes: Further keys of the run file.
    """
    values: dict[str, Any] = {
        "name": f"talk{firms}",
        "seed": seed,
        "days": DAYS,
        "placement": "inline",
        "generate": {"firms": firms, "towns": TOWNS[firms], "strategy": "informed"},
        "talk": {},
        **changes,
    }
    if kind != "steady":
        values["injections"] = [{"kind": kind, "day": DAY, "hour": HOUR}]
    return RunConfig.parse(values, "study")
