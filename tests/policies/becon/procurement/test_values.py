"""The best levers are found within the budget, and the budget has a price."""

from __future__ import annotations

import numpy as np
import pytest

from policies.becon.procurement.levers import FEATURES, PURSES, Sight, orders
from policies.becon.procurement.values import Values

STATE = np.zeros(len(FEATURES))
EQUAL = np.full(3, 1 / 3)


def more_is_better(slope: float = 1.0) -> Values:
    """Each objective grows with the purse and with nothing else."""
    weight = np.zeros((3, len(FEATURES) + 4))
    weight[:, -1] = slope
    return Values(((weight, np.zeros(3)),))


@pytest.mark.parametrize("budget", [0.0, 0.35, 0.6, 2.0])
def test_the_purse_is_never_above_the_budget(budget: float) -> None:
    chosen = more_is_better().best(STATE, EQUAL, budget)
    purse = PURSES[chosen.levels[-1]]
    assert purse <= budget
    assert purse == max(p for p in PURSES if p <= budget)


def test_nothing_is_bid_for_a_budget_below_nothing() -> None:
    assert PURSES[more_is_better().best(STATE, EQUAL, -0.2).levels[-1]] == 0.0


def test_a_budget_that_binds_has_a_price_and_one_that_does_not_has_none() -> None:
    values = more_is_better(0.9)
    # A purse of one unit is level 9 of 9 over 0.9: worth grows by 1 for each unit of budget.
    assert values.best(STATE, EQUAL, 0.3).price >= 1.0
    assert values.best(STATE, EQUAL, 1.0).price == 0.0
    assert more_is_better(-1.0).best(STATE, EQUAL, 0.3).price == 0.0


def test_at_its_price_no_purse_beyond_the_budget_is_better() -> None:
    rng = np.random.default_rng(1)
    values = Values(((rng.normal(size=(3, len(FEATURES) + 4)), rng.normal(size=3)),))
    budget = 0.25
    chosen = values.best(STATE, EQUAL, budget)
    worth = values.table(STATE) @ EQUAL
    over = np.maximum(np.tile(PURSES, len(worth) // len(PURSES)) - budget, 0.0)
    assert (worth - chosen.price * over).max() <= chosen.worth + 1e-9


def test_orders_fill_the_stock_up_to_its_level_within_what_is_ordered_on_a_day() -> None:
    position = {"green_coffee_kg": 40, "green_specialty_kg": 30}
    found = orders((2, 3, 1, 4), position)
    assert found.kg == {"green_coffee_kg": 10}
    assert (found.first, found.at_most) == ("green_specialty_kg", pytest.approx(60.0))
    assert orders((4, 4, 0, 9), {}).kg == {"green_coffee_kg": 30, "green_specialty_kg": 8}


def test_what_a_controller_sees_lies_in_the_order_of_the_features() -> None:
    sight = Sight(45, {"green_coffee_kg": 50}, {"roasted_coffee_kg": 20}, {"roasted_coffee_kg": 3})
    found = dict(zip(FEATURES, sight.features(), strict=True))
    assert found["position.green_coffee_kg"] == pytest.approx(0.5)
    assert found["stock.roasted_coffee_kg"] == pytest.approx(0.2)
    assert found["sold.roasted_coffee_kg"] == pytest.approx(0.1)
    assert found["day"] == pytest.approx(0.5)
