"""What is traded: items, recipes, and the order in which everything loops over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from services.economy.money import micros
from services.errors import HanseError

Role = Literal["farmer", "roaster", "retailer"]
ROLES: Final[tuple[Role, ...]] = ("farmer", "roaster", "retailer")

GREEN: Final = "green_coffee_kg"
ROASTED: Final = "roasted_coffee_kg"
GREEN_SPECIALTY: Final = "green_specialty_kg"
ROASTED_SPECIALTY: Final = "roasted_specialty_kg"


@dataclass(frozen=True, slots=True)
class Item:
    """One traded good; quantities are whole kilograms."""

    id: str
    made_by: Role | None = None
    unit_cost: int = 0
    """Cost of making one kilogram, micro-dollars."""
    daily_cap: int = 0
    """Kilograms one maker may order a day."""
    lag_days: int = 0
    reservation_price: float | None = None
    """Dollars at which no consumer buys any more; ``None``: consumers do not buy it."""
    demand_base: float = 0.0
    """Kilograms a day that consumers would take at price zero."""
    floor_kg: float = 0.0
    """Kilograms a day that each open shop sells whatever the others ask."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Roasting: one green item in, one roasted item out."""

    source: str
    output: str
    labour: float
    """Dollars for each kilogram of green coffee."""
    yield_: float
    """Kilograms out for each kilogram in."""
    lag_days: int = 1


@dataclass(frozen=True)
class Catalogue:
    """Items in catalogue order and the recipes by their green item."""

    items: dict[str, Item]
    recipes: dict[str, Recipe]
    consumer_items: tuple[Item, ...] = field(init=False)

    def __post_init__(self) -> None:
        bought = tuple(i for i in self.items.values() if i.reservation_price is not None)
        object.__setattr__(self, "consumer_items", bought)

    def with_changes(
        self, items: Mapping[str, Mapping[str, Any]], recipes: Mapping[str, Mapping[str, Any]]
    ) -> Catalogue:
        """A copy with some fields of some items and recipes replaced; the original is untouched.

        Raises:
            HanseError: there is no such item or recipe.
        """
        for what, changed, known in (
            ("item", items, self.items),
            ("recipe", recipes, self.recipes),
        ):
            for name in changed:
                if name not in known:
                    raise HanseError(f"there is no {what} {name!r}; allowed: {', '.join(known)}")
        new_items = {k: replace(v, **items.get(k, {})) for k, v in self.items.items()}
        new_recipes = {k: replace(v, **recipes.get(k, {})) for k, v in self.recipes.items()}
        return Catalogue(new_items, new_recipes)

    def break_even_cost(self, item: str, consumer_prices: Mapping[str, float]) -> int | None:
        """The highest unit cost at which the item can be sold without loss, micro-dollars.

        For what consumers buy it is the price they pay; for green coffee what is left of that
        after roasting loss and labour. ``None`` where nobody buys what becomes of the item.
        """
        price = consumer_prices.get(item)
        if price is not None:
            return micros(price)
        recipe = self.recipes.get(item)
        price = None if recipe is None else consumer_prices.get(recipe.output)
        if recipe is None or price is None:
            return None
        return max(0, micros(price * recipe.yield_ - recipe.labour))


def standard_catalogue() -> Catalogue:
    """CoffeeBench's four items and two recipes (arXiv 2606.16613; note, S1 and S3)."""
    items = (
        Item(GREEN, "farmer", micros(2), daily_cap=30, lag_days=2),
        Item(ROASTED, reservation_price=30.0, demand_base=80.0, floor_kg=5.0),
        Item(GREEN_SPECIALTY, "farmer", micros(10), daily_cap=10, lag_days=2),
        Item(ROASTED_SPECIALTY, reservation_price=80.0, demand_base=15.0, floor_kg=1.0),
    )
    recipes = (
        Recipe(GREEN, ROASTED, labour=3.0, yield_=0.85),
        Recipe(GREEN_SPECIALTY, ROASTED_SPECIALTY, labour=5.0, yield_=0.82),
    )
    return Catalogue({i.id: i for i in items}, {r.source: r for r in recipes})
