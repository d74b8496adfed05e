"""What a town is made of before the first morning: firms, rule book, catalogue, probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.economy.catalogue import (
    ROASTED,
    ROASTED_SPECIALTY,
    Catalogue,
    Role,
    standard_catalogue,
)
from services.economy.rules import HANSE, Rules


@dataclass(frozen=True, slots=True)
class StartingStock:
    """Kilograms held at the start and what each cost, in dollars."""

    kg: int
    unit_cost: float


@dataclass(frozen=True, slots=True)
class FirmSetup:
    """A firm before the first morning; amounts in dollars."""

    name: str
    role: Role
    cash: float
    opex: float
    stock_cap: int
    stock: dict[str, StartingStock] = field(default_factory=dict)
    retail_prices: dict[str, float] = field(default_factory=dict)


ROLE_OPEX: dict[Role, float] = {"farmer": 25.0, "roaster": 30.0, "retailer": 50.0}
ROLE_STOCK_CAP: dict[Role, int] = {"farmer": 120, "roaster": 120, "retailer": 80}
ROLE_STOCK: dict[Role, dict[str, StartingStock]] = {
    "farmer": {"green_coffee_kg": StartingStock(60, 2.00)},
    "roaster": {ROASTED: StartingStock(30, 5.88)},
    "retailer": {ROASTED: StartingStock(25, 10.00)},
}
STANDARD_UNIT_COSTS: dict[str, float] = {
    "green_coffee_kg": 2.00,
    ROASTED: 5.88,
    "green_specialty_kg": 10.00,
    ROASTED_SPECIALTY: 18.30,
}
RETAIL_PRICES: dict[str, float] = {ROASTED: 18.0, ROASTED_SPECIALTY: 50.0}
STARTING_CASH = 15_000.0


def firm_setup(
    name: str,
    role: Role,
    *,
    cash: float | None = None,
    opex: float | None = None,
    stock_cap: int | None = None,
    stock: dict[str, int] | None = None,
) -> FirmSetup:
    """A firm with its role's standard values where none are given (note, S1)."""
    held = dict(ROLE_STOCK[role])
    if stock is not None:
        held = {
            item: StartingStock(
                kg,
                ROLE_STOCK[role][item].unit_cost
                if item in ROLE_STOCK[role]
                else STANDARD_UNIT_COSTS.get(item, 0.0),
            )
            for item, kg in stock.items()
        }
    return FirmSetup(
        name,
        role,
        STARTING_CASH if cash is None else cash,
        ROLE_OPEX[role] if opex is None else opex,
        ROLE_STOCK_CAP[role] if stock_cap is None else stock_cap,
        held,
        dict(RETAIL_PRICES) if role == "retailer" else {},
    )


def standard_firms(cash: float | None = None) -> tuple[FirmSetup, ...]:
    """CoffeeBench's six firms, in the order in which everything loops over them."""
    return tuple(
        firm_setup(f"{role}_{letter}", role, cash=cash)
        for role in ("farmer", "roaster", "retailer")
        for letter in "AB"
    )


@dataclass(frozen=True)
class TownSetup:
    """One town: everything that its course follows from, beside the commands of its firms."""

    name: str = "town"
    seed: int = 0
    days: int = 90
    rules: Rules = HANSE
    catalogue: Catalogue = field(default_factory=standard_catalogue)
    firms: tuple[FirmSetup, ...] = field(default_factory=standard_firms)
    loss_probability: float = 0.015
    delay_probability: float = 0.07
    spoilage_per_day: float = 0.005
    late_fee_per_day: float = 0.001
    return_window_days: int = 14
    roast_cap_kg: int = 50
    """Kilograms of green coffee that a roaster can roast a day, over all recipes."""
    demand_sigma: float = 0.5
    market_cap: float = 130.0
    """Kilograms a day: the most the commodity market takes (others in proportion to their base)."""
    festival_days: tuple[int, int] = (40, 53)
    festival_factor: float = 3.0
    foreign_trade: bool = False
    """Whether a router joins this town to others."""
    freight_days: int = 2
    freight_per_kg: float = 0.25
    stop_when_bankrupt: str | None = None
    memory_days: int = 15
    """Days for which finished deals, invoices, sales and letters are remembered; at least the
    return window plus one. The event log keeps them for good."""
    offer_memory_days: int = 3
    """Days for which resolved offers and closed listings are remembered."""
