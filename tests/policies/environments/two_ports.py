"""A small league with towns that trade: who is short of green coffee, and two who sell it."""

from __future__ import annotations

from typing import Any, Literal

from services.config import FirmConfig, RouterConfig, RunConfig, TownConfig

Role = Literal["farmer", "roaster", "retailer"]


def two_ports(**changes: Any) -> RunConfig:
    """Bergen has no farmer; Visby is cheaper than Riga, and has less."""

    def firm(role: Role, town: str, letter: str = "A", **more: Any) -> FirmConfig:
        return FirmConfig(name=f"{role}_{town}_{letter}", role=role, town=town, **more)

    config = RunConfig(
        days=6,
        placement="inline",
        towns=[TownConfig(name=name) for name in ("Bergen", "Riga", "Visby")],
        firms=[
            firm("roaster", "Bergen", strategy="importing"),
            firm("roaster", "Bergen", "B", strategy="importing"),
            firm("retailer", "Bergen"),
            firm("farmer", "Riga"),
            firm("farmer", "Riga", "B"),
            firm("roaster", "Riga"),
            firm("farmer", "Visby", options={"asks": {"green_coffee_kg": 3.4}}),
            firm("roaster", "Visby"),
        ],
        routers=[RouterConfig(name="router")],
    )
    return config.with_overrides(source="test", **changes)
