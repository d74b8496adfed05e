"""The economy's numbers, as far as a run file changes them, and the bounds of all amounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from services.config.base import ConfigModel
from services.config.problems import fault, unknown

ITEMS = ("green_coffee_kg", "roasted_coffee_kg", "green_specialty_kg", "roasted_specialty_kg")
GREEN_ITEMS = ("green_coffee_kg", "green_specialty_kg")

# The bounds keep every sum of a run within 64 bits of micro-dollars.
Probability = Annotated[float, Field(ge=0, le=1)]
Money = Annotated[float, Field(ge=0, le=1_000_000_000)]
UnitPrice = Annotated[float, Field(ge=0, le=10_000)]
Demand = Annotated[float, Field(ge=0, le=1_000_000)]
Kilograms = Annotated[int, Field(ge=0, le=10_000_000)]
Days = Annotated[int, Field(ge=0, le=3660)]
CalendarDay = Annotated[int, Field(ge=0, le=1_000_000)]  # a festival after the run is none
DaysFromOne = Annotated[int, Field(ge=1, le=3660)]


def check_items(items: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse an amount of something that is no item."""
    for item in items:
        if item not in known:
            raise fault(unknown(item, known, "item"))


class EconomyConfig(ConfigModel):
    """The rules' numbers. What is left out is as the rule set has it."""

    loss_probability: Probability | None = None
    """Chance that a shipment is lost when it falls due (0.015)."""
    delay_probability: Probability | None = None
    """Chance that it comes a day later (0.07)."""
    spoilage_per_day: Probability | None = None
    """Share of the stock that spoils each evening (0.005)."""
    late_fee_per_day: Probability | None = None
    """Share of the invoice added each day that it is overdue (0.001)."""
    return_window_days: Days | None = None
    """Days after the invoice in which goods may be sent back (14)."""
    roast_cap_kg: Kilograms | None = None
    """Green coffee that one roaster can roast in a day (50)."""
    demand_sigma: Demand | None = None
    """Standard deviation of the daily noise in demand, in kg (0.5)."""
    market_cap: Demand | None = None
    """Most that consumers buy of roasted coffee in a day, floors apart (130)."""
    festival_days: list[CalendarDay] | None = None
    """First and last day of the festival, days counted from 0 ([40, 53])."""
    festival_factor: Annotated[float, Field(ge=0, le=1000)] | None = None
    """Demand during the festival, as a multiple (3.0)."""
    credit_limit: Money | None = None
    """Most that one firm may owe another, in dollars."""
    listing_days: DaysFromOne | None = None
    """Days after which an open listing or offer lapses."""
    max_terms_days: Days | None = None
    """Longest term of payment that may be agreed."""
    freight_days: Days | None = None
    """Extra days that goods take between two towns."""
    freight_per_kg: UnitPrice | None = None
    """Freight between two towns, in dollars a kg."""

    @field_validator("festival_days")
    @classmethod
    def _two_days_in_order(cls, days: list[int] | None) -> list[int] | None:
        if days is not None and not (len(days) == 2 and days[0] <= days[1]):
            raise fault(f"{days} is not a period; allowed: [first day, last day], such as [40, 53]")
        return days

    @model_validator(mode="after")
    def _one_fate_each(self) -> EconomyConfig:
        if (self.loss_probability or 0) + (self.delay_probability or 0) > 1:
            raise fault("loss_probability and delay_probability must not exceed 1 together")
        return self


class ItemConfig(ConfigModel):
    """One item of the catalogue, as far as it differs."""

    cost: UnitPrice | None = None
    """What a farmer pays to make a kg."""
    daily_cap: Kilograms | None = None
    """Most that one maker makes in a day, in kg."""
    reservation_price: Annotated[float, Field(ge=0.01, le=10_000)] | None = None
    """Price at which consumers stop buying."""
    demand_base: Demand | None = None
    """Consumers' demand in kg a day at a price of nothing."""
    floor: Demand | None = None
    """What every open shop sells in any case, in kg a day."""


class RecipeConfig(ConfigModel):
    """How a green item is roasted, as far as it differs."""

    labour: UnitPrice | None = None
    """Dollars for a kg of green coffee."""
    yield_: Annotated[float, Field(gt=0, le=1)] | None = Field(default=None, alias="yield")
    """Roasted kg from a green kg."""
    lag: DaysFromOne | None = None
    """Days until the roasted coffee is in stock."""
